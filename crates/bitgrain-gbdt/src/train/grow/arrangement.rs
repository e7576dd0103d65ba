//! The rows in the order of the nodes they are in: the rows of each node lie together, and move when it is split.

use std::ops::Range;

use bitgrain_kernels::{Backend, flag_rows, swap_rows};
use rayon::prelude::*;

use crate::feature::BinMap;
use crate::train::slots::{Place, Slots, TilePlan};

/// Rows whose side is asked for at a time; a multiple of 64.
const CHUNK: usize = 1 << 14;

/// Trades that are worth more threads than one.
const TRADES: usize = 1 << 13;

/// Which bins of a feature go left.
#[derive(Debug, Clone)]
pub(crate) struct Sides {
    pub(crate) feature: usize,
    /// For each bin of the feature.
    pub(crate) left: Vec<bool>,
}

/// Records of rows, and which row each is.
#[derive(Debug)]
pub(crate) struct Arrangement<'a, P> {
    pub(crate) slots: &'a mut Slots,
    /// The row at each place.
    pub(crate) order: &'a mut Vec<u32>,
    /// The gradients of the row at each place.
    pub(crate) pairs: Vec<P>,
    /// Other numbers of the row at each place.
    pub(crate) along: Vec<&'a mut [f32]>,
}

impl<P: Send + Sync + Copy> Arrangement<'_, P> {
    /// Moves the rows of a node so that those that go left come first; returns where the others begin.
    pub(crate) fn split(&mut self, rows: Range<usize>, sides: &Sides, map: &BinMap) -> usize {
        let (flags, count) = self.flags(rows.clone(), sides, map);
        let middle = rows.start + count;
        let (left, right) = misplaced(&flags, count, rows.len());
        self.trade(rows, middle, &left, &right);
        middle
    }

    /// Moves some rows before all others; returns how many they are. `chosen` is by row, not by place.
    pub(crate) fn bring_to_front(&mut self, chosen: &[bool]) -> usize {
        let words = self.order.par_chunks(64).map(|rows| {
            rows.iter().zip(0..).fold(0, |word, (&row, bit)| word | u64::from(chosen[row as usize]) << bit)
        });
        let flags: Vec<u64> = words.collect();
        let count = flags.iter().map(|word| word.count_ones() as usize).sum();
        let n_rows = self.order.len();
        let (left, right) = misplaced(&flags, count, n_rows);
        self.trade(0..n_rows, count, &left, &right);
        count
    }

    /// A bit for each row: whether it goes left; and how many do.
    fn flags(&self, rows: Range<usize>, sides: &Sides, map: &BinMap) -> (Vec<u64>, usize) {
        let mut flags = vec![0_u64; rows.len().div_ceil(64)];
        let fill = |(chunk, flags): (usize, &mut [u64])| {
            let start = rows.start + chunk * CHUNK;
            self.flag(start..rows.end.min(start + CHUNK), sides, map, flags)
        };
        let chunks = flags.chunks_mut(CHUNK / 64).enumerate();
        let count = if rows.len() <= 2 * CHUNK {
            chunks.map(fill).sum()
        } else {
            flags.par_chunks_mut(CHUNK / 64).enumerate().map(fill).sum()
        };
        (flags, count)
    }

    fn flag(&self, rows: Range<usize>, sides: &Sides, map: &BinMap, flags: &mut [u64]) -> usize {
        match self.slots.plan.places[sides.feature] {
            Place::Constant => {
                debug_assert!(map.n_bins(sides.feature) == 1, "only constant features are nowhere");
                0
            }
            Place::Slot { tile, slot, member } => {
                let width = self.slots.plan.tiles[tile].width;
                let records = &self.slots.tiles[tile][rows.start * width..rows.end * width];
                let mut table = [0; 256];
                (0..).zip(&mut table).for_each(|(byte, left)| *left = u8::from(sides.left[member.bin(byte) as usize]));
                flag_rows(Backend::best(), records, width, slot, &table, flags).unwrap_or(0)
            }
            Place::Wide { column } => {
                let column = &self.slots.wide[column][rows];
                column.chunks(64).zip(flags).fold(0, |count, (bins, flags)| {
                    let bits = bins.iter().zip(0..);
                    *flags = bits.fold(0, |word, (&bin, bit)| word | u64::from(sides.left[bin as usize]) << bit);
                    count + flags.count_ones() as usize
                })
            }
        }
    }

    /// Row `left[i]` of those before the middle and row `right[i]` of those behind trade places.
    fn trade(&mut self, rows: Range<usize>, middle: usize, left: &[u32], right: &[u32]) {
        let Self { slots, order, pairs, along } = self;
        let parts = |width: usize| [rows.start * width..middle * width, middle * width..rows.end * width];
        let records = |(plan, tile): (&TilePlan, &mut Vec<u8>)| {
            let [left_rows, right_rows] = two(tile, parts(plan.width));
            let swapped = swap_rows(plan.width, left_rows, right_rows, left, right);
            debug_assert!(swapped.is_ok(), "{swapped:?}");
        };
        let Slots { plan, tiles, wide, .. } = &mut **slots;
        let tiles = plan.tiles.iter().zip(tiles);
        let columns = wide.iter_mut();
        if left.len() < TRADES {
            tiles.for_each(records);
            columns.for_each(|column| swap_items(two(column, parts(1)), left, right));
            along.iter_mut().for_each(|column| swap_items(two(column, parts(1)), left, right));
            swap_items(two(order, parts(1)), left, right);
            swap_items(two(pairs, parts(1)), left, right);
            return;
        }
        let parts = &parts;
        rayon::scope(|scope| {
            tiles.for_each(|tile| scope.spawn(move |_| records(tile)));
            columns.for_each(|column| scope.spawn(move |_| swap_items(two(column, parts(1)), left, right)));
            along.iter_mut().for_each(|column| scope.spawn(move |_| swap_items(two(column, parts(1)), left, right)));
            scope.spawn(move |_| swap_items(two(order, parts(1)), left, right));
            scope.spawn(move |_| swap_items(two(pairs, parts(1)), left, right));
        });
    }
}

