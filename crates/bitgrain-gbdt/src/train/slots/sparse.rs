//! Bins of sparse features that no bundle holds: only the values outside the usual bin of their feature are stored.
//!
//! Rows stay in their original order, because rows of different lengths cannot be swapped.

use std::ops::Range;

use rayon::prelude::*;

use super::unusual::{Unusual, Usual};
use crate::feature::{BinMap, BinSource};
use crate::narrow::narrow;

/// Rows read at a time.
const BLOCK: usize = 4096;

/// Blocks read before their entries are appended.
const BLOCKS: usize = 64;

/// Entries of all rows. An entry is a bin, numbered across the sparse features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SparseBins {
    entries: Entries,
    starts: Starts,
    n_rows: usize,
    /// Number of bins of all sparse features. Entries of this value are padding.
    pub(crate) n_bins: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entries {
    U16(Vec<u16>),
    U32(Vec<u32>),
}

/// First entry of each row.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Starts {
    /// Rows of different lengths: the first entry of each, followed by the number of entries (CSR).
    Offsets(Vec<usize>),
    /// Rows padded to one length (ELLPACK).
    Stride(usize),
}

/// Sparse feature of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SparseFeature {
    pub(crate) feature: u32,
    /// Number of its first bin among the bins of the sparse features.
    pub(crate) first: u32,
    pub(crate) bins: u32,
    pub(crate) usual: u32,
}

impl SparseFeature {
    /// Numbers the bins of the given features.
    pub(super) fn all(features: &[Usual], map: &BinMap) -> Vec<Self> {
        let mut end = 0;
        let of_feature = |usual: &Usual| {
            let (first, bins) = (end, map.n_bins(usual.feature as usize));
            end += bins;
            Self { feature: usual.feature, first, bins, usual: usual.bin }
        };
        features.iter().map(of_feature).collect()
    }

    fn range(self) -> Range<u32> {
        self.first..self.first + self.bins
    }
}

impl SparseBins {
    /// Reads the values of some features, in ascending order, that are outside the usual bins.
    pub(super) fn fill(source: &dyn BinSource, features: &[SparseFeature]) -> Self {
        let n_rows = source.n_rows();
        let n_bins = features.last().map_or(0, |last| last.range().end as usize);
        let usual: Vec<Usual> =
            features.iter().map(|own| Usual { feature: own.feature, bin: own.usual, others: 0 }).collect();
        let unusual = Unusual::new(source, &usual);
        let mut firsts = vec![0; source.map().n_features()];
        features.iter().for_each(|own| firsts[own.feature as usize] = own.first);
        let of_block = |start: usize| {
            let mut found: Vec<(u32, u32)> = Vec::new();
            unusual.for_each(start..n_rows.min(start + BLOCK), &mut |row, feature, bin| {
                found.push((narrow(row - start), firsts[feature] + bin));
            });
            // Features that are read by column come after the entries of all rows.
            if !found.is_sorted() {
                found.sort_unstable();
            }
            found
        };
        let mut rows = Self::empty(n_bins);
        let starts: Vec<usize> = (0..n_rows).step_by(BLOCK).collect();
        for some in starts.chunks(BLOCKS) {
            let found: Vec<Vec<(u32, u32)>> = some.par_iter().map(|&start| of_block(start)).collect();
            for (&start, found) in some.iter().zip(found) {
                let mut rest = &found[..];
                for row in 0..BLOCK.min(n_rows - start) {
                    let len = rest.iter().take_while(|entry| entry.0 as usize == row).count();
                    rows.push(rest[..len].iter().map(|entry| entry.1));
                    rest = &rest[len..];
                }
            }
        }
        rows.padded()
    }

    fn empty(n_bins: usize) -> Self {
        let entries = if n_bins <= usize::from(u16::MAX) { Entries::U16(Vec::new()) } else { Entries::U32(Vec::new()) };
        Self { entries, starts: Starts::Offsets(vec![0]), n_rows: 0, n_bins }
    }

    /// Returns rows without entries, for a plan without sparse features.
    pub(crate) fn none(n_rows: usize) -> Self {
        Self { entries: Entries::U16(Vec::new()), starts: Starts::Stride(0), n_rows, n_bins: 0 }
    }

    /// Adds a row to rows of different lengths.
    fn push(&mut self, bins: impl Iterator<Item = u32>) {
        #[expect(clippy::cast_possible_truncation, reason = "the width was chosen for the number of bins")]
        let end = match &mut self.entries {
            Entries::U16(entries) => {
                entries.extend(bins.map(|bin| bin as u16));
                entries.len()
            }
            Entries::U32(entries) => {
                entries.extend(bins);
                entries.len()
            }
        };
        if let Starts::Offsets(starts) = &mut self.starts {
            starts.push(end);
        }
        self.n_rows += 1;
    }

