//! Test tensors: overlapping windows of one long array, so that many of them need little memory.

use crate::buffer::Buffer;
use crate::data;

/// Number of floats between the first and the last window.
const SPREAD: usize = 1 << 20;
/// Distance of consecutive windows in floats; odd, so that blocks start at different values.
const STEP: usize = 1009;

/// Tensors of one shape, identified by number.
pub(super) struct Tensors {
    run: Buffer<f32>,
    pub(super) shape: [usize; 2],
}

impl Tensors {
    pub(super) fn new(shape: [usize; 2]) -> Self {
        Self { run: data::normal(SPREAD + shape[0] * shape[1]), shape }
    }

    /// Returns the number of floats of a tensor.
    pub(super) const fn len(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    /// Returns the size of a tensor as f32, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.len() * size_of::<f32>()
    }

    pub(super) fn of(&self, id: usize) -> &[f32] {
        let start = (id * STEP) % SPREAD;
        &self.run[start..start + self.len()]
    }

    /// Formats the size as `1,000 floats`.
    pub(super) fn label(&self) -> String {
        format!("{} floats", thousands(self.len()))
    }
}

/// Formats a number with thousands separators.
pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three_from_the_right() {
        assert_eq!([7, 1000, 65_536, 1_000_000].map(thousands), ["7", "1,000", "65,536", "1,000,000"]);
    }

    #[test]
    fn neighbors_are_other_values() {
        let tensors = Tensors::new([2, 50]);
        assert_eq!(tensors.of(3).len(), 100);
        assert_ne!(tensors.of(3), tensors.of(4));
    }
}
