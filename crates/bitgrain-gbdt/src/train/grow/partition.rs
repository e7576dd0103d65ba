//! Partitioning the rows of a node at a split: flags for the side of each row, then swaps of the rows on the wrong
//! side.
//!
//! Both are divided into tasks by row ranges only, so that the resulting order does not depend on the threads. A swap
//! task owns a range of rows of the left child and the range of the right child that holds its partners.

use std::ops::Range;

use bitgrain_kernels::Backend;
use bitgrain_kernels::histograms::{flag_rows, swap_rows};

use super::{Arrangement, Sides};
use crate::train::row_column::swap_items;
use crate::train::slots::{Code, Place, Plan, SparseFeature};
use crate::train::team::Team;
use crate::train::usage::Phase;

/// Rows whose flags are counted together; a multiple of 64.
const BLOCK: usize = 1 << 11;

/// Blocks per flag task, and maximum of blocks of the left child per swap task.
const BLOCKS: usize = 4;

/// Minimum number of swap tasks per node with enough blocks. A task costs two microseconds in addition to its swaps.
const TASKS: usize = 6;

/// One bit per row, set if the row goes left.
#[derive(Debug, Default)]
pub(super) struct Flags {
    words: Vec<u64>,
    /// Ones in each block.
    ones: Vec<u32>,
}

impl Flags {
    pub(super) fn zeros(n_rows: usize) -> Self {
        Self { words: vec![0; n_rows.div_ceil(64)], ones: vec![0; n_rows.div_ceil(BLOCK)] }
    }

    /// Sets the flag of each row for which `is_left` is true.
    pub(super) fn of(team: &Team<'_>, n_rows: usize, is_left: impl Fn(usize) -> bool + Sync) -> Self {
        let mut flags = Self::zeros(n_rows);
        let parts = flags.words.chunks_mut(BLOCKS * BLOCK / 64).zip(flags.ones.chunks_mut(BLOCKS)).enumerate();
        team.map(Phase::Flags, parts.collect(), |(part, (words, ones)): (usize, (&mut [u64], &mut [u32]))| {
            let first = part * BLOCKS * BLOCK;
            for row in (first..n_rows.min(first + BLOCKS * BLOCK)).filter(|&row| is_left(row)) {
                words[(row - first) / 64] |= 1 << (row % 64);
                ones[(row - first) / BLOCK] += 1;
            }
        });
        flags
    }

    /// Number of rows that go left.
    pub(super) fn count(&self) -> usize {
        self.ones.iter().map(|&ones| ones as usize).sum()
    }

    /// Counts the ones in a range of rows.
    fn ones(&self, rows: Range<usize>) -> usize {
        let words = rows.start / 64..rows.end.div_ceil(64);
        words.map(|word| (self.words[word] & mask(word, &rows)).count_ones() as usize).sum()
    }

    /// Returns the row after the `count`th one from `start` on.
    fn after(&self, start: usize, mut count: usize) -> usize {
        let mut at = start;
        while count > 0 {
            let block = at / BLOCK;
            if at.is_multiple_of(BLOCK) && (self.ones[block] as usize) < count {
                count -= self.ones[block] as usize;
                at += BLOCK;
                continue;
            }
            let word = self.words[at / 64] & u64::MAX << (at % 64);
            let ones = word.count_ones() as usize;
            if ones < count {
                count -= ones;
                at = at / 64 * 64 + 64;
                continue;
            }
            let before = (1..count).fold(word, |word, _| word & (word - 1));
            return at / 64 * 64 + before.trailing_zeros() as usize + 1;
        }
        at
    }

    /// Positions of the rows whose bit is `bit`, relative to the first of the range; `count` in number.
    fn positions(&self, rows: Range<usize>, bit: bool, count: usize) -> Vec<u32> {
        let mut found = Vec::with_capacity(count);
        for at in rows.start / 64..rows.end.div_ceil(64) {
            let word = if bit { self.words[at] } else { !self.words[at] };
            let mut word = word & mask(at, &rows);
            // Below the start of the range only where the mask is 0.
            let first = (at * 64).wrapping_sub(rows.start);
            while word != 0 {
                #[expect(clippy::cast_possible_truncation, reason = "a dataset has at most 2^32 rows")]
                found.push(first.wrapping_add(word.trailing_zeros() as usize) as u32);
                word &= word - 1;
            }
        }
        found
    }
}

