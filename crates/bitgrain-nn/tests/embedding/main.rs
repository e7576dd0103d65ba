//! Sentences to vectors: a small made-up BERT beside the same formulas at f64, in every format, and broken folders.

mod broken;
mod formats;
mod formula;
mod real;
mod tiny;
