//! `BinSource`: access to blocks of bins, from raw values or from any layout.

use std::ops::Range;

use bitgrain_kernels::bins::BinCode;

use super::input::Matrix;
use super::{Absent, BinCuts, BinMap, Features};

/// Source of bins: raw features with their cuts, or a matrix of bins in any layout.
///
/// Bins are written in column-major order: with `n = rows.len()`, the bin of `features[f]` in row `rows.start + r` goes
/// to `out[f * n + r]`. Features must be distinct and may be in any order. Request many features per call, because
/// row-major layouts are then traversed once for all of them. A few thousand rows per call stay in cache.
pub(crate) trait BinSource: Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Number and offsets of the bins of each feature.
    fn map(&self) -> &BinMap;

    /// Writes the bins of features that have at most 256 bins.
    fn fill_u8(&self, features: &[usize], rows: Range<usize>, out: &mut [u8]);

    /// Writes the bins of any features.
    fn fill_u32(&self, features: &[usize], rows: Range<usize>, out: &mut [u32]);

    /// Returns the stored entries if the source is sparse.
    fn entries(&self) -> Option<&dyn BinEntries> {
        None
    }
}

/// Access to the stored entries of a sparse source.
pub(crate) trait BinEntries: Sync {
    /// Returns the bin of values without an entry.
    fn absent(&self, feature: usize) -> u32;

    /// Calls `visit` with the row, feature and bin of each entry, by row and feature in ascending order.
    fn for_each(&self, rows: Range<usize>, visit: &mut dyn FnMut(usize, usize, u32));
}

/// Source that bins raw values on the fly.
pub(crate) struct RawBins<'a> {
    pub(super) cuts: &'a BinCuts,
    pub(super) features: &'a Features<'a>,
}

impl RawBins<'_> {
    fn read<C: BinCode>(&self, features: &[usize], rows: Range<usize>, out: &mut [C]) {
        let n_rows = rows.len();
        match self.features.matrix() {
            Matrix::Dense(dense) => dense.for_each_piece(features, rows.clone(), |at, piece, values| {
                let out = &mut out[at * n_rows..][piece.start - rows.start..piece.end - rows.start];
                match self.cuts.precise_cuts(features[at]) {
                    Some(cuts) => {
                        let values = piece.map(|row| dense.value_f64(row, features[at]));
                        self.cuts.bin_precise(features[at], cuts, values, out);
                    }
                    None => self.cuts.bin_all(features[at], values, out),
                }
            }),
            Matrix::Sparse(sparse) => {
                let absent = |feature| self.cuts.bin(feature, sparse.absent().value());
                let n_features = self.cuts.map().n_features();
                scatter(
                    features,
                    n_features,
                    rows,
                    absent,
                    |row| sparse.row(row),
                    |f, value| self.cuts.bin(f, value),
                    out,
                );
            }
        }
    }
}

/// The entries of a sparse matrix of raw values, binned on the fly.
impl BinEntries for RawBins<'_> {
    fn absent(&self, feature: usize) -> u32 {
        let absent = match self.features.matrix() {
            Matrix::Sparse(sparse) => sparse.absent(),
            Matrix::Dense(_) => Absent::Missing,
        };
        self.cuts.bin(feature, absent.value())
    }

    fn for_each(&self, rows: Range<usize>, visit: &mut dyn FnMut(usize, usize, u32)) {
        let Matrix::Sparse(sparse) = self.features.matrix() else { return };
        for row in rows {
            for (feature, value) in sparse.row(row) {
                visit(row, feature, self.cuts.bin(feature, value));
            }
        }
    }
}

impl BinSource for RawBins<'_> {
    fn n_rows(&self) -> usize {
        self.features.n_rows()
    }

    fn map(&self) -> &BinMap {
        self.cuts.map()
    }

    fn fill_u8(&self, features: &[usize], rows: Range<usize>, out: &mut [u8]) {
        self.read(features, rows, out);
    }

    fn fill_u32(&self, features: &[usize], rows: Range<usize>, out: &mut [u32]) {
        self.read(features, rows, out);
    }

    fn entries(&self) -> Option<&dyn BinEntries> {
        matches!(self.features.matrix(), Matrix::Sparse(_)).then_some(self)
    }
}

/// Inverts a list of features: entry `f` is the position of feature `f` in the list.
pub(super) fn places(features: &[usize], n_features: usize) -> Vec<Option<usize>> {
    let mut places = vec![None; n_features];
    features.iter().enumerate().for_each(|(at, &feature)| places[feature] = Some(at));
    places
}