    /// Pads the rows to one length if that takes less memory.
    fn padded(mut self) -> Self {
        let Starts::Offsets(starts) = &self.starts else { return self };
        let width = self.entry_bytes();
        let longest = starts.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
        let entries = starts.last().copied().unwrap_or(0);
        if longest * self.n_rows * width > entries * width + size_of_val(&starts[..]) {
            match &mut self.entries {
                Entries::U16(entries) => entries.shrink_to_fit(),
                Entries::U32(entries) => entries.shrink_to_fit(),
            }
            return self;
        }
        fn pad<T: Copy>(entries: &[T], starts: &[usize], longest: usize, padding: T) -> Vec<T> {
            let mut padded = Vec::with_capacity((starts.len() - 1) * longest);
            for ends in starts.windows(2) {
                padded.extend_from_slice(&entries[ends[0]..ends[1]]);
                padded.extend(std::iter::repeat_n(padding, longest - (ends[1] - ends[0])));
            }
            padded
        }
        let padding: u32 = narrow(self.n_bins);
        self.entries = match &self.entries {
            #[expect(clippy::cast_possible_truncation, reason = "the width was chosen for the number of bins")]
            Entries::U16(entries) => Entries::U16(pad(entries, starts, longest, padding as u16)),
            Entries::U32(entries) => Entries::U32(pad(entries, starts, longest, padding)),
        };
        self.starts = Starts::Stride(longest);
        self
    }

    fn entry_bytes(&self) -> usize {
        match self.entries {
            Entries::U16(_) => size_of::<u16>(),
            Entries::U32(_) => size_of::<u32>(),
        }
    }

    /// Size in bytes of the entries and of their offsets.
    pub(crate) fn bytes(&self) -> usize {
        let starts = match &self.starts {
            Starts::Offsets(starts) => size_of_val(&starts[..]),
            Starts::Stride(_) => 0,
        };
        starts
            + match &self.entries {
                Entries::U16(entries) => size_of_val(&entries[..]),
                Entries::U32(entries) => size_of_val(&entries[..]),
            }
    }

    fn place(&self, row: usize) -> Range<usize> {
        match &self.starts {
            Starts::Offsets(starts) => starts[row]..starts[row + 1],
            Starts::Stride(stride) => row * stride..(row + 1) * stride,
        }
    }

    /// Calls `visit` with each entry of a row, in ascending order; the last ones may be [padding](Self::n_bins).
    #[inline]
    pub(crate) fn for_each(&self, row: usize, mut visit: impl FnMut(usize)) {
        match &self.entries {
            Entries::U16(entries) => entries[self.place(row)].iter().for_each(|&bin| visit(bin.into())),
            Entries::U32(entries) => entries[self.place(row)].iter().for_each(|&bin| visit(bin as usize)),
        }
    }

    /// Returns the bin of a feature in a row.
    pub(crate) fn bin(&self, row: usize, feature: SparseFeature) -> usize {
        fn first_from<T: Copy + Into<u32>>(entries: &[T], least: u32) -> Option<u32> {
            entries.get(entries.partition_point(|&bin| bin.into() < least)).map(|&bin| bin.into())
        }
        let found = match &self.entries {
            Entries::U16(entries) => first_from(&entries[self.place(row)], feature.first),
            Entries::U32(entries) => first_from(&entries[self.place(row)], feature.first),
        };
        let bin = found.filter(|bin| feature.range().contains(bin)).map_or(feature.usual, |bin| bin - feature.first);
        bin as usize
    }

    /// Returns a subset of the rows in the given order.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        let mut chosen = Self::empty(self.n_bins);
        let mut entries = Vec::new();
        for &row in rows {
            entries.clear();
            self.for_each(row, |bin| entries.push(narrow(bin)));
            chosen.push(entries.iter().copied().filter(|&bin| (bin as usize) < self.n_bins));
        }
        chosen.padded()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_length_are_read_back() {
        for (n_bins, rows) in [
            (10, vec![vec![0, 3], vec![1, 9], vec![2, 4]]),
            (10, vec![vec![], vec![1, 2, 9], vec![], vec![], vec![], vec![], vec![0], vec![]]),
            (70_000, vec![vec![69_999], vec![5], vec![]]),
            (4, vec![vec![], vec![]]),
        ] {
            let mut made = SparseBins::empty(n_bins);
            rows.iter().for_each(|row: &Vec<u32>| made.push(row.iter().copied()));
            let made = made.padded();
            let read = |bins: &SparseBins, row: usize| {
                let mut read = Vec::new();
                bins.for_each(row, |bin| read.push(bin));
                read.retain(|&bin| bin < n_bins);
                read
            };
            let wanted = |row: usize| rows[row].iter().map(|&bin| bin as usize).collect::<Vec<_>>();
            (0..rows.len()).for_each(|row| assert_eq!(read(&made, row), wanted(row)));
            let some = made.rows(&[1, 0, 1]);
            [1, 0, 1].iter().enumerate().for_each(|(at, &row)| assert_eq!(read(&some, at), wanted(row)));
            let feature = SparseFeature { feature: 0, first: 1, bins: 9, usual: 7 };
            for (row, entries) in rows.iter().enumerate() {
                let bin = entries.iter().find(|bin| (1..10).contains(*bin)).map_or(7, |bin| bin - 1);
                assert_eq!(made.bin(row, feature), bin as usize);
            }
        }
    }
}
