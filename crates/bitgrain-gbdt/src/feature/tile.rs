//! `Tile`: the bins of all features in a block of rows, from which every layout is built.

use std::ops::Range;

use bitgrain_kernels::bins::BinCode;

use super::transpose::transpose;
use super::{BinMap, BinSource};

/// Integer type of the bins of a tile.
pub(super) trait TileBin: BinCode + Into<u32> + Send + Sync {
    /// Reads bins of this type.
    fn fill(source: &dyn BinSource, features: &[usize], rows: Range<usize>, out: &mut [Self]);
}

impl TileBin for u8 {
    fn fill(source: &dyn BinSource, features: &[usize], rows: Range<usize>, out: &mut [Self]) {
        source.fill_u8(features, rows, out);
    }
}

impl TileBin for u32 {
    fn fill(source: &dyn BinSource, features: &[usize], rows: Range<usize>, out: &mut [Self]) {
        source.fill_u32(features, rows, out);
    }
}

/// Column-major bins of a block of rows.
pub(super) struct Tile<C> {
    bins: Vec<C>,
    n_rows: usize,
}

impl<C: TileBin> Tile<C> {
    pub(super) fn read(source: &dyn BinSource, rows: Range<usize>) -> Self {
        let features: Vec<usize> = (0..source.map().n_features()).collect();
        let n_rows = rows.len();
        let mut bins = vec![C::of_bin(0); n_rows * features.len()];
        C::fill(source, &features, rows, &mut bins);
        Self { bins, n_rows }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(super) fn column(&self, feature: usize) -> &[C] {
        &self.bins[feature * self.n_rows..][..self.n_rows]
    }

    /// Returns the same bins in row-major order.
    pub(super) fn rows(&self) -> Vec<C> {
        let mut rows = vec![C::of_bin(0); self.bins.len()];
        transpose(&self.bins, self.n_rows, 0..self.bins.len() / self.n_rows, 0..self.n_rows, &mut rows, |bin| bin);
        rows
    }

    /// Visits the non-missing `(feature, bin)` pairs of each row.
    pub(super) fn for_each_row(&self, map: &BinMap, mut visit: impl FnMut(&[(u32, u32)])) {
        let missing: Vec<Option<u32>> = (0..map.n_features()).map(|feature| map.missing_bin(feature)).collect();
        let mut present = Vec::with_capacity(missing.len());
        for bins in self.rows().chunks_exact(missing.len()) {
            let entries = (0..).zip(bins.iter().map(|&bin| bin.into()));
            let entries = entries.zip(&missing).filter(|((_, bin), missing)| Some(*bin) != **missing);
            present.clear();
            present.extend(entries.map(|(entry, _)| entry));
            visit(&present);
        }
    }
}

/// Splits rows into blocks: small enough for the cache, large enough to amortize the setup of a search, and a multiple
/// of eight rows, so that packed rows start at a byte boundary.
pub(super) fn blocks(n_rows: usize, n_features: usize) -> Vec<Range<usize>> {
    let rows = ((1 << 16) / n_features.max(1)).clamp(2048, 8192) / 8 * 8;
    (0..n_rows).step_by(rows).map(|start| start..n_rows.min(start + rows)).collect()
}
