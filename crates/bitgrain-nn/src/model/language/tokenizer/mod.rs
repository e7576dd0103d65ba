//! Tokenizers: files of a Hugging Face folder as GGUF metadata.

mod bpe;
mod file;
mod hashes;
mod pre;
mod sentence_piece;
mod sha256;
mod special;
mod vocabulary;

use std::path::Path;

use bitgrain_formats::gguf::{Metadata, Value};

use super::LanguageConversionError;
use super::architecture::Architecture;
use super::config::Config;
pub(super) use file::TokenizerFile;
pub(super) use pre::rule_of;
use special::SpecialTokens;
pub(super) use vocabulary::{TokenKind, Vocabulary};

const PREFIX: &str = "tokenizer.ggml.";

/// Adds the tokenizer's keys and returns the number of tokens.
pub(super) fn add(
    architecture: Architecture,
    folder: &Path,
    config: &Config,
    metadata: &mut Metadata,
) -> Result<usize, LanguageConversionError> {
    let options = Config::read(&folder.join("tokenizer_config.json"))?;
    let file = TokenizerFile::read(folder)?;
    let pieces = folder.join("tokenizer.model");
    if architecture.is_encoder() {
        let types = config.count(&["type_vocab_size"])?.unwrap_or(1);
        metadata.set(format!("{PREFIX}token_type_count"), types);
        let vocabulary = Vocabulary::word_pieces(folder, file.as_ref(), options.as_ref(), config)?;
        return finish(vocabulary, folder, config, file.as_ref(), options, metadata);
    }
    if matches!(architecture, Architecture::Llama | Architecture::SmolLm3)
        && let Some(prefix) = options.as_ref().and_then(|options| options.flag("add_prefix_space"))
    {
        metadata.set(format!("{PREFIX}add_space_prefix"), prefix);
    }
    let phi = architecture == Architecture::Phi3;
    // Phi-4 has a byte-level tokenizer; a `tokenizer.model` next to it would be another model's.
    let byte_level = phi && options.as_ref().and_then(|own| own.text("tokenizer_class")) == Some("GPT2Tokenizer");
    let own_pieces = pieces.is_file() && architecture != Architecture::Qwen3Moe && !byte_level;
    let vocabulary = if own_pieces {
        Vocabulary::of_sentence_piece(&pieces, file.as_ref(), options.as_ref(), config, phi)?
    } else if let Some(file) = &file {
        if file.is_sentence_piece() {
            Vocabulary::of_sentence_piece_json(file, options.as_ref(), config)?
        } else {
            Vocabulary::of_byte_level(file, options.as_ref(), config)?
        }
    } else {
        let expected = if folder.join("tekken.json").is_file() {
            "tokenizer.json (tekken.json is not supported)"
        } else {
            "tokenizer.json or tokenizer.model"
        };
        return Err(LanguageConversionError::NoTokenizer { path: folder.to_owned(), expected });
    };
    let count = finish(vocabulary, folder, config, file.as_ref(), options, metadata)?;
    if architecture == Architecture::Gemma3 && metadata.get("tokenizer.ggml.model") == Some(&"llama".into()) {
        metadata.set(format!("{PREFIX}add_space_prefix"), false);
    }
    if matches!(architecture, Architecture::Llama | Architecture::SmolLm3) {
        match config.count(&["vocab_size"])? {
            // CodeLlama's token for the end of an infilled text.
            Some(32016) => drop(metadata.set(format!("{PREFIX}eot_token_id"), 32010_u32)),
            // Granite's and SmolLM's tokenizers do not start a text with a token.
            Some(49152) => drop(metadata.set(format!("{PREFIX}add_bos_token"), false)),
            _ => {}
        }
    }
    Ok(count)
}

/// Adds a vocabulary and its special tokens.
fn finish(
    vocabulary: Vocabulary,
    folder: &Path,
    config: &Config,
    file: Option<&TokenizerFile>,
    options: Option<Config>,
    metadata: &mut Metadata,
) -> Result<usize, LanguageConversionError> {
    let count = vocabulary.tokens.len();
    // Only byte-level vocabularies accept special tokens beyond their end, as the reference does.
    let limit = (vocabulary.model != "gpt2").then_some(count);
    let special = SpecialTokens::read(folder, config, file, options, limit)?;
    vocabulary.add(metadata);
    special.add(metadata);
    Ok(count)
}

/// Sets a key of the tokenizer.
fn set(metadata: &mut Metadata, key: &str, value: impl Into<Value>) {
    metadata.set(format!("{PREFIX}{key}"), value);
}
