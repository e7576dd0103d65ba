//! Pre-tokenizer detection. GGUF files name the rule that splits text before byte-pair merges (`tokenizer.ggml.pre`).
//! llama.cpp's converter finds the name from a hash of a fixed text's tokens; so does this module. For an unknown hash it
//! compares the rule itself, which also identifies tokenizers that llama.cpp's list does not include.

use std::path::Path;

use serde_json::{Value, json};

use super::bpe::Encoder;
use super::file::TokenizerFile;
use super::hashes::HASHES;
use super::sha256::sha256;
use crate::model::language::LanguageConversionError;
use crate::network::embed::WordPiece;

/// Text of llama.cpp's converter: whitespace, emoji, digits, scripts and contractions.
const TEXT: &str = "\n \n\n \n\n\n \t \t\t \t\n  \n   \n    \n     \n🚀 (normal) 😶\u{200d}🌫\u{fe0f} (multiple emojis concatenated) ✅ 🦙🦙 3 33 333 3333 33333 333333 3333333 33333333 3.3 3..3 3...3 កាន់តែពិសេសអាច😁 ?我想在apple工作1314151天～ ------======= нещо на Български ''''''```````\"\"\"\"......!!!!!!?????? I've been 'told he's there, 'RE you sure? 'M not sure I'll make it, 'D you like some tea? We'Ve a'lL";

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const GPT4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Returns the name of a byte-level tokenizer's pre-tokenizer.
pub(super) fn detect(file: &TokenizerFile) -> Result<String, LanguageConversionError> {
    let hash = Encoder::new(file).and_then(|encoder| encoder.encode(TEXT)).map(|ids| hash(&ids));
    if let Some(name) = hash.as_deref().and_then(name_of) {
        return Ok(name.to_owned());
    }
    by_rule(file).map(str::to_owned).ok_or_else(|| LanguageConversionError::PreTokenizer {
        path: file.path.clone(),
        hash: hash.unwrap_or_else(|| "none".to_owned()),
    })
}

/// Returns the name of a WordPiece tokenizer, which is informative only: llama.cpp splits such text by one rule.
pub(super) fn of_word_pieces(folder: &Path) -> String {
    let ids = WordPiece::open(folder).map(|tokenizer| tokenizer.encode(TEXT, usize::MAX));
    let name = ids.ok().and_then(|ids| name_of(&hash(&ids)));
    name.unwrap_or("default").to_owned()
}

/// Returns the hash of ids, written as Python writes a list.
fn hash(ids: &[u32]) -> String {
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    sha256(format!("[{}]", ids.join(", ")).as_bytes())
}

fn name_of(hash: &str) -> Option<&'static str> {
    HASHES.iter().rfind(|(known, _)| *known == hash).map(|(_, name)| *name)
}

/// Returns the name of a rule by comparing it with the known ones.
fn by_rule(file: &TokenizerFile) -> Option<&'static str> {
    let before = file.pre_tokenizer.as_ref()?;
    let one = [before.clone()];
    let steps = before["pretokenizers"].as_array().map_or(&one[..], Vec::as_slice);
    let byte_level =
        |step: &Value, regex: bool| step["type"] == "ByteLevel" && step["use_regex"].as_bool().unwrap_or(true) == regex;
    match steps {
        [only] if byte_level(only, true) => Some("gpt-2"),
        [digits, last]
            if digits["type"] == "Digits" && digits["individual_digits"] == true && byte_level(last, true) =>
        {
            Some("smollm")
        }
        [split, last] if split["type"] == "Split" && byte_level(last, false) => {
            let isolated = split["behavior"] == "Isolated" && split["invert"].as_bool() != Some(true);
            match split["pattern"]["Regex"].as_str().filter(|_| isolated)? {
                LLAMA3 if file.model.ignore_merges => Some("llama-bpe"),
                LLAMA3 => Some("dbrx"),
                QWEN2 => Some("qwen2"),
                GPT4O => Some("gpt-4o"),
                TEKKEN if file.model.ignore_merges => Some("tekken"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The parts of a `tokenizer.json` that a pre-tokenizer's name stands for.
pub(in crate::model::language) struct Rule {
    pub(in crate::model::language) normalizer: Value,
    pub(in crate::model::language) pre_tokenizer: Value,
    /// Whether pieces in the vocabulary are tokens regardless of merges.
    pub(in crate::model::language) ignore_merges: bool,
}

/// Returns the rule of a pre-tokenizer, if its definition is known.
pub(in crate::model::language) fn rule_of(name: &str) -> Option<Rule> {
    let bytes =
        |regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex});
    let sequence = |first: Value, regex: bool| json!({"type": "Sequence", "pretokenizers": [first, bytes(regex)]});
    let split = |regex: &str| {
        sequence(json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false}), false)
    };
    let (pre_tokenizer, normalizer, ignore_merges) = match name {
        "gpt-2" | "phi-2" | "roberta-bpe" => (bytes(true), Value::Null, false),
        "smollm" => (sequence(json!({"type": "Digits", "individual_digits": true}), true), Value::Null, false),
        "llama-bpe" | "llama3" | "llama-v3" => (split(LLAMA3), Value::Null, true),
        "dbrx" | "smaug-bpe" => (split(LLAMA3), Value::Null, false),
        "qwen2" | "deepseek-r1-qwen" => (split(QWEN2), json!({"type": "NFC"}), false),
        "gpt-4o" => (split(GPT4O), Value::Null, false),
        "tekken" => (split(TEKKEN), Value::Null, true),
        _ => return None,
    };
    Some(Rule { normalizer, pre_tokenizer, ignore_merges })
}
