//! Blocks of rows as plain bins: what every layout is read into and built from.

use std::ops::Range;

use super::{BinCuts, BinMap, Features};

/// Bins of a block of rows, column after column.
pub(super) struct Tile {
    bins: Vec<u32>,
    n_rows: usize,
}

impl Tile {
    pub(super) fn read(source: &dyn Tiles, rows: Range<usize>, n_features: usize) -> Self {
        let mut tile = Self { bins: vec![0; rows.len() * n_features], n_rows: rows.len() };
        source.fill(rows, &mut tile);
        tile
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(super) fn column(&self, feature: usize) -> &[u32] {
        &self.bins[feature * self.n_rows..][..self.n_rows]
    }

    pub(super) fn column_mut(&mut self, feature: usize) -> &mut [u32] {
        &mut self.bins[feature * self.n_rows..][..self.n_rows]
    }

    /// The bins of a row, feature after feature.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = u32> {
        self.bins[row..].iter().step_by(self.n_rows).copied()
    }

    /// The features of a row that are not missing, with their bins.
    pub(super) fn present(&self, row: usize, map: &BinMap) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(self.row(row)).filter(|&(feature, bin)| map.missing_bin(feature as usize) != Some(bin))
    }

    /// Every feature missing in every row; features that are never missing are left for the source to fill.
    pub(super) fn clear(&mut self, map: &BinMap) {
        for feature in 0..map.n_features() {
            self.column_mut(feature).fill(map.last_bin(feature));
        }
    }

    pub(super) fn set(&mut self, row: usize, feature: usize, bin: u32) {
        self.bins[feature * self.n_rows + row] = bin;
    }
}

/// Something that knows the bins of every row.
pub(super) trait Tiles: Sync {
    /// Writes the bins of some rows to a tile of as many.
    fn fill(&self, rows: Range<usize>, tile: &mut Tile);
}

/// Raw values on their way into bins.
pub(super) struct Raw<'a> {
    pub(super) cuts: &'a BinCuts,
    pub(super) features: &'a Features<'a>,
}

impl Tiles for Raw<'_> {
    fn fill(&self, rows: Range<usize>, tile: &mut Tile) {
        for feature in 0..self.features.n_features() {
            let values = self.features.column(feature, rows.clone());
            self.cuts.bin_all(feature, &values, tile.column_mut(feature));
        }
    }
}

/// Ranges of rows to work on at a time: few enough to stay in cache, enough to pay for setting up a search, and a
/// multiple of eight, so that packed rows begin with a byte.
pub(super) fn blocks(n_rows: usize, n_features: usize) -> Vec<Range<usize>> {
    let rows = ((1 << 16) / n_features).clamp(2048, 8192) / 8 * 8;
    (0..n_rows).step_by(rows).map(|start| start..n_rows.min(start + rows)).collect()
}
