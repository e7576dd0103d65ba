//! Opening: sharded models, Hugging Face folders, npy, importances.

use bitgrain_formats::{gguf, safetensors};
use bitgrain_nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain_nn::model::stats::stats;
use bitgrain_nn::{Container, ImportanceMatrix, ModelFile, ModelFileError};

use super::{Folder, weights, write_gguf, write_safetensors};

/// Writes a file with one tensor of bytes and the given metadata.
fn write_bytes(path: &std::path::Path, strings: &[(&str, &str)], name: &str, shape: &[u64]) {
    let strings: Vec<_> = strings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let spec = safetensors::TensorSpec { name: name.into(), dtype: safetensors::Dtype::U8, shape: shape.to_vec() };
    let mut writer = safetensors::Writer::new(Vec::new(), &strings, &[spec]).expect("valid file");
    let len = usize::try_from(shape.iter().product::<u64>()).expect("small");
    writer.write(&vec![0; len]).expect("in memory");
    std::fs::write(path, writer.finish().expect("complete")).expect("writable");
}

fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let len = (header.len() + 1 + 10).next_multiple_of(64) - 10;
    bytes.extend(u16::try_from(len).expect("short").to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = len - 1).bytes());
    bytes.extend(super::bytes(values));
    bytes
}

#[test]
fn shards_form_one_model_and_a_folder_opens_it() {
    let folder = Folder::new();
    write_safetensors(&folder.path("a-1.safetensors"), &[weights("first", &[2, 32])]);
    write_safetensors(&folder.path("a-2.safetensors"), &[weights("second", &[2, 64]), weights("stray", &[3])]);
    let index =
        r#"{"metadata":{"total_size":768},"weight_map":{"first":"a-1.safetensors","second":"a-2.safetensors"}}"#;
    std::fs::write(folder.path("model.safetensors.index.json"), index).expect("writable");
    std::fs::write(folder.path("config.json"), r#"{"model_type":"bert"}"#).expect("writable");
    for path in [folder.path("model.safetensors.index.json"), folder.path("")] {
        let model = ModelFile::open(path).expect("sharded model");
        let names: Vec<_> = model.tensors().iter().map(|t| t.name.as_str()).collect();
        assert_eq!((names, model.container()), (vec!["first", "second"], Container::Safetensors));
        assert_eq!(model.metadata().architecture.as_deref(), Some("bert"));
        assert_eq!(
            model.tensor("second").expect("there").values().expect("readable"),
            weights("second", &[2, 64]).values
        );
    }
    let out = folder.path("out.gguf");
    let recipe = Recipe::new(FormatChoice::To("q8_0".parse().expect("known format")));
    quantize(&ModelFile::open(folder.path("")).expect("valid folder"), &out, &recipe, &())
        .expect("conversion succeeds");
    let keys = ModelFile::open(&out).expect("valid file").metadata().gguf.clone();
    assert_eq!(keys.get("general.architecture").and_then(|value| value.as_str()), Some("bert"));
}

#[test]
fn a_model_is_written_in_shards_and_read_as_one() {
    let folder = Folder::new();
    let tensors = [weights("a", &[8, 64]), weights("b", &[8, 64]), weights("c", &[9, 33]), weights("norm", &[64])];
    let model = folder.safetensors("in.safetensors", &tensors);
    let mut recipe = Recipe::new(FormatChoice::To("uint4/32".parse().expect("known format")));
    quantize(&model, &folder.path("whole.safetensors"), &recipe, &()).expect("conversion succeeds");
    recipe.shard_bytes = 700;
    let index = folder.path("small.safetensors.index.json");
    let done = quantize(&model, &index, &recipe, &()).expect("conversion succeeds");
    let shards = ["small-00001-of-00002.safetensors", "small-00002-of-00002.safetensors"];
    let names = folder.names();
    assert!(shards.iter().all(|shard| names.contains(&(*shard).to_owned())), "{names:?}");
    assert_eq!(names.len(), 5, "{names:?}");
    let sizes = shards.map(|shard| std::fs::metadata(folder.path(shard)).expect("written").len());
    assert_eq!(done.file_bytes, sizes.iter().sum::<u64>());
    let (whole, back) = (ModelFile::open(folder.path("whole.safetensors")), ModelFile::open(&index));
    let (whole, back) = (whole.expect("valid file"), back.expect("valid file"));
    assert_eq!((back.tensors().len(), back.bytes()), (4, whole.bytes()));
    for tensor in whole.tensors() {
        let other = back.tensor(&tensor.name).expect("in a shard");
        assert_eq!((&other.shape, &other.storage), (&tensor.shape, &tensor.storage));
        assert_eq!(other.values().expect("readable"), tensor.values().expect("readable"), "{}", tensor.name);
    }
    let shard = folder.path(shards[1]);
    let refused = quantize(&back, &shard, &recipe, &()).expect_err("a shard of the input");
    assert!(matches!(refused, ModelFileError::SameFile { .. }), "{refused}");
}

#[test]
fn an_index_that_contradicts_the_records_is_detected() {
    let folder = Folder::new();
    write_safetensors(&folder.path("a.safetensors"), &[weights("first", &[2, 32])]);
    let index = r#"{"weight_map":{"first":"a.safetensors","second":"a.safetensors"}}"#;
    std::fs::write(folder.path("m.index.json"), index).expect("writable");
    let refused = ModelFile::open(folder.path("m.index.json")).expect_err("`second` is not there");
    assert!(matches!(&refused, ModelFileError::NotInShard { tensor, .. } if tensor == "second"), "{refused}");
}

#[test]
fn npy_arrays_have_the_name_of_their_file() {
    let folder = Folder::new();
    let values = weights("w", &[3, 32]).values;
    std::fs::write(folder.path("embeddings.npy"), npy("(3, 32)", &values)).expect("writable");
    let model = ModelFile::open(folder.path("embeddings.npy")).expect("valid array");
    let tensor = model.tensor("embeddings").expect("named after the file");
    assert_eq!((tensor.shape.as_slice(), tensor.values().expect("readable")), (&[3, 32][..], values));
}

#[test]
fn a_flipped_bit_in_an_uncompressed_npz_is_detected() {
    let folder = Folder::new();
    let values = weights("w", &[3, 32]).values;
    let mut writer = bitgrain_formats::npz::Writer::new(Vec::new());
    writer.add("w", &[3, 32], &values).expect("in memory");
    let mut file = writer.finish().expect("complete");
    std::fs::write(folder.path("in.npz"), &file).expect("writable");
    let model = ModelFile::open(folder.path("in.npz")).expect("valid archive");
    assert_eq!(model.tensor("w").expect("there").values().expect("readable"), values);
    let first = values[0].to_le_bytes();
    let at = file.windows(4).position(|bytes| bytes == first).expect("stored unchanged");
    file[at] ^= 1;
    std::fs::write(folder.path("in.npz"), &file).expect("writable");
    let refused = ModelFile::open(folder.path("in.npz")).expect_err("another value");
    assert!(matches!(&refused, ModelFileError::Npz { .. }) && refused.to_string().contains("w.npy"), "{refused}");
}

#[test]
fn importances_change_the_output_and_must_match_the_model() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &[weights("w", &[4, 256])]);
    let mut importance = weights("w", &[256]);
    importance.values.iter_mut().enumerate().for_each(|(i, v)| *v = if i % 7 == 0 { 50.0 } else { 1.0 });
    write_safetensors(&folder.path("importance.safetensors"), &[importance]);
    let mut files = Vec::new();
    for path in [None, Some(folder.path("importance.safetensors"))] {
        let mut recipe = Recipe::new(FormatChoice::To("q4_k".parse().expect("known format")));
        recipe.importance = path.map(|path| ImportanceMatrix::open(path).expect("importances"));
        quantize(&model, &folder.path("out.gguf"), &recipe, &()).expect("conversion succeeds");
        files.push(std::fs::read(folder.path("out.gguf")).expect("written"));
    }
    assert_ne!(files[0], files[1]);
    let mut short = weights("w", &[255]);
    short.values.fill(1.0);
    write_safetensors(&folder.path("short.safetensors"), &[short]);
    let mut recipe = Recipe::new(FormatChoice::To("q4_k".parse().expect("known format")));
    recipe.importance = Some(ImportanceMatrix::open(folder.path("short.safetensors")).expect("importances"));
    let refused = quantize(&model, &folder.path("out.gguf"), &recipe, &()).expect_err("one is missing");
    assert!(matches!(refused, ModelFileError::Importance { found: 255, cols: 256, .. }), "{refused}");
}

