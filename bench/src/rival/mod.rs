//! The rivals, each with its own buffers and its own layout, reached through its public interface.

pub(crate) mod bitpacking;
#[cfg(feature = "candle")]
pub(crate) mod candle;
pub(crate) mod fastlanes;
pub(crate) mod ggml;
pub(crate) mod pypi;
pub(crate) mod ruvector;
pub(crate) mod store;

use std::io;
use std::path::PathBuf;

/// A rival's blocks of one format, in its own memory.
pub(crate) trait Blocks {
    fn quantize(&mut self, values: &[f32]);
    fn dequantize(&self, out: &mut [f32]);
}

/// A rival's matrix and a batch of activations, ready to be multiplied.
pub(crate) trait Product {
    fn run(&mut self);
    /// Returns the result of the last run: one row per row of the batch.
    fn result(&self) -> Vec<f32>;
}

/// A rival's model of sentences.
pub(crate) trait Encoder: Sync {
    /// A vector of length one for each text, which comes as the numbers of its tokens.
    fn embed(&self, tokens: &[Vec<u32>]) -> Vec<Vec<f32>>;
}

/// Returns the folder of libraries that are not crates, next to cargo's profile folders.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let profile = program.parent().ok_or(io::ErrorKind::NotFound)?;
    Ok(profile.with_file_name("rivals"))
}
