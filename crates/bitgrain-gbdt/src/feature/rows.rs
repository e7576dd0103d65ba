//! Dense, row after row, at the width of the widest feature.

use std::ops::Range;

use rayon::prelude::*;

use super::tile::{Tile, Tiles, blocks};
use super::{BinMap, Codes};

/// Rows of bins. A histogram that walks all features of a row at a time reads memory in order, whatever the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    bins: Codes,
    n_features: usize,
}

impl Rows {
    /// The bins: that of `feature` in `row` is at `row * n_features + feature`.
    #[must_use]
    pub fn bins(&self) -> &Codes {
        &self.bins
    }

    pub(super) fn bin(&self, row: usize, feature: usize) -> u32 {
        self.bins.get(row * self.n_features + feature)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bins.bytes()
    }

    /// Bytes of the rows of a matrix.
    pub(super) fn bytes_for(map: &BinMap, n_rows: usize) -> usize {
        n_rows * map.n_features() * Codes::width(map.widest() - 1)
    }

    pub(super) fn build(source: &dyn Tiles, n_rows: usize, map: &BinMap) -> Self {
        let n_features = map.n_features();
        let mut bins = Codes::zeros(n_rows * n_features, map.widest() - 1);
        let mut rest = bins.as_mut();
        let parts = blocks(n_rows, n_features).into_iter().map(|rows| (rest.take(rows.len() * n_features), rows));
        parts.collect::<Vec<_>>().into_par_iter().for_each(|(mut part, rows)| {
            let tile = Tile::read(source, rows, n_features);
            part.write((0..tile.n_rows()).flat_map(|row| tile.row(row)));
        });
        Self { bins, n_features }
    }
}

impl Tiles for Rows {
    fn fill(&self, rows: Range<usize>, tile: &mut Tile) {
        for (at, row) in rows.enumerate() {
            for feature in 0..self.n_features {
                tile.set(at, feature, self.bin(row, feature));
            }
        }
    }
}