#[test]
fn an_imatrix_of_sums_is_divided_by_its_counts() {
    let folder = Folder::new();
    let mut sums = weights("w.in_sum2", &[64]);
    sums.values.fill(6.0);
    let mut counts = weights("w.counts", &[1]);
    counts.values.fill(3.0);
    write_safetensors(&folder.path("imatrix.safetensors"), &[sums, counts]);
    let importance = ImportanceMatrix::open(folder.path("imatrix.safetensors")).expect("importances");
    let model = folder.safetensors("in.safetensors", &[weights("w", &[4, 64])]);
    let found = importance.of(model.tensor("w").expect("there")).expect("the right length").expect("there");
    assert_eq!((found.len(), found[0], importance.len()), (64, 2.0, 1));
}

#[test]
fn invalid_importances_are_named_and_zeros_count_equally() {
    let folder = Folder::new();
    for odd in [f32::NAN, f32::INFINITY, -1.0] {
        let mut importance = weights("w", &[64]);
        importance.values.fill(1.0);
        importance.values[7] = odd;
        write_safetensors(&folder.path("odd.safetensors"), &[importance]);
        let refused = ImportanceMatrix::open(folder.path("odd.safetensors")).expect_err("no weight");
        assert!(
            matches!(&refused, ModelFileError::ImportanceValue { tensor, index: 7, .. } if tensor == "w"),
            "{refused}"
        );
    }
    let mut zeros = weights("w", &[256]);
    zeros.values.fill(0.0);
    write_safetensors(&folder.path("zeros.safetensors"), &[zeros]);
    let model = folder.safetensors("in.safetensors", &[weights("w", &[4, 256])]);
    let importance = ImportanceMatrix::open(folder.path("zeros.safetensors")).expect("importances");
    assert_eq!(importance.covers(&model), 1);
    let mut recipe = Recipe::new(FormatChoice::To("q4_k".parse().expect("known format")));
    recipe.importance = Some(importance);
    let done = quantize(&model, &folder.path("out.gguf"), &recipe, &()).expect("conversion succeeds");
    assert!(done.overall.cosine > 0.99, "{:?}", done.overall);
}

