//! `Vocabulary`: tokens, kinds and scores as GGUF stores them.

use std::collections::HashMap;
use std::path::Path;

use bitgrain_formats::gguf::{Array, Metadata, Value};

use super::file::{AddedToken, Pieces, TokenizerFile};
use super::sentence_piece::{self, Piece};
use super::{pre, set};
use crate::model::language::LanguageConversionError;
use crate::model::language::config::Config;

/// Kind of a token, with llama.cpp's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model::language) enum TokenKind {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6,
}

/// The tokens of a model.
#[derive(Debug)]
pub(in crate::model::language) struct Vocabulary {
    /// llama.cpp's name of the tokenizer: `gpt2`, `llama` or `bert`.
    pub(super) model: &'static str,
    pub(super) pre: String,
    pub(super) tokens: Vec<String>,
    pub(super) kinds: Vec<TokenKind>,
    pub(super) scores: Option<Vec<f32>>,
    pub(super) merges: Vec<String>,
}

/// Scores of tokens that are not pieces, as the reference writes them.
const ADDED_SCORE: f32 = -1000.0;
const PADDING_SCORE: f32 = -10000.0;

/// Ids above this are a damaged file, not a vocabulary.
const MOST_TOKENS: usize = 1 << 24;

/// Tokens under construction.
struct Table {
    tokens: Vec<Option<String>>,
    kinds: Vec<TokenKind>,
    scores: Vec<f32>,
}

impl Table {
    fn new(count: usize) -> Self {
        Self { tokens: vec![None; count], kinds: vec![TokenKind::Unused; count], scores: vec![PADDING_SCORE; count] }
    }

    fn put(&mut self, id: usize, token: String, kind: TokenKind, score: f32) {
        if let Some(slot) = self.tokens.get_mut(id) {
            *slot = Some(token);
            (self.kinds[id], self.scores[id]) = (kind, score);
        }
    }

    fn finish(self) -> (Vec<String>, Vec<TokenKind>, Vec<f32>) {
        let named = |(id, token): (usize, Option<String>)| token.unwrap_or_else(|| format!("[PAD{id}]"));
        (self.tokens.into_iter().enumerate().map(named).collect(), self.kinds, self.scores)
    }
}

