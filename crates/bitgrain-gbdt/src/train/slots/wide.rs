//! Columns of features with more than 256 bins.

use std::ops::Range;

use crate::feature::{BinBits, BinSource};
use crate::train::places::Places;
use crate::train::row_column::{swap_items, taken};
use crate::train::team::Team;

/// Rows read at a time: their bins stay in cache until they are narrowed.
const BLOCK: usize = 4096;

/// Bins of a feature by row, in the smallest width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wide {
    /// Up to 65,536 bins.
    U16(Vec<u16>),
    /// More than 65,536 bins.
    U32(Vec<u32>),
}

/// Mutable view of a range of rows of a column.
#[derive(Debug)]
pub(crate) enum WideMut<'a> {
    U16(&'a mut [u16]),
    U32(&'a mut [u32]),
}

impl Wide {
    /// Size of a bin in bytes.
    pub(crate) fn width(n_bins: u32) -> usize {
        if BinBits::for_bins(n_bins) == BinBits::U32 { size_of::<u32>() } else { size_of::<u16>() }
    }

    /// Reads the bins of a feature.
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
            #[expect(clippy::cast_possible_truncation, reason = "features with more bins returned above")]
            column.extend(block.iter().map(|&bin| bin as u16));
        }
        Self::U16(column)
    }

    /// Creates the column of a feature from its bins, which are below `n_bins`.
    pub(crate) fn of(n_bins: u32, bins: impl Iterator<Item = usize>) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the width holds every bin")]
        if Self::width(n_bins) == size_of::<u32>() {
            Self::U32(bins.map(|bin| bin as u32).collect())
        } else {
            Self::U16(bins.map(|bin| bin as u16).collect())
        }
    }

    /// Returns the bin of a row.
    pub(crate) fn get(&self, row: usize) -> usize {
        match self {
            Self::U16(column) => column[row].into(),
            Self::U32(column) => column[row] as usize,
        }
    }

    /// Returns the bins of some rows in the given order.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        match self {
            Self::U16(column) => Self::U16(rows.iter().map(|&row| column[row]).collect()),
            Self::U32(column) => Self::U32(rows.iter().map(|&row| column[row]).collect()),
        }
    }

    /// Moves every row back to its original position.
    pub(super) fn restore(&mut self, team: &Team<'_>, places: &Places) {
        match self {
            Self::U16(column) => *column = places.gather(team, column),
            Self::U32(column) => *column = places.gather(team, column),
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
    /// Reborrows the view for a shorter lifetime.
    pub(crate) fn reborrow(&mut self) -> WideMut<'_> {
        match self {
            Self::U16(column) => WideMut::U16(column),
            Self::U32(column) => WideMut::U32(column),
        }
    }

    /// Removes `len` rows after the first `gap` rows and returns them; the rows after them remain.
    pub(crate) fn take(&mut self, gap: usize, len: usize) -> Self {
        match self {
            Self::U16(column) => Self::U16(taken(column, gap, len)),
            Self::U32(column) => Self::U32(taken(column, gap, len)),
        }
    }

    /// See [`swap_items`].
    pub(crate) fn swap(&mut self, other: &mut Self, left: &[u32], right: &[u32]) {
        match (self, other) {
            (Self::U16(column), Self::U16(other)) => swap_items(column, other, left, right),
            (Self::U32(column), Self::U32(other)) => swap_items(column, other, left, right),
            _ => debug_assert!(false, "both sides of a column have one type"),
        }
    }

    /// Calls `visit` with the bin of each row of a range.
    pub(crate) fn for_each(&self, rows: Range<usize>, mut visit: impl FnMut(usize)) {
        match self {
            Self::U16(column) => column[rows].iter().for_each(|&bin| visit(bin.into())),
            Self::U32(column) => column[rows].iter().for_each(|&bin| visit(bin as usize)),
        }
    }
}
