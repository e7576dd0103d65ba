//! Walking a tree by bins, for rows that were not in the arrangement it was grown on.

use std::ops::Range;

use rayon::prelude::*;

use super::grow::Grown;
use super::slots::{Place, Slots};
use crate::model::Child;

/// Rows that one thread walks at a time.
const CHUNK: usize = 4096;

/// A tree whose splits ask for bins.
pub(super) struct BinnedTree {
    splits: Vec<BinnedSplit>,
}

struct BinnedSplit {
    place: Place,
    /// For each bin, or for each byte of its slot: whether it goes left.
    left: Vec<bool>,
    children: [Child; 2],
}

impl BinnedTree {
    pub(super) fn new<S>(grown: &Grown<S>, slots: &Slots) -> Self {
        let splits = grown.splits.iter().map(|split| {
            let sides = &split.found.sides;
            let place = slots.plan.places[sides.feature];
            let left = match place {
                Place::Slot { member, .. } => (0..256).map(|byte| sides.left[member.bin(byte) as usize]).collect(),
                Place::Wide { .. } | Place::Constant => sides.left.clone(),
            };
            BinnedSplit { place, left, children: [split.left, split.right] }
        });
        Self { splits: splits.collect() }
    }

    /// The leaf of the row at a place.
    fn leaf(&self, slots: &Slots, row: usize) -> usize {
        let mut at = if self.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) };
        loop {
            match at {
                Child::Leaf(leaf) => return leaf as usize,
                Child::Split(split) => {
                    let split = &self.splits[split as usize];
                    let code = match split.place {
                        Place::Constant => 0,
                        Place::Slot { tile, slot, .. } => {
                            usize::from(slots.tiles[tile][row * slots.plan.tiles[tile].width + slot])
                        }
                        Place::Wide { column } => slots.wide[column][row] as usize,
                    };
                    at = split.children[usize::from(!split.left[code])];
                }
            }
        }
    }

    /// Calls `with` for the leaf of each of some rows, in parts of which each has its own piece of `out`.
    pub(super) fn add_to(&self, slots: &Slots, values: &[f32], out: &mut [f32]) {
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
            for (row, score) in out.iter_mut().enumerate() {
                *score += values[self.leaf(slots, chunk * CHUNK + row)];
            }
        });
    }

    /// The leaf of every row of a range.
    pub(super) fn leaves(&self, slots: &Slots, rows: Range<usize>) -> Vec<u32> {
        let leaf = |row| u32::try_from(self.leaf(slots, row)).unwrap_or(u32::MAX);
        rows.into_par_iter().with_min_len(CHUNK).map(leaf).collect()
    }
}
