//! Folders in the schemes of compressed-tensors: what is written, what stays, and what is refused.

use std::fs;
use std::path::Path;

use bitgrain_nn::model::CheckpointError;
use bitgrain_nn::model::convert::{FormatChoice, FormatOptions, Recipe, Scheme, quantize_checkpoint, scheme_format};
use bitgrain_nn::{ModelFile, ModelFileError};
use serde_json::Value;

use crate::vectors;

/// Columns of the wide layer, whose row 1 is 0.
const COLS: usize = 256;

const WIDE: &str = "model.layers.0.mlp.up_proj.weight";

/// Copies a model with two linear layers, one of them narrow, an embedding, an output layer and a norm.
pub(crate) fn model(folder: &Path) {
    for file in ["model.safetensors", "config.json", "tokenizer.json"] {
        fs::copy(vectors().join("written/input").join(file), folder.join(file)).expect("golden");
    }
}

fn written(input: &Path, out: &Path, scheme: Scheme, recipe: Recipe) -> Result<(), ModelFileError> {
    let model = ModelFile::open(input)?;
    let format = scheme_format(scheme, &FormatOptions::default()).expect("no options");
    quantize_checkpoint(&model, out, (scheme, format), recipe, &()).map(drop)
}

fn keep() -> Recipe {
    Recipe::new(FormatChoice::Keep)
}

#[test]
fn every_scheme_reads_back_with_a_small_error() {
    let folder = tempfile::tempdir().expect("temporary directory");
    model(folder.path());
    let original =
        ModelFile::open(folder.path()).expect("golden").tensor(WIDE).expect("there").values().expect("floats");
    for (scheme, most) in Scheme::ALL.into_iter().zip([0.2, 0.03, 0.03, 0.1, 0.13]) {
        let out = folder.path().join(scheme.name());
        written(folder.path(), &out, scheme, keep()).unwrap_or_else(|error| panic!("{}: {error}", scheme.name()));
        let back = ModelFile::open(&out).expect("written");
        let layer = back.tensor(WIDE).expect("there");
        let values = layer.values().expect("decodes");
        let squares = |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x) * f64::from(x)).sum::<f64>();
        let error =
            squares(&mut original.iter().zip(&values).map(|(a, b)| a - b)) / squares(&mut original.iter().copied());
        assert!(error.sqrt() < most && error > 0.0, "{}: {}", scheme.name(), error.sqrt());
        assert!(layer.storage.to_string().starts_with("compressed-tensors"), "{}", layer.storage);
        assert!(values[COLS..2 * COLS].iter().all(|x| *x == 0.0), "{}", scheme.name());
        for kept in ["lm_head.weight", "model.embed_tokens.weight", "model.norm.weight"] {
            assert_eq!(back.tensor(kept).expect("there").storage.to_string(), "float32", "{}: {kept}", scheme.name());
        }
        let config: Value = serde_json::from_slice(&fs::read(out.join("config.json")).expect("there")).expect("JSON");
        assert_eq!(config["hidden_size"], 256);
        let quantization = &config["quantization_config"];
        assert_eq!(quantization["quant_method"], "compressed-tensors");
        let ignored: Vec<&str> =
            quantization["ignore"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        let odd = "model.layers.0.odd";
        let grouped = !matches!(scheme, Scheme::W8A8 | Scheme::Fp8Dynamic);
        assert_eq!(ignored.contains(&odd), grouped, "{}: {ignored:?}", scheme.name());
        assert!(ignored.contains(&"lm_head") && out.join("tokenizer.json").is_file());
    }
}

#[test]
fn packages_decompress_golden_folders_to_the_same_values() {
    // The folders in `written` were checked with the package compressed-tensors, which decompressed them to the values in
    // expected.safetensors (spec/make_scheme_vectors.py). Equal bytes therefore mean equal values.
    let folder = tempfile::tempdir().expect("temporary directory");
    model(folder.path());
    for scheme in Scheme::ALL {
        let out = folder.path().join(scheme.name());
        written(folder.path(), &out, scheme, keep()).expect("writable");
        let golden = vectors().join("written").join(scheme.name());
        for file in ["model.safetensors", "config.json"] {
            let (found, wanted) =
                (fs::read(out.join(file)).expect("written"), fs::read(golden.join(file)).expect("golden"));
            assert!(found == wanted, "{} {file}", scheme.name());
        }
        let expected = fs::read(golden.join("expected.safetensors")).expect("golden");
        let expected = ModelFile::from_bytes("expected.safetensors", expected).expect("golden");
        for tensor in expected.tensors() {
            let found = ModelFile::open(&out).expect("written").tensor(&tensor.name).expect("there").values();
            assert_eq!(found.expect("decodes"), tensor.values().expect("floats"), "{} {}", scheme.name(), tensor.name);
        }
    }
}

#[test]
fn unsuitable_models_and_options_are_refused() {
    let folder = tempfile::tempdir().expect("temporary directory");
    model(folder.path());
    let out = folder.path().join("out");
    let error = |found: Result<(), ModelFileError>| match found {
        Err(ModelFileError::Checkpoint(error)) => *error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(
        written(folder.path(), folder.path(), Scheme::W4A16, keep()),
        Err(ModelFileError::SameFile { .. })
    ));
    let blocks = keep().rule("*odd*", FormatChoice::To("q8_0".parse().expect("known")));
    let refused = error(written(folder.path(), &out, Scheme::W4A16, blocks));
    assert!(matches!(refused, CheckpointError::NotInScheme { .. }), "{refused}");
    let nothing = error(written(folder.path(), &out, Scheme::W4A16, keep().rule("*up_proj*", FormatChoice::Keep)));
    assert!(matches!(nothing, CheckpointError::NoLayer { .. }), "{nothing}");
    assert!(!out.exists(), "a refused conversion leaves no folder");
    fs::remove_file(folder.path().join("config.json")).expect("there");
    let missing = error(written(folder.path(), &out, Scheme::W8A8, keep()));
    assert!(matches!(missing, CheckpointError::NoModelConfig { .. }), "{missing}");
    let options = FormatOptions { group: Some(64), ..FormatOptions::default() };
    assert_eq!(scheme_format(Scheme::W4A16, &options).expect("allowed").to_string(), "int4");
    assert!(scheme_format(Scheme::Nvfp4A16, &options).is_err() && scheme_format(Scheme::W8A8, &options).is_err());
}
