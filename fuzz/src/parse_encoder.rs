//! Any bytes as the files of a sentence encoder and as its input: a typed error, or a tokenizer and a network that run.
//!
//! Input: a string, then the files of the folder in the order of `FILES`. All parts but the last end with the byte
//! 0xff, which UTF-8 never contains. A vocabulary that starts with a brace is a `tokenizer.json`. Empty files are
//! omitted.

use std::fs;

use bitgrain::nn::network::embed::{SentenceEncoder, WordPiece};

use crate::folder::Folder;

const FILES: [&str; 6] = [
    "vocab.txt",
    "tokenizer_config.json",
    "config.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    "model.safetensors",
];

/// Maximum number of tokens.
const LONGEST: usize = 16;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let mut parts = input.splitn(1 + FILES.len(), |byte| *byte == 0xff);
    let text = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let folder = Folder::new();
    fs::create_dir(folder.path().join("1_Pooling")).expect("space for a folder");
    for (name, bytes) in FILES.into_iter().zip(parts) {
        let json = name == "vocab.txt" && bytes.starts_with(b"{");
        let name = if json { "tokenizer.json" } else { name };
        if !bytes.is_empty() {
            folder.write(name, bytes);
        }
    }
    if let Ok(tokenizer) = WordPiece::open(folder.path()) {
        let tokens = tokenizer.encode(&text, LONGEST);
        assert!((2..=LONGEST).contains(&tokens.len()), "{tokens:?}");
        assert!(tokens.iter().all(|token| *token <= tokenizer.last()), "{tokens:?}");
    }
    let Ok(encoder) = SentenceEncoder::open(folder.path()) else { return };
    if let Ok(vectors) = encoder.embed(&[&*text, ""]) {
        assert!(vectors.iter().all(|vector| vector.len() == encoder.dims()));
    }
}
