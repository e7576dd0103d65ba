//! Every golden checkpoint decodes to the values that its package gives.

use std::fs;
use std::path::PathBuf;

use bitgrain_codec::weight::{DType, ScaledFormat};
use bitgrain_nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain_nn::{ModelFile, ModelTensor, TensorEncoding};

use crate::vectors;

/// Returns the golden cases.
fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(vectors()).expect("golden files").map(|entry| entry.expect("readable").path());
    let case = |path: &PathBuf| path.join("expected.safetensors").is_file();
    let mut cases: Vec<PathBuf> = entries.filter(case).collect();
    cases.sort();
    cases
}

fn expected(case: &std::path::Path) -> ModelTensor {
    let model = ModelFile::from_bytes("x.safetensors", fs::read(case.join("expected.safetensors")).expect("golden"));
    model.expect("golden").tensors()[0].clone()
}

/// Rounds values to the dtype of a tensor.
fn rounded(values: &[f32], like: &ModelTensor) -> Vec<f32> {
    let format = like.storage.format().expect("floats");
    let cols = usize::try_from(like.cols()).expect("small");
    let quantized = bitgrain_codec::weight::QuantizedTensor::quantize(format, values, cols).expect("floats");
    quantized.dequantize().expect("floats")
}

#[test]
fn every_checkpoint_decodes_to_the_values_of_its_package() {
    let all = cases();
    assert!(all.len() > 55, "golden files are missing");
    for case in all {
        let name = case.file_name().expect("named").to_string_lossy().into_owned();
        let model = ModelFile::open(&case).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = expected(&case);
        let tensor = model.tensor(&expected.name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(tensor.shape, expected.shape, "{name}");
        assert!(matches!(tensor.storage, TensorEncoding::Packed { .. }), "{name}");
        let values = tensor.values().unwrap_or_else(|error| panic!("{name}: {error}"));
        let wanted = expected.values().expect("golden");
        let found = rounded(&values, &expected);
        let wrong = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
        let at = |i: usize| format!("{i}: {} and not {}", found[i], wanted[i]);
        assert_eq!(wrong.map(at), None, "{name} ({})", tensor.storage);
        // Codes are smaller than floats; the description counts too.
        assert!(tensor.bits_per_weight() < 16.0, "{name}: {}", tensor.bits_per_weight());
        assert!(model.tensor("norm.weight").is_ok() && model.tensors().len() == 2, "{name}: arrays are left");
    }
}

#[test]
fn conversions_read_the_weights_and_name_their_origin() {
    let folder = tempfile::tempdir().expect("temporary directory");
    let model = ModelFile::open(vectors().join("gptq_4bit_order")).expect("golden");
    let values = model.tensor("layer.weight").expect("there").values().expect("decodes");
    let out = folder.path().join("out.gguf");
    let report = quantize(&model, &out, &Recipe::new(FormatChoice::Keep), &()).expect("writable");
    let row = report.tensors.iter().find(|row| row.name == "layer.weight").expect("there");
    assert_eq!((row.from.as_str(), row.to.as_str()), ("gptq int4/32", "float32"));
    assert!(row.remark.as_ref().is_some_and(|remark| remark.contains("dequantized")), "{:?}", row.remark);
    let back = ModelFile::open(&out).expect("written");
    assert_eq!(back.tensor("layer.weight").expect("there").values().expect("floats"), values);
    let out = folder.path().join("out.safetensors");
    let half = ScaledFormat::new(DType::Float16).into();
    quantize(&model, &out, &Recipe::new(FormatChoice::To(half)), &()).expect("writable");
    assert_eq!(ModelFile::open(&out).expect("written").tensor("layer.weight").expect("there").bytes(), 2 * 32 * 128);
    let same = bitgrain_nn::model::compare::compare(&model, &back, &()).expect("comparable");
    assert_eq!(same.overall.relative_rmse, 0.0);
}