#[test]
fn conflicting_metadata_of_shards_is_all_kept() {
    let folder = Folder::new();
    write_bytes(&folder.path("1.safetensors"), &[("format", "pt"), ("step", "10"), ("step.2", "taken")], "a", &[4]);
    write_bytes(&folder.path("2.safetensors"), &[("format", "pt"), ("step", "20"), ("only", "here")], "b", &[4]);
    write_bytes(&folder.path("3.safetensors"), &[("step", "10")], "c", &[4]);
    let index = r#"{"weight_map":{"a":"1.safetensors","b":"2.safetensors","c":"3.safetensors"}}"#;
    std::fs::write(folder.path("m.safetensors.index.json"), index).expect("writable");
    let model = ModelFile::open(folder.path("m.safetensors.index.json")).expect("sharded model");
    let want = [("format", "pt"), ("step", "10"), ("step.2", "taken"), ("step.2.2", "20"), ("only", "here")];
    assert_eq!(model.metadata().user_strings().collect::<Vec<_>>(), want);
    quantize(&model, &folder.path("out.safetensors"), &Recipe::new(FormatChoice::Keep), &()).expect("each key once");
    let back = ModelFile::open(folder.path("out.safetensors")).expect("valid file");
    assert_eq!(back.metadata().user_strings().collect::<Vec<_>>(), want);
}

