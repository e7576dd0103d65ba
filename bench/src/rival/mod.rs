//! Libraries for comparison, each with its own buffers and layout, used through their public interfaces.

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

/// Blocks of one format in another library.
pub(crate) trait Blocks {
    fn quantize(&mut self, values: &[f32]);
    fn dequantize(&self, out: &mut [f32]);
}

/// Matrix of another library and a batch of activations to multiply.
pub(crate) trait Product {
    fn run(&mut self);
    /// Returns the result of the last run: one row per row of the batch.
    fn result(&self) -> Vec<f32>;
}

/// Sentence encoder of another library.
pub(crate) trait Encoder: Sync {
    /// Returns a unit vector per sentence, given as token ids.
    fn embed(&self, tokens: &[Vec<u32>]) -> Vec<Vec<f32>>;
}

/// Returns the folder of libraries that are not crates, next to cargo's profile folders.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let profile = program.parent().ok_or(io::ErrorKind::NotFound)?;
    Ok(profile.with_file_name("rivals"))
}
