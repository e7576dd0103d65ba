//! Buffers for timing: aligned to a page, with every page already touched.

use std::hint::black_box;
use std::ops::{Deref, DerefMut};

const PAGE: usize = 4096;

/// A slice that starts on a page boundary.
///
/// The position chosen by the allocator changes in-cache numbers by tens of percent (split cache lines, loads that
/// alias stores 4 KiB away), so all contenders get the same alignment.
pub(crate) struct Buffer<T> {
    storage: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Buffer<T> {
    pub(crate) fn new(len: usize) -> Self {
        let spare = PAGE / size_of::<T>();
        let mut storage = vec![T::default(); len + spare];
        // Zeroed memory is mapped lazily: write to it, or the first contender pays for the page faults.
        storage.fill(black_box(T::default()));
        let start = storage.as_ptr().align_offset(PAGE).min(spare);
        Self { storage, start, len }
    }

    pub(crate) fn from_values(values: impl ExactSizeIterator<Item = T>) -> Self {
        let mut buffer = Self::new(values.len());
        buffer.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
        buffer
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.storage[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.storage[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_page_aligned_and_have_the_requested_length() {
        let buffer = Buffer::from_values((0..1000_u32).map(|i| i * 2));
        assert_eq!(buffer.as_ptr().addr() % PAGE, 0);
        assert_eq!((buffer.len(), buffer[999]), (1000, 1998));
    }
}
