//! Conversions of all formats into all containers that can hold them.

use bitgrain_codec::weight::{GgmlBlock, QuantizedTensor, WeightFormat};
use bitgrain_formats::gguf;
use bitgrain_nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain_nn::{Container, ModelFile, ModelFileError, TensorEncoding};

use super::{Folder, small_model, weights, write_gguf};

fn to(name: &str) -> Recipe {
    Recipe::new(FormatChoice::To(name.parse().expect("known format")))
}

fn every_format() -> Vec<WeightFormat> {
    let names = WeightFormat::all().flat_map(|format| {
        let has_scales = matches!(format, WeightFormat::Scaled(scaled) if !scaled.dtype.is_plain());
        let ends = if has_scales { &["", "/none", "/tensor", "/channel", "/32"][..] } else { &[""][..] };
        ends.iter().map(move |end| format!("{}{end}", format.name()))
    });
    names.map(|name| name.parse().expect("known format")).collect()
}

#[test]
fn every_format_round_trips_through_safetensors() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    for format in every_format() {
        let out = folder.path("out.safetensors");
        quantize(&model, &out, &Recipe::new(FormatChoice::To(format)), &()).expect("conversion succeeds");
        let back = ModelFile::open(&out).expect("valid file");
        assert_eq!(back.tensors().len(), model.tensors().len(), "{format}");
        for tensor in small_model() {
            let found = back.tensor(tensor.name).expect("kept its name");
            assert_eq!(found.shape, tensor.shape, "{format} {}", tensor.name);
            let cols = usize::try_from(found.cols()).expect("small");
            let fits = cols.is_multiple_of(format.block()) && tensor.shape.len() > 1;
            if fits {
                let want = QuantizedTensor::quantize(format, &tensor.values, cols).expect("finite").dequantize();
                assert_eq!(found.values().expect("readable"), want.expect("own scales"), "{format} {}", tensor.name);
            } else if tensor.shape.len() < 2 {
                assert_eq!(found.values().expect("readable"), tensor.values, "{format} {} is copied", tensor.name);
            }
        }
    }
}

#[test]
fn every_block_format_round_trips_through_gguf() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    for format in GgmlBlock::ALL
        .map(WeightFormat::Ggml)
        .into_iter()
        .chain(["f16", "bf16", "f32", "f64"].map(|n| n.parse().expect("known")))
    {
        let (once, twice, again) = (folder.path("1.gguf"), folder.path("2.safetensors"), folder.path("3.gguf"));
        quantize(&model, &once, &Recipe::new(FormatChoice::To(format)), &()).expect("conversion succeeds");
        quantize(&ModelFile::open(&once).expect("valid file"), &twice, &Recipe::new(FormatChoice::Keep), &())
            .expect("kept");
        quantize(&ModelFile::open(&twice).expect("valid file"), &again, &Recipe::new(FormatChoice::Keep), &())
            .expect("kept");
        let (first, last) = (ModelFile::open(&once).expect("valid file"), ModelFile::open(&again).expect("valid file"));
        for a in first.tensors() {
            let b = last.tensor(&a.name).expect("kept its name");
            assert_eq!((&a.name, &a.shape, &a.storage), (&b.name, &b.shape, &b.storage), "{format}");
            assert_eq!(a.values().expect("readable"), b.values().expect("readable"), "{format} {}", a.name);
        }
        let matrix = first.tensor("blk.0.attn.weight").expect("there");
        assert_eq!(matrix.storage, TensorEncoding::Weights(format));
    }
}

#[test]
fn the_file_does_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    // More than one piece of work, the last of them incomplete.
    let model = folder.safetensors("in.safetensors", &[weights("w", &[1500, 512])]);
    for name in ["q4_0", "q6_k", "int4", "uint8/tensor"] {
        let mut files = Vec::new();
        for threads in [1, 2, 5] {
            let out = folder.path(if name.starts_with('q') { "out.gguf" } else { "out.safetensors" });
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let done = pool.install(|| quantize(&model, &out, &to(name), &())).expect("conversion succeeds");
            files.push((std::fs::read(&out).expect("written"), done.overall));
        }
        assert!(files.windows(2).all(|pair| pair[0] == pair[1]), "{name}");
    }
}

#[test]
fn rows_that_are_not_whole_blocks_get_a_reported_fallback_that_is_not_larger() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    let done = quantize(&model, &folder.path("out.gguf"), &to("q4_k"), &()).expect("conversion succeeds");
    let row = |name: &str| done.tensors.iter().find(|row| row.name == name).expect("listed");
    assert_eq!((row("blk.0.attn.weight").to.as_str(), row("blk.0.attn.weight").remark.as_deref()), ("q4_k", None));
    let narrow = row("blk.1.mlp.weight"); // 96 columns
    assert!(["q4_0", "iq4_nl"].contains(&narrow.to.as_str()), "{}", narrow.to);
    assert!(narrow.remark.as_deref().is_some_and(|text| text.contains("96") && text.contains("256")), "{narrow:?}");
    assert_eq!(row("odd.weight").to, "float16"); // 37 columns fit no block
    assert_eq!((row("norm.weight").to.as_str(), row("norm.weight").figures), ("float32", None));
}

