//! Memory that values are read into: new, or the caller's.

use crate::{StoreError, TensorId};

/// Most zeros that are made for a tensor without data: 1 GiB of them. Nothing but a shape says how many there are.
const MAX_ZEROS: usize = 1 << 28;

/// Memory for the values of a tensor.
pub(in crate::store) trait Destination {
    /// Memory for `count` values, which the caller overwrites.
    ///
    /// # Errors
    /// [`StoreError::ShapeMismatch`] if the caller's memory has another length.
    fn make_room(&mut self, count: usize) -> Result<&mut [f32], StoreError>;

    /// Takes values that are in memory.
    ///
    /// # Errors
    /// As [`make_room`](Self::make_room).
    fn take(&mut self, values: Vec<f32>) -> Result<(), StoreError>;

    /// Fills it with zeros, in place of the values of `id`.
    ///
    /// # Errors
    /// [`StoreError::TooManyZeros`]; as [`make_room`](Self::make_room).
    fn make_zeros(&mut self, count: usize, id: &TensorId) -> Result<(), StoreError>;
}

impl Destination for Vec<f32> {
    fn make_room(&mut self, count: usize) -> Result<&mut [f32], StoreError> {
        *self = vec![0.0; count]; // the system hands out pages of zeros; `resize` would write them
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