/// Which rows before the middle go right, counted from the first row, and which behind it go left, counted from the
/// middle. There are as many of the one as of the other.
fn misplaced(flags: &[u64], middle: usize, end: usize) -> (Vec<u32>, Vec<u32>) {
    let mut left = Vec::new();
    let mut right = Vec::new();
    for (at, &word) in flags.iter().enumerate() {
        let first = at * 64;
        // Bits of rows before the middle, of this word.
        let before = match middle.saturating_sub(first) {
            0 => 0,
            bits @ 1..64 => u64::MAX >> (64 - bits),
            _ => u64::MAX,
        };
        let there = match end - first {
            bits @ 1..64 => u64::MAX >> (64 - bits),
            _ => u64::MAX,
        };
        positions(!word & before & there, first, &mut left);
        positions(word & !before, first.wrapping_sub(middle), &mut right);
    }
    debug_assert_eq!(left.len(), right.len());
    (left, right)
}

/// Adds the positions of the ones of a word.
fn positions(mut word: u64, first: usize, out: &mut Vec<u32>) {
    while word != 0 {
        let at = first.wrapping_add(word.trailing_zeros() as usize);
        // Rows are numbered in 32 bits.
        out.push(u32::try_from(at).unwrap_or(u32::MAX));
        word &= word - 1;
    }
}

fn swap_items<T>([left_rows, right_rows]: [&mut [T]; 2], left: &[u32], right: &[u32]) {
    for (&l, &r) in left.iter().zip(right) {
        std::mem::swap(&mut left_rows[l as usize], &mut right_rows[r as usize]);
    }
}

/// Two parts of a list, the first before the second.
fn two<T>(list: &mut [T], [first, second]: [Range<usize>; 2]) -> [&mut [T]; 2] {
    let (before, behind) = list.split_at_mut(second.start);
    [&mut before[first], &mut behind[..second.end - second.start]]
}