#[test]
fn rules_decide_before_the_default_and_the_first_one_wins() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    let recipe = to("q4_0")
        .rule("blk.0.*", FormatChoice::To("q8_0".parse().expect("known format")))
        .rule("*attn*", FormatChoice::Keep)
        .rule("blk.1.mlp.weigh?", FormatChoice::Keep)
        .rule("norm.*", FormatChoice::To("f16".parse().expect("known format")));
    let done = quantize(&model, &folder.path("out.gguf"), &recipe, &()).expect("conversion succeeds");
    let found: Vec<_> = done.tensors.iter().map(|row| row.to.as_str()).collect();
    assert_eq!(found, ["q8_0", "q8_0", "float32", "float16", "float16", "float32"]);
}

#[test]
fn metadata_of_every_type_round_trips() {
    let folder = Folder::new();
    let mut metadata = gguf::Metadata::default();
    metadata.set("general.architecture", "llama");
    metadata.set("llama.block_count", 3_u32);
    metadata.set("something.nobody.knows", gguf::Value::Array(gguf::Array::F32(vec![1.5, -2.0])));
    metadata.set("general.alignment", 64_u32);
    write_gguf(&folder.path("in.gguf"), &metadata, &[weights("w", &[2, 64])]);
    let model = ModelFile::open(folder.path("in.gguf")).expect("valid model");
    quantize(&model, &folder.path("out.gguf"), &to("q8_0"), &()).expect("conversion succeeds");
    let back = ModelFile::open(folder.path("out.gguf")).expect("valid file");
    for (key, value) in metadata.iter() {
        assert_eq!(back.metadata().gguf.get(key), Some(value), "{key}");
    }
    assert_eq!(back.metadata().gguf.get("general.file_type").and_then(gguf::Value::as_u64), Some(7));
    assert_eq!(back.metadata().gguf.get("general.quantization_version").and_then(gguf::Value::as_u64), Some(2));
    quantize(&model, &folder.path("out.safetensors"), &to("int8"), &()).expect("conversion succeeds");
    let strings = ModelFile::open(folder.path("out.safetensors")).expect("valid file").metadata().strings.clone();
    assert!(
        strings.contains(&("gguf.something.nobody.knows".into(), r#"{"array":{"f32":[1.5,-2.0]}}"#.into())),
        "{strings:?}"
    );
}

#[test]
fn the_report_states_the_actual_error() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    let done = quantize(&model, &folder.path("out.safetensors"), &to("int4"), &()).expect("conversion succeeds");
    let back = ModelFile::open(folder.path("out.safetensors")).expect("valid file");
    let compared = bitgrain_nn::model::compare::compare(&model, &back, &()).expect("comparable");
    for row in &done.tensors {
        let other = compared.tensors.iter().find(|other| other.name == row.name).expect("in both");
        if let Some(figures) = row.figures {
            assert_eq!(figures, other.figures, "{}", row.name);
        } else {
            assert_eq!(other.figures.max_error, 0.0, "{}", row.name);
        }
        assert_eq!((row.bytes_before, row.bytes_after), (other.first_bytes, other.second_bytes));
    }
    assert_eq!(done.bytes_after, back.bytes());
    assert_eq!(done.file_bytes, std::fs::metadata(folder.path("out.safetensors")).expect("written").len());
}

#[test]
fn formats_that_a_container_cannot_store_are_rejected_before_writing() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    let refused = quantize(&model, &folder.path("out.gguf"), &to("int8"), &()).expect_err("GGUF has no such tensors");
    assert!(
        matches!(&refused, ModelFileError::Container { container: "GGUF", format, .. } if format == "int8"),
        "{refused}"
    );
    let refused = quantize(&model, &folder.path("out.bin"), &to("int8"), &()).expect_err("which container?");
    assert!(matches!(refused, ModelFileError::OutputName { .. }));
    let refused = quantize(&model, &folder.path("in.safetensors"), &to("int8"), &()).expect_err("its own input");
    assert!(matches!(refused, ModelFileError::SameFile { .. }));
    assert!(matches!(Container::of_output(&folder.path("x.GGUF")), Ok(Container::Gguf)));
    assert_eq!(folder.names(), ["in.safetensors"]);
}

#[test]
fn an_index_that_cannot_be_written_leaves_no_shards_behind() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    let out = folder.path("out.safetensors.index.json");
    std::fs::create_dir(&out).expect("directory in its place");
    let names = || std::fs::read_dir(out.parent().expect("has a parent")).expect("readable").count();
    let before = names();
    let refused = quantize(&model, &out, &to("int8"), &()).expect_err("a folder");
    assert!(matches!(refused, ModelFileError::Io { .. }), "{refused}");
    assert_eq!(names(), before);
}
