//! `Parts`: the arrays a quantized matrix consists of, borrowed.

use alloc::vec;
use alloc::vec::Vec;

/// How long the arrays of a matrix are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of packed codes or blocks.
    pub codes: usize,
    /// Number of scales.
    pub scales: usize,
    /// Bytes of packed zero points.
    pub zeros: usize,
}

impl Sizes {
    /// Bytes in all, an f32 for each scale.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.codes.saturating_add(self.scales.saturating_mul(4)).saturating_add(self.zeros)
    }
}

/// Codes, scales and zero points of whole rows.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// Packed codes or blocks; every row starts on a byte.
    pub codes: &'a [u8],
    /// Scales, row by row; none for blocks, which hold their own.
    pub scales: &'a [f32],
    /// Zero points, packed like codes; every row starts on a byte.
    pub zeros: &'a [u8],
}

/// The same arrays to write to.
#[derive(Debug)]
pub struct PartsMut<'a> {
    /// Packed codes or blocks.
    pub codes: &'a mut [u8],
    /// Scales.
    pub scales: &'a mut [f32],
    /// Packed zero points.
    pub zeros: &'a mut [u8],
}

/// The same arrays, owned.
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
    /// Arrays of these sizes, all zero.
    #[must_use]
    pub fn new(sizes: Sizes) -> Self {
        Self { codes: vec![0; sizes.codes], scales: vec![0.0; sizes.scales], zeros: vec![0; sizes.zeros] }
    }

    /// To read from.
    #[must_use]
    pub fn parts(&self) -> Parts<'_> {
        Parts { codes: &self.codes, scales: &self.scales, zeros: &self.zeros }
    }

    /// To write to.
    pub fn parts_mut(&mut self) -> PartsMut<'_> {
        PartsMut { codes: &mut self.codes, scales: &mut self.scales, zeros: &mut self.zeros }
    }
}