/// Returns the bits of a word that belong to a range of rows.
fn mask(word: usize, rows: &Range<usize>) -> u64 {
    let bits = |end: usize| match end.saturating_sub(word * 64) {
        0 => 0,
        bits @ 1..64 => u64::MAX >> (64 - bits),
        _ => u64::MAX,
    };
    bits(rows.end) & !bits(rows.start)
}

/// Side of each stored code of a feature.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "copied once per task, which reads it for thousands of rows")]
enum SideBits<'a> {
    /// 1 for each byte of a slot that goes left.
    Slot { tile: usize, slot: usize, table: [u8; 256] },
    /// For each bin of a wide column.
    Wide { column: usize, left: &'a [bool] },
    /// For each bin of a sparse feature.
    Sparse { feature: SparseFeature, left: &'a [bool] },
    /// A constant feature: all rows go right.
    Constant,
}

impl<'a> SideBits<'a> {
    fn new(plan: &Plan, sides: &'a Sides) -> Self {
        match plan.places[sides.feature] {
            Place::Constant => Self::Constant,
            Place::Slot { tile, slot, member, .. } => {
                let mut table = [0; 256];
                match member.code {
                    Code::Digit { stride: 1 } => {
                        let lefts = sides.left.iter().cycle();
                        table.iter_mut().zip(lefts).for_each(|(out, &left)| *out = u8::from(left));
                    }
                    Code::Digit { stride } => {
                        // Bytes in runs of one bin; after the last bin, the first follows.
                        let runs = table.chunks_mut(stride as usize);
                        runs.zip(sides.left.iter().cycle()).for_each(|(run, &left)| run.fill(u8::from(left)));
                    }
                    Code::Range { .. } => {
                        let left = (0..).map(|byte| sides.left[member.bin(byte) as usize]);
                        table.iter_mut().zip(left).for_each(|(out, left)| *out = u8::from(left));
                    }
                }
                Self::Slot { tile, slot, table }
            }
            Place::Wide { column } => Self::Wide { column, left: &sides.left },
            Place::Sparse(feature) => Self::Sparse { feature, left: &sides.left },
        }
    }

    /// Sets the bits of some rows and returns the number of ones.
    fn flag<P>(&self, from: &Arrangement<'_, P>, rows: Range<usize>, out: &mut [u64]) -> usize {
        match self {
            Self::Constant => 0,
            Self::Slot { tile, slot, table } if let Some(codes) = from.mapped => {
                let (mut at, mut count) = (0, 0);
                out.fill(0);
                codes.for_each_byte(*tile, *slot, &from.order[rows], |byte| {
                    let left = table[usize::from(byte)];
                    out[at / 64] |= u64::from(left) << (at % 64);
                    count += usize::from(left);
                    at += 1;
                });
                count
            }
            Self::Slot { tile, slot, table } => {
                let width = from.plan.tiles[*tile].width;
                let records = &from.tiles[*tile][rows.start * width..rows.end * width];
                flag_rows(Backend::best(), records, width, *slot, table, out).unwrap_or(0)
            }
            Self::Wide { column, left } => {
                let (mut at, mut count) = (0, 0);
                out.fill(0);
                let flag = |bin: usize| {
                    out[at / 64] |= u64::from(left[bin]) << (at % 64);
                    count += usize::from(left[bin]);
                    at += 1;
                };
                match from.mapped {
                    Some(codes) => codes.for_each_wide(*column, &from.order[rows], flag),
                    None => from.wide[*column].for_each(rows, flag),
                }
                count
            }
            Self::Sparse { feature, left } => {
                out.fill(0);
                let is_left = |row: &u32| left[from.sparse.bin(*row as usize, *feature)];
                let mut count = 0;
                for (at, _) in from.order[rows].iter().enumerate().filter(|(_, row)| is_left(row)) {
                    out[at / 64] |= 1 << (at % 64);
                    count += 1;
                }
                count
            }
        }
    }
}

/// Blocks of a node to flag.
pub(super) struct FlagTask<'a, P> {
    rows: &'a Arrangement<'a, P>,
    bits: SideBits<'a>,
    first: usize,
    words: &'a mut [u64],
    ones: &'a mut [u32],
}

