//! `bitgrain generate`, `perplexity` and `imatrix` with a small random model.

use std::fs;

use bitgrain::formats::gguf::{Array, Metadata, TensorSpec, TensorType, Value, Writer};

use crate::made::{folder, json, printed, refused, values};

const WIDTH: usize = 32;
const TEXT: &str = "one two three four five six seven eight nine ten eleven twelve";

/// Writes a model of one layer whose tokens are the bytes of ASCII, and `on`.
fn model(name: &str) -> (String, String) {
    let folder = folder(name);
    let mut metadata = Metadata::default();
    metadata.set("general.architecture", "llama");
    for (key, value) in [
        ("block_count", 1),
        ("context_length", 64),
        ("embedding_length", 32),
        ("feed_forward_length", 64),
        ("attention.head_count", 2),
        ("attention.head_count_kv", 1),
    ] {
        metadata.set(format!("llama.{key}"), value);
    }
    metadata.set("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5));
    let tokens: Vec<String> = ["<|im_start|>".to_owned(), "<|im_end|>".to_owned()]
        .into_iter()
        .chain((0x21..0x7F_u8).map(|byte| char::from(byte).to_string()))
        .chain(["\u{120}", "\u{10a}", "on"].map(str::to_owned))
        .collect();
    let kinds = (0..tokens.len()).map(|id| if id < 2 { 3 } else { 1 }).collect();
    metadata.set("tokenizer.ggml.model", "gpt2");
    metadata.set("tokenizer.ggml.pre", "gpt-2");
    metadata.set("tokenizer.ggml.tokens", Value::Array(Array::String(tokens.iter().collect())));
    metadata.set("tokenizer.ggml.token_type", Value::Array(Array::I32(kinds)));
    metadata.set("tokenizer.ggml.merges", Value::Array(Array::String(["o n"].iter().collect())));
    metadata.set("tokenizer.ggml.eos_token_id", 1);
    metadata.set("tokenizer.chat_template", "<|im_start|>");
    let count = tokens.len();
    let shapes = [
        ("token_embd", vec![count, WIDTH]),
        ("blk.0.attn_norm", vec![WIDTH]),
        ("blk.0.attn_q", vec![WIDTH, WIDTH]),
        ("blk.0.attn_k", vec![WIDTH / 2, WIDTH]),
        ("blk.0.attn_v", vec![WIDTH / 2, WIDTH]),
        ("blk.0.attn_output", vec![WIDTH, WIDTH]),
        ("blk.0.ffn_norm", vec![WIDTH]),
        ("blk.0.ffn_gate", vec![2 * WIDTH, WIDTH]),
        ("blk.0.ffn_up", vec![2 * WIDTH, WIDTH]),
        ("blk.0.ffn_down", vec![WIDTH, 2 * WIDTH]),
        ("output_norm", vec![WIDTH]),
    ];
    let spec = |(name, shape): &(&str, Vec<usize>)| TensorSpec {
        name: format!("{name}.weight"),
        dims: shape.iter().rev().map(|dim| *dim as u64).collect(),
        kind: TensorType::F32,
    };
    let specs: Vec<TensorSpec> = shapes.iter().map(spec).collect();
    let mut writer = Writer::new(Vec::new(), &metadata, &specs).expect("valid");
    for (seed, (_, shape)) in (1..).zip(&shapes) {
        let bytes: Vec<u8> =
            values(shape.iter().product(), seed).iter().flat_map(|value| value.to_le_bytes()).collect();
        writer.write(&bytes).expect("in memory");
    }
    let (path, text) = (folder.join("model.gguf"), folder.join("text.txt"));
    fs::write(&path, writer.finish().expect("complete")).expect("a file");
    fs::write(&text, TEXT.repeat(6)).expect("a file");
    let name = |path: std::path::PathBuf| path.to_str().expect("UTF-8").to_owned();
    (name(path), name(text))
}

#[test]
fn generated_text_is_the_same_as_text_and_as_json() {
    let (model, _) = model("generate");
    let options = ["--max-tokens", "12", "--seed", "3"];
    let report = json(&[&["generate", &model, "--prompt", "one", "--json"][..], &options].concat());
    let shown = printed(&[&["generate", &model, "--prompt", "one", "--threads", "2"][..], &options].concat());
    assert_eq!(report["text"].as_str().map(|text| format!("{text}\n")), Some(shown));
    assert_eq!(report["prompt_tokens"], 2); // "on" is one token
    assert!(report["tokens"].as_array().is_some_and(|tokens| tokens.len() <= 12));
    let chat = json(&["generate", &model, "--prompt", "one", "--chat", "--system", "x", "--max-tokens", "1", "--json"]);
    assert!(chat["prompt_tokens"].as_u64().is_some_and(|count| count > 25));
    let long = json(&["generate", &model, "--prompt", TEXT, "--max-tokens", "9", "--context", "64", "--json"]);
    assert_eq!(long["prompt_tokens"].as_u64().map(|count| count < 64), Some(true));
}

#[test]
fn quantizing_costs_perplexity_and_diverges_from_the_original() {
    let (model, text) = model("perplexity");
    let small = format!("{model}.q4.gguf");
    printed(&["quantize", &model, &small, "--to", "q4_0"]);
    let own = json(&["perplexity", &model, "--text", &text, "--chunk", "32", "--reference", &model, "--json"]);
    assert!(own["kl_divergence"]["mean"].as_f64().is_some_and(|mean| mean.abs() < 1e-9));
    assert_eq!(own["same_top"]["mean"], 1.0);
    let found = json(&["perplexity", &small, "--text", &text, "--chunk", "32", "--reference", &model, "--json"]);
    assert!(found["kl_divergence"]["mean"].as_f64().is_some_and(|mean| mean > 1e-5));
    assert_eq!(found["reference_perplexity"], own["perplexity"]);
    let shown = printed(&["perplexity", &small, "--text", &text, "--chunk", "32", "--chunks", "2"]);
    assert!(shown.contains("perplexity") && shown.contains("30 predictions in 2 chunks"), "{shown}");
}

#[test]
fn an_importance_matrix_is_used_by_the_quantizer() {
    let (model, text) = model("imatrix");
    let (matrix, out) = (format!("{model}.imatrix.gguf"), format!("{model}.q4.gguf"));
    let made = json(&["imatrix", &model, "--text", &text, "-o", &matrix, "--chunk", "32", "--json"]);
    assert_eq!(made["tensors"], 7);
    assert_eq!(json(&["inspect", &matrix, "--json"])["tensors"].as_array().map(Vec::len), Some(14));
    printed(&["quantize", &model, &out, "--to", "q4_0", "--imatrix", &matrix]);
    assert!(refused(&["imatrix", &model, "--text", &text, "-o", &model]).contains("is an input"));
}

#[test]
fn errors_name_the_cause() {
    let (model, text) = model("language-errors");
    assert!(refused(&["generate", &model]).contains("--prompt"));
    assert!(refused(&["generate", "no-such-file", "--prompt", "x"]).contains("no-such-file"));
    assert!(refused(&["generate", &model, "--prompt", "x", "--cache", "q3_k"]).contains("cache format"));
    assert!(refused(&["generate", &model, "--prompt", "x", "--temperature=-1"]).contains("temperature"));
    assert!(refused(&["generate", &model, "--prompt", ""]).contains("at least one token"));
    assert!(refused(&["generate", &model, "--prompt", TEXT, "--context", "8"]).contains("context length of 8"));
    assert!(refused(&["perplexity", &model, "--text", "no-such-file"]).contains("no-such-file"));
    assert!(refused(&["perplexity", &model, "--text", &text, "--chunk", "65"]).contains("context length of 64"));
    let short = format!("{text}.short");
    fs::write(&short, "one").expect("a file");
    assert!(refused(&["perplexity", &model, "--text", &short, "--chunk", "32"]).contains("at least 32 are needed"));
}

#[test]
fn a_plan_for_a_text_reports_what_the_predictions_lose() {
    let (model, text) = model("quantize-text");
    let out = format!("{model}.small.gguf");
    let common = ["quantize", &model, &out, "--budget", "8kB", "--text", &text];
    let done = json(&[&common[..], &["--json"]].concat());
    assert_eq!(done["text"]["tokens_held_out"], 64);
    assert!(done["text"]["sensitivities"]["attn_v"].as_f64().is_some_and(|value| value > 0.0), "{done}");
    assert!(done["plan"]["expected_divergence"].as_f64().is_some_and(|value| value > 0.0));
    let kl = &done["text"]["result"]["kl_divergence"];
    assert!(kl["mean"].as_f64().is_some_and(|mean| mean > 0.0) && kl["standard_error"].is_f64(), "{kl}");
    let shown = printed(&common);
    assert!(shown.contains("expected KL divergence of") && shown.contains("| KL divergence (nats)"), "{shown}");
    // Without a plan, the text gives importances, and the result is still measured.
    let fixed = json(&["quantize", &model, &out, "--to", "q4_0", "--text", &text, "--chunks", "1", "--json"]);
    assert_eq!(
        (&fixed["text"]["tokens_used"], &fixed["text"]["sensitivities"]),
        (&64.into(), &serde_json::Value::Null)
    );
    assert!(fixed["text"]["result"]["same_top"]["mean"].is_f64());
    let short = format!("{text}.short");
    fs::write(&short, "one").expect("a file");
    assert!(refused(&["quantize", &model, &out, "--to", "q4_0", "--text", &short]).contains("the text has"));
    assert!(refused(&["quantize", &model, &out, "--to", "q4_0", "--chunks", "3"]).contains("--text"));
}

#[test]
fn a_comparison_of_language_models_shows_their_predictions() {
    let (model, text) = model("compare-text");
    let (small, page) = (format!("{model}.q4.gguf"), format!("{model}.html"));
    printed(&["quantize", &model, &small, "--to", "q4_0"]);
    let own = json(&["perplexity", &small, "--text", &text, "--chunk", "64", "--reference", &model, "--json"]);
    let found = json(&["compare", &model, &small, "--text", &text, "--report", &page, "--json"]);
    assert_eq!(found["predictions"]["kl_divergence"], own["kl_divergence"]);
    assert_eq!(found["predictions"]["perplexity"], own["perplexity"]);
    let html = fs::read_to_string(&page).expect("written");
    let value = found["predictions"]["kl_divergence"]["mean"].as_f64().map(|mean| format!("{mean:.5}"));
    assert!(html.contains("<h2>Predictions</h2>") && value.is_some_and(|value| html.contains(&value)));
    assert!(!printed(&["compare", &model, &small]).contains("KL divergence"));
    assert!(
        printed(&["compare", &model, &small, "--text", &text, "--chunks", "2"]).contains("predictions in 2 chunks")
    );
}
