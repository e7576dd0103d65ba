//! Sparse rows (CSR): only values that are not missing, each as a feature and a bin. Explicit zeros are kept.

use std::ops::Range;
use std::sync::Arc;

use bitgrain_kernels::bins::BinCode;
use rayon::prelude::*;

use super::source::scatter;
use super::tile::{Tile, TileBin, blocks};
use super::{BinMap, BinSource, Codes};
use crate::narrow::narrow;

/// Compressed sparse rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csr {
    row_ptr: Box<[usize]>,
    col_idx: Codes,
    bins: Codes,
    map: Arc<BinMap>,
}

impl Csr {
    /// Returns the offset of each row's first entry, followed by the number of entries.
    #[must_use]
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }

    /// Feature of each entry, ascending within a row.
    #[must_use]
    pub fn col_idx(&self) -> &Codes {
        &self.col_idx
    }

    /// Bin of each entry, numbered within its feature.
    #[must_use]
    pub fn bins(&self) -> &Codes {
        &self.bins
    }

    pub(super) fn bin(&self, row: usize, feature: usize) -> u32 {
        let (mut first, mut end) = (self.row_ptr[row], self.row_ptr[row + 1]);
        while first < end {
            let middle = first.midpoint(end);
            if (self.col_idx.get(middle) as usize) < feature { first = middle + 1 } else { end = middle }
        }
        let found = first < self.row_ptr[row + 1] && self.col_idx.get(first) as usize == feature;
        if found { self.bins.get(first) } else { self.map.last_bin(feature) }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.row_ptr) + self.col_idx.bytes() + self.bins.bytes()
    }

    /// Size in bytes of a matrix with `entries` entries.
    pub(super) fn bytes_for(map: &BinMap, n_rows: usize, entries: usize) -> usize {
        let entry = Codes::width(last_feature(map)) + Codes::width(map.widest() - 1);
        (n_rows + 1) * size_of::<usize>() + entries * entry
    }

    /// Builds the matrix from a source and the number of entries of each row.
    pub(super) fn build<C: TileBin>(source: &dyn BinSource, counts: &[u32], map: &Arc<BinMap>) -> Self {
        let mut end = 0;
        let ends = counts.iter().map(|count| {
            end += *count as usize;
            end
        });
        let row_ptr: Box<[usize]> = [0].into_iter().chain(ends).collect();
        let mut col_idx = Codes::zeros(end, last_feature(map));
        let mut bins = Codes::zeros(end, map.widest() - 1);
        let (mut col_rest, mut bins_rest) = (col_idx.as_mut(), bins.as_mut());
        let parts = blocks(counts.len(), map.n_features()).into_iter().map(|rows| {
            let entries = row_ptr[rows.end] - row_ptr[rows.start];
            (col_rest.take(entries), bins_rest.take(entries), rows)
        });
        parts.collect::<Vec<_>>().into_par_iter().for_each(|(mut col_part, mut bins_part, rows)| {
            Tile::<C>::read(source, rows).for_each_row(map, |entries| {
                col_part.take(entries.len()).write(entries.iter().map(|entry| entry.0));
                bins_part.take(entries.len()).write(entries.iter().map(|entry| entry.1));
            });
        });
        Self { row_ptr, col_idx, bins, map: Arc::clone(map) }
    }

    /// Reads bins as described by [`BinSource`].
    pub(super) fn read<C: BinCode>(&self, features: &[usize], rows: Range<usize>, out: &mut [C]) {
        let entry = |at| (self.col_idx.get(at) as usize, self.bins.get(at));
        let entries = |row: usize| (self.row_ptr[row]..self.row_ptr[row + 1]).map(entry);
        let absent = |feature| self.map.last_bin(feature);
        scatter(features, self.map.n_features(), rows, absent, entries, |_, bin| bin, out);
    }
}

fn last_feature(map: &BinMap) -> u32 {
    // Fits: every feature has at least one bin, and the number of bins fits 32 bits.
    narrow(map.n_features() - 1)
}