/// Returns the tasks that fill the flags of a node.
pub(super) fn flag_tasks<'a, P>(
    rows: &'a Arrangement<'a, P>,
    sides: &'a Sides,
    flags: &'a mut Flags,
) -> impl Iterator<Item = FlagTask<'a, P>> {
    let bits = SideBits::new(rows.plan, sides);
    let words = flags.words.chunks_mut(BLOCKS * BLOCK / 64);
    let parts = words.zip(flags.ones.chunks_mut(BLOCKS)).enumerate();
    parts.map(move |(at, (words, ones))| FlagTask { rows, bits, first: at * BLOCKS * BLOCK, words, ones })
}

impl<P: Send + Sync + Copy> FlagTask<'_, P> {
    pub(super) fn run(self) {
        let n_rows = self.rows.order.len();
        for (at, (words, ones)) in self.words.chunks_mut(BLOCK / 64).zip(self.ones).enumerate() {
            let start = self.first + at * BLOCK;
            let count = self.bits.flag(self.rows, start..n_rows.min(start + BLOCK), words);
            #[expect(clippy::cast_possible_truncation, reason = "at most the rows of a block")]
            let count = count as u32;
            *ones = count;
        }
    }
}

/// Rows of the left child that belong right, with as many rows of the right child that belong left.
pub(super) struct SwapTask<'a, P> {
    flags: &'a Flags,
    /// Number of swaps.
    count: usize,
    left: Arrangement<'a, P>,
    left_rows: Range<usize>,
    right: Arrangement<'a, P>,
    right_rows: Range<usize>,
}

/// Returns the tasks that move the `middle` flagged rows of a node before the others.
pub(super) fn swap_tasks<'a, P: Send + Sync + Copy>(
    rows: &'a mut Arrangement<'_, P>,
    flags: &'a Flags,
    middle: usize,
) -> Vec<SwapTask<'a, P>> {
    let n_rows = rows.order.len();
    let mut sides = rows.parts(&[0..middle, middle..n_rows]);
    let (Some(mut right), Some(mut left)) = (sides.pop(), sides.pop()) else { return Vec::new() };
    let mut tasks = Vec::new();
    // First rows of both sides that no task has.
    let (mut left_free, mut right_free) = (0, middle);
    let blocks = (middle / BLOCK / TASKS).clamp(1, BLOCKS);
    for start in (0..middle).step_by(blocks * BLOCK) {
        let end = middle.min(start + blocks * BLOCK);
        let whole = end / BLOCK * BLOCK;
        let of_blocks: u32 = flags.ones[start / BLOCK..whole / BLOCK].iter().sum();
        let ones = of_blocks as usize + flags.ones(whole.max(start)..end);
        let count = end - start - ones;
        if count == 0 {
            continue;
        }
        let right_end = flags.after(right_free, count);
        tasks.push(SwapTask {
            flags,
            count,
            left: left.cut(start - left_free, end - start),
            left_rows: start..end,
            right: right.cut(0, right_end - right_free),
            right_rows: right_free..right_end,
        });
        (left_free, right_free) = (end, right_end);
    }
    tasks
}

impl<P: Copy> SwapTask<'_, P> {
    pub(super) fn run(mut self) {
        let left = &self.flags.positions(self.left_rows, false, self.count);
        let right = &self.flags.positions(self.right_rows, true, self.count);
        debug_assert_eq!(left.len(), right.len());
        let (from, to) = (&mut self.left, &mut self.right);
        for ((tile, other), plan) in from.tiles.iter_mut().zip(&mut to.tiles).zip(&from.plan.tiles) {
            let swapped = swap_rows(plan.width, tile, other, left, right);
            debug_assert!(swapped.is_ok(), "{swapped:?}");
        }
        from.wide.iter_mut().zip(&mut to.wide).for_each(|(column, other)| column.swap(other, left, right));
        from.columns.iter_mut().zip(&mut to.columns).for_each(|(column, other)| column.swap(other, left, right));
        swap_items(from.order, to.order, left, right);
        swap_items(from.pairs, to.pairs, left, right);
    }
}