impl Vocabulary {
    /// Reads a byte-level vocabulary (GPT-2's kind).
    pub(super) fn of_byte_level(
        file: &TokenizerFile,
        options: Option<&Config>,
        config: &Config,
    ) -> Result<Self, LanguageConversionError> {
        if file.model.r#type != "BPE" {
            let kind = &file.model.r#type;
            return Err(file.wrong(format!("unsupported tokenizer model `{kind}`; supported: BPE and WordPiece")));
        }
        let table = learned_and_added(file, options, config)?;
        let pre = pre::detect(file)?;
        let (tokens, kinds, _) = table.finish();
        // A space inside a token would separate the halves of a merge; byte-level vocabularies spell it as U+0120.
        let spelled = |half: &str| half.replace(' ', "\u{120}");
        let merges = file.model.merges.iter().map(|merge| {
            let (left, right) = merge.halves().ok_or_else(|| file.wrong("a merge without two halves".to_owned()))?;
            Ok(format!("{} {}", spelled(left), spelled(right)))
        });
        let merges = merges.collect::<Result<_, LanguageConversionError>>()?;
        Ok(Self { model: "gpt2", pre, tokens, kinds, scores: None, merges })
    }

    /// Reads a WordPiece vocabulary: `tokenizer.json` or `vocab.txt`.
    pub(super) fn word_pieces(
        folder: &Path,
        file: Option<&TokenizerFile>,
        options: Option<&Config>,
        config: &Config,
    ) -> Result<Self, LanguageConversionError> {
        let table = match file {
            Some(file) if file.model.r#type == "WordPiece" || file.model.r#type.is_empty() => {
                learned_and_added(file, options, config)?
            }
            Some(file) => {
                return Err(
                    file.wrong(format!("unsupported tokenizer model `{}`; expected WordPiece", file.model.r#type))
                );
            }
            None => lines(folder, config)?,
        };
        let (tokens, kinds, _) = table.finish();
        // llama.cpp marks the start of words instead of their continuations.
        let marked = |(token, kind): (String, &TokenKind)| match token.strip_prefix("##") {
            _ if *kind == TokenKind::Control => token,
            Some(rest) => rest.to_owned(),
            None => format!("\u{2581}{token}"),
        };
        let tokens = tokens.into_iter().zip(&kinds).map(marked).collect();
        Ok(Self { model: "bert", pre: pre::of_word_pieces(folder), tokens, kinds, scores: None, merges: Vec::new() })
    }

    /// Reads a `tokenizer.model` of SentencePiece, with the added tokens of the JSON files.
    pub(super) fn of_sentence_piece(
        path: &Path,
        file: Option<&TokenizerFile>,
        options: Option<&Config>,
        config: &Config,
        phi: bool,
    ) -> Result<Self, LanguageConversionError> {
        let pieces = sentence_piece::read(path)?;
        let count = config.count(&["vocab_size"])?.map_or(pieces.len(), |count| count as usize);
        let mut table = Table::new(bounded(count, path)?);
        for (id, Piece { text, score, kind }) in pieces.into_iter().enumerate() {
            table.put(id, text, kind, score);
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        if let Some(added) = Config::read(&folder.join("added_tokens.json"))? {
            for (token, id) in added.entries().filter_map(|(token, id)| Some((token, id.as_u64()?))) {
                let id = usize::try_from(id).unwrap_or(usize::MAX);
                table.put(id, token.clone(), TokenKind::UserDefined, ADDED_SCORE);
            }
        }
        let later = file.filter(|_| phi).map_or(&[][..], |file| &file.added_tokens);
        for token in added_tokens_decoder(options).iter().chain(later) {
            let control = token.special || !phi && looks_special(&token.content);
            let (text, kind) = match control {
                true => (token.content.clone(), TokenKind::Control),
                false if phi => (token.content.clone(), TokenKind::UserDefined),
                false => (token.content.replace('\u{2581}', " "), TokenKind::UserDefined),
            };
            table.put(token.id as usize, text, kind, ADDED_SCORE);
        }
        Ok(Self::scored(table))
    }

    /// Reads a SentencePiece model from a `tokenizer.json`. The scores follow from the order of the merges, which is the
    /// order of the scores in the original model.
    pub(super) fn of_sentence_piece_json(
        file: &TokenizerFile,
        options: Option<&Config>,
        config: &Config,
    ) -> Result<Self, LanguageConversionError> {
        let mut table = learned_and_added(file, options, config)?;
        let mut ranks: HashMap<String, usize> = HashMap::with_capacity(file.model.merges.len());
        for (rank, merge) in file.model.merges.iter().enumerate() {
            let (left, right) = merge.halves().ok_or_else(|| file.wrong("a merge without two halves".to_owned()))?;
            ranks.entry(format!("{left}{right}")).or_insert(rank);
        }
        for (id, token) in table.tokens.iter().enumerate() {
            let Some(token) = token else { continue };
            let byte = token.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
            if table.kinds[id] == TokenKind::Normal && byte.is_some_and(|hex| u8::from_str_radix(hex, 16).is_ok()) {
                (table.kinds[id], table.scores[id]) = (TokenKind::Byte, 0.0);
            } else if table.kinds[id] == TokenKind::Normal {
                // Single characters are never merged, so any score below those of the merges will do.
                let rank = ranks.get(token).copied().unwrap_or(file.model.merges.len());
                #[expect(clippy::cast_precision_loss, reason = "ranks are below 2^24")]
                let score = -(rank as f32);
                table.scores[id] = score;
            } else {
                table.scores[id] = ADDED_SCORE;
            }
            if file.model.unk_token.as_deref() == Some(token) {
                (table.kinds[id], table.scores[id]) = (TokenKind::Unknown, 0.0);
            }
        }
        Ok(Self::scored(table))
    }

    fn scored(table: Table) -> Self {
        let (tokens, kinds, scores) = table.finish();
        Self { model: "llama", pre: "default".to_owned(), tokens, kinds, scores: Some(scores), merges: Vec::new() }
    }

    pub(super) fn add(self, metadata: &mut Metadata) {
        set(metadata, "model", self.model);
        set(metadata, "pre", self.pre);
        set(metadata, "tokens", Value::Array(Array::String(self.tokens.iter().collect())));
        if let Some(scores) = self.scores {
            set(metadata, "scores", Value::Array(Array::F32(scores)));
        }
        let kinds = self.kinds.iter().map(|kind| *kind as i32).collect();
        set(metadata, "token_type", Value::Array(Array::I32(kinds)));
        if !self.merges.is_empty() {
            set(metadata, "merges", Value::Array(Array::String(self.merges.iter().collect())));
        }
    }
}

/// Returns the tokens of a `tokenizer.json`: learned ones, then those added on top.
fn learned_and_added(
    file: &TokenizerFile,
    options: Option<&Config>,
    config: &Config,
) -> Result<Table, LanguageConversionError> {
    let learned = file.learned()?;
    let others = added_tokens_decoder(options);
    let added = others.iter().chain(&file.added_tokens);
    let ids = learned.iter().map(|(id, _)| *id).chain(added.clone().map(|token| token.id));
    let needed = ids.max().map_or(0, |id| id as usize + 1);
    let count = config.count(&["vocab_size"])?.map_or(needed, |count| count as usize);
    if needed > count {
        let problem = format!("`vocab_size` is {count}, but the tokenizer has a token with the id {}", needed - 1);
        return Err(config.contradiction(problem));
    }
    let mut table = Table::new(bounded(count, &file.path)?);
    for (id, token) in learned {
        table.put(id as usize, token.to_owned(), TokenKind::Normal, 0.0);
    }
    for AddedToken { id, content, special, .. } in added {
        if *special || looks_special(content) {
            table.put(*id as usize, content.clone(), TokenKind::Control, ADDED_SCORE);
        } else {
            table.put(*id as usize, content.replace('\u{2581}', " "), TokenKind::UserDefined, ADDED_SCORE);
        }
    }
    if let Pieces::Scored(_) = file.model.vocab {
        return Err(file.wrong("unsupported tokenizer model `Unigram`; supported: BPE and WordPiece".to_owned()));
    }
    Ok(table)
}

/// Reads `vocab.txt`, one token per line.
fn lines(folder: &Path, config: &Config) -> Result<Table, LanguageConversionError> {
    let path = folder.join("vocab.txt");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let expected = "tokenizer.json or vocab.txt";
            return Err(LanguageConversionError::NoTokenizer { path: folder.to_owned(), expected });
        }
        Err(source) => return Err(LanguageConversionError::Io { path, source }),
    };
    let tokens: Vec<&str> = text.lines().map(str::trim_end).collect();
    let count = config.count(&["vocab_size"])?.map_or(tokens.len(), |count| count as usize);
    if tokens.len() > count {
        return Err(config.contradiction(format!("`vocab_size` is {count}, but vocab.txt has {} tokens", tokens.len())));
    }
    let mut table = Table::new(bounded(count, &path)?);
    for (id, token) in tokens.into_iter().enumerate() {
        let special = matches!(token, "[PAD]" | "[UNK]" | "[CLS]" | "[SEP]" | "[MASK]");
        let kind = if special { TokenKind::Control } else { TokenKind::Normal };
        table.put(id, token.to_owned(), kind, 0.0);
    }
    Ok(table)
}

