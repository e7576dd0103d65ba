//! Language models: Hugging Face folders of every architecture as GGUF, named mixes, shards, and errors for bad folders.

use std::fs;
use std::path::Path;

use bitgrain_formats::gguf::{Array, Value};
use bitgrain_nn::model::convert::{FormatChoice, Mix, Recipe, quantize};
use bitgrain_nn::model::language::{self, LanguageConversionError};
use bitgrain_nn::{Container, ModelFile, ModelFileError};
use serde_json::{Value as Json, json};

use super::{Folder, Weights, weights, write_safetensors};

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Returns a byte-level tokenizer of 8 tokens with the splitting rule of Llama 3.
fn byte_level() -> Json {
    json!({
        "added_tokens": [
            {"id": 6, "content": "<s>", "special": true, "normalized": false},
            {"id": 7, "content": "<tool>", "special": false, "normalized": false}],
        "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [6], "tokens": ["<s>"]}}},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "ignore_merges": true, "byte_fallback": false,
            "vocab": {"a": 0, "b": 1, "ab": 2, "\u{120}": 3, "\u{120}a": 4, "c": 5},
            "merges": [["a", "b"], ["\u{120}", "a"]]}})
}

/// Returns the configuration of a decoder of two layers.
fn config(class: &str, kind: &str) -> Json {
    json!({"architectures": [class], "model_type": kind, "hidden_size": 8, "intermediate_size": 12,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "vocab_size": 8,
        "max_position_embeddings": 32, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "bos_token_id": 6})
}

/// Returns the tensors of that decoder.
fn decoder() -> Vec<Weights> {
    let mut all = vec![weights("model.embed_tokens.weight", &[8, 8]), weights("model.norm.weight", &[8])];
    for layer in 0..2 {
        for (part, shape) in [
            ("input_layernorm", &[8][..]),
            ("self_attn.q_proj", &[8, 8]),
            ("self_attn.k_proj", &[4, 8]),
            ("self_attn.v_proj", &[4, 8]),
            ("self_attn.o_proj", &[8, 8]),
            ("post_attention_layernorm", &[8]),
            ("mlp.gate_proj", &[12, 8]),
            ("mlp.up_proj", &[12, 8]),
            ("mlp.down_proj", &[8, 12]),
        ] {
            all.push(weights(format!("model.layers.{layer}.{part}.weight").leak(), shape));
        }
    }
    all
}

fn write_json(path: &Path, json: &Json) {
    fs::write(path, json.to_string()).expect("writable");
}

/// Writes a folder and returns it.
fn folder(config: &Json, tokenizer: &Json, tensors: &[Weights]) -> Folder {
    let folder = Folder::new();
    write_json(&folder.path("config.json"), config);
    write_json(&folder.path("tokenizer.json"), tokenizer);
    write_json(&folder.path("tokenizer_config.json"), &json!({"bos_token": "<s>", "chat_template": "{{ x }}"}));
    write_safetensors(&folder.path("model.safetensors"), tensors);
    folder
}

fn open(folder: &Folder) -> Result<ModelFile, ModelFileError> {
    language::open(folder.path("."), Container::Gguf)
}

fn language_error(folder: &Folder) -> LanguageConversionError {
    match open(folder) {
        Err(ModelFileError::Language(error)) => *error,
        other => panic!("expected a language model error, found {other:?}"),
    }
}

fn values(model: &ModelFile, name: &str) -> Vec<f32> {
    model.tensor(name).expect("there").values().expect("readable")
}

#[test]
fn a_llama_folder_gets_ggufs_names_order_and_metadata() {
    let folder = folder(&config("LlamaForCausalLM", "llama"), &byte_level(), &decoder());
    let (hf, model) = (ModelFile::open(folder.path(".")).expect("valid"), open(&folder).expect("converts"));
    let get = |key: &str| model.metadata().gguf.get(key).cloned();
    assert_eq!(get("general.architecture"), Some("llama".into()));
    assert_eq!(get("llama.context_length"), Some(32_u32.into()));
    assert_eq!(get("llama.attention.head_count_kv"), Some(1_u32.into()));
    assert_eq!(get("llama.rope.dimension_count"), Some(4_u32.into()));
    assert_eq!(get("tokenizer.ggml.pre"), Some("llama-bpe".into()));
    assert_eq!(get("tokenizer.ggml.bos_token_id"), Some(6_u32.into()));
    assert_eq!(get("tokenizer.ggml.add_bos_token"), Some(true.into()));
    assert_eq!(get("tokenizer.chat_template"), Some("{{ x }}".into()));
    assert_eq!(get("tokenizer.ggml.token_type"), Some(Value::Array(Array::I32(vec![1, 1, 1, 1, 1, 1, 3, 4]))));
    let merges = ["a b", "\u{120} a"].iter().collect();
    assert_eq!(get("tokenizer.ggml.merges"), Some(Value::Array(Array::String(merges))));
    // Rows 0 and 2 of a head of four are a rotary pair, as are 1 and 3.
    let q = values(&hf, "model.layers.1.self_attn.q_proj.weight");
    let row = |i: usize| &q[i * 8..(i + 1) * 8];
    let wanted = [0, 2, 1, 3, 4, 6, 5, 7].map(row).concat();
    assert_eq!(values(&model, "blk.1.attn_q.weight"), wanted);
    assert_eq!(values(&model, "blk.1.attn_v.weight"), values(&hf, "model.layers.1.self_attn.v_proj.weight"));
    assert!(model.tensors().iter().all(|tensor| !tensor.name.contains("model.")));
}

