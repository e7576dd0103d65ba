//! Padded rows of global bins, packed at the least width: what a GPU reads with one stride.

use std::ops::Range;
use std::sync::Arc;

use bitgrain_kernels::bins::BinCode;
use rayon::prelude::*;

use super::source::scatter;
use super::tile::{Tile, TileBin, blocks};
use super::{BinMap, BinSource, packed};

/// ELLPACK: each row holds the global bins of its features that are not missing, ascending, and is padded to the
/// longest row. Symbols have the same number of bits and follow one another without gaps, least significant bit first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ellpack {
    bytes: Box<[u8]>,
    row_stride: usize,
    symbol_bits: u32,
    map: Arc<BinMap>,
}

impl Ellpack {
    /// Symbols per row: the features of the row that misses the fewest.
    #[must_use]
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Bits of a symbol.
    #[must_use]
    pub fn symbol_bits(&self) -> u32 {
        self.symbol_bits
    }

    /// The symbol that is no bin: one behind the last global bin.
    #[must_use]
    pub fn padding(&self) -> u32 {
        self.map.total_bins()
    }

    /// The packed symbols of all rows.
    #[must_use]
    pub fn packed(&self) -> &[u8] {
        &self.bytes
    }

    /// A symbol of a row: a global bin, or [`padding`](Self::padding) behind the last one.
    ///
    /// # Panics
    /// Behind the last row.
    #[must_use]
    pub fn symbol(&self, row: usize, at: usize) -> u32 {
        packed::get(&self.bytes, self.symbol_bits, row * self.row_stride + at)
    }

    /// Features and bins of a row.
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

    /// Bytes of a matrix whose rows have from `shortest` to `longest` entries.
    pub(super) fn bytes_for(map: &BinMap, n_rows: usize, shortest: usize, longest: usize) -> usize {
        packed::packed_len(n_rows * longest, symbol_bits(map, shortest < longest))
    }

    /// From a source and how many entries each row has.
    pub(super) fn build<C: TileBin>(source: &dyn BinSource, counts: &[u32], map: &Arc<BinMap>) -> Self {
        let row_stride = counts.iter().max().copied().unwrap_or(0) as usize;
        let symbol_bits = symbol_bits(map, counts.iter().any(|&count| (count as usize) < row_stride));
        let mut bytes = vec![0; packed::packed_len(counts.len() * row_stride, symbol_bits)];
        let mut rest = &mut bytes[..];
        let parts = blocks(counts.len(), map.n_features()).into_iter().map(|rows| {
            // Blocks are multiples of eight rows, so only the last may end within a byte.
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

    /// See [`BinSource`].
    pub(super) fn read<C: BinCode>(&self, features: &[usize], rows: Range<usize>, out: &mut [C]) {
        scatter(&self.map, features, rows, |row| self.entries(row), out);
    }
}

/// Bits of every global bin, and of the padding where there is any.
fn symbol_bits(map: &BinMap, padded: bool) -> u32 {
    packed::bits_for(map.total_bins() - u32::from(!padded))
}