/// Converts a GGUF file to safetensors and back without quantizing it.
fn there_and_back(folder: &Folder) -> gguf::Metadata {
    let keep = Recipe::new(FormatChoice::Keep);
    quantize(
        &ModelFile::open(folder.path("in.gguf")).expect("valid model"),
        &folder.path("mid.safetensors"),
        &keep,
        &(),
    )
    .expect("there");
    quantize(
        &ModelFile::open(folder.path("mid.safetensors")).expect("valid file"),
        &folder.path("out.gguf"),
        &keep,
        &(),
    )
    .expect("and back");
    ModelFile::open(folder.path("out.gguf")).expect("valid file").metadata().gguf.clone()
}

#[test]
fn gguf_keys_round_trip_through_safetensors_with_their_types() {
    use gguf::{Array, Value};
    let folder = Folder::new();
    let mut keys = gguf::Metadata::default();
    keys.set("general.architecture", "llama");
    keys.set("general.alignment", 64_u32);
    let values = [
        Value::U8(u8::MAX),
        Value::I8(i8::MIN),
        Value::U16(u16::MAX),
        Value::I16(i16::MIN),
        Value::U32(u32::MAX),
        Value::I32(i32::MIN),
        Value::U64(u64::MAX),
        Value::I64(i64::MIN),
        Value::F32(0.1),
        Value::F32(-0.0),
        Value::F32(f32::NEG_INFINITY),
        Value::F64(0.1),
        Value::F64(f64::MIN_POSITIVE / 3.0),
        Value::F64(f64::INFINITY),
        Value::Bool(true),
        Value::String("a \"quoted\"\nline".into()),
        Value::Array(Array::U8(vec![0, 255])),
        Value::Array(Array::I8(vec![-128])),
        Value::Array(Array::U16(vec![65535])),
        Value::Array(Array::I16(vec![-32768])),
        Value::Array(Array::U32(vec![])),
        Value::Array(Array::I32(vec![-1])),
        Value::Array(Array::F32(vec![1.5, f32::MAX, f32::INFINITY])),
        Value::Array(Array::Bool(vec![true, false])),
        Value::Array(Array::String(["<s>", "", "\u{1f33e}"].into_iter().collect())),
        Value::Array(Array::U64(vec![u64::MAX])),
        Value::Array(Array::I64(vec![i64::MIN])),
        Value::Array(Array::F64(vec![f64::MAX, f64::NEG_INFINITY])),
    ];
    for (i, value) in values.into_iter().enumerate() {
        keys.set(format!("kind.{i}"), value);
    }
    // Names that have a meaning for one of the two conversions.
    keys.set("safetensors.format", "pt");
    keys.set("safetensors.count", 3_u32);
    keys.set("safetensors.bitgrain", "no note");
    keys.set("safetensors.gguf.general.architecture", "bert");
    keys.set("gguf.general.architecture", "mamba");
    write_gguf(&folder.path("in.gguf"), &keys, &[weights("w", &[2, 64])]);
    let back = there_and_back(&folder);
    for (key, value) in keys.iter() {
        assert_eq!(back.get(key), Some(value), "{key}");
    }
    let extra: Vec<_> = back.iter().filter(|(key, _)| keys.get(key).is_none()).collect();
    assert!(extra.iter().all(|(key, _)| key.starts_with("general.")), "{extra:?}");
    // NaN is not equal to itself.
    keys.set("nan", Value::F32(f32::NAN));
    write_gguf(&folder.path("in.gguf"), &keys, &[weights("w", &[2, 64])]);
    assert!(matches!(there_and_back(&folder).get("nan"), Some(Value::F32(value)) if value.is_nan()));
}

