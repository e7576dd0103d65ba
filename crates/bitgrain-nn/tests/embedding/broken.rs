//! Incomplete and foreign folders give typed errors that name the defect.

use std::fs;
use std::path::Path;

use bitgrain_nn::ModelFileError;
use bitgrain_nn::network::NetworkError;
use bitgrain_nn::network::embed::{EmbedError, SentenceEncoder};
use serde_json::json;

use crate::tiny::{Tiny, write_tokenizer};

fn refused(folder: &Path) -> EmbedError {
    match SentenceEncoder::open(folder) {
        Ok(_) => panic!("{} was accepted", folder.display()),
        Err(error) => error,
    }
}

#[test]
fn missing_files_are_named() {
    for (file, part) in [
        ("config.json", "config.json"),
        ("vocab.txt", "expected tokenizer.json"),
        ("model.safetensors", "expected model.safetensors"),
    ] {
        let folder = Tiny::new().write();
        fs::remove_file(folder.path().join(file)).expect("file exists");
        let error = refused(folder.path()).to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(matches!(refused(Path::new("no-such-folder")), EmbedError::Io { .. }));
}

#[test]
fn other_kinds_of_models_are_rejected_by_name() {
    for (setting, value) in [
        ("model_type", json!("mpnet")),
        ("position_embedding_type", json!("relative_key")),
        ("hidden_act", json!("quick_gelu")),
        ("max_position_embeddings", json!(1)),
        ("num_hidden_layers", json!(1_000_000_000_000_u64)),
    ] {
        let mut tiny = Tiny::new();
        tiny.config[setting] = value;
        let error = refused(tiny.write().path());
        assert!(matches!(&error, EmbedError::Unsupported { setting: found, .. } if *found == setting), "{error}");
    }
    let folder = Tiny::new().write();
    fs::create_dir(folder.path().join("1_Pooling")).expect("writable");
    fs::write(folder.path().join("1_Pooling/config.json"), r#"{"pooling_mode_max_tokens": true}"#).expect("writable");
    assert!(matches!(refused(folder.path()), EmbedError::Unsupported { setting: "pooling_mode", .. }));
}

#[test]
fn other_tokenizers_are_rejected() {
    for place in ["/model/type", "/normalizer/type", "/pre_tokenizer/type"] {
        let folder = Tiny::new().write();
        write_tokenizer(folder.path(), |file| *file.pointer_mut(place).expect("setting exists") = json!("BPE"));
        assert!(matches!(refused(folder.path()), EmbedError::Unsupported { .. }), "{place}");
    }
    let folder = Tiny::new().write();
    fs::write(folder.path().join("tokenizer.json"), "{\"model\": ").expect("writable");
    assert!(matches!(refused(folder.path()), EmbedError::Json { .. }));
}

#[test]
fn vocabularies_must_fit_the_model() {
    let mut tiny = Tiny::new();
    tiny.vocabulary.push("more");
    assert!(matches!(refused(tiny.write().path()), EmbedError::VocabularySize { id: 14, rows: 14, .. }));
    let mut tiny = Tiny::new();
    tiny.vocabulary[2] = "start";
    assert!(matches!(refused(tiny.write().path()), EmbedError::NoToken { token, .. } if token == "[CLS]"));
}

#[test]
fn tensors_must_exist_and_have_the_expected_shape() {
    let name = "encoder.layer.1.output.dense.weight";
    let mut tiny = Tiny::new();
    let (_, values) = tiny.tensors.remove(name).expect("file exists");
    assert!(
        matches!(refused(tiny.write().path()), EmbedError::Model(ModelFileError::NoTensor { name: found, .. }) if found == name)
    );
    tiny.tensors.insert(name.to_owned(), (vec![64, 32], values));
    let error = refused(tiny.write().path());
    let wrong = |wanted: &[u64], found: &[u64]| (wanted, found) == (&[32, 64], &[64, 32]);
    assert!(matches!(&error, EmbedError::TensorShape { wanted, found, .. } if wrong(wanted, found)), "{error}");
}

#[test]
fn impossible_settings_and_weights_are_rejected() {
    let mut tiny = Tiny::new();
    tiny.config["num_attention_heads"] = json!(5);
    assert!(matches!(refused(tiny.write().path()), EmbedError::Network(NetworkError::Setting { .. })));
    for (setting, value) in
        [("hidden_size", json!(0)), ("hidden_size", json!(u64::MAX)), ("layer_norm_eps", json!(-1.0))]
    {
        let mut tiny = Tiny::new();
        tiny.config[setting] = value;
        refused(tiny.write().path());
    }
    let mut tiny = Tiny::new();
    tiny.tensors.get_mut("embeddings.LayerNorm.bias").expect("file exists").1[3] = f32::NAN;
    let error = refused(tiny.write().path());
    assert!(matches!(&error, EmbedError::Network(NetworkError::NonFiniteWeight { index: 3, .. })), "{error}");
}

#[test]
fn truncated_files_are_errors_and_never_panics() {
    // A vocabulary is invalid only if cut near its start: embedding tables commonly have more rows than it has words.
    for (file, most) in [("config.json", 8), ("vocab.txt", 3), ("tokenizer.json", 8), ("model.safetensors", 8)] {
        let folder = Tiny::new().write();
        write_tokenizer(folder.path(), |_| {});
        if file == "vocab.txt" {
            fs::remove_file(folder.path().join("tokenizer.json")).expect("file exists");
        }
        let path = folder.path().join(file);
        let bytes = fs::read(&path).expect("file exists");
        for share in 0..most {
            fs::write(&path, &bytes[..bytes.len() * share / 16]).expect("writable");
            refused(folder.path());
        }
    }
}
