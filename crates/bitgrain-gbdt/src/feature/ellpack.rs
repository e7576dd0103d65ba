//! ELLPACK layout: padded rows of global bins with one stride, the layout of GPU histogram kernels.

use std::ops::Range;
use std::sync::Arc;

use bitgrain_kernels::bins::BinCode;
use rayon::prelude::*;

use super::source::scatter;
use super::tile::{Tile, TileBin, blocks};
use super::{BinMap, BinSource, packed};

/// Each row holds the global bins of its non-missing features in ascending order and is padded to the longest row. All
/// symbols have the same width and are packed without gaps, least significant bit first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ellpack {
    bytes: Box<[u8]>,
    row_stride: usize,
    symbol_bits: u32,
    map: Arc<BinMap>,
}

impl Ellpack {
    /// Number of symbols per row: the number of non-missing features in the fullest row.
    #[must_use]
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Width of a symbol in bits.
    #[must_use]
    pub fn symbol_bits(&self) -> u32 {
        self.symbol_bits
    }

    /// Returns the padding symbol, one above the last global bin.
    #[must_use]
    pub fn padding(&self) -> u32 {
        self.map.total_bins()
    }

    /// Packed symbols of all rows.
    #[must_use]
    pub fn packed(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns a symbol of a row: a global bin, or [`padding`](Self::padding) after the last one.
    ///
    /// # Panics
    /// If the row is out of range.
    #[must_use]
    pub fn symbol(&self, row: usize, at: usize) -> u32 {
        packed::get(&self.bytes, self.symbol_bits, row * self.row_stride + at)
    }

    /// Iterates over the features and bins of a row.
    fn entries(&self, row: usize) -> impl Iterator<Item = (usize, u32)> {
        let offsets = self.map.feature_offsets();
        let symbols = (0..self.row_stride).map(move |at| self.symbol(row, at));
        let mut feature = 0;
        symbols.take_while(|&symbol| symbol != self.padding()).map(move |symbol| {
            while symbol >= offsets[feature + 1] {
                feature += 1;
            }
            (feature, symbol - offsets[feature])
        })
    }

    pub(super) fn bin(&self, row: usize, feature: usize) -> u32 {
        let found = self.entries(row).find(|entry| entry.0 == feature);
        found.map_or(self.map.last_bin(feature), |entry| entry.1)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Size in bytes of a matrix whose rows have between `shortest` and `longest` entries.
    pub(super) fn bytes_for(map: &BinMap, n_rows: usize, shortest: usize, longest: usize) -> usize {
        packed::packed_len(n_rows * longest, symbol_bits(map, shortest < longest))
    }

    /// Builds the matrix from a source and the number of entries of each row.
    pub(super) fn build<C: TileBin>(source: &dyn BinSource, counts: &[u32], map: &Arc<BinMap>) -> Self {
        let row_stride = counts.iter().max().copied().unwrap_or(0) as usize;
        let symbol_bits = symbol_bits(map, counts.iter().any(|&count| (count as usize) < row_stride));
        let mut bytes = vec![0; packed::packed_len(counts.len() * row_stride, symbol_bits)];
        let mut rest = &mut bytes[..];
        let parts = blocks(counts.len(), map.n_features()).into_iter().map(|rows| {
            // Blocks are multiples of eight rows, so only the last block can end inside a byte.
            let len = packed::packed_len(rows.len() * row_stride, symbol_bits);
            (rest.split_off_mut(..len).unwrap_or_default(), rows)
        });
        parts.collect::<Vec<_>>().into_par_iter().for_each(|(part, rows)| {
            let mut symbols = Vec::with_capacity(rows.len() * row_stride);
            Tile::<C>::read(source, rows).for_each_row(map, |entries| {
                let row_end = symbols.len() + row_stride;
                symbols.extend(entries.iter().map(|&(feature, bin)| map.feature_offsets()[feature as usize] + bin));
                symbols.resize(row_end, map.total_bins());
            });
            packed::pack(symbols.into_iter(), symbol_bits, part);
        });
        Self { bytes: bytes.into(), row_stride, symbol_bits, map: Arc::clone(map) }
    }

    /// Reads bins as described by [`BinSource`].
    pub(super) fn read<C: BinCode>(&self, features: &[usize], rows: Range<usize>, out: &mut [C]) {
        let absent = |feature| self.map.last_bin(feature);
        scatter(features, self.map.n_features(), rows, absent, |row| self.entries(row), |_, bin| bin, out);
    }
}

/// Width that holds every global bin, and the padding symbol if `padded`.
fn symbol_bits(map: &BinMap, padded: bool) -> u32 {
    packed::bits_for(map.total_bins() - u32::from(!padded))
}
