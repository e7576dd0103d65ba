//! `Tokenizer`: text to tokens and back, from the metadata of a GGUF file.

mod bytes;
mod pairs;
mod pieces;
mod special;
mod split;

use std::collections::HashMap;

use bitgrain_formats::gguf::{Array, Strings, Value};

use super::LanguageError;
use super::keys::Keys;
use crate::ModelFile;
use bytes::bytes_of;
use pairs::Merges;
use pieces::Pieces;
use special::Special;
use split::Split;

/// The tokenizer of a language model: byte pairs as of GPT-2, Llama 3 and Qwen, or SentencePiece as of Llama 2 and Gemma.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    /// Bytes of each token; none for control tokens.
    texts: Vec<Box<[u8]>>,
    names: Strings,
    algorithm: Algorithm,
    special: Special,
    /// Token at the start of each text, if the model has one.
    start: Option<u32>,
    /// Token at the end of each text, if the model has one.
    end: Option<u32>,
    /// Tokens after which a model has nothing to add.
    stops: Vec<u32>,
    /// Whether a space is added before a text.
    space: bool,
}

#[derive(Debug, Clone)]
enum Algorithm {
    Pairs { split: Split, whole: bool, merges: Merges, ids: HashMap<Box<[u8]>, u32>, bytes: Vec<Option<u32>> },
    Pieces(Pieces),
}

/// Kinds of tokens in GGUF files.
mod kind {
    pub(super) const UNKNOWN: i32 = 2;
    pub(super) const CONTROL: i32 = 3;
    pub(super) const USER_DEFINED: i32 = 4;
    pub(super) const BYTE: i32 = 6;
}

/// Tokens that end a turn or a text, by name; files do not list all of theirs.
const STOPS: [&str; 12] = [
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "<|END_OF_TURN_TOKEN|>",
    "<|end_of_sentence|>",
    "<eos>",
];

/// SentencePiece's mark of a space.
const SPACE: char = '\u{2581}';

impl Tokenizer {
    /// Reads the tokenizer of a model.
    ///
    /// # Errors
    /// Returns [`LanguageError::MissingKey`] without a tokenizer, and [`LanguageError::Key`] for an unknown or invalid
    /// one.
    pub fn load(model: &ModelFile) -> Result<Self, LanguageError> {
        let keys = Keys { path: model.path(), metadata: &model.metadata().gguf, prefix: "tokenizer.ggml" };
        let kind = keys.text("model").ok_or_else(|| keys.missing("model"))?;
        let names = strings(keys, "tokens")?.ok_or_else(|| keys.missing("tokens"))?;
        let kinds = match keys.get("token_type") {
            Some(Value::Array(Array::I32(kinds))) if kinds.len() == names.iter().len() => kinds.clone(),
            None => vec![1; names.iter().len()],
            Some(other) => return Err(keys.wrong("token_type", other.type_name(), "one i32 per token")),
        };
        let mut starts = kind == "llama";
        let (algorithm, texts) = match kind {
            "gpt2" => {
                let name = keys.text("pre").unwrap_or("default");
                let (split, whole, start) =
                    Split::named(name).ok_or_else(|| keys.wrong("pre", name, format!("one of {}", Split::names())))?;
                starts = start;
                pairs(keys, names, &kinds, split, whole)?
            }
            "llama" => pieces(keys, names, &kinds)?,
            other => return Err(keys.wrong("model", other, "gpt2 or llama")),
        };
        let mut special = Special::default();
        for (id, (name, kind)) in (0..).zip(names.iter().zip(&kinds)) {
            if matches!(*kind, kind::CONTROL | kind::UNKNOWN | kind::USER_DEFINED) {
                special.insert(name, id, *kind != kind::USER_DEFINED);
            }
        }
        let count = names.iter().len();
        let token = |name: &str, usual: Option<u32>| match keys.get(name) {
            None => Ok(usual.filter(|id| (*id as usize) < count)),
            Some(_) => match keys.token(name) {
                Some(id) if (id as usize) < count => Ok(Some(id)),
                other => Err(keys.wrong(name, other.map_or_else(|| "?".into(), |id| id.to_string()), "a token")),
            },
        };
        let usual = |id| (kind == "llama").then_some(id);
        let (bos, eos) = (token("bos_token_id", usual(1))?, token("eos_token_id", usual(2))?);
        let mut stops: Vec<u32> = eos.into_iter().chain(token("eot_token_id", None)?).collect();
        stops.extend(token("eom_token_id", None)?);
        let named = (0..).zip(names.iter().zip(&kinds));
        stops.extend(
            named.filter(|(_, (name, kind))| **kind == kind::CONTROL && STOPS.contains(name)).map(|(id, _)| id),
        );
        stops.sort_unstable();
        stops.dedup();
        Ok(Self {
            texts,
            names: names.clone(),
            algorithm,
            special,
            start: bos.filter(|_| keys.flag("add_bos_token").unwrap_or(starts)),
            end: eos.filter(|_| keys.flag("add_eos_token").unwrap_or(false)),
            stops,
            space: kind == "llama" && keys.flag("add_space_prefix").unwrap_or(true),
        })
    }

