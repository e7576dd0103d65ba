//! LoRA adapters: merged weights against those of PEFT and sums computed here, and adapters that do not fit.

use std::fs;
use std::path::Path;

use bitgrain_formats::safetensors::{Dtype, TensorSpec, Writer};
use bitgrain_nn::model::{AdapterError, merge_adapter};
use bitgrain_nn::{ModelFile, ModelFileError};

use crate::schemes::model;
use crate::vectors;

const MODULE: &str = "base_model.model.model.layers.0.odd";

/// Writes an adapter of rank 2 for the matrix of 2 by 36.
fn adapter(folder: &Path, config: &str, shapes: [[u64; 2]; 2]) {
    fs::write(folder.join("adapter_config.json"), config).expect("writable");
    let spec = |end: &str, shape: [u64; 2]| TensorSpec {
        name: format!("{MODULE}.{end}.weight"),
        dtype: Dtype::F32,
        shape: shape.into(),
    };
    let specs = [spec("lora_A", shapes[0]), spec("lora_B", shapes[1])];
    let mut writer = Writer::new(Vec::new(), &[], &specs).expect("valid");
    for (at, [rows, cols]) in shapes.into_iter().enumerate() {
        let bytes: Vec<u8> = (0..rows * cols).flat_map(|i| factor(at, i).to_le_bytes()).collect();
        writer.write(&bytes).expect("in memory");
    }
    fs::write(folder.join("adapter_model.safetensors"), writer.finish().expect("complete")).expect("writable");
}

fn factor(at: usize, i: u64) -> f32 {
    let i = f32::from(u8::try_from(i).expect("small"));
    if at == 0 { (i - 30.0) / 64.0 } else { (i + 1.0) / 4.0 }
}

const CONFIG: &str = r#"{"peft_type": "LORA", "r": 2, "lora_alpha": 8}"#;

