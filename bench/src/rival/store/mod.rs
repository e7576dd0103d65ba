//! Storage of tensors with a common interface: databases, files, and the crate on which the store's design is based.

#[cfg(feature = "stores")]
pub(crate) mod lmdb;
#[cfg(feature = "stores")]
pub(crate) mod redb;
pub(crate) mod ruvector;
#[cfg(feature = "stores")]
pub(crate) mod safetensors;

use std::ops::Range;
use std::path::Path;

/// Storage for tensors of one shape, identified by numbers. Methods panic on errors, which end the benchmark.
pub(crate) trait Shelf: Send {
    fn put(&mut self, id: u128, values: &[f32]);

    /// Puts tensors with consecutive numbers from `first`, in one commit.
    fn put_all(&mut self, first: u128, tensors: &[&[f32]]);

    fn get(&mut self, id: u128, out: &mut [f32]);

    /// Reads rows of a tensor; `None` if partial reads are not supported.
    fn rows(&mut self, _id: u128, _rows: Range<usize>) -> Option<Vec<f32>> {
        None
    }

    /// Returns an interface for concurrent reads, if supported.
    fn shared(&self) -> Option<&dyn Reads> {
        None
    }
}

/// Reads from several threads.
pub(crate) trait Reads: Sync {
    fn read(&self, id: u128, out: &mut [f32]);
}

/// Location and options of stored tensors.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    /// Existing folder.
    pub(crate) folder: &'a Path,
    /// Rows and columns of each tensor.
    pub(crate) shape: [usize; 2],
    /// Whether a put waits until the data would survive a power loss.
    pub(crate) synced: bool,
}

/// Converts bytes to floats.
#[cfg(feature = "stores")]
fn floats(bytes: &[u8], out: &mut [f32]) {
    let (chunks, rest) = bytes.as_chunks();
    assert!(rest.is_empty() && chunks.len() == out.len(), "{} bytes for {} floats", bytes.len(), out.len());
    out.iter_mut().zip(chunks).for_each(|(value, bytes)| *value = f32::from_le_bytes(*bytes));
}

/// Returns the byte range of some rows.
#[cfg(feature = "stores")]
fn bytes_of(rows: &Range<usize>, columns: usize) -> Range<usize> {
    rows.start * columns * size_of::<f32>()..rows.end * columns * size_of::<f32>()
}
