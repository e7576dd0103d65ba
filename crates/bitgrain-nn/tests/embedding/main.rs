//! Sentence embeddings: a small random BERT against a reference at f64, in all formats, and broken folders.

mod broken;
mod formats;
mod formula;
mod real;
mod tiny;
