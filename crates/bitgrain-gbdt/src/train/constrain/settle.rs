//! Final values of leaves. They are computed from unquantized gradients or renewed by the objective, so they differ
//! from the values that the growth of the tree assumed, and are put in order once more.

use super::{Constraints, LeafOrder, Limits, MonotoneMethod, Scorer};
use crate::model::Child;
use crate::train::grow::{Grown, GrownLeaf, Sum};
use crate::train::split::How;

impl Constraints {
    /// Creates the order of a tree that is a single leaf.
    pub(crate) fn leaf_order(&self) -> LeafOrder<'_> {
        LeafOrder::new(&self.directions, &self.last_bins)
    }

    /// Makes values that the objective computed keep all constraints. They are not in the units of gradients, so the
    /// bounds of the growth do not apply.
    pub(crate) fn settle_renewed<S: Sum>(&self, grown: &Grown<S>, values: &mut [f64]) {
        values.iter_mut().for_each(|value| *value = value.max(-self.max_value).min(self.max_value));
        match self.method {
            _ if !self.is_monotone() => {}
            MonotoneMethod::Basic => self.separate(grown, values),
            MonotoneMethod::Intermediate | MonotoneMethod::Advanced => self.project(grown, values),
        }
    }

    /// Puts the values of both sides of each split on a monotone feature in order, from the leaves to the root.
    fn separate<S: Sum>(&self, grown: &Grown<S>, values: &mut [f64]) {
        let (leaves, ranges) = self.traverse(grown);
        for (split, &[start, middle, end]) in grown.splits.iter().zip(&ranges).rev() {
            let direction = self.direction_of(&split.found.how, split.found.sides.feature);
            if direction == 0 {
                continue;
            }
            // `traverse` visits the side with the smaller values first.
            let (below, above) = (&leaves[start..middle], &leaves[middle..end]);
            let highest = below.iter().map(|&leaf| values[leaf]).fold(f64::NEG_INFINITY, f64::max);
            let lowest = above.iter().map(|&leaf| values[leaf]).fold(f64::INFINITY, f64::min);
            if highest > lowest {
                let between = highest / 2.0 + lowest / 2.0;
                // Clipping keeps the order within each side.
                below.iter().for_each(|&leaf| values[leaf] = values[leaf].min(between));
                above.iter().for_each(|&leaf| values[leaf] = values[leaf].max(between));
            }
        }
    }

    /// Replaces each value by the mean of the largest value below it and the smallest value above it in the order of
    /// leaves. Values that are in order stay the same.
    pub(crate) fn project<S: Sum>(&self, grown: &Grown<S>, values: &mut [f64]) {
        let mut order = self.leaf_order();
        // The right child of split `i` is leaf `i + 1` when it is created; the left one keeps the leaf of the node.
        let mut leaf_of = vec![0; grown.splits.len()];
        for (at, split) in grown.splits.iter().enumerate() {
            order.split(leaf_of[at], &split.found);
            for (child, leaf) in [(split.left, leaf_of[at]), (split.right, at + 1)] {
                if let Child::Split(child) = child {
                    leaf_of[child as usize] = leaf;
                }
            }
        }
        let (leaves, _) = self.traverse(grown);
        let (mut largest, mut smallest) = (values.to_vec(), values.to_vec());
        for &leaf in &leaves {
            largest[leaf] = order.beside(leaf, false).map(|other| largest[other]).fold(largest[leaf], f64::max);
        }
        for &leaf in leaves.iter().rev() {
            smallest[leaf] = order.beside(leaf, true).map(|other| smallest[other]).fold(smallest[leaf], f64::min);
        }
        for ((value, largest), smallest) in values.iter_mut().zip(largest).zip(smallest) {
            *value = largest / 2.0 + smallest / 2.0;
        }
    }

    /// Returns the leaves in an order in which values that must be smaller come first, and the range of the leaves of
    /// each split: start, first leaf of the second side, end.
    fn traverse<S: Sum>(&self, grown: &Grown<S>) -> (Vec<usize>, Vec<[usize; 3]>) {
        enum Step {
            Enter(Child),
            Middle(usize),
            Leave(usize),
        }
        let mut leaves = Vec::with_capacity(grown.leaves.len());
        let mut ranges = vec![[0; 3]; grown.splits.len()];
        let mut stack = vec![Step::Enter(if grown.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) })];
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(Child::Leaf(leaf)) => leaves.push(leaf as usize),
                Step::Middle(split) => ranges[split][1] = leaves.len(),
                Step::Leave(split) => ranges[split][2] = leaves.len(),
                Step::Enter(Child::Split(at)) => {
                    let at = at as usize;
                    let split = &grown.splits[at];
                    ranges[at][0] = leaves.len();
                    let falls = self.direction_of(&split.found.how, split.found.sides.feature) < 0;
                    let [first, second] = if falls { [split.right, split.left] } else { [split.left, split.right] };
                    // Popped in reverse order.
                    stack.extend([Step::Leave(at), Step::Enter(second), Step::Middle(at), Step::Enter(first)]);
                }
            }
        }
        (leaves, ranges)
    }

    fn direction_of(&self, how: &How, feature: usize) -> i8 {
        match how {
            How::Cut { bin, .. } if *bin < self.last_bins[feature] => self.direction(feature),
            _ => 0,
        }
    }
}

impl Scorer<'_> {
    /// Returns the values of the leaves from the sums of their unquantized gradients.
    #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
    pub(crate) fn final_values<S: Sum>(&self, grown: &Grown<S>, sums: &[(f64, f64)]) -> Vec<f64> {
        let tracks = self.constraints.tracks_leaves();
        let of_leaf = |(leaf, &sums): (&GrownLeaf<S>, &(f64, f64))| {
            let Limits { low, high, parent, .. } = leaf.totals.limits;
            // Bounds by the values of other leaves hold for the values of the growth only; `project` follows.
            let bounds = if tracks { (f64::NEG_INFINITY, f64::INFINITY) } else { (low, high) };
            self.value(sums, leaf.totals.rows as f64, parent, 0.0, bounds)
        };
        let mut values: Vec<f64> = grown.leaves.iter().zip(sums).map(of_leaf).collect();
        if tracks {
            self.constraints.project(grown, &mut values);
        }
        values
    }
}
