//! `Encoder`: encodes one text with a `tokenizer.json`, to identify the tokenizer. Tokenizers with parts that it does not
//! know have no encoder.

use std::collections::HashMap;

use fancy_regex::Regex;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use super::file::{Pieces, TokenizerFile};

/// GPT-2's rule.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// A byte-pair encoder of one file.
pub(super) struct Encoder<'a> {
    file: &'a TokenizerFile,
    ids: &'a HashMap<String, u32>,
    ranks: HashMap<(&'a str, &'a str), usize>,
    steps: Vec<Step>,
    normalizers: Vec<Normalizer>,
}

/// A step of the pre-tokenizer.
enum Step {
    /// Every match becomes a separate piece.
    Isolate(Regex),
    /// Matches separate pieces and disappear.
    Remove(Regex),
    /// Bytes become characters, after an optional space is put in front.
    ToBytes { space: bool },
}

enum Normalizer {
    Nfc,
    Nfkc,
    Replace(String, String),
    Prepend(String),
}

impl<'a> Encoder<'a> {
    pub(super) fn new(file: &'a TokenizerFile) -> Option<Self> {
        let Pieces::Ids(ids) = &file.model.vocab else { return None };
        let mut ranks = HashMap::with_capacity(file.model.merges.len());
        for (rank, merge) in file.model.merges.iter().enumerate() {
            ranks.entry(merge.halves()?).or_insert(rank);
        }
        let (mut steps, mut normalizers) = (Vec::new(), Vec::new());
        file.pre_tokenizer.as_ref().map_or(Some(()), |before| read_step(before, &mut steps))?;
        file.normalizer.as_ref().map_or(Some(()), |normalizer| read_normalizer(normalizer, &mut normalizers))?;
        Some(Self { file, ids, ranks, steps, normalizers })
    }

    /// Returns the ids of a text with the special tokens around it; `None` if a part is not in the vocabulary.
    pub(super) fn encode(&self, text: &str) -> Option<Vec<u32>> {
        let mut ids = Vec::new();
        for (part, added) in self.split_added(text, false) {
            match added {
                Some(id) => ids.push(id),
                None => {
                    let normalized = self.normalize(part);
                    for (part, added) in self.split_added(&normalized, true) {
                        match added {
                            Some(id) => ids.push(id),
                            None => self.encode_plain(part, &mut ids)?,
                        }
                    }
                }
            }
        }
        Some(self.surround(ids))
    }

