//! `QuantizedMatrix`: a matrix of bins in one of four equivalent layouts.

use std::ops::Range;
use std::sync::Arc;

use bitgrain_kernels::bins::BinCode;
use rayon::prelude::*;

use super::tile::{Tile, TileBin, blocks};
use super::{BinColumns, BinMap, BinRows, BinSource, Csr, Ellpack};
use crate::narrow::narrow;

/// Memory layout of a matrix of bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinLayout {
    /// Dense and column-major, each column in the width its feature needs.
    Columns,
    /// Dense and row-major, in the width of the widest feature.
    Rows,
    /// Sparse rows; missing values take no space.
    Csr,
    /// Padded rows of global bins, bit-packed.
    Ellpack,
}

impl BinLayout {
    /// All layouts.
    pub const ALL: [Self; 4] = [Self::Columns, Self::Rows, Self::Csr, Self::Ellpack];
}

/// Bins in their layout.
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

    /// Reads bins as described by [`BinSource`].
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

/// Counts the non-missing features of each row.
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

/// Bins of all rows and features.
///
/// ```
/// use bitgrain_gbdt::feature::{BinLayout, Features, Quantizer};
/// let features = Features::row_major(&[0.0_f32, f32::NAN, f32::NAN, 1.0, 2.0, f32::NAN][..], 3, 2)?;
/// let cuts = Quantizer::default().compute_cuts(&features, None)?;
/// let columns = cuts.quantize(&features, BinLayout::Columns)?;
/// let sparse = columns.to_layout(BinLayout::Csr);
/// assert_eq!(sparse.to_layout(BinLayout::Columns), columns);
/// // Three entries of one byte for the feature and one for the bin, and four row pointers.
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

    /// Number and offsets of the bins of each feature.
    #[must_use]
    pub fn map(&self) -> &BinMap {
        &self.map
    }

    /// Returns the layout-specific storage, for loops over many bins.
    #[must_use]
    pub fn storage(&self) -> &BinStorage {
        &self.storage
    }

    /// Returns one bin, in any layout. Loops over many bins should use [`storage`](Self::storage).
    ///
    /// # Panics
    /// If the row or the feature is out of range.
    #[must_use]
    pub fn bin(&self, row: usize, feature: usize) -> u32 {
        let (n_rows, n_features) = (self.n_rows, self.map.n_features());
        assert!(
            row < n_rows && feature < n_features,
            "row {row}, feature {feature} out of range for {n_rows} x {n_features}"
        );
        match &self.storage {
            BinStorage::Columns(columns) => columns.col(feature).get(row),
            BinStorage::Rows(rows) => rows.bin(row, feature),
            BinStorage::Csr(csr) => csr.bin(row, feature),
            BinStorage::Ellpack(ellpack) => ellpack.bin(row, feature),
        }
    }

    /// Converts the matrix to another layout.
    #[must_use]
    pub fn to_layout(&self, layout: BinLayout) -> Self {
        let storage = BinStorage::build(self, &self.map, layout);
        Self { storage, n_rows: self.n_rows, map: Arc::clone(&self.map) }
    }

    /// Size of the bins in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.storage {
            BinStorage::Columns(columns) => columns.bytes(),
            BinStorage::Rows(rows) => rows.bytes(),
            BinStorage::Csr(csr) => csr.bytes(),
            BinStorage::Ellpack(ellpack) => ellpack.bytes(),
        }
    }

    /// Size in bytes that the bins would have in another layout. Does not convert the matrix.
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
