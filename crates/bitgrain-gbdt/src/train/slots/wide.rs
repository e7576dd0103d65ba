//! Columns of features with more bins than a byte has codes.

use std::ops::Range;

use crate::feature::{BinBits, BinSource};
use crate::train::along::{swap_items, taken};

/// Rows that are read at a time: their bins stay in cache until they are narrowed.
const BLOCK: usize = 4096;

/// The bins of a feature, row after row, at the least width that holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wide {
    /// Up to 65,536 bins.
    U16(Vec<u16>),
    /// More.
    U32(Vec<u32>),
}

/// Some rows of a column, to be moved.
#[derive(Debug)]
pub(crate) enum WideMut<'a> {
    U16(&'a mut [u16]),
    U32(&'a mut [u32]),
}

impl Wide {
    /// Bytes of a bin of a feature with so many.
    pub(crate) fn width(n_bins: u32) -> usize {
        if BinBits::for_bins(n_bins) == BinBits::U32 { size_of::<u32>() } else { size_of::<u16>() }
    }

    /// The bins of a feature.
    pub(crate) fn fill(source: &dyn BinSource, feature: usize) -> Self {
        let n_rows = source.n_rows();
        if Self::width(source.map().n_bins(feature)) == size_of::<u32>() {
            let mut column = vec![0; n_rows];
            source.fill_u32(&[feature], 0..n_rows, &mut column);
            return Self::U32(column);
        }
        let mut column = Vec::with_capacity(n_rows);
        let mut block = vec![0; BLOCK];
        for start in (0..n_rows).step_by(BLOCK) {
            let rows = start..n_rows.min(start + BLOCK);
            let block = &mut block[..rows.len()];
            source.fill_u32(&[feature], rows, block);
            #[expect(clippy::cast_possible_truncation, reason = "features of more bins returned above")]
            column.extend(block.iter().map(|&bin| bin as u16));
        }
        Self::U16(column)
    }

    /// The bin of a row.
    pub(crate) fn get(&self, row: usize) -> usize {
        match self {
            Self::U16(column) => column[row].into(),
            Self::U32(column) => column[row] as usize,
        }
    }

    /// The bins of some rows, in the order given.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        match self {
            Self::U16(column) => Self::U16(rows.iter().map(|&row| column[row]).collect()),
            Self::U32(column) => Self::U32(rows.iter().map(|&row| column[row]).collect()),
        }
    }

    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        match self {
            Self::U16(column) => column.swap(a, b),
            Self::U32(column) => column.swap(a, b),
        }
    }

    pub(crate) fn as_mut(&mut self) -> WideMut<'_> {
        match self {
            Self::U16(column) => WideMut::U16(column),
            Self::U32(column) => WideMut::U32(column),
        }
    }
}

impl WideMut<'_> {
    /// The same rows, for a shorter time.
    pub(crate) fn reborrow(&mut self) -> WideMut<'_> {
        match self {
            Self::U16(column) => WideMut::U16(column),
            Self::U32(column) => WideMut::U32(column),
        }
    }

    /// Takes the `len` rows after the first `gap` away; rows after them are left.
    pub(crate) fn take(&mut self, gap: usize, len: usize) -> Self {
        match self {
            Self::U16(column) => Self::U16(taken(column, gap, len)),
            Self::U32(column) => Self::U32(taken(column, gap, len)),
        }
    }

    /// See [`swap_items`].
    pub(crate) fn swap(&mut self, middle: usize, left: &[u32], right: &[u32]) {
        match self {
            Self::U16(column) => swap_items(column, middle, left, right),
            Self::U32(column) => swap_items(column, middle, left, right),
        }
    }

    /// Calls `visit` with the bin of each of some rows, in their order.
    pub(crate) fn for_each(&self, rows: Range<usize>, mut visit: impl FnMut(usize)) {
        match self {
            Self::U16(column) => column[rows].iter().for_each(|&bin| visit(bin.into())),
            Self::U32(column) => column[rows].iter().for_each(|&bin| visit(bin as usize)),
        }
    }
}