#[test]
fn an_update_is_added_with_its_scale() {
    let folder = tempfile::tempdir().expect("temporary directory");
    model(folder.path());
    let base = ModelFile::open(folder.path()).expect("written");
    let name = "model.layers.0.odd.weight";
    let before = base.tensor(name).expect("there").values().expect("floats");
    for (config, scale) in [
        (CONFIG, 4.0),
        (r#"{"peft_type": "LORA", "r": 2, "lora_alpha": 8, "use_rslora": true}"#, 8.0 / 2.0_f32.sqrt()),
        (r#"{"peft_type": "LORA", "r": 2, "lora_alpha": 1, "alpha_pattern": {"layers.0.odd": 6}}"#, 3.0),
    ] {
        adapter(folder.path(), config, [[2, 36], [2, 2]]);
        let merged = merge_adapter(&base, folder.path()).expect("fits");
        let after = merged.tensor(name).expect("there").values().expect("floats");
        for (i, (before, after)) in before.iter().zip(&after).enumerate() {
            let (row, col) = (i as u64 / 36, i as u64 % 36);
            let update: f32 = (0..2).map(|k| factor(1, 2 * row + k) * factor(0, 36 * k + col)).sum();
            let wanted = before + scale * update;
            assert!((after - wanted).abs() <= 1e-5 * wanted.abs().max(1.0), "{config} {i}: {after} {wanted}");
        }
        let same = merged.tensor("lm_head.weight").expect("there").values().expect("floats");
        assert_eq!(same, base.tensor("lm_head.weight").expect("there").values().expect("floats"));
    }
}

/// Returns the model of a golden case and the result of merging its adapter.
fn golden(case: &str) -> (std::path::PathBuf, Result<ModelFile, ModelFileError>) {
    let folder = vectors().join("../adapters").join(case);
    let model = ModelFile::open(folder.join("model.safetensors")).expect("golden");
    let merged = merge_adapter(&model, &folder);
    (folder, merged)
}

#[test]
fn golden_adapters_merge_to_the_weights_of_their_package() {
    for case in ["lora", "patterns", "dora", "embedding", "transposed", "modules_to_save"] {
        let (folder, merged) = golden(case);
        let merged = merged.unwrap_or_else(|error| panic!("{case}: {error}"));
        let expected = ModelFile::open(folder.join("expected.safetensors")).expect("golden");
        assert_eq!(merged.tensors().len(), expected.tensors().len(), "{case}");
        for tensor in expected.tensors() {
            let wanted = tensor.values().expect("floats");
            let found = merged.tensor(&tensor.name).expect("there").values().expect("floats");
            // PyTorch adds up products in another order.
            let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 4e-6 * b.abs().max(1.0);
            assert!(found.iter().zip(&wanted).all(near), "{case} {}: {found:?} {wanted:?}", tensor.name);
        }
    }
}

#[test]
fn adapters_that_need_lengths_of_columns_are_refused() {
    for case in ["dora_transposed", "dora_embedding"] {
        let Err(error) = golden(case).1 else { panic!("{case} was merged") };
        assert!(error.to_string().contains("merge it with PEFT's merge_and_unload"), "{error}");
    }
}

/// Writes float32 tensors.
fn write(path: &Path, tensors: &[(&str, &[u64], &[f32])]) {
    let spec = |(name, shape, _): &(&str, &[u64], &[f32])| TensorSpec {
        name: (*name).to_owned(),
        dtype: Dtype::F32,
        shape: shape.to_vec(),
    };
    let specs: Vec<TensorSpec> = tensors.iter().map(spec).collect();
    let mut writer = Writer::new(Vec::new(), &[], &specs).expect("valid");
    for (_, _, values) in tensors {
        writer.write(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).expect("in memory");
    }
    fs::write(path, writer.finish().expect("complete")).expect("writable");
}

#[test]
fn rows_of_zeros_have_no_direction_and_stay_zeros() {
    let folder = tempfile::tempdir().expect("temporary directory");
    write(&folder.path().join("model.safetensors"), &[("w.weight", &[2, 2], &[0.0, 0.0, 3.0, 4.0])]);
    let factors: [(&str, &[u64], &[f32]); 3] = [
        ("w.lora_A.weight", &[1, 2], &[1.0, 1.0]),
        ("w.lora_B.weight", &[2, 1], &[0.0, 0.0]),
        ("w.lora_magnitude_vector", &[2], &[7.0, 10.0]),
    ];
    write(&folder.path().join("adapter_model.safetensors"), &factors);
    let config = r#"{"peft_type": "LORA", "lora_alpha": 1, "use_dora": true}"#;
    fs::write(folder.path().join("adapter_config.json"), config).expect("writable");
    let base = ModelFile::open(folder.path()).expect("written");
    let merged = merge_adapter(&base, folder.path()).expect("fits");
    assert_eq!(merged.tensor("w.weight").expect("there").values().expect("floats"), [0.0, 0.0, 6.0, 8.0]);
    let long: [(&str, &[u64], &[f32]); 3] = [factors[0], factors[1], ("w.lora_magnitude_vector", &[3], &[7.0; 3])];
    write(&folder.path().join("adapter_model.safetensors"), &long);
    let error = merge_adapter(&base, folder.path()).map(drop);
    assert!(
        matches!(&error, Err(ModelFileError::Adapter(error)) if matches!(**error, AdapterError::Shape { .. })),
        "{error:?}"
    );
}

#[test]
fn adapters_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().expect("temporary directory");
    model(folder.path());
    let base = ModelFile::open(folder.path()).expect("written");
    let error = || match merge_adapter(&base, folder.path()) {
        Err(ModelFileError::Adapter(error)) => *error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(error(), AdapterError::Io { .. }));
    for shapes in [[[2, 35], [2, 2]], [[2, 36], [3, 2]], [[2, 36], [2, 1]]] {
        adapter(folder.path(), CONFIG, shapes);
        assert!(matches!(error(), AdapterError::Shape { .. }), "{shapes:?}");
    }
    for (config, wanted) in [
        ("[]", "not a JSON object"),
        (r#"{"peft_type": "LORA"}"#, "lora_alpha"),
        (r#"{"peft_type": "LOHA", "lora_alpha": 1}"#, "peft_type"),
        (
            r#"{"peft_type": "LORA", "lora_alpha": 1, "use_dora": true}"#,
            "the magnitude vector is missing; merge it with PEFT",
        ),
        (r#"{"peft_type": "LORA", "lora_alpha": 1, "use_dora": true, "fan_in_fan_out": true}"#, "fan_in_fan_out"),
        (r#"{"peft_type": "LORA", "lora_alpha": 1, "lora_bias": true}"#, "lora_bias"),
    ] {
        adapter(folder.path(), config, [[2, 36], [2, 2]]);
        let found = error().to_string();
        assert!(found.contains(wanted), "{config}: {found}");
    }
}
