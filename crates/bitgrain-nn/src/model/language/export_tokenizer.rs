//! `tokenizer.json` and `tokenizer_config.json` from the tokenizer of a GGUF file.

use std::collections::HashMap;

use bitgrain_formats::gguf::{Array, Strings, Value};
use serde_json::{Map, Value as Json, json};

use super::LanguageConversionError;
use super::export_config::Keys;
use super::tokenizer::{TokenKind, rule_of};

/// Builds the tokenizer's files: name and content.
pub(super) fn files(keys: &Keys<'_>) -> Result<Vec<(&'static str, String)>, LanguageConversionError> {
    let wrong = |reason: String| LanguageConversionError::Tokenizer { path: keys.path().to_owned(), reason };
    let (Some(tokens), Some(kinds)) = (strings(keys, "tokens"), integers(keys, "token_type")) else {
        return Err(wrong("no tokenizer in the metadata; use the original model's files".to_owned()));
    };
    if tokens.len() != kinds.len() {
        return Err(wrong(format!("{} tokens, but {} token types", tokens.len(), kinds.len())));
    }
    let kind = keys.text("tokenizer.ggml.model").unwrap_or("none");
    let is = |id: usize, kind: TokenKind| kinds[id] == kind as i32;
    let added: Vec<Json> = tokens
        .iter()
        .enumerate()
        .filter(|(id, _)| is(*id, TokenKind::Control) || is(*id, TokenKind::UserDefined) || is(*id, TokenKind::Unknown))
        .map(|(id, content)| {
            json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": !is(id, TokenKind::UserDefined)})
        })
        .collect();
    let vocabulary = || {
        let learned = tokens.iter().enumerate().filter(|(id, _)| !is(*id, TokenKind::Unused));
        learned.map(|(id, token)| (token.to_owned(), Json::from(id))).collect::<Map<_, _>>()
    };
    let mut file = match kind {
        "gpt2" => {
            let pre = keys.text("tokenizer.ggml.pre").unwrap_or("default");
            let rule =
                rule_of(pre).ok_or_else(|| wrong(format!("the splitting rule of pre-tokenizer `{pre}` is unknown")))?;
            let merges = strings(keys, "merges").ok_or_else(|| wrong("no merges in the metadata".to_owned()))?;
            let pairs = merges.iter().map(|merge| merge.split_once(' ').map(|(left, right)| json!([left, right])));
            let pairs: Option<Vec<Json>> = pairs.collect();
            json!({"normalizer": rule.normalizer, "pre_tokenizer": rule.pre_tokenizer,
                "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
                "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                    "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
                    "ignore_merges": rule.ignore_merges, "vocab": vocabulary(),
                    "merges": pairs.ok_or_else(|| wrong("a merge without two halves".to_owned()))?}})
        }
        "llama" => {
            let prefix = keys.get("tokenizer.ggml.add_space_prefix") != Some(&Value::Bool(false));
            sentence_piece(keys, tokens, kinds, vocabulary(), prefix)
                .ok_or_else(|| wrong("no scores in the metadata".to_owned()))?
        }
        other => return Err(wrong(format!("unsupported tokenizer `{other}`; supported: gpt2 and llama"))),
    };
    file["version"] = "1.0".into();
    file["truncation"] = Json::Null;
    file["padding"] = Json::Null;
    file["added_tokens"] = added.into();
    let bos = keys.token("bos").and_then(|id| Some((id, tokens.get(usize::try_from(id).ok()?)?)));
    let starts = match keys.get("tokenizer.ggml.add_bos_token") {
        Some(flag) => *flag == Value::Bool(true),
        // llama.cpp's default for SentencePiece models.
        None => kind == "llama",
    };
    file["post_processor"] = match bos.filter(|_| starts) {
        None => Json::Null,
        Some((id, token)) => {
            let first = json!({"SpecialToken": {"id": token, "type_id": 0}});
            let (a, b) =
                (json!({"Sequence": {"id": "A", "type_id": 0}}), json!({"Sequence": {"id": "B", "type_id": 1}}));
            json!({"type": "TemplateProcessing", "single": [first, a], "pair": [first, a, b],
                "special_tokens": {(token): {"id": token, "ids": [id], "tokens": [token]}}})
        }
    };
    Ok(vec![("tokenizer.json", format!("{file}\n")), ("tokenizer_config.json", options(keys, tokens, kind))])
}

