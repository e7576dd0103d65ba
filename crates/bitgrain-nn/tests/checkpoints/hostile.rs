//! Missing, contradictory and damaged checkpoints give typed errors and never panic.

use std::fs;
use std::path::Path;

use bitgrain_formats::safetensors::Header;
use bitgrain_nn::model::CheckpointError;
use bitgrain_nn::{ModelFile, ModelFileError};
use serde_json::Value;

use crate::vectors;

fn copied(case: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary directory");
    for file in ["config.json", "model.safetensors"] {
        fs::copy(vectors().join(case).join(file), folder.path().join(file)).expect("golden");
    }
    folder
}

/// Edits the `quantization_config` of a folder.
fn edit(folder: &Path, edit: impl FnOnce(&mut serde_json::Map<String, Value>)) {
    let path = folder.join("config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).expect("there")).expect("JSON");
    edit(config["quantization_config"].as_object_mut().expect("an object"));
    fs::write(path, config.to_string()).expect("writable");
}

fn error(folder: &Path) -> CheckpointError {
    match ModelFile::open(folder).map(|model| model.tensors().iter().try_for_each(|tensor| tensor.values().map(drop))) {
        Err(ModelFileError::Checkpoint(error)) | Ok(Err(ModelFileError::Checkpoint(error))) => *error,
        other => panic!("{other:?}"),
    }
}

fn changed(case: &str, change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> CheckpointError {
    let folder = copied(case);
    edit(folder.path(), change);
    error(folder.path())
}

#[test]
fn a_missing_configuration_is_named() {
    for case in ["gptq_4bit", "awq", "compressed_tensors_w4a16", "fp8_block", "bitsandbytes_nf4", "hqq_4bit_axis1"] {
        let folder = copied(case);
        fs::write(folder.path().join("config.json"), "{}").expect("writable");
        assert!(matches!(error(folder.path()), CheckpointError::NoConfig { .. }), "{case}");
        fs::remove_file(folder.path().join("config.json")).expect("there");
        assert!(matches!(error(folder.path()), CheckpointError::NoConfig { .. }), "{case}");
        fs::write(folder.path().join("config.json"), "{").expect("writable");
        assert!(matches!(error(folder.path()), CheckpointError::Json { .. }), "{case}");
    }
}

#[test]
fn unknown_methods_and_schemes_are_named() {
    let unknown = changed("awq", |config| drop(config.insert("quant_method".into(), "quip".into())));
    assert!(matches!(&unknown, CheckpointError::Method { method, .. } if method == "quip"), "{unknown}");
    let nameless = changed("awq", |config| drop(config.remove("quant_method")));
    assert!(matches!(nameless, CheckpointError::MissingKey { key: "quant_method", .. }));
    for (case, key, value) in [
        ("awq", "version", Value::from("gemv")),
        ("awq", "bits", 3.into()),
        ("gptq_4bit", "bits", 5.into()),
        ("gptq_4bit", "checkpoint_format", "marlin".into()),
        ("gptq_4bit", "group_size", 0.into()),
        ("gptq_4bit", "group_size", "x".into()),
        ("fp8_block", "fmt", "e5m2".into()),
        ("fp8_block", "weight_block_size", vec![0, 16].into()),
        ("compressed_tensors_w4a16", "format", "marlin-24".into()),
        ("compressed_tensors_w4a16", "config_groups", 3.into()),
        ("modelopt_nvfp4", "quant_algo", "W4A8_AWQ".into()),
        ("gptq_4bit", "checkpoint_format", "gptq_p".into()),
        ("real_auto_round", "packing_format", "auto_round:marlin".into()),
        ("real_auto_round", "act_bits", 8.into()),
        ("real_auto_round", "bits", 9.into()),
    ] {
        let found = changed(case, |config| drop(config.insert(key.into(), value.clone())));
        assert!(matches!(found, CheckpointError::Scheme { .. }), "{case} {key} {value}: {found}");
        assert!(!found.to_string().ends_with('.'));
    }
}

#[test]
fn contradictions_between_configuration_and_arrays_are_found() {
    let other = changed("gptq_4bit", |config| drop(config.insert("quant_method".into(), "hqq".into())));
    assert!(matches!(other, CheckpointError::NothingPacked { .. }), "{other}");
    for (case, key, value) in [("gptq_4bit", "bits", 8), ("gptq_4bit", "group_size", 64), ("awq", "group_size", 16)] {
        let found = changed(case, |config| drop(config.insert(key.into(), value.into())));
        assert!(matches!(found, CheckpointError::Array { .. }), "{case} {key}: {found}");
    }
    for (key, value) in [("num_bits", Value::from(8)), ("group_size", 64.into()), ("symmetric", false.into())] {
        let found = changed("compressed_tensors_w4a16", |config| {
            config["config_groups"]["group_0"]["weights"][key] = value.clone();
        });
        assert!(matches!(found, CheckpointError::Contradiction { .. }), "{key}: {found}");
    }
    let folder = copied("gptq_4bit");
    fs::write(folder.path().join("quantize_config.json"), r#"{"quant_method": "awq", "bits": 4, "group_size": 32}"#)
        .expect("writable");
    let found = error(folder.path());
    assert!(matches!(found, CheckpointError::Files { .. }), "{found}");
    fs::write(folder.path().join("quantize_config.json"), r#"{"bits": 8, "group_size": 32}"#).expect("writable");
    let found = error(folder.path()).to_string();
    assert!(
        found.contains("8 bits, groups of 32") && found.contains("4 bits") && found.contains("remove the file"),
        "{found}"
    );
    fs::write(folder.path().join("quantize_config.json"), r#"{"bits": 4, "group_size": 32}"#).expect("writable");
    assert!(ModelFile::open(folder.path()).is_ok());
    // A model that is not quantized, with a configuration that says it is.
    let folder = copied("awq");
    fs::copy(vectors().join("awq/expected.safetensors"), folder.path().join("model.safetensors")).expect("golden");
    assert!(matches!(error(folder.path()), CheckpointError::NothingPacked { .. }));
}

/// Changes the bytes of an array.
fn poke(folder: &Path, array: &str, change: impl FnOnce(&mut [u8])) {
    let path = folder.join("model.safetensors");
    let mut bytes = fs::read(&path).expect("golden");
    let header = Header::parse(&bytes).expect("golden");
    let range = header.tensors.iter().find(|info| info.name == array).expect("there").range();
    change(&mut bytes[range]);
    fs::write(path, bytes).expect("writable");
}

/// A change of the bytes of an array.
type Change = fn(&mut [u8]);

#[test]
fn values_out_of_range_are_named() {
    let cases: [(&str, &str, Change, &str); 8] = [
        ("gptq_4bit_order", "layer.g_idx", |bytes| bytes[0] = 4, "group 4 of column 0 is not below 4"),
        ("gptq_4bit_order", "layer.g_idx", |bytes| bytes[4..8].fill(0xFF), "of column 1 is not below 4"),
        ("gptq_4bit", "layer.scales", |bytes| bytes[1] = 0x7C, "scales must be finite"),
        ("compressed_tensors_w4a16", "layer.weight_shape", |bytes| bytes[8..].fill(0x7F), "out of range"),
        ("compressed_tensors_w4a16", "layer.weight_shape", |bytes| bytes[8] = 64, "contradicts `quantization_config`"),
        ("compressed_tensors_mxfp4", "layer.weight_scale", |bytes| bytes[3] = 255, "scale 3 (0-based)"),
        ("bitsandbytes_int8", "layer.weight_format", |bytes| bytes[0] = 2, "0 for rows"),
        ("hqq_4bit_axis1", "layer.axis", |bytes| bytes[0] = 2, "axis 2, expected 0 or 1"),
    ];
    for (case, array, change, wanted) in cases {
        let folder = copied(case);
        poke(folder.path(), array, change);
        let found = error(folder.path()).to_string();
        assert!(found.contains(wanted), "{case} {array}: {found}");
    }
    // The state of a 4-bit matrix of bitsandbytes is JSON in an array.
    for (from, to) in [(r#""blocksize": 64"#, r#""blocksize":  0"#), (r#""blocksize": 64"#, r#""blocksize": -1"#)] {
        let folder = copied("bitsandbytes_nf4");
        poke(folder.path(), "layer.weight.quant_state.bitsandbytes__nf4", |bytes| {
            let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).expect("there");
            bytes[at..][..to.len()].copy_from_slice(to.as_bytes());
        });
        assert!(matches!(error(folder.path()), CheckpointError::Value { .. }), "{to}");
    }
}

#[test]
fn truncated_files_are_refused() {
    for case in
        ["gptq_4bit", "awq", "compressed_tensors_nvfp4", "bitsandbytes_nf4_nested", "hqq_2bit_axis0", "fp8_block"]
    {
        let bytes = fs::read(vectors().join(case).join("model.safetensors")).expect("golden");
        let folder = copied(case);
        for len in (0..bytes.len()).step_by(bytes.len() / 40) {
            fs::write(folder.path().join("model.safetensors"), &bytes[..len]).expect("writable");
            let found = ModelFile::open(folder.path());
            assert!(matches!(found, Err(ModelFileError::Safetensors { .. })), "{case} {len}: {found:?}");
        }
    }
}

#[test]
fn a_changed_header_never_panics() {
    for case in ["gptq_4bit_order", "awq", "compressed_tensors_w4a16_asym", "compressed_tensors_nvfp4", "fp8_block"]
        .into_iter()
        .chain(["bitsandbytes_nf4_nested", "bitsandbytes_int8", "hqq_3bit_axis1", "mxfp4_experts", "modelopt_nvfp4"])
    {
        let folder = copied(case);
        let path = folder.path().join("model.safetensors");
        let bytes = fs::read(&path).expect("golden");
        let header = 8 + usize::try_from(u64::from_le_bytes(*bytes.first_chunk().expect("long"))).expect("small");
        let mut refused = 0;
        for at in (8..header).filter(|at| bytes[*at].is_ascii_alphanumeric()).step_by(3) {
            let mut changed = bytes.clone();
            changed[at] = match changed[at] {
                b'0'..=b'8' => changed[at] + 1,
                b'9' => b'1',
                _ => b'x',
            };
            fs::write(&path, &changed).expect("writable");
            let read = ModelFile::open(folder.path());
            let read = read.and_then(|model| model.tensors().iter().try_for_each(|tensor| tensor.values().map(drop)));
            refused += usize::from(read.is_err());
        }
        assert!(refused > 10, "{case}: {refused}");
        // Any value of any byte of the data decodes or is refused.
        for at in (header..bytes.len()).step_by(97) {
            let mut changed = bytes.clone();
            changed[at] = 0xFF;
            fs::write(&path, &changed).expect("writable");
            let Ok(model) = ModelFile::open(folder.path()) else { continue };
            let _ = model.tensors().iter().try_for_each(|tensor| tensor.values().map(drop));
        }
    }
}
