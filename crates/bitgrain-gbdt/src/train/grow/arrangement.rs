//! Rows grouped by node: the rows of a node are contiguous, and are partitioned in place when it is split.

use std::ops::Range;

use bitgrain_kernels::Backend;
use bitgrain_kernels::histograms::{flag_rows, swap_rows};
use rayon::prelude::*;

use super::Sum;
use crate::feature::BinMap;
use crate::train::along::{Along, swap_items, taken};
use crate::train::slots::{Place, Plan, Slots, TilePlan, Wide, WideMut};

/// Rows flagged at a time; a multiple of 64.
const CHUNK: usize = 1 << 14;

/// Minimum number of swaps for parallel work.
const TRADES: usize = 1 << 13;

/// Direction of each bin of a feature.
#[derive(Debug, Clone)]
pub(crate) struct Sides {
    pub(crate) feature: usize,
    /// Whether each bin of the feature goes left.
    pub(crate) left: Vec<bool>,
}

impl Sides {
    /// Zeroes the bins of one side of a histogram; returns whether any was nonzero. A histogram that was computed as a
    /// difference of float sums keeps rounding errors in bins without rows.
    pub(crate) fn clear<S: Sum>(&self, is_left: bool, map: &BinMap, histogram: &mut [S]) -> bool {
        let bins = histogram[map.feature_offsets()[self.feature] as usize..].iter_mut();
        let errors = bins.zip(&self.left).filter(|(bin, left)| **left == is_left && **bin != S::default());
        errors.map(|(bin, _)| *bin = S::default()).count() > 0
    }
}

/// Bins, gradients and indices of all rows or of the rows of a node.
#[derive(Debug)]
pub(crate) struct Arrangement<'a, P> {
    pub(crate) plan: &'a Plan,
    /// Records of each tile.
    pub(crate) tiles: Vec<&'a mut [u8]>,
    /// Columns of wide features.
    pub(crate) wide: Vec<WideMut<'a>>,
    /// Row index at each position.
    pub(crate) order: &'a mut [u32],
    /// Gradients of the row at each position.
    pub(crate) pairs: &'a mut [P],
    /// Other columns that move with the rows.
    pub(crate) along: Vec<Along<'a>>,
}

impl<'a, P: Send + Sync + Copy> Arrangement<'a, P> {
    pub(crate) fn new(slots: &'a mut Slots, order: &'a mut [u32], pairs: &'a mut [P], along: Vec<Along<'a>>) -> Self {
        let Slots { plan, tiles, wide, .. } = slots;
        let tiles = tiles.iter_mut().map(Vec::as_mut_slice).collect();
        let wide = wide.iter_mut().map(Wide::as_mut).collect();
        Self { plan, tiles, wide, order, pairs, along }
    }

