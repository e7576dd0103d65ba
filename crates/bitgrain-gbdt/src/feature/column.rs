//! A column of bins in the width that its feature needs.

use std::ops::Range;

use bitgrain_kernels::bins::BinCode;
use bitgrain_kernels::codes::pack_u8;
use bitgrain_kernels::{Backend, UnsignedWidth};

use super::BinBits;
use super::codes::CodesMut;
use super::tile::TileBin;

/// Storage location and width of a feature's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureStorageInfo {
    /// Offset of the column among the columns of its width: in bytes for [`BinBits::U4`] and [`BinBits::U8`], which
    /// share an array, in bins for the wider ones.
    pub offset: usize,
    /// Number of bins of the feature, including the missing-value bin.
    pub n_bins: u32,
    /// Width of a bin.
    pub bits: BinBits,
}

/// Bins of a feature by row. Loops over many rows should match once and then iterate over the slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinColumn<'a> {
    /// Two bins per byte, the earlier row in the low nibble; the second field is the number of rows.
    U4(&'a [u8], usize),
    /// One byte per bin.
    U8(&'a [u8]),
    /// Two bytes per bin.
    U16(&'a [u16]),
    /// Four bytes per bin.
    U32(&'a [u32]),
}

impl BinColumn<'_> {
    /// Returns the bin of a row.
    ///
    /// # Panics
    /// If the row is out of range.
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

    /// Reads the bins of a range of rows.
    pub(super) fn read<C: BinCode>(&self, rows: Range<usize>, out: &mut [C]) {
        let bins = out.iter_mut();
        match *self {
            Self::U4(..) => bins.zip(rows).for_each(|(out, row)| *out = C::of_bin(self.get(row) as usize)),
            Self::U8(from) => bins.zip(&from[rows]).for_each(|(out, &bin)| *out = C::of_bin(bin.into())),
            Self::U16(from) => bins.zip(&from[rows]).for_each(|(out, &bin)| *out = C::of_bin(bin.into())),
            Self::U32(from) => bins.zip(&from[rows]).for_each(|(out, &bin)| *out = C::of_bin(bin as usize)),
        }
    }
}

/// Mutable view of a range of rows of a column.
pub(super) enum ColumnMut<'a> {
    Halves(&'a mut [u8]),
    Whole(CodesMut<'a>),
}

impl ColumnMut<'_> {
    /// Splits off the first `n_rows` rows; the count must be even unless these are the last rows, because two rows
    /// share a byte.
    pub(super) fn take(&mut self, n_rows: usize) -> Self {
        match self {
            Self::Halves(bytes) => Self::Halves(bytes.split_off_mut(..n_rows.div_ceil(2)).unwrap_or_default()),
            Self::Whole(codes) => Self::Whole(codes.take(n_rows)),
        }
    }

    /// Writes bins, which must fit the width.
    pub(super) fn write<C: TileBin>(&mut self, bins: &[C]) {
        let bins = bins.iter().map(|&bin| bin.into());
        match self {
            Self::Halves(bytes) => {
                let bins: Vec<u8> = bins.map(|bin: u32| u8::of_bin(bin as usize)).collect();
                let packed = UnsignedWidth::new(4).and_then(|width| pack_u8(Backend::best(), width, &bins, bytes));
                if let Err(error) = packed {
                    unreachable!("a 4-bit feature has at most 16 bins: {error}");
                }
            }
            Self::Whole(codes) => codes.write(bins),
        }
    }
}