#[test]
fn strings_that_resemble_gguf_keys_stay_strings() {
    let folder = Folder::new();
    let strings = [
        ("gguf.general.architecture", "\"llama\""),
        ("gguf.general.alignment", r#"{"u32":3}"#),
        ("gguf.", r#"{"u32":3}"#),
        ("gguf.safetensors.own", r#"{"u32":3}"#),
        ("own", "text"),
    ];
    let spec = safetensors::TensorSpec { name: "w".into(), dtype: safetensors::Dtype::F32, shape: vec![0] };
    let owned = strings.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let writer = safetensors::Writer::new(Vec::new(), &owned, &[spec]).expect("valid file");
    std::fs::write(folder.path("in.safetensors"), writer.finish().expect("complete")).expect("writable");
    let model = ModelFile::open(folder.path("in.safetensors")).expect("valid model");
    quantize(&model, &folder.path("out.gguf"), &Recipe::new(FormatChoice::Keep), &()).expect("conversion succeeds");
    let back = ModelFile::open(folder.path("out.gguf")).expect("valid file").metadata().gguf.clone();
    for (key, text) in strings {
        let found = back.get(&format!("safetensors.{key}")).and_then(gguf::Value::as_str);
        assert_eq!(found, Some(text), "{key}");
    }
    assert_eq!(back.get("general.architecture").and_then(gguf::Value::as_str), Some("unknown"));
}

#[test]
fn a_zero_does_not_hide_dimensions_whose_product_overflows() {
    let folder = Folder::new();
    for shape in ["[0,8589934592,8589934592]", "[8589934592,8589934592,0]", "[8589934592,0,8589934592]"] {
        let note = format!(r#"{{"version":1,"weights":{{"w":{{"format":"int8/none","shape":{shape}}}}}}}"#);
        write_bytes(&folder.path("in.safetensors"), &[("bitgrain", &note)], "w", &[0]);
        let refused = ModelFile::open(folder.path("in.safetensors")).expect_err("2^66 is too much");
        assert!(matches!(&refused, ModelFileError::Note { tensor, .. } if tensor == "w"), "{shape}: {refused}");
    }
}

#[test]
fn a_name_is_suggested_only_if_it_is_similar() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &[weights("layer.0.weight", &[2, 2]), weights("aaa", &[2])]);
    let nearest = |name: &str| match model.tensor(name) {
        Err(ModelFileError::NoTensor { nearest, .. }) => nearest,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(nearest("layer.0.wait").as_deref(), Some("layer.0.weight"));
    assert_eq!(nearest("aa").as_deref(), Some("aaa"));
    assert_eq!(nearest("completely.different.t"), None);
    // The common prefix and suffix overlap: three equal letters count as three, not as six.
    assert_eq!(nearest("aaaaaaaaaa"), None);
    assert_eq!(model.tensor("aaa").expect("there").name, "aaa");
}

#[test]
fn the_deviation_of_values_far_from_zero_is_right() {
    let folder = Folder::new();
    // Ten f32 steps on either side of 10,000; more than one piece of work.
    let step = 2.0_f32.powi(-10);
    let values: Vec<f32> =
        (0..1_200_000).map(|i| 10_000.0 + if i % 2 == 0 { 10.0 * step } else { -10.0 * step }).collect();
    std::fs::write(folder.path("far.npy"), npy("(1200, 1000)", &values)).expect("writable");
    let model = ModelFile::open(folder.path("far.npy")).expect("valid array");
    let found = stats(model.tensor("far").expect("there"), &()).expect("readable");
    assert!((found.std - 10.0 * f64::from(step)).abs() < 1e-9, "{}", found.std);
    assert!((found.mean - 10_000.0).abs() < 1e-9, "{}", found.mean);
    std::fs::write(folder.path("flat.npy"), npy("(1001,)", &[0.1; 1001])).expect("writable");
    let model = ModelFile::open(folder.path("flat.npy")).expect("valid array");
    let flat = stats(model.tensor("flat").expect("there"), &()).expect("readable");
    assert_eq!((flat.mean, flat.std), (f64::from(0.1_f32), 0.0));
}