/// Builds `tokenizer_config.json`.
fn options(keys: &Keys<'_>, tokens: &Strings, kind: &str) -> String {
    let mut options = Map::new();
    options.insert("tokenizer_class".to_owned(), "PreTrainedTokenizerFast".into());
    options.insert("clean_up_tokenization_spaces".to_owned(), false.into());
    for (role, key) in [("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding")] {
        let token = keys.token(key).and_then(|id| tokens.get(usize::try_from(id).ok()?));
        token.into_iter().for_each(|token| drop(options.insert(format!("{role}_token"), token.into())));
    }
    for role in ["bos", "eos"] {
        if let Some(Value::Bool(flag)) = keys.get(&format!("tokenizer.ggml.add_{role}_token")) {
            options.insert(format!("add_{role}_token"), (*flag).into());
        }
    }
    if kind == "llama"
        && let Some(Value::Bool(flag)) = keys.get("tokenizer.ggml.add_space_prefix")
    {
        options.insert("add_prefix_space".to_owned(), (*flag).into());
    }
    if let Some(template) = keys.text("tokenizer.chat_template") {
        options.insert("chat_template".to_owned(), template.into());
    }
    format!("{:#}\n", Json::Object(options))
}

/// Builds the tokenizer of a SentencePiece model. The merges are all ways to build a piece from two others, in the order
/// of the pieces' scores.
fn sentence_piece(
    keys: &Keys<'_>,
    tokens: &Strings,
    kinds: &[i32],
    vocabulary: Map<String, Json>,
    prefix: bool,
) -> Option<Json> {
    let scores = match keys.get("tokenizer.ggml.scores")? {
        Value::Array(Array::F32(scores)) if scores.len() == tokens.len() => scores,
        _ => return None,
    };
    let normal = |id: &usize| kinds[*id] == TokenKind::Normal as i32;
    let ids: HashMap<&str, usize> = tokens.iter().enumerate().map(|(id, token)| (token, id)).collect();
    let mut merges: Vec<(f32, usize, usize, usize, &str, &str)> = Vec::new();
    for (id, token) in tokens.iter().enumerate().filter(|(id, _)| normal(id)) {
        for (at, _) in token.char_indices().skip(1) {
            let (left, right) = token.split_at(at);
            if let (Some(l), Some(r)) = (ids.get(left).filter(|id| normal(id)), ids.get(right).filter(|id| normal(id)))
            {
                merges.push((-scores[id], id, *l, *r, left, right));
            }
        }
    }
    merges.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2, a.3).cmp(&(b.1, b.2, b.3))));
    let merges: Vec<Json> = merges.into_iter().map(|(.., left, right)| json!([left, right])).collect();
    let unknown = keys.token("unknown").and_then(|id| tokens.get(usize::try_from(id).ok()?));
    let mut normalizers = vec![json!({"type": "Replace", "pattern": {"String": " "}, "content": "\u{2581}"})];
    let mut decoders = vec![
        json!({"type": "Replace", "pattern": {"String": "\u{2581}"}, "content": " "}),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    if prefix {
        normalizers.insert(0, json!({"type": "Prepend", "prepend": "\u{2581}"}));
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    Some(json!({"normalizer": {"type": "Sequence", "normalizers": normalizers}, "pre_tokenizer": null,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {"type": "BPE", "dropout": null, "unk_token": unknown, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
            "vocab": vocabulary, "merges": merges}}))
}

fn strings<'a>(keys: &Keys<'a>, key: &str) -> Option<&'a Strings> {
    match keys.get(&format!("tokenizer.ggml.{key}"))? {
        Value::Array(Array::String(strings)) => Some(strings),
        _ => None,
    }
}

fn integers<'a>(keys: &Keys<'a>, key: &str) -> Option<&'a [i32]> {
    match keys.get(&format!("tokenizer.ggml.{key}"))? {
        Value::Array(Array::I32(numbers)) => Some(numbers),
        _ => None,
    }
}