fn bounded(count: usize, path: &Path) -> Result<usize, LanguageConversionError> {
    let reason = || format!("{count} tokens; the maximum is {MOST_TOKENS}");
    if count <= MOST_TOKENS {
        Ok(count)
    } else {
        Err(LanguageConversionError::Tokenizer { path: path.to_owned(), reason: reason() })
    }
}

/// Returns the added tokens that `tokenizer_config.json` lists.
fn added_tokens_decoder(options: Option<&Config>) -> Vec<AddedToken> {
    let listed = options.and_then(|options| options.object("added_tokens_decoder"));
    let token = |(id, token): (&String, &serde_json::Value)| {
        Some(AddedToken {
            id: id.parse().ok()?,
            content: token["content"].as_str()?.to_owned(),
            special: token["special"].as_bool().unwrap_or(false),
            normalized: token["normalized"].as_bool().unwrap_or(false),
        })
    };
    let mut all: Vec<AddedToken> = listed.iter().flat_map(|listed| listed.entries().filter_map(token)).collect();
    all.sort_by_key(|token| token.id);
    all
}

/// Returns whether a token controls the model although its file does not say so, as in some published tokenizers.
fn looks_special(token: &str) -> bool {
    matches!(token, "<pad>" | "<mask>" | "<2mass>" | "[@BOS@]")
        || token.starts_with("<|") && token.ends_with("|>")
        || token.starts_with("<\u{ff5c}") && token.ends_with("\u{ff5c}>")
        || token.starts_with("<unused") && token.ends_with('>')
}
