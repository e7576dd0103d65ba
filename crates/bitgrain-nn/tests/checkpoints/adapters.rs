//! LoRA adapters: merged weights against sums computed here, and adapters that do not fit.

use std::fs;
use std::path::Path;

use bitgrain_formats::safetensors::{Dtype, TensorSpec, Writer};
use bitgrain_nn::model::{AdapterError, merge_adapter};
use bitgrain_nn::{ModelFile, ModelFileError};

use crate::schemes::model;

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
        (r#"{"peft_type": "LORA", "lora_alpha": 1, "use_dora": true}"#, "use_dora"),
    ] {
        adapter(folder.path(), config, [[2, 36], [2, 2]]);
        let found = error().to_string();
        assert!(found.contains(wanted), "{config}: {found}");
    }
}
