//! Broken and unsupported files, and invalid arguments: typed errors that name the cause.

use bitgrain_formats::gguf::{Array, Header, Metadata, Value};
use bitgrain_nn::ModelFile;
use bitgrain_nn::network::language::{CacheFormat, Decoder, LanguageError, LanguageModel, Sampling};

use crate::decoding::text;
use crate::tiny::{Spec, vocabulary, write};

/// Opens a model after `change` of its metadata and tensors.
fn changed(
    spec: &Spec,
    change: impl FnOnce(&mut Metadata, &mut Vec<(String, Vec<usize>, Vec<f32>)>),
) -> Result<LanguageModel, LanguageError> {
    let file = spec.file();
    let header = Header::parse(&file).expect("valid");
    let model = ModelFile::from_bytes("tiny.gguf", file).expect("valid");
    let mut tensors = model
        .tensors()
        .iter()
        .map(|tensor| {
            let shape = tensor.shape.iter().map(|dim| usize::try_from(*dim).expect("small")).collect();
            (tensor.name.clone(), shape, tensor.values().expect("readable"))
        })
        .collect();
    let mut metadata = header.metadata;
    change(&mut metadata, &mut tensors);
    LanguageModel::load(&ModelFile::from_bytes("tiny.gguf", write(&metadata, &tensors)).expect("valid"), None)
}

fn message(found: Result<LanguageModel, LanguageError>) -> String {
    found.expect_err("invalid").to_string()
}

#[test]
fn unsupported_architectures_are_named() {
    let found = changed(&Spec::llama(), |metadata, _| drop(metadata.set("general.architecture", "mamba")));
    assert!(matches!(&found, Err(LanguageError::Architecture { found, .. }) if found == "mamba"));
    assert!(message(found).contains("supported are llama, qwen2, qwen3, qwen3moe, gemma3, phi3, smollm3"));
    let folder = tempfile::tempdir().expect("temporary directory");
    let path = folder.path().join("x.npy");
    std::fs::write(&path, bitgrain_formats::npy::f32_header(&[0])).expect("writable");
    assert!(matches!(LanguageModel::open(&path), Err(LanguageError::NotGguf { found: "npy", .. })));
}

#[test]
fn invalid_metadata_are_named() {
    let spec = Spec::llama();
    for (key, value, wanted) in [
        ("llama.block_count", Value::U32(4_000_000), "at most the number of tensors"),
        ("llama.block_count", Value::U32(3), "blk.2.attn_norm.weight"),
        ("llama.embedding_length", "many".into(), "string"),
        ("llama.embedding_length", Value::U32(0), "from 1 to 2147483647"),
        ("llama.attention.head_count_kv", Value::U32(4), "a divisor of 6"),
        ("llama.attention.value_length", Value::U32(8), "the length of the keys, 16"),
        ("llama.attention.head_count", Value::Array(Array::U32(vec![6, 3])), "llama.attention.head_count"),
        ("llama.rope.dimension_count", Value::U32(5), "an even number up to 16"),
        ("llama.rope.dimension_count", Value::U32(32), "an even number up to 16"),
        ("llama.rope.freq_base", Value::F32(0.0), "a positive number"),
        ("llama.rope.freq_base", Value::F32(f32::NAN), "a finite number"),
        ("llama.rope.scaling.type", "magic".into(), "none, linear, yarn or longrope"),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(-1.0), "a positive number"),
        ("llama.feed_forward_length", Value::U32(64), "blk.0.ffn_gate.weight"),
        ("llama.expert_count", Value::U32(4), "llama.expert_used_count"),
        ("tokenizer.ggml.model", "rwkv".into(), "gpt2 or llama"),
        ("tokenizer.ggml.pre", "klingon".into(), "smollm"),
        ("tokenizer.ggml.tokens", Value::U32(3), "an array of strings"),
        ("tokenizer.ggml.token_type", Value::Array(Array::I32(vec![1])), "one i32 per token"),
        ("tokenizer.ggml.merges", Value::Array(Array::String(["ab"].iter().collect())), "two tokens with a space"),
        ("tokenizer.ggml.bos_token_id", Value::U32(1_000_000), "a token"),
    ] {
        let found = message(changed(&spec, |metadata, _| drop(metadata.set(key, value.clone()))));
        assert!(found.contains(wanted), "{key}: {found}");
    }
    for key in [
        "general.architecture",
        "llama.block_count",
        "llama.context_length",
        "llama.embedding_length",
        "llama.feed_forward_length",
        "llama.attention.head_count",
        "llama.attention.layer_norm_rms_epsilon",
        "tokenizer.ggml.model",
        "tokenizer.ggml.tokens",
        "tokenizer.ggml.merges",
    ] {
        let found = changed(&spec, |metadata, _| drop(metadata.remove(key)));
        assert!(matches!(&found, Err(LanguageError::MissingKey { key: found, .. }) if found == key), "{key}");
    }
}