    /// Splits off the rows of some nodes, which must be in ascending order.
    pub(crate) fn parts(&mut self, nodes: &[Range<usize>]) -> Vec<Arrangement<'_, P>> {
        let mut columns = Arrangement {
            plan: self.plan,
            tiles: self.tiles.iter_mut().map(|tile| &mut **tile).collect(),
            wide: self.wide.iter_mut().map(WideMut::reborrow).collect(),
            order: &mut *self.order,
            pairs: &mut *self.pairs,
            along: self.along.iter_mut().map(Along::reborrow).collect(),
        };
        let mut at = 0;
        let mut part = |node: &Range<usize>| {
            let gap = node.start - at;
            at = node.end;
            columns.cut(gap, node.len())
        };
        nodes.iter().map(&mut part).collect()
    }

    /// Splits off the rows of one node.
    pub(crate) fn part(&mut self, node: Range<usize>) -> Arrangement<'_, P> {
        let mut parts = self.parts(&[node]);
        // `parts` returns one part per node.
        parts.remove(0)
    }

    /// Removes `len` rows after the first `gap` rows and returns them.
    fn cut(&mut self, gap: usize, len: usize) -> Self {
        let plan = self.plan;
        let tile = |(tile, plan): (&mut &'a mut [u8], &TilePlan)| taken(tile, gap * plan.width, len * plan.width);
        Self {
            plan,
            tiles: self.tiles.iter_mut().zip(&plan.tiles).map(tile).collect(),
            wide: self.wide.iter_mut().map(|column| column.take(gap, len)).collect(),
            order: taken(&mut self.order, gap, len),
            pairs: taken(&mut self.pairs, gap, len),
            along: self.along.iter_mut().map(|column| column.take(gap, len)).collect(),
        }
    }

    /// Partitions the rows so that those that go left come first; returns their number.
    pub(crate) fn split(&mut self, sides: &Sides, map: &BinMap) -> usize {
        let (flags, count) = self.flags(sides, map);
        self.sort(&flags, count);
        count
    }

    /// Moves the chosen rows to the front; returns their number. `chosen` is indexed by row, not by position.
    pub(crate) fn bring_to_front(&mut self, chosen: &[bool]) -> usize {
        let words = self.order.par_chunks(64).map(|rows| {
            rows.iter().zip(0..).fold(0, |word, (&row, bit)| word | u64::from(chosen[row as usize]) << bit)
        });
        let flags: Vec<u64> = words.collect();
        let count = flags.iter().map(|word| word.count_ones() as usize).sum();
        self.sort(&flags, count);
        count
    }

    /// Returns a bitmap of the rows that go left, and their number.
    fn flags(&self, sides: &Sides, map: &BinMap) -> (Vec<u64>, usize) {
        let n_rows = self.order.len();
        let mut flags = vec![0_u64; n_rows.div_ceil(64)];
        let fill = |(chunk, flags): (usize, &mut [u64])| {
            let start = chunk * CHUNK;
            self.flag(start..n_rows.min(start + CHUNK), sides, map, flags)
        };
        let count = if n_rows <= 2 * CHUNK {
            flags.chunks_mut(CHUNK / 64).enumerate().map(fill).sum()
        } else {
            flags.par_chunks_mut(CHUNK / 64).enumerate().map(fill).sum()
        };
        (flags, count)
    }

    fn flag(&self, rows: Range<usize>, sides: &Sides, map: &BinMap, flags: &mut [u64]) -> usize {
        match self.plan.places[sides.feature] {
            Place::Constant => {
                debug_assert!(map.n_bins(sides.feature) == 1, "only constant features are not stored");
                0
            }
            Place::Slot { tile, slot, member } => {
                let width = self.plan.tiles[tile].width;
                let records = &self.tiles[tile][rows.start * width..rows.end * width];
                let mut table = [0; 256];
                (0..).zip(&mut table).for_each(|(byte, left)| *left = u8::from(sides.left[member.bin(byte) as usize]));
                flag_rows(Backend::best(), records, width, slot, &table, flags).unwrap_or(0)
            }
            Place::Wide { column } => {
                let (mut at, mut count) = (0, 0);
                flags.fill(0);
                self.wide[column].for_each(rows, |bin| {
                    flags[at / 64] |= u64::from(sides.left[bin]) << (at % 64);
                    count += usize::from(sides.left[bin]);
                    at += 1;
                });
                count
            }
        }
    }

    /// Partitions the rows: the `middle` flagged rows come first. Swaps only rows that are on the wrong side, so the
    /// order of the others is kept.
    fn sort(&mut self, flags: &[u64], middle: usize) {
        let (left, right) = &misplaced(flags, middle, self.order.len());
        let Self { plan, tiles, wide, order, pairs, along } = self;
        let records = |(plan, tile): (&TilePlan, &mut &mut [u8])| {
            let (left_rows, right_rows) = tile.split_at_mut(middle * plan.width);
            let swapped = swap_rows(plan.width, left_rows, right_rows, left, right);
            debug_assert!(swapped.is_ok(), "{swapped:?}");
        };
        let tiles = plan.tiles.iter().zip(tiles);
        if left.len() < TRADES {
            tiles.for_each(records);
            wide.iter_mut().for_each(|column| column.swap(middle, left, right));
            along.iter_mut().for_each(|column| column.swap(middle, left, right));
            swap_items(order, middle, left, right);
            swap_items(pairs, middle, left, right);
            return;
        }
        rayon::scope(|scope| {
            tiles.for_each(|tile| scope.spawn(move |_| records(tile)));
            wide.iter_mut().for_each(|column| scope.spawn(move |_| column.swap(middle, left, right)));
            along.iter_mut().for_each(|column| scope.spawn(move |_| column.swap(middle, left, right)));
            scope.spawn(move |_| swap_items(order, middle, left, right));
            scope.spawn(move |_| swap_items(pairs, middle, left, right));
        });
    }
}

/// Returns the positions before `middle` of rows that go right, and the positions after it, relative to `middle`, of
/// rows that go left. Both lists have the same length.
fn misplaced(flags: &[u64], middle: usize, end: usize) -> (Vec<u32>, Vec<u32>) {
    let mut left = Vec::new();
    let mut right = Vec::new();
    for (at, &word) in flags.iter().enumerate() {
        let first = at * 64;
        // Mask of the bits before `middle` in this word.
        let before = match middle.saturating_sub(first) {
            0 => 0,
            bits @ 1..64 => u64::MAX >> (64 - bits),
            _ => u64::MAX,
        };
        // Mask of the bits of existing rows: the last word may be partial.
        let there = match end - first {
            bits @ 1..64 => u64::MAX >> (64 - bits),
            _ => u64::MAX,
        };
        // `first` may be before `middle`; the wrapping subtraction is undone when the bit offset is added.
        positions(!word & before & there, first, &mut left);
        positions(word & !before, first.wrapping_sub(middle), &mut right);
    }
    debug_assert_eq!(left.len(), right.len());
    (left, right)
}

/// Appends the positions of the set bits of a word.
fn positions(mut word: u64, first: usize, out: &mut Vec<u32>) {
    while word != 0 {
        let at = first.wrapping_add(word.trailing_zeros() as usize);
        #[expect(clippy::cast_possible_truncation, reason = "datasets have at most `u32::MAX` rows")]
        out.push(at as u32);
        word &= word - 1;
    }
}
