//! Destinations of reads: a new vector or a buffer of the caller.

use crate::{StoreError, TensorId};

/// Maximum number of zeros allocated for a tensor without data: 1 GiB. A shape alone must not allocate more, because no
/// stored bytes back it.
const MAX_ZEROS: usize = 1 << 28;

/// Destination for the values of a tensor.
pub(in crate::store) trait Destination {
    /// Returns a slice of `count` values for the caller to overwrite.
    ///
    /// # Errors
    /// Returns [`StoreError::ShapeMismatch`] if the caller's buffer has another length.
    fn make_room(&mut self, count: usize) -> Result<&mut [f32], StoreError>;

    /// Stores values that are already in memory.
    ///
    /// # Errors
    /// Returns the errors of [`make_room`](Self::make_room).
    fn take(&mut self, values: Vec<f32>) -> Result<(), StoreError>;

    /// Fills the destination with zeros in place of the values of `id`.
    ///
    /// # Errors
    /// Returns [`StoreError::TooManyZeros`] and the errors of [`make_room`](Self::make_room).
    fn make_zeros(&mut self, count: usize, id: &TensorId) -> Result<(), StoreError>;
}

impl Destination for Vec<f32> {
    fn make_room(&mut self, count: usize) -> Result<&mut [f32], StoreError> {
        *self = vec![0.0; count]; // gets zeroed pages from the system; `resize` would write them
        Ok(self)
    }

    fn take(&mut self, values: Vec<f32>) -> Result<(), StoreError> {
        *self = values;
        Ok(())
    }

    fn make_zeros(&mut self, count: usize, id: &TensorId) -> Result<(), StoreError> {
        self.clear();
        if count > MAX_ZEROS || self.try_reserve_exact(count).is_err() {
            return Err(StoreError::TooManyZeros { id: id.clone(), values: count, limit: MAX_ZEROS });
        }
        self.resize(count, 0.0);
        Ok(())
    }
}

impl Destination for &mut [f32] {
    fn make_room(&mut self, expected: usize) -> Result<&mut [f32], StoreError> {
        let got = self.len();
        if expected == got { Ok(self) } else { Err(StoreError::ShapeMismatch { expected, got }) }
    }

    fn take(&mut self, values: Vec<f32>) -> Result<(), StoreError> {
        self.make_room(values.len())?.copy_from_slice(&values);
        Ok(())
    }

    fn make_zeros(&mut self, count: usize, _: &TensorId) -> Result<(), StoreError> {
        self.make_room(count)?.fill(0.0);
        Ok(())
    }
}