/// Partitions a node on the calling thread; returns the number of rows that go left.
pub(super) fn partition<P: Send + Sync + Copy>(rows: &mut Arrangement<'_, P>, sides: &Sides) -> usize {
    let mut flags = Flags::zeros(rows.order.len());
    flag_tasks(rows, sides, &mut flags).for_each(FlagTask::run);
    let middle = flags.count();
    swap_tasks(rows, &flags, middle).into_iter().for_each(SwapTask::run);
    middle
}

/// Flags the rows of several nodes, which must be in ascending order, on all threads.
pub(super) fn flag_nodes<'a, P: Send + Sync + Copy + 'a>(
    team: &Team<'_>,
    nodes: impl Iterator<Item = (&'a Arrangement<'a, P>, &'a Sides)> + Clone,
) -> Vec<Flags> {
    let mut flags: Vec<Flags> = nodes.clone().map(|(rows, _)| Flags::zeros(rows.order.len())).collect();
    let all = nodes.clone().next().map_or(0, |(rows, _)| rows.all);
    let tasks = nodes.zip(&mut flags).flat_map(|((rows, sides), flags)| flag_tasks(rows, sides, flags)).collect();
    team.map_rows(Phase::Flags, all, tasks, |task| (task.rows.first + task.first, task.words.len()), FlagTask::run);
    flags
}

/// Moves the flagged rows of several nodes, in ascending order, to the front on all threads. Each node comes with its
/// flags and their count.
pub(super) fn swap_nodes<'a, 'r: 'a, P: Send + Sync + Copy + 'r>(
    team: &Team<'_>,
    nodes: impl Iterator<Item = (&'a mut Arrangement<'r, P>, &'a Flags, usize)>,
) {
    let tasks: Vec<_> = nodes.flat_map(|(rows, flags, middle)| swap_tasks(rows, flags, middle)).collect();
    let all = tasks.first().map_or(0, |task| task.left.all);
    team.map_rows(Phase::Swaps, all, tasks, |task| (task.left.first, task.count), SwapTask::run);
}

/// Partitions many nodes by one split on all threads; returns the number of rows that go left in each.
pub(super) fn partition_all<P: Send + Sync + Copy>(
    team: &Team<'_>,
    nodes: &mut [Arrangement<'_, P>],
    sides: &Sides,
) -> Vec<usize> {
    let flags = flag_nodes(team, nodes.iter().map(|rows| (rows, sides)));
    let middles: Vec<usize> = flags.iter().map(Flags::count).collect();
    swap_nodes(team, nodes.iter_mut().zip(&flags).zip(&middles).map(|((rows, flags), &middle)| (rows, flags, middle)));
    middles
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Flags, Team};
    use crate::narrow::narrow;

    #[test]
    fn flags_count_and_find_their_ones() {
        let n_rows = 3 * BLOCK + 77;
        let is_left = |row: usize| row * 2_654_435_761 % 7 < 3;
        let flags = Team::with(2, |team| Flags::of(team, n_rows, is_left));
        let rows: Vec<usize> = (0..n_rows).filter(|&row| is_left(row)).collect();
        assert_eq!(flags.count(), rows.len());
        for start in [0, 1, 63, 64, 100, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5] {
            let from = rows.partition_point(|&row| row < start);
            for count in [0, 1, 2, 64, 1000, 3000, 3500] {
                if from + count > rows.len() {
                    continue;
                }
                let end = if count == 0 { start } else { rows[from + count - 1] + 1 };
                assert_eq!(flags.after(start, count), end, "{count} from {start}");
                assert_eq!(flags.ones(start..end), count);
                let ones: Vec<u32> = rows[from..from + count].iter().map(|&row| narrow(row - start)).collect();
                assert_eq!(flags.positions(start..end, true, count), ones);
                let zeros = (start..end).filter(|&row| !is_left(row)).map(|row| narrow(row - start));
                assert_eq!(flags.positions(start..end, false, 0), zeros.collect::<Vec<_>>());
            }
        }
    }
}