#[test]
fn missing_and_misshapen_tensors_are_named() {
    let spec = Spec::llama();
    let count = spec.open().tensors().len();
    for at in 0..count {
        let mut name = String::new();
        let found = changed(&spec, |_, tensors| name = tensors.remove(at).0);
        // Without an output matrix, the embedding takes its place.
        if name != "output.weight" {
            assert!(message(found).contains(&name), "{name}");
        }
        let found = changed(&spec, |_, tensors| {
            let (_, shape, values) = &mut tensors[at];
            shape[0] += 1;
            let more = shape.iter().product();
            values.resize(more, 0.0);
        });
        assert!(matches!(found, Err(LanguageError::TensorShape { .. })), "{name}");
        let found = changed(&spec, |_, tensors| tensors[at].2[1] = f32::NAN);
        // The embedding table stays mapped, and its rows are checked when they are used.
        assert!(name == "token_embd.weight" || matches!(found, Err(LanguageError::Weights { .. })), "{name}");
    }
}

#[test]
fn a_vocabulary_beyond_the_table_is_rejected() {
    let found = changed(&Spec::llama(), |_, tensors| {
        for name in ["token_embd.weight", "output.weight"] {
            let (_, shape, values) = tensors.iter_mut().find(|tensor| tensor.0 == name).expect("there");
            shape[0] -= 1;
            values.truncate(shape[0] * shape[1]);
        }
    });
    assert!(matches!(found, Err(LanguageError::Token { .. })));
    assert!(vocabulary(false).1 > 256);
}

#[test]
fn every_truncation_is_an_error() {
    let file = Spec { layers: 1, ..Spec::llama() }.file();
    for len in (0..file.len()).step_by(97) {
        let opened = ModelFile::from_bytes("tiny.gguf", file[..len].to_vec());
        assert!(opened.map_err(LanguageError::from).and_then(|model| LanguageModel::load(&model, None)).is_err());
    }
}

#[test]
fn invalid_arguments_are_rejected() {
    let file = Spec::llama().open();
    let model = LanguageModel::load(&file, None).expect("valid");
    let decoder = model.decoder();
    for context in [0, 257] {
        assert!(matches!(Decoder::load(&file, Some(context)), Err(LanguageError::Setting { name: "context", .. })));
    }
    let mut cache = decoder.cache(CacheFormat::F16).expect("fits");
    assert!(matches!(decoder.forward(&[1, 5000], &mut cache, 0), Err(LanguageError::Token { id: 5000, .. })));
    assert!(matches!(decoder.forward(&text(257), &mut cache, 0), Err(LanguageError::TooLong { tokens: 257, .. })));
    assert!(cache.is_empty());
    assert_eq!(decoder.forward(&[], &mut cache, 0).expect("nothing to do"), Vec::<f32>::new());
    assert!(matches!(decoder.cache(CacheFormat::Q8_0), Err(LanguageError::CacheFormat { head: 16, block: 32, .. })));
    let generate = |prompt: &[u32]| model.generate(prompt, 4, Sampling::GREEDY, CacheFormat::F16, |_| true);
    assert!(matches!(generate(&[]), Err(LanguageError::Setting { name: "prompt", .. })));
    let found = changed(&Spec::llama(), |metadata, _| drop(metadata.remove("tokenizer.chat_template")));
    let refused = found.expect("valid").chat(None, "Hi");
    assert!(matches!(refused, Err(LanguageError::ChatTemplate { present: false, .. })));
    assert!(model.chat(Some("Be brief."), "Hi").is_ok());
}
