//! Keepers of tensors behind one interface: databases, files, and the crate whose design the store began with.

#[cfg(feature = "stores")]
pub(crate) mod lmdb;
#[cfg(feature = "stores")]
pub(crate) mod redb;
pub(crate) mod ruvector;
#[cfg(feature = "stores")]
pub(crate) mod safetensors;

use std::ops::Range;
use std::path::Path;

/// Keeps tensors of one shape under numbers. Panics where something fails: there is nothing to measure then.
pub(crate) trait Shelf: Send {
    fn put(&mut self, id: u128, values: &[f32]);

    /// Puts tensors with the numbers from `first` on, all in one commit.
    fn put_all(&mut self, first: u128, tensors: &[&[f32]]);

    fn get(&mut self, id: u128, out: &mut [f32]);

    /// Some rows of a tensor; none if it only has whole ones.
    fn rows(&mut self, _id: u128, _rows: Range<usize>) -> Option<Vec<f32>> {
        None
    }

    /// For readers on several threads, if it lets them.
    fn shared(&self) -> Option<&dyn Reads> {
        None
    }
}

/// Reads from any thread.
pub(crate) trait Reads: Sync {
    fn read(&self, id: u128, out: &mut [f32]);
}

/// Location and options of stored tensors.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    /// A folder that is there.
    pub(crate) folder: &'a Path,
    /// Rows and columns of every tensor.
    pub(crate) shape: [usize; 2],
    /// Whether a `put` waits until it would survive a loss of power.
    pub(crate) synced: bool,
}

/// Floats from their bytes.
#[cfg(feature = "stores")]
fn floats(bytes: &[u8], out: &mut [f32]) {
    let (chunks, rest) = bytes.as_chunks();
    assert!(rest.is_empty() && chunks.len() == out.len(), "{} bytes for {} floats", bytes.len(), out.len());
    out.iter_mut().zip(chunks).for_each(|(value, bytes)| *value = f32::from_le_bytes(*bytes));
}

/// The bytes of some rows.
#[cfg(feature = "stores")]
fn bytes_of(rows: &Range<usize>, columns: usize) -> Range<usize> {
    rows.start * columns * size_of::<f32>()..rows.end * columns * size_of::<f32>()
}
