//! Tree traversal by bins, for rows that are not in the arrangement a tree was grown on.

use rayon::prelude::*;

use super::grow::Grown;
use super::slots::{Place, Slots};
use super::split::How;
use super::unseen::{Unseen, is_set};
use crate::model::Child;

/// Rows that a thread walks at a time.
const CHUNK: usize = 4096;

/// Tree whose splits compare bins.
pub(super) struct BinnedTree<'a> {
    splits: Vec<BinnedSplit<'a>>,
}

struct BinnedSplit<'a> {
    place: Place,
    /// Direction of each bin, or of each byte value of its slot; true is left.
    left: Vec<bool>,
    /// Rows whose value is missing although the feature has no missing-value bin, and the direction they take.
    unseen: Option<&'a [u64]>,
    missing_left: bool,
    children: [Child; 2],
}

impl<'a> BinnedTree<'a> {
    /// Prepares a tree for bins stored as in `slots`; `unseen` marks missing values without a bin.
    pub(super) fn new<S>(grown: &Grown<S>, slots: &Slots, unseen: &'a Unseen) -> Self {
        let splits = grown.splits.iter().map(|split| {
            let sides = &split.found.sides;
            let place = slots.plan.places[sides.feature];
            let left = match place {
                Place::Slot { member, .. } => (0..256).map(|byte| sides.left[member.bin(byte) as usize]).collect(),
                Place::Wide { .. } | Place::Sparse(_) | Place::Constant => sides.left.clone(),
            };
            let missing_left = matches!(split.found.how, How::Cut { missing_left: true, .. });
            let unseen = unseen.flags(sides.feature);
            BinnedSplit { place, left, unseen, missing_left, children: [split.left, split.right] }
        });
        Self { splits: splits.collect() }
    }

    /// Returns the leaf of the row at a position. `order` maps positions to rows, if they differ.
    pub(super) fn leaf(&self, slots: &Slots, order: Option<&[u32]>, row: usize) -> usize {
        let mut at = if self.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) };
        loop {
            match at {
                Child::Leaf(leaf) => return leaf as usize,
                Child::Split(split) => {
                    let split = &self.splits[split as usize];
                    let code = match (split.place, &slots.mapped) {
                        (Place::Slot { tile, slot, .. }, Some(codes)) => {
                            usize::from(codes.byte(tile, slot, order.map_or(row, |order| order[row] as usize)))
                        }
                        (Place::Wide { column }, Some(codes)) => {
                            codes.wide(column, order.map_or(row, |order| order[row] as usize))
                        }
                        (Place::Constant, _) => 0,
                        (Place::Slot { tile, slot, .. }, None) => {
                            usize::from(slots.tiles[tile][row * slots.plan.tiles[tile].width + slot])
                        }
                        (Place::Wide { column }, None) => slots.wide[column].get(row),
                        (Place::Sparse(feature), _) => {
                            slots.sparse.bin(order.map_or(row, |order| order[row] as usize), feature)
                        }
                    };
                    let left = match split.unseen {
                        Some(flags) if is_set(flags, row) => split.missing_left,
                        _ => split.left[code],
                    };
                    at = split.children[usize::from(!left)];
                }
            }
        }
    }

    /// Adds the leaf value of each row to its score.
    pub(super) fn add_to(&self, slots: &Slots, values: &[f64], out: &mut [f64]) {
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
            for (row, score) in out.iter_mut().enumerate() {
                *score += values[self.leaf(slots, None, chunk * CHUNK + row)];
            }
        });
    }
}
