//! A matrix of bins, in one of four layouts that hold the same.

use std::ops::Range;
use std::sync::Arc;

use bitgrain_kernels::bins::BinCode;
use rayon::prelude::*;

use super::tile::{Tile, TileBin, blocks};
use super::{BinColumns, BinMap, BinRows, BinSource, Csr, Ellpack};
use crate::narrow::narrow;

/// How a matrix of bins lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinLayout {
    /// Dense, column after column, each at the width its feature needs.
    Columns,
    /// Dense, row after row, at the width of the widest feature.
    Rows,
    /// Sparse rows: what is missing takes no place.
    Csr,
    /// Padded rows of global bins, packed at the least width.
    Ellpack,
}

impl BinLayout {
    /// Every layout.
    pub const ALL: [Self; 4] = [Self::Columns, Self::Rows, Self::Csr, Self::Ellpack];
}

/// The bins, in the layout they are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BinStorage {
    /// See [`BinLayout::Columns`].
    Columns(BinColumns),
    /// See [`BinLayout::Rows`].
    Rows(BinRows),
    /// See [`BinLayout::Csr`].
    Csr(Csr),
    /// See [`BinLayout::Ellpack`].
    Ellpack(Ellpack),
}

impl BinStorage {
    pub(super) fn build(source: &dyn BinSource, map: &Arc<BinMap>, layout: BinLayout) -> Self {
        if fit_a_byte(map) {
            Self::build_from::<u8>(source, map, layout)
        } else {
            Self::build_from::<u32>(source, map, layout)
        }
    }

    fn build_from<C: TileBin>(source: &dyn BinSource, map: &Arc<BinMap>, layout: BinLayout) -> Self {
        match layout {
            BinLayout::Columns => Self::Columns(BinColumns::build::<C>(source)),
            BinLayout::Rows => Self::Rows(BinRows::build::<C>(source)),
            BinLayout::Csr => Self::Csr(Csr::build::<C>(source, &present::<C>(source), map)),
            BinLayout::Ellpack => Self::Ellpack(Ellpack::build::<C>(source, &present::<C>(source), map)),
        }
    }

    /// See [`BinSource`].
    fn read<C: BinCode>(&self, features: &[usize], rows: Range<usize>, out: &mut [C]) {
        match self {
            Self::Columns(columns) => columns.read(features, &rows, out),
            Self::Rows(matrix) => matrix.read(features, rows, out),
            Self::Csr(csr) => csr.read(features, rows, out),
            Self::Ellpack(ellpack) => ellpack.read(features, rows, out),
        }
    }
}

fn fit_a_byte(map: &BinMap) -> bool {
    map.widest() <= 256
}

/// How many features of each row are not missing.
fn present<C: TileBin>(source: &dyn BinSource) -> Vec<u32> {
    let map = source.map();
    let all = narrow(map.n_features());
    if (0..map.n_features()).all(|feature| map.missing_bin(feature).is_none()) {
        return vec![all; source.n_rows()];
    }
    let in_block = |rows| {
        let tile = Tile::<C>::read(source, rows);
        let mut counts = vec![all; tile.n_rows()];
        for (feature, missing) in (0..map.n_features()).filter_map(|feature| Some((feature, map.missing_bin(feature)?)))
        {
            let bins = tile.column(feature).iter().map(|&bin| bin.into());
            counts.iter_mut().zip(bins).for_each(|(count, bin): (_, u32)| *count -= u32::from(bin == missing));
        }
        counts
    };
    blocks(source.n_rows(), map.n_features()).into_par_iter().flat_map_iter(in_block).collect()
}

/// The bins of every row and feature.
///
/// ```
/// use bitgrain_gbdt::feature::{BinLayout, Features, Quantizer};
/// let features = Features::row_major(&[0.0_f32, f32::NAN, f32::NAN, 1.0, 2.0, f32::NAN][..], 3, 2)?;
/// let cuts = Quantizer::default().compute_cuts(&features, None)?;
/// let columns = cuts.quantize(&features, BinLayout::Columns)?;
/// let sparse = columns.to_layout(BinLayout::Csr);
/// assert_eq!(sparse.to_layout(BinLayout::Columns), columns);
/// // Three values: a byte for the feature and one for the bin of each, and where four rows begin or end.
/// assert_eq!(columns.bytes_in(BinLayout::Csr), 3 * 2 + 4 * size_of::<usize>());
/// # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantizedMatrix {
    storage: BinStorage,
    n_rows: usize,
    map: Arc<BinMap>,
}

impl QuantizedMatrix {
    pub(super) fn new(storage: BinStorage, n_rows: usize, map: Arc<BinMap>) -> Self {
        Self { storage, n_rows, map }
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many bins there are, and where.
    #[must_use]
    pub fn map(&self) -> &BinMap {
        &self.map
    }

    /// The bins in their layout, for loops that know it.
    #[must_use]
    pub fn storage(&self) -> &BinStorage {
        &self.storage
    }

    /// One bin, in any layout; loops over many use [`storage`](Self::storage).
    ///
    /// # Panics
    /// Behind the last row or feature.
    #[must_use]
    pub fn bin(&self, row: usize, feature: usize) -> u32 {
        let (n_rows, n_features) = (self.n_rows, self.map.n_features());
        assert!(row < n_rows && feature < n_features, "row {row}, feature {feature} of {n_rows} by {n_features}");
        match &self.storage {
            BinStorage::Columns(columns) => columns.col(feature).get(row),
            BinStorage::Rows(rows) => rows.bin(row, feature),
            BinStorage::Csr(csr) => csr.bin(row, feature),
            BinStorage::Ellpack(ellpack) => ellpack.bin(row, feature),
        }
    }

    /// The same bins in another layout.
    #[must_use]
    pub fn to_layout(&self, layout: BinLayout) -> Self {
        let storage = BinStorage::build(self, &self.map, layout);
        Self { storage, n_rows: self.n_rows, map: Arc::clone(&self.map) }
    }

    /// Bytes of the bins.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.storage {
            BinStorage::Columns(columns) => columns.bytes(),
            BinStorage::Rows(rows) => rows.bytes(),
            BinStorage::Csr(csr) => csr.bytes(),
            BinStorage::Ellpack(ellpack) => ellpack.bytes(),
        }
    }

    /// Bytes that the bins would take in another layout, without making it.
    #[must_use]
    pub fn bytes_in(&self, layout: BinLayout) -> usize {
        let (map, n_rows) = (&*self.map, self.n_rows);
        let counts = || if fit_a_byte(map) { present::<u8>(self) } else { present::<u32>(self) };
        match layout {
            BinLayout::Columns => BinColumns::bytes_for(map, n_rows),
            BinLayout::Rows => BinRows::bytes_for(map, n_rows),
            BinLayout::Csr => Csr::bytes_for(map, n_rows, counts().iter().map(|&count| count as usize).sum()),
            BinLayout::Ellpack => {
                let counts = counts();
                let [shortest, longest] =
                    [counts.iter().min(), counts.iter().max()].map(|count| count.copied().unwrap_or(0) as usize);
                Ellpack::bytes_for(map, n_rows, shortest, longest)
            }
        }
    }
}

impl BinSource for QuantizedMatrix {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn map(&self) -> &BinMap {
        &self.map
    }

    fn fill_u8(&self, features: &[usize], rows: Range<usize>, out: &mut [u8]) {
        self.storage.read(features, rows, out);
    }

    fn fill_u32(&self, features: &[usize], rows: Range<usize>, out: &mut [u32]) {
        self.storage.read(features, rows, out);
    }
}