    /// Returns the number of tokens.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.texts.len()
    }

    /// Returns the tokens of a text, between those that the model expects around each text. Names of control tokens,
    /// such as `<|im_end|>`, are ordinary text unless `control`.
    #[must_use]
    pub fn encode(&self, text: &str, control: bool) -> Vec<u32> {
        let mut out: Vec<u32> = self.start.into_iter().collect();
        self.encode_part(text, control, &mut out);
        out.extend(self.end);
        out
    }

    /// Appends the tokens of a text without those around it.
    fn encode_part(&self, text: &str, control: bool, out: &mut Vec<u32>) {
        let mut rest = text;
        loop {
            let (before, found) = self.special.find(rest, control);
            if !before.is_empty() {
                self.encode_plain(before, out);
            }
            let Some((id, after)) = found else { return };
            out.push(id);
            rest = after;
        }
    }

    /// Appends the tokens of a text without special tokens.
    fn encode_plain(&self, text: &str, out: &mut Vec<u32>) {
        match &self.algorithm {
            Algorithm::Pieces(pieces) => {
                let mut marked = String::with_capacity(text.len() + 8);
                // At the start of a text and after each special token.
                if self.space {
                    marked.push(SPACE);
                }
                marked.extend(text.chars().map(|c| if c == ' ' { SPACE } else { c }));
                pieces.encode(&marked, out);
            }
            Algorithm::Pairs { split, whole, merges, ids, bytes } => {
                let mut tokens = Vec::new();
                split.words(text, &mut |word| {
                    if let Some(id) = ids.get(word.as_bytes()).filter(|_| *whole) {
                        out.push(*id);
                        return;
                    }
                    tokens.clear();
                    tokens.extend(word.bytes().filter_map(|byte| bytes[usize::from(byte)]));
                    merges.merge(&mut tokens);
                    out.extend_from_slice(&tokens);
                });
            }
        }
    }

    /// Returns the bytes that a token adds to a text: none for control tokens and tokens out of range. A character may
    /// span several tokens.
    #[must_use]
    pub fn bytes(&self, id: u32) -> &[u8] {
        self.texts.get(id as usize).map_or(&[], |text| text)
    }

    /// Returns the name of a token in the vocabulary.
    #[must_use]
    pub fn name(&self, id: u32) -> Option<&str> {
        self.names.get(id as usize)
    }

    /// Returns the text of tokens without control tokens. Bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn decode(&self, tokens: &[u32]) -> String {
        let bytes: Vec<u8> = tokens.iter().flat_map(|id| self.bytes(*id)).copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        text.strip_prefix(' ').filter(|_| self.space).map_or_else(|| text.to_string(), str::to_owned)
    }

    /// Returns whether a model has nothing to add after a token.
    #[must_use]
    pub fn stops(&self, id: u32) -> bool {
        self.stops.binary_search(&id).is_ok()
    }

    /// Returns the token at the start of each text, if the model has one.
    #[must_use]
    pub const fn start(&self) -> Option<u32> {
        self.start
    }

    /// Returns whether two tokenizers have the same tokens.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