    /// Splits at added tokens, the longest first at each place.
    fn split_added<'t>(&self, text: &'t str, normalized: bool) -> Vec<(&'t str, Option<u32>)> {
        let mut parts = Vec::new();
        let (mut start, mut at) = (0, 0);
        let tokens = || self.file.added_tokens.iter().filter(|token| token.normalized == normalized);
        while at < text.len() {
            let here = tokens().filter(|token| !token.content.is_empty() && text[at..].starts_with(&token.content));
            match here.max_by_key(|token| token.content.len()) {
                Some(token) => {
                    parts.extend((start < at).then_some((&text[start..at], None)));
                    at += token.content.len();
                    parts.push((&text[start.max(at - token.content.len())..at], Some(token.id)));
                    start = at;
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        parts.extend((start < text.len()).then_some((&text[start..], None)));
        parts
    }

    fn normalize(&self, text: &str) -> String {
        self.normalizers.iter().fold(text.to_owned(), |text, step| match step {
            Normalizer::Nfc => text.nfc().collect(),
            Normalizer::Nfkc => text.nfkc().collect(),
            Normalizer::Replace(from, to) => text.replace(from, to),
            Normalizer::Prepend(prefix) if text.is_empty() || text.starts_with(prefix.as_str()) => text,
            Normalizer::Prepend(prefix) => format!("{prefix}{text}"),
        })
    }

    fn encode_plain(&self, text: &str, ids: &mut Vec<u32>) -> Option<()> {
        let mut pieces = vec![text.to_owned()];
        for step in &self.steps {
            let mut next = Vec::new();
            for piece in &pieces {
                step.apply(piece, &mut next)?;
            }
            pieces = next;
        }
        pieces.iter().try_for_each(|piece| self.merge(piece, ids))
    }

    /// Merges the characters of a piece in the order of the merges' ranks.
    fn merge(&self, piece: &str, ids: &mut Vec<u32>) -> Option<()> {
        if self.file.model.ignore_merges
            && let Some(id) = self.ids.get(piece)
        {
            ids.push(*id);
            return Some(());
        }
        let mut ends: Vec<usize> = piece.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
        loop {
            let part = |i: usize| &piece[if i == 0 { 0 } else { ends[i - 1] }..ends[i]];
            let rank = |i: &usize| self.ranks.get(&(part(*i), part(i + 1))).copied();
            let best = (0..ends.len().saturating_sub(1)).filter_map(|i| Some((rank(&i)?, i))).min();
            match best {
                Some((_, i)) => drop(ends.remove(i)),
                None => break,
            }
        }
        let mut start = 0;
        for end in ends {
            let part = &piece[start..end];
            match self.ids.get(part) {
                Some(id) => ids.push(*id),
                None if self.file.model.byte_fallback => {
                    for byte in part.bytes() {
                        ids.push(*self.ids.get(&format!("<0x{byte:02X}>"))?);
                    }
                }
                None => ids.push(*self.ids.get(self.file.model.unk_token.as_ref()?)?),
            }
            start = end;
        }
        Some(())
    }

    /// Adds the special tokens that the post-processor puts around a text.
    fn surround(&self, mut ids: Vec<u32>) -> Vec<u32> {
        let Some(processor) = &self.file.post_processor else { return ids };
        let one = [processor.clone()];
        for processor in processor["processors"].as_array().map_or(&one[..], Vec::as_slice) {
            if processor["type"] != "TemplateProcessing" {
                continue;
            }
            let id = |part: &Value| {
                let token = part["SpecialToken"]["id"].as_str()?;
                let own = processor["special_tokens"][token]["ids"][0].as_u64();
                own.and_then(|id| u32::try_from(id).ok())
            };
            let parts = processor["single"].as_array().map(Vec::as_slice).unwrap_or_default();
            let sequence = parts.iter().position(|part| part["Sequence"].is_object()).unwrap_or(parts.len());
            let before: Vec<u32> = parts[..sequence].iter().filter_map(id).collect();
            let after: Vec<u32> = parts[sequence..].iter().filter_map(id).collect();
            ids = [before, ids, after].concat();
        }
        ids
    }
}

impl Step {
    fn apply(&self, piece: &str, out: &mut Vec<String>) -> Option<()> {
        match self {
            Self::Isolate(regex) | Self::Remove(regex) => {
                let mut start = 0;
                for found in regex.find_iter(piece) {
                    let found = found.ok()?;
                    out.extend((start < found.start()).then(|| piece[start..found.start()].to_owned()));
                    if matches!(self, Self::Isolate(_)) && !found.as_str().is_empty() {
                        out.push(found.as_str().to_owned());
                    }
                    start = found.end();
                }
                out.extend((start < piece.len()).then(|| piece[start..].to_owned()));
            }
            Self::ToBytes { space } => {
                let prefix = if *space && !piece.starts_with(char::is_whitespace) { " " } else { "" };
                out.push(prefix.bytes().chain(piece.bytes()).map(byte_char).collect());
            }
        }
        Some(())
    }
}

/// Returns the character that stands for a byte in byte-level vocabularies.
fn byte_char(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    if printable(byte) {
        return char::from(byte);
    }
    // The others follow from U+0100 in their own order.
    let before = (0..byte).filter(|other| !printable(*other)).count();
    u32::try_from(before).ok().and_then(|before| char::from_u32(0x100 + before)).unwrap_or('\u{100}')
}

fn read_step(step: &Value, out: &mut Vec<Step>) -> Option<()> {
    match step["type"].as_str()? {
        "Sequence" => step["pretokenizers"].as_array()?.iter().try_for_each(|step| read_step(step, out))?,
        "ByteLevel" => {
            let space = step["add_prefix_space"].as_bool().unwrap_or(true);
            if step["use_regex"].as_bool().unwrap_or(true) {
                if space {
                    return None;
                }
                out.push(Step::Isolate(Regex::new(GPT2).ok()?));
            }
            out.push(Step::ToBytes { space });
        }
        "Digits" => {
            let pattern = if step["individual_digits"] == true { r"\p{N}" } else { r"\p{N}+" };
            out.push(Step::Isolate(Regex::new(pattern).ok()?));
        }
        "Split" => {
            let pattern = match (step["pattern"]["Regex"].as_str(), step["pattern"]["String"].as_str()) {
                (Some(regex), _) => regex.to_owned(),
                (None, Some(text)) => fancy_regex::escape(text).into_owned(),
                (None, None) => return None,
            };
            let (regex, invert) = (Regex::new(&pattern).ok()?, step["invert"].as_bool().unwrap_or(false));
            out.push(match (step["behavior"].as_str()?, invert) {
                // Isolating matches or what is between them gives the same pieces.
                ("Isolated", _) => Step::Isolate(regex),
                ("Removed", false) => Step::Remove(regex),
                _ => return None,
            });
        }
        _ => return None,
    }
    Some(())
}

fn read_normalizer(step: &Value, out: &mut Vec<Normalizer>) -> Option<()> {
    match step["type"].as_str()? {
        "Sequence" => step["normalizers"].as_array()?.iter().try_for_each(|step| read_normalizer(step, out))?,
        "NFC" => out.push(Normalizer::Nfc),
        "NFKC" => out.push(Normalizer::Nfkc),
        "Prepend" => out.push(Normalizer::Prepend(step["prepend"].as_str()?.to_owned())),
        "Replace" => {
            let (from, to) = (step["pattern"]["String"].as_str()?, step["content"].as_str()?);
            out.push(Normalizer::Replace(from.to_owned(), to.to_owned()));
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_characters_of_gpt2() {
        let found: String = [b' ', b'\n', b'a', 0, 0x7F, 0xAD, 0xFF].map(byte_char).iter().collect();
        assert_eq!(found, "\u{120}\u{10a}a\u{100}\u{121}\u{143}\u{ff}");
    }
}