#[test]
fn other_families_keep_their_rows_and_gemma_adds_one_to_norms() {
    let mut tensors = decoder();
    for layer in 0..2 {
        for part in ["self_attn.q_norm", "self_attn.k_norm"] {
            tensors.push(weights(format!("model.layers.{layer}.{part}.weight").leak(), &[4]));
        }
        for part in ["pre_feedforward_layernorm", "post_feedforward_layernorm"] {
            tensors.push(weights(format!("model.layers.{layer}.{part}.weight").leak(), &[8]));
        }
    }
    let mut gemma = config("Gemma3ForCausalLM", "gemma3_text");
    gemma["sliding_window"] = 16.into();
    let folder = folder(&gemma, &byte_level(), &tensors);
    let (hf, model) = (ModelFile::open(folder.path(".")).expect("valid"), open(&folder).expect("converts"));
    assert_eq!(values(&model, "blk.0.attn_q.weight"), values(&hf, "model.layers.0.self_attn.q_proj.weight"));
    let norm = values(&hf, "model.layers.0.self_attn.q_norm.weight");
    assert_eq!(values(&model, "blk.0.attn_q_norm.weight"), norm.iter().map(|x| x + 1.0).collect::<Vec<_>>());
    let names = ["blk.1.post_attention_norm.weight", "blk.1.ffn_norm.weight", "blk.1.post_ffw_norm.weight"];
    assert!(names.iter().all(|name| model.tensor(name).is_ok()));
    let base = model.metadata().gguf.get("gemma3.rope.freq_base_swa");
    assert_eq!(base, Some(&Value::F32(10_000.0)));
}

#[test]
fn experts_are_stacked_and_missing_ones_are_an_error() {
    let mut moe = config("Qwen3MoeForCausalLM", "qwen3_moe");
    for (key, value) in [("num_experts", 2), ("num_experts_per_tok", 1), ("moe_intermediate_size", 4)] {
        moe[key] = value.into();
    }
    let mut tensors = decoder();
    tensors.retain(|tensor| !tensor.name.contains(".mlp."));
    for layer in 0..2 {
        tensors.push(weights(format!("model.layers.{layer}.mlp.gate.weight").leak(), &[2, 8]));
        for expert in 0..2 {
            for (part, shape) in [("gate_proj", [4, 8]), ("up_proj", [4, 8]), ("down_proj", [8, 4])] {
                let name = format!("model.layers.{layer}.mlp.experts.{expert}.{part}.weight");
                tensors.push(weights(name.leak(), &shape));
            }
        }
    }
    let folder = folder(&moe, &byte_level(), &tensors);
    let (hf, model) = (ModelFile::open(folder.path(".")).expect("valid"), open(&folder).expect("converts"));
    let stacked = model.tensor("blk.1.ffn_down_exps.weight").expect("there");
    assert_eq!(stacked.shape, [2, 8, 4]);
    let parts = [0, 1].map(|expert| values(&hf, &format!("model.layers.1.mlp.experts.{expert}.down_proj.weight")));
    assert_eq!(stacked.values().expect("readable"), parts.concat());
    // The router stays f32 in every format.
    let out = folder.path("out.gguf");
    let recipe = Recipe::new(FormatChoice::To("float16".parse().expect("known")));
    quantize(&model, &out, &recipe, &()).expect("writes");
    let back = ModelFile::open(&out).expect("valid");
    assert_eq!(back.tensor("blk.0.ffn_gate_inp.weight").expect("there").storage.to_string(), "float32");
    assert_eq!(back.tensor("blk.0.ffn_down_exps.weight").expect("there").storage.to_string(), "float16");
    tensors.pop();
    write_safetensors(&folder.path("model.safetensors"), &tensors);
    assert!(matches!(language_error(&folder), LanguageConversionError::MissingTensor { .. }));
}

