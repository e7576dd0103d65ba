//! One column of bins, at the width its feature needs.

use std::ops::Range;

use bitgrain_kernels::{Backend, UnsignedWidth, pack_u8};

use super::codes::CodesMut;
use super::{BinBits, BinCuts, packed};

/// How the column of a feature is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureStorageInfo {
    /// Where the column begins among the columns of its width: in bytes for [`BinBits::U4`] and [`BinBits::U8`], which
    /// share an array, in bins for the wider ones.
    pub offset: usize,
    /// Bins of the feature, that for missing values included.
    pub n_bins: u32,
    /// Width of a bin.
    pub bits: BinBits,
}

/// The bins of a feature, row after row. Loops over many rows match once and then walk a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinColumn<'a> {
    /// Two bins to a byte, the earlier row in the low half; and the number of rows.
    U4(&'a [u8], usize),
    /// A byte per bin.
    U8(&'a [u8]),
    /// Two bytes per bin.
    U16(&'a [u16]),
    /// Four bytes per bin.
    U32(&'a [u32]),
}

impl BinColumn<'_> {
    /// The bin of a row.
    ///
    /// # Panics
    /// Behind the last row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> u32 {
        match *self {
            Self::U4(bytes, n_rows) => {
                assert!(row < n_rows, "row {row} of {n_rows}");
                u32::from(bytes[row / 2] >> (row % 2 * 4) & 15)
            }
            Self::U8(bins) => bins[row].into(),
            Self::U16(bins) => bins[row].into(),
            Self::U32(bins) => bins[row],
        }
    }

    /// The bins of some rows.
    pub(super) fn read(&self, rows: Range<usize>, out: &mut [u32]) {
        match *self {
            Self::U4(..) => out.iter_mut().zip(rows).for_each(|(out, row)| *out = self.get(row)),
            Self::U8(bins) => out.iter_mut().zip(&bins[rows]).for_each(|(out, bin)| *out = (*bin).into()),
            Self::U16(bins) => out.iter_mut().zip(&bins[rows]).for_each(|(out, bin)| *out = (*bin).into()),
            Self::U32(bins) => out.copy_from_slice(&bins[rows]),
        }
    }
}

/// Some rows of a column, to be written.
pub(super) enum ColumnMut<'a> {
    Halves(&'a mut [u8]),
    Whole(CodesMut<'a>),
}

impl ColumnMut<'_> {
    /// Takes the first rows off, an even number unless they are the last.
    pub(super) fn take(&mut self, n_rows: usize) -> Self {
        match self {
            Self::Halves(bytes) => Self::Halves(bytes.split_off_mut(..n_rows.div_ceil(2)).unwrap_or_default()),
            Self::Whole(codes) => Self::Whole(codes.take(n_rows)),
        }
    }

    /// Bins that are known.
    pub(super) fn write(&mut self, bins: &[u32]) {
        match self {
            Self::Halves(bytes) => packed::pack(bins.iter().copied(), 4, bytes),
            Self::Whole(codes) => codes.write(bins.iter().copied()),
        }
    }

    /// Bins of values, straight from the kernel.
    pub(super) fn quantize(&mut self, cuts: &BinCuts, feature: usize, values: &[f32]) {
        match self {
            Self::Halves(bytes) => {
                let mut bins = vec![0_u8; values.len()];
                cuts.bin_all(feature, values, &mut bins);
                let packed = UnsignedWidth::new(4).and_then(|width| pack_u8(Backend::best(), width, &bins, bytes));
                if let Err(error) = packed {
                    unreachable!("a feature of 4 bits has at most 16 bins: {error}");
                }
            }
            Self::Whole(CodesMut::U8(out)) => cuts.bin_all(feature, values, out),
            Self::Whole(CodesMut::U16(out)) => cuts.bin_all(feature, values, out),
            Self::Whole(CodesMut::U32(out)) => cuts.bin_all(feature, values, out),
        }
    }
}
