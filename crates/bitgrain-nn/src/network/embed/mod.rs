//! Sentence embeddings with a BERT from a Hugging Face folder, such as `all-MiniLM-L6-v2`, in any weight format.
//!
//! [`SentenceEncoder`] combines a tokenizer and a [`Network`](crate::Network). The tokenizer is implemented here
//! because BERT's takes two hundred lines, while the crate `tokenizers` has dozens of dependencies for models that this
//! module does not read.

mod bert;
mod config;
mod encoder;
mod error;
mod normalize;
mod vectors;
mod vocabulary;
mod wordpiece;

pub use encoder::SentenceEncoder;
pub use error::EmbedError;
pub use vectors::{cosine, nearest_neighbor, save_npy};
pub use wordpiece::WordPiece;