/// Writes the bins of sparse rows: the bin of absent values, then the bins of the entries over it.
pub(super) fn scatter<C: BinCode, V, E: Iterator<Item = (usize, V)>>(
    features: &[usize],
    n_features: usize,
    rows: Range<usize>,
    absent: impl Fn(usize) -> u32,
    entries: impl Fn(usize) -> E,
    bin: impl Fn(usize, V) -> u32,
    out: &mut [C],
) {
    let n_rows = rows.len();
    for (at, &feature) in features.iter().enumerate() {
        out[at * n_rows..][..n_rows].fill(C::of_bin(absent(feature) as usize));
    }
    let places = places(features, n_features);
    for (at, row) in rows.enumerate() {
        for (feature, value) in entries(row) {
            if let Some(place) = places[feature] {
                out[place * n_rows + at] = C::of_bin(bin(feature, value) as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::{Absent, BinLayout, Quantizer};

    const ROWS: usize = 5003;
    const FEATURES: usize = 40;

    /// Test value: a mix of few and many distinct values, categories, zeros and missing values.
    fn value(row: usize, feature: usize) -> f32 {
        let random = (row * FEATURES + feature).wrapping_mul(0x9E37_79B9) >> 8 & 0xFFFF;
        match (feature % 3, random % 5) {
            (_, 0) => 0.0,
            (1, 1) => f32::NAN,
            (0, _) => (random % 23) as f32,
            _ => random as f32 - 30_000.0,
        }
    }

    /// Compares the bins of a source with `BinCuts::bin`, for unordered features and unaligned rows.
    fn assert_bins(source: &dyn BinSource, cuts: &BinCuts, what: &str) {
        for (features, rows) in [(vec![39, 0, 7, 4], 1234..4999), ((0..FEATURES).collect(), 17..40), (vec![3], 9..9)] {
            let want: Vec<u32> = features
                .iter()
                .flat_map(|&feature| rows.clone().map(move |row| cuts.bin(feature, value(row, feature))))
                .collect();
            let (mut bytes, mut longs) = (vec![77; want.len()], vec![77; want.len()]);
            source.fill_u8(&features, rows.clone(), &mut bytes);
            source.fill_u32(&features, rows.clone(), &mut longs);
            assert!(longs == want, "{what}, {} features", features.len());
            assert!(bytes.into_iter().map(u32::from).eq(want), "{what}, {} features", features.len());
        }
    }

    #[test]
    fn every_source_gives_the_bins_of_the_rule() {
        let by_row: Vec<f32> = (0..ROWS * FEATURES).map(|at| value(at / FEATURES, at % FEATURES)).collect();
        let by_column: Vec<f32> = (0..ROWS * FEATURES).map(|at| value(at % ROWS, at / ROWS)).collect();
        let [doubles, double_columns] =
            [&by_row, &by_column].map(|v| v.iter().map(|&v| v.into()).collect::<Vec<f64>>());
        let kept: Vec<usize> = (0..by_row.len()).filter(|&at| by_row[at] != 0.0).collect();
        let row_ptr: Vec<usize> = (0..=ROWS).map(|row| kept.partition_point(|&at| at < row * FEATURES)).collect();
        let columns: Vec<u32> = kept.iter().map(|&at| u32::try_from(at % FEATURES).expect("few")).collect();
        let values: Vec<f32> = kept.iter().map(|&at| by_row[at]).collect();
        let inputs = [
            ("rows of floats", Features::row_major(&by_row[..], ROWS, FEATURES)),
            ("columns of floats", Features::column_major(&by_column[..], ROWS, FEATURES)),
            ("rows of doubles", Features::row_major(&doubles[..], ROWS, FEATURES)),
            ("columns of doubles", Features::column_major(&double_columns[..], ROWS, FEATURES)),
            ("sparse rows", Features::sparse(&row_ptr, &columns, &values, FEATURES, Absent::Zero)),
        ];
        for (what, features) in inputs {
            let features = features.and_then(|features| features.with_categorical(&[0, 3, 6])).expect("a matrix");
            let cuts = Quantizer::default().compute_cuts(&features, None).expect("codes");
            assert_bins(&cuts.source(&features).expect("the same features"), &cuts, what);
            for layout in BinLayout::ALL {
                let matrix = cuts.quantize(&features, layout).expect("the same features");
                assert_bins(&matrix, &cuts, &format!("{layout:?} of {what}"));
            }
        }
    }
}
