//! Language models: small random models of every architecture against their formulas in f64, tokenizers, generation,
//! perplexity, importances, and broken files.

mod broken;
mod calibrating;
mod decoding;
mod formula;
mod measuring;
mod tiny;
mod tokens;
