//! Dense row-major layout in the width of the widest feature.

use std::ops::Range;

use bitgrain_kernels::bins::BinCode;
use rayon::prelude::*;

use super::tile::{Tile, TileBin, blocks};
use super::transpose::transpose;
use super::{BinMap, BinSource, Codes};

/// Row-major bins. Histograms built one row at a time read memory sequentially, for any subset of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinRows {
    bins: Codes,
    n_features: usize,
}

impl BinRows {
    /// Bins of all rows: the bin of `feature` in `row` is at `row * n_features + feature`.
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

    /// Size in bytes of a matrix in this layout.
    pub(super) fn bytes_for(map: &BinMap, n_rows: usize) -> usize {
        n_rows * map.n_features() * Codes::width(map.widest() - 1)
    }

    pub(super) fn build<C: TileBin>(source: &dyn BinSource) -> Self {
        let (n_rows, n_features) = (source.n_rows(), source.map().n_features());
        let mut bins = Codes::zeros(n_rows * n_features, source.map().widest() - 1);
        let mut rest = bins.as_mut();
        let parts = blocks(n_rows, n_features).into_iter().map(|rows| (rest.take(rows.len() * n_features), rows));
        parts.collect::<Vec<_>>().into_par_iter().for_each(|(mut part, rows)| {
            part.write(Tile::<C>::read(source, rows).rows().into_iter().map(Into::into));
        });
        Self { bins, n_features }
    }

    /// Reads bins as described by [`BinSource`].
    pub(super) fn read<C: BinCode>(&self, features: &[usize], rows: Range<usize>, out: &mut [C]) {
        let features = features.iter().copied();
        match &self.bins {
            Codes::U8(bins) => transpose(bins, self.n_features, rows, features, out, |bin| C::of_bin(bin.into())),
            Codes::U16(bins) => transpose(bins, self.n_features, rows, features, out, |bin| C::of_bin(bin.into())),
            Codes::U32(bins) => transpose(bins, self.n_features, rows, features, out, |bin| C::of_bin(bin as usize)),
        }
    }
}
