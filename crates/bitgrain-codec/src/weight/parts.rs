//! `Parts`: the arrays of a quantized matrix.

use alloc::vec;
use alloc::vec::Vec;

/// Lengths of a matrix's arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Size of packed codes or blocks in bytes.
    pub codes: usize,
    /// Number of scales.
    pub scales: usize,
    /// Size of packed zero points in bytes.
    pub zeros: usize,
}

impl Sizes {
    /// Returns the total size in bytes, with an f32 per scale.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.codes.saturating_add(self.scales.saturating_mul(4)).saturating_add(self.zeros)
    }
}

/// Borrowed codes, scales and zero points of complete rows.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// Packed codes or blocks; every row starts on a byte boundary.
    pub codes: &'a [u8],
    /// Scales, row by row; empty for block formats, which contain their scales.
    pub scales: &'a [f32],
    /// Zero points, packed like codes; every row starts on a byte boundary.
    pub zeros: &'a [u8],
}

/// Mutable slices of the arrays of [`Parts`].
#[derive(Debug)]
pub struct PartsMut<'a> {
    /// Packed codes or blocks.
    pub codes: &'a mut [u8],
    /// Scales.
    pub scales: &'a mut [f32],
    /// Packed zero points.
    pub zeros: &'a mut [u8],
}

/// Owned arrays of [`Parts`].
#[derive(Debug, Clone, PartialEq)]
pub struct PartsBuf {
    /// Packed codes or blocks.
    pub codes: Vec<u8>,
    /// Scales.
    pub scales: Vec<f32>,
    /// Packed zero points.
    pub zeros: Vec<u8>,
}

impl PartsBuf {
    /// Allocates zeroed arrays of these sizes.
    #[must_use]
    pub fn new(sizes: Sizes) -> Self {
        Self { codes: vec![0; sizes.codes], scales: vec![0.0; sizes.scales], zeros: vec![0; sizes.zeros] }
    }

    /// Borrows the arrays.
    #[must_use]
    pub fn parts(&self) -> Parts<'_> {
        Parts { codes: &self.codes, scales: &self.scales, zeros: &self.zeros }
    }

    /// Borrows the arrays mutably.
    pub fn parts_mut(&mut self) -> PartsMut<'_> {
        PartsMut { codes: &mut self.codes, scales: &mut self.scales, zeros: &mut self.zeros }
    }
}
