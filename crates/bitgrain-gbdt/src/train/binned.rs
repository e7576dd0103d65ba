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

/// Split of a tree by bins.
pub(super) struct Step<'a> {
    pub(super) feature: usize,
    /// Direction of each bin; true is left.
    pub(super) left: &'a [bool],
    /// Direction of missing values without a bin.
    pub(super) missing_left: bool,
    pub(super) children: [Child; 2],
}

/// Returns the splits of a grown tree.
pub(super) fn steps<S>(grown: &Grown<S>) -> impl Iterator<Item = Step<'_>> {
    grown.splits.iter().map(|split| Step {
        feature: split.found.sides.feature,
        left: &split.found.sides.left,
        missing_left: matches!(split.found.how, How::Cut { missing_left: true, .. }),
        children: [split.left, split.right],
    })
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
    pub(super) fn new<'s>(steps: impl Iterator<Item = Step<'s>>, slots: &Slots, unseen: &'a Unseen) -> Self {
        let splits = steps.map(|Step { feature, left, missing_left, children }| {
            let place = slots.plan.places[feature];
            let left = match place {
                Place::Slot { member, .. } => (0..256).map(|byte| left[member.bin(byte) as usize]).collect(),
                Place::Wide { .. } | Place::Sparse(_) | Place::Constant => left.to_vec(),
            };
            BinnedSplit { place, left, unseen: unseen.flags(feature), missing_left, children }
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