fn strings<'a>(keys: Keys<'a>, name: &str) -> Result<Option<&'a Strings>, LanguageError> {
    match keys.get(name) {
        None => Ok(None),
        Some(Value::Array(Array::String(strings))) => Ok(Some(strings)),
        Some(other) => Err(keys.wrong(name, other.type_name(), "an array of strings")),
    }
}

type Parts = (Algorithm, Vec<Box<[u8]>>);

/// Reads a vocabulary of byte pairs and its merges.
fn pairs(keys: Keys<'_>, names: &Strings, kinds: &[i32], split: Split, whole: bool) -> Result<Parts, LanguageError> {
    let merged = strings(keys, "merges")?.ok_or_else(|| keys.missing("merges"))?;
    let (mut texts, mut ids) = (Vec::with_capacity(kinds.len()), HashMap::with_capacity(kinds.len()));
    for (id, (name, kind)) in (0..).zip(names.iter().zip(kinds)) {
        let raw = || name.as_bytes().to_vec();
        let text = match *kind {
            kind::CONTROL | kind::UNKNOWN => Vec::new(),
            kind::USER_DEFINED => raw(),
            _ => bytes_of(name).unwrap_or_else(raw),
        };
        if !matches!(*kind, kind::CONTROL | kind::UNKNOWN | kind::USER_DEFINED) {
            ids.entry(text.clone().into_boxed_slice()).or_insert(id);
        }
        texts.push(text.into_boxed_slice());
    }
    let mut merges = Merges::default();
    for (rank, merge) in (0..).zip(merged.iter()) {
        // A token may itself be a space, but not start with one.
        let first = merge.chars().next().map_or(0, char::len_utf8);
        let Some(at) = merge[first..].find(' ') else {
            return Err(keys.wrong("merges", merge, "two tokens with a space between them"));
        };
        let (left, right) = (&merge[..first + at], &merge[first + at + 1..]);
        let find = |text: &[u8]| ids.get(text).copied();
        let (Some(left), Some(right)) = (bytes_of(left), bytes_of(right)) else { continue };
        let all = [&left[..], &right[..]].concat();
        // A merge of tokens that are not in the vocabulary never applies.
        if let (Some(left), Some(right), Some(merged)) = (find(&left), find(&right), find(&all)) {
            merges.insert((left, right), rank, merged);
        }
    }
    let bytes = (0..=u8::MAX).map(|byte| ids.get(&[byte][..]).copied()).collect();
    Ok((Algorithm::Pairs { split, whole, merges, ids, bytes }, texts))
}

/// Reads a vocabulary of SentencePiece.
fn pieces(keys: Keys<'_>, names: &Strings, kinds: &[i32]) -> Result<Parts, LanguageError> {
    let scores = match keys.get("scores") {
        Some(Value::Array(Array::F32(scores))) if scores.len() == kinds.len() => scores.clone(),
        Some(other) => return Err(keys.wrong("scores", other.type_name(), "one f32 per token")),
        None => return Err(keys.missing("scores")),
    };
    let unknown = keys.token("unknown_token_id").or(Some(0));
    let mut pieces = Pieces { scores, bytes: vec![None; 256], unknown, ..Pieces::default() };
    let mut texts = Vec::with_capacity(kinds.len());
    for (id, (name, kind)) in (0..).zip(names.iter().zip(kinds)) {
        let byte = name.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
        let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *kind == kind::BYTE);
        let text = match (*kind, byte) {
            (_, Some(byte)) => {
                pieces.bytes[usize::from(byte)] = Some(id);
                vec![byte]
            }
            (kind::CONTROL | kind::UNKNOWN, _) => Vec::new(),
            _ => {
                pieces.ids.entry(name.into()).or_insert(id);
                name.replace(SPACE, " ").into_bytes()
            }
        };
        texts.push(text.into_boxed_slice());
    }
    Ok((Algorithm::Pieces(pieces), texts))
}