#[test]
fn bad_folders_are_typed_errors() {
    let good = config("LlamaForCausalLM", "llama");
    let check =
        |config: &Json, tokenizer: &Json, tensors: &[Weights]| language_error(&folder(config, tokenizer, tensors));
    let unknown = check(&config("MambaForCausalLM", "mamba"), &byte_level(), &decoder());
    assert!(
        matches!(&unknown, LanguageConversionError::Architecture { architecture, .. } if architecture == "MambaForCausalLM")
    );
    assert!(unknown.to_string().contains("convert_hf_to_gguf.py"), "{unknown}");
    for (key, value) in [("hidden_size", json!("8")), ("num_hidden_layers", json!(0)), ("rms_norm_eps", json!("x"))] {
        let mut wrong = good.clone();
        wrong[key] = value;
        assert!(matches!(check(&wrong, &byte_level(), &decoder()), LanguageConversionError::Value { .. }), "{key}");
    }
    let mut missing = good.clone();
    missing.as_object_mut().expect("object").remove("intermediate_size");
    assert!(matches!(check(&missing, &byte_level(), &decoder()), LanguageConversionError::MissingKey { .. }));
    for (key, value) in [("num_key_value_heads", 3), ("vocab_size", 4)] {
        let mut contradiction = good.clone();
        contradiction[key] = value.into();
        let error = check(&contradiction, &byte_level(), &decoder());
        assert!(matches!(error, LanguageConversionError::Contradiction { .. }), "{key}: {error}");
    }
    let mut wide = good.clone();
    wide["intermediate_size"] = 16.into();
    assert!(matches!(check(&wide, &byte_level(), &decoder()), LanguageConversionError::Shape { .. }));
    let mut deep = good.clone();
    deep["num_hidden_layers"] = 3.into();
    assert!(matches!(check(&deep, &byte_level(), &decoder()), LanguageConversionError::MissingTensor { .. }));
    let mut odd = byte_level();
    odd["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "x+".into();
    assert!(matches!(check(&good, &odd, &decoder()), LanguageConversionError::PreTokenizer { .. }));
    let mut doubled = byte_level();
    doubled["model"]["vocab"]["zz"] = 2.into();
    assert!(matches!(check(&good, &doubled, &decoder()), LanguageConversionError::Tokenizer { .. }));
    let mut extra = decoder();
    extra.push(weights("model.layers.0.self_attn.sinks", &[2]));
    assert!(matches!(check(&good, &byte_level(), &extra), LanguageConversionError::UnexpectedTensor { .. }));
    let bare = folder(&good, &byte_level(), &decoder());
    fs::write(bare.path("config.json"), "{").expect("writable");
    assert!(matches!(language_error(&bare), LanguageConversionError::Json { .. }));
    write_json(&bare.path("config.json"), &good);
    fs::remove_file(bare.path("tokenizer.json")).expect("there");
    assert!(matches!(language_error(&bare), LanguageConversionError::NoTokenizer { .. }));
    fs::write(bare.path("tokenizer.model"), b"\x0a\xff").expect("writable");
    assert!(matches!(language_error(&bare), LanguageConversionError::Tokenizer { .. }));
}

#[test]
fn the_weight_file_of_a_folder_keeps_its_names() {
    let folder = folder(&config("MambaForCausalLM", "mamba"), &byte_level(), &decoder());
    let model = language::open(folder.path("model.safetensors"), Container::Gguf).expect("opens");
    assert!(model.tensor("model.norm.weight").is_ok());
    let model = language::open(folder.path("."), Container::Safetensors).expect("opens");
    assert!(model.tensor("model.norm.weight").is_ok());
}

/// Returns a GGUF model of eight layers with rows of 256, and of 96 in `ffn_down`.
fn gguf_model(folder: &Folder) -> ModelFile {
    let mut tensors = vec![weights("token_embd.weight", &[4, 256]), weights("output_norm.weight", &[256])];
    for layer in 0..8 {
        for (part, shape) in [("attn_q", [256, 256]), ("attn_v", [64, 256]), ("ffn_down", [256, 96])] {
            tensors.push(weights(format!("blk.{layer}.{part}.weight").leak(), &shape));
        }
    }
    let mut metadata = bitgrain_formats::gguf::Metadata::default();
    metadata.set("general.architecture", "llama");
    for (key, value) in [("block_count", 8), ("attention.head_count", 4), ("attention.head_count_kv", 1)] {
        metadata.set(format!("llama.{key}"), value);
    }
    let path = folder.path("in.gguf");
    super::write_gguf(&path, &metadata, &tensors);
    ModelFile::open(path).expect("valid")
}

#[test]
fn mixes_follow_llama_cpp_by_role_layer_and_row_length() {
    let folder = Folder::new();
    let model = gguf_model(&folder);
    let mix = Mix::from_name("Q4_K_M").expect("known");
    let choices = mix.choices(&model, None).expect("a language model");
    let of = |name: &str| {
        let found = choices.iter().find(|(own, _)| own == name).expect("every tensor");
        found.1.to_string()
    };
    // The first and last eighth of the layers and every third in between have more bits.
    let values: Vec<String> = (0..8).map(|layer| of(&format!("blk.{layer}.attn_v.weight"))).collect();
    assert_eq!(values, ["q6_k", "q4_k", "q4_k", "q6_k", "q4_k", "q4_k", "q6_k", "q6_k"]);
    assert_eq!([of("blk.3.attn_q.weight"), of("token_embd.weight")], ["q4_k", "q6_k"]);
    // Rows of 96 fit no K-quant.
    assert_eq!([of("blk.0.ffn_down.weight"), of("blk.1.ffn_down.weight")], ["q8_0", "q5_0"]);
    assert_eq!(of("output_norm.weight"), "keep");
    let small = Mix::from_name("Q2_K_S").expect("known").choices(&model, None);
    assert!(
        matches!(small, Err(ModelFileError::Language(error)) if matches!(*error, LanguageConversionError::MixImportance { .. }))
    );
    let other = folder.safetensors("x.safetensors", &[weights("w", &[2, 256])]);
    let other = mix.choices(&other, None);
    assert!(
        matches!(other, Err(ModelFileError::Language(error)) if matches!(*error, LanguageConversionError::Mix { .. }))
    );
}

#[test]
fn a_mix_sets_the_file_type_and_rules_take_precedence() {
    let folder = Folder::new();
    let model = gguf_model(&folder);
    let recipe =
        Recipe::new(FormatChoice::Keep).rule("blk.0.attn_q*", FormatChoice::To("q8_0".parse().expect("known")));
    let recipe = recipe.with_mix(Mix::from_name("Q3_K_M").expect("known"), &model).expect("a language model");
    let out = folder.path("out.gguf");
    quantize(&model, &out, &recipe, &()).expect("writes");
    let back = ModelFile::open(&out).expect("valid");
    assert_eq!(back.metadata().gguf.get("general.file_type"), Some(&12_u32.into()));
    let storage = |name: &str| back.tensor(name).expect("there").storage.to_string();
    assert_eq!([storage("blk.0.attn_q.weight"), storage("blk.1.attn_q.weight")], ["q8_0", "q3_k"]);
    assert_eq!([storage("blk.1.attn_v.weight"), storage("blk.2.attn_v.weight")], ["q5_k", "q4_k"]);
}

#[test]
fn splits_are_named_and_read_as_by_llama_cpp() {
    let folder = Folder::new();
    let model = gguf_model(&folder);
    let mut recipe = Recipe::new(FormatChoice::Keep);
    (recipe.split_gguf, recipe.shard_bytes) = (true, 1_000_000);
    let report = quantize(&model, &folder.path("out.gguf"), &recipe, &()).expect("writes");
    let count = report.files.len();
    assert!(count > 2, "{count} shards");
    assert!(folder.names().contains(&format!("out-00002-of-{count:05}.gguf")), "{:?}", folder.names());
    let back = ModelFile::open(&report.files[0]).expect("valid");
    assert_eq!(back.tensors().len(), model.tensors().len());
    assert_eq!(back.metadata().gguf.get("llama.block_count"), Some(&8_u32.into()));
    assert_eq!(back.metadata().gguf.get("split.count"), None);
    for tensor in model.tensors() {
        assert_eq!(values(&back, &tensor.name), tensor.values().expect("readable"), "{}", tensor.name);
    }
    let split = |path: &Path| matches!(ModelFile::open(path), Err(ModelFileError::Split { .. }));
    assert!(split(&report.files[1]), "not the first shard");
    fs::copy(&report.files[0], folder.path("renamed.gguf")).expect("copies");
    assert!(split(&folder.path("renamed.gguf")), "the name does not tell the others");
    fs::copy(&report.files[2], &report.files[1]).expect("copies");
    assert!(split(&report.files[0]), "a shard of another number");
    fs::remove_file(&report.files[1]).expect("there");
    assert!(matches!(ModelFile::open(&report.files[0]), Err(ModelFileError::Io { .. })));
}
