//! Invalid weights and files: errors name the defect, and no partial output is left.

use bitgrain_codec::{CodecErr, NonFinite};
use bitgrain_nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain_nn::{ModelFile, ModelFileError};

use super::{Folder, small_model, weights};

fn to(name: &str) -> Recipe {
    Recipe::new(FormatChoice::To(name.parse().expect("known format")))
}

#[test]
fn a_non_finite_weight_is_reported_with_tensor_and_index() {
    let folder = Folder::new();
    let mut w = weights("big.weight", &[700, 512]);
    w.values[300_000] = f32::NAN;
    let model = folder.safetensors("in.safetensors", &[w]);
    for name in ["q4_0", "q4_k", "int8", "int8/tensor", "f16", "q4f32"] {
        let refused = quantize(&model, &folder.path("out.safetensors"), &to(name), &()).expect_err("NaN");
        let ModelFileError::Codec { tensor, source: CodecErr::NonFinite { index } } = refused else {
            panic!("{refused}")
        };
        assert_eq!((tensor.as_str(), index), ("big.weight", 300_000), "{name}");
    }
    assert_eq!(folder.names(), ["in.safetensors"]);
}

#[test]
fn policies_make_weights_finite_row_by_row() {
    let folder = Folder::new();
    let mut w = weights("w", &[2, 32]);
    (w.values[3], w.values[4], w.values[5]) = (f32::NAN, f32::INFINITY, 0.25);
    let model = folder.safetensors("in.safetensors", &[w]);
    for (policy, want) in [(NonFinite::Zero, [0.0, 0.0]), (NonFinite::Clamp, [0.0, 0.25])] {
        let mut recipe = to("float32/none");
        recipe.non_finite = policy;
        quantize(&model, &folder.path("out.safetensors"), &to("f16"), &()).expect_err("rejected by default");
        let mut halves = to("f16");
        halves.non_finite = policy;
        quantize(&model, &folder.path("out.safetensors"), &halves, &()).expect("a policy for them");
        let back =
            ModelFile::open(folder.path("out.safetensors")).expect("valid file").tensor("w").expect("there").values();
        assert_eq!(back.expect("readable")[3..5], want, "{policy:?}");
    }
}

#[test]
fn values_out_of_the_range_of_a_format_are_not_written_as_infinities() {
    let folder = Folder::new();
    let mut w = weights("w", &[2, 256]);
    w.values[7] = 1e6;
    let model = folder.safetensors("in.safetensors", &[w]);
    let refused = quantize(&model, &folder.path("out.gguf"), &to("f16"), &()).expect_err("beyond 65504");
    assert!(matches!(&refused, ModelFileError::Overflow { tensor, format } if tensor == "w" && format == "float16"));
    quantize(&model, &folder.path("out.gguf"), &to("bf16"), &()).expect("bfloat16 reaches further");
    assert_eq!(folder.names(), ["in.safetensors", "out.gguf"]);
}

#[test]
fn every_truncation_of_a_model_is_an_error_not_a_panic() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    for out in ["out.gguf", "out.safetensors"] {
        quantize(&model, &folder.path(out), &to("q4_0"), &()).expect("conversion succeeds");
        let whole = std::fs::read(folder.path(out)).expect("written");
        for len in (0..whole.len()).step_by(37) {
            std::fs::write(folder.path("cut"), &whole[..len]).expect("writable");
            // Padding after the last GGUF tensor may be missing without harm.
            if let Ok(cut) = ModelFile::open(folder.path("cut")) {
                assert!(whole.len() - len < 64 && out == "out.gguf", "{out} cut to {len} of {}", whole.len());
                drop(cut);
            }
        }
    }
}

#[test]
fn flipped_bits_in_the_note_on_quantized_weights_do_not_panic() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &[weights("w", &[3, 40])]);
    quantize(&model, &folder.path("out.safetensors"), &to("uint4/32"), &()).expect("conversion succeeds");
    let whole = std::fs::read(folder.path("out.safetensors")).expect("written");
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            std::fs::write(folder.path("flipped"), &bytes).expect("writable");
            if let Ok(model) = ModelFile::open(folder.path("flipped")) {
                for tensor in model.tensors() {
                    let _ = tensor.values();
                }
            }
        }
    }
}

#[test]
fn empty_and_odd_shapes_round_trip() {
    let folder = Folder::new();
    let shapes = [weights("none", &[0, 32]), weights("thin", &[4, 0]), weights("one", &[1, 1]), weights("s", &[])];
    let model = folder.safetensors("in.safetensors", &shapes);
    for name in ["q4_0", "int4", "int8/tensor", "float16"] {
        let out = folder.path("out.safetensors");
        quantize(&model, &out, &to(name), &()).expect("conversion succeeds");
        let back = ModelFile::open(&out).expect("valid file");
        for tensor in back.tensors() {
            assert_eq!(tensor.values().expect("readable").len() as u64, tensor.elements(), "{name} {}", tensor.name);
        }
    }
}

#[test]
fn empty_rows_take_no_memory_however_many_a_header_claims() {
    let folder = Folder::new();
    let header = br#"{"h":{"dtype":"F32","shape":[4611686018427387904,0],"data_offsets":[0,0]},"t":{"dtype":"F32","shape":[4,0],"data_offsets":[0,0]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    std::fs::write(folder.path("in.safetensors"), bytes).expect("writable");
    let model = ModelFile::open(folder.path("in.safetensors")).expect("valid file");
    for name in ["int8", "int8/tensor", "uint4/32", "ternary", "q4_k", "float16"] {
        quantize(&model, &folder.path("out.safetensors"), &to(name), &()).expect(name);
        let back = ModelFile::open(folder.path("out.safetensors")).expect("valid file");
        assert!(back.tensors().iter().all(|tensor| tensor.values().is_ok_and(|values| values.is_empty())), "{name}");
        bitgrain_nn::model::compare::compare(&model, &back, &()).expect("comparable");
    }
    bitgrain_nn::model::stats::stats(&model.tensors()[0], &()).expect("no values");
}

#[test]
fn a_fallback_can_represent_the_weights() {
    let folder = Folder::new();
    let (mut narrow, mut odd) = (weights("narrow", &[64, 32]), weights("odd", &[8, 33]));
    (narrow.values[5], odd.values[5]) = (6e5, 6e5);
    let model = folder.safetensors("in.safetensors", &[narrow, odd]);
    let done = quantize(&model, &folder.path("out.gguf"), &to("q6_k"), &()).expect("something holds them");
    assert_eq!(done.tensors[1].to, "float32");
    assert!(done.tensors[0].to.starts_with('q'), "{}", done.tensors[0].to);
}

#[test]
fn files_other_than_models_are_rejected() {
    let folder = Folder::new();
    std::fs::write(folder.path("notes.txt"), "not a model at all").expect("writable");
    assert!(matches!(ModelFile::open(folder.path("notes.txt")), Err(ModelFileError::NotAModel { .. })));
    std::fs::write(folder.path("empty"), "").expect("writable");
    assert!(matches!(ModelFile::open(folder.path("empty")), Err(ModelFileError::NotAModel { .. })));
    assert!(matches!(ModelFile::open(folder.path("missing")), Err(ModelFileError::Io { .. })));
    std::fs::create_dir(folder.path("folder")).expect("writable");
    assert!(matches!(ModelFile::open(folder.path("folder")), Err(ModelFileError::NoWeights { .. })));
    std::fs::write(folder.path("broken.safetensors"), "\u{8}").expect("writable");
    assert!(matches!(ModelFile::open(folder.path("broken.safetensors")), Err(ModelFileError::Safetensors { .. })));
}
