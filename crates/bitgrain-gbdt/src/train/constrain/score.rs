//! `Scorer`: gains of splits and values of nodes under constraints.

use std::sync::Arc;

use super::{Bounds, Constraints, Groups, Limits, Neighbors};
use crate::random::mixed;
use crate::train::grow::Sum;
use crate::train::split::{Found, How, Rules, Totals};

/// Gains of splits and values of nodes under constraints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scorer<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) constraints: &'a Constraints,
}

/// Sums of a node, not in quantization steps, and its limits.
#[derive(Debug, Clone)]
pub(crate) struct NodeTerms {
    pub(crate) grad: f64,
    pub(crate) hess: f64,
    pub(crate) rows: usize,
    /// Minimum sum of hessians per child.
    pub(crate) min_hess: f64,
    pub(crate) limits: Limits,
    pub(crate) neighbors: Option<Arc<Neighbors>>,
    /// Twice the loss reduction by the node's own value.
    worth: f64,
}

impl<'a> Scorer<'a> {
    /// Converts a sum from quantization steps to gradient and hessian.
    pub(crate) fn real<S: Sum>(&self, sum: S) -> (f64, f64) {
        let (grad, hess) = sum.parts();
        (grad * self.rules.grad_step, hess * self.rules.hess_step)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
    pub(crate) fn terms<S: Sum>(&self, node: &Totals<S>) -> NodeTerms {
        let (grad, hess) = self.real(node.sum);
        let min_rows = (self.rules.min_child_samples - 0.5) * hess / node.rows.max(1) as f64;
        let min_hess = min_rows.max(self.rules.min_child_weight).max(f64::MIN_POSITIVE);
        let worth = self.worth_at((grad, hess), node.limits.value, 0.0);
        let neighbors = self.constraints.neighbors.of(node.limits.neighbors);
        NodeTerms { grad, hess, rows: node.rows, min_hess, limits: node.limits, neighbors, worth }
    }

    /// Returns the value of a node with these sums, within the bounds of `limits`. `parent` is the value that it is
    /// smoothed toward.
    pub(crate) fn value(
        &self,
        (grad, hess): (f64, f64),
        rows: f64,
        parent: Option<f64>,
        extra_l2: f64,
        (low, high): (f64, f64),
    ) -> f64 {
        let Constraints { max_value, path_smooth, .. } = *self.constraints;
        let hess = hess + self.rules.lambda_l2 + extra_l2;
        let best = if hess > 0.0 { -self.rules.shrunk(grad) / hess } else { 0.0 };
        let best = best.max(-max_value).min(max_value);
        let smoothed = match parent {
            Some(parent) if path_smooth > 0.0 => {
                let own = rows / (rows + path_smooth);
                best * own + parent * (1.0 - own)
            }
            _ => best,
        };
        smoothed.max(low).min(high)
    }

    /// Returns twice the loss reduction if rows with these sums become a leaf with a value.
    fn worth_at(&self, (grad, hess): (f64, f64), value: f64, extra_l2: f64) -> f64 {
        let hess = hess + self.rules.lambda_l2 + extra_l2;
        -(2.0 * self.rules.shrunk(grad) * value + hess * value * value)
    }

    /// Returns the gain of a split before factors and costs; `None` if a child is too small or the values of the
    /// children contradict the direction.
    pub(crate) fn gain(&self, node: &NodeTerms, left: (f64, f64), direction: i8, extra_l2: f64) -> Option<f64> {
        let bounds = (node.limits.low, node.limits.high);
        self.gain_within(node, left, direction, extra_l2, [bounds; 2])
    }

    /// Returns the gain of a split whose children have different bounds.
    #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
    pub(crate) fn gain_within(
        &self,
        node: &NodeTerms,
        left: (f64, f64),
        direction: i8,
        extra_l2: f64,
        bounds: [Bounds; 2],
    ) -> Option<f64> {
        let right = (node.grad - left.0, node.hess - left.1);
        if left.1 < node.min_hess || right.1 < node.min_hess {
            return None;
        }
        let of = |sums: (f64, f64), bounds: Bounds| {
            // Histograms do not count rows; a child's share of the hessian sum estimates its share of the rows.
            let rows = sums.1 / node.hess * node.rows as f64;
            self.value(sums, rows, Some(node.limits.value), extra_l2, bounds)
        };
        let values = [of(left, bounds[0]), of(right, bounds[1])];
        if is_wrong(direction, values) {
            return None;
        }
        let [of_left, of_right] = [(left, values[0]), (right, values[1])].map(|(s, v)| self.worth_at(s, v, extra_l2));
        Some(of_left + of_right - node.worth)
    }

    /// Returns whether values are smoothed toward that of the parent.
    pub(crate) fn smooths(&self) -> bool {
        self.constraints.path_smooth > 0.0
    }

    /// Returns whether no bound, limit or direction changes the values of the children of a split.
    pub(crate) fn is_unrestricted(
        &self,
        node: &NodeTerms,
        left: (f64, f64),
        bounds: [Bounds; 2],
        direction: i8,
    ) -> bool {
        let right = (node.grad - left.0, node.hess - left.1);
        let max = self.constraints.max_value;
        let [low, high] = [left, right].map(|(grad, hess)| self.rules.leaf(grad, hess));
        let is_within = |value: f64, bounds: Bounds| value.abs() <= max && value >= bounds.0 && value <= bounds.1;
        is_within(low, bounds[0]) && is_within(high, bounds[1]) && !is_wrong(direction, [low, high])
    }

    /// Writes the gains of many cuts with the same direction, negative infinity for those that are not allowed: the
    /// results of [`gain_within`](Self::gain_within), without branches, so that the loop is vectorized.
    #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
    pub(crate) fn gains(
        &self,
        node: &NodeTerms,
        cuts: impl Iterator<Item = ((f64, f64), [Bounds; 2])>,
        direction: i8,
        out: &mut [f64],
    ) {
        let (l1, l2, max) = (self.rules.lambda_l1, self.rules.lambda_l2, self.constraints.max_value);
        let (smooth, rows_of) = (self.constraints.path_smooth, node.rows as f64 / node.hess);
        let (parent, direction) = (node.limits.value, f64::from(direction));
        // Comparisons instead of `max` and `min`, which have to handle NaN.
        let clip = |value: f64, low: f64, high: f64| {
            let value = if value > low { value } else { low };
            if value < high { value } else { high }
        };
        let child = |(grad, hess): (f64, f64), (low, high): Bounds, smooths: bool| {
            let grad = (grad.abs() - l1).max(0.0).copysign(grad);
            let with_l2 = hess + l2;
            let mut value = clip(-grad / with_l2, -max, max);
            if smooths {
                let rows = hess * rows_of;
                let own = rows / (rows + smooth);
                value = value * own + parent * (1.0 - own);
            }
            let value = clip(value, low, high);
            (value, -(2.0 * grad * value + with_l2 * value * value))
        };
        let gain = |(left, bounds): ((f64, f64), [Bounds; 2]), smooths: bool| {
            let right = (node.grad - left.0, node.hess - left.1);
            let ((low, of_left), (high, of_right)) =
                (child(left, bounds[0], smooths), child(right, bounds[1], smooths));
            let is_allowed = (left.1 >= node.min_hess) & (right.1 >= node.min_hess) & (direction * (high - low) >= 0.0);
            if is_allowed { of_left + of_right - node.worth } else { f64::NEG_INFINITY }
        };
        if smooth > 0.0 {
            out.iter_mut().zip(cuts).for_each(|(out, cut)| *out = gain(cut, true));
        } else {
            out.iter_mut().zip(cuts).for_each(|(out, cut)| *out = gain(cut, false));
        }
    }

    /// Applies the factors and costs of a feature to the gain of a split.
    pub(crate) fn net(&self, gain: f64, feature: usize, node: &NodeTerms) -> f64 {
        self.net_of(gain, feature, node.limits.depth, node.rows)
    }

    /// Applies the factors and costs of a feature to the gain of a split of some rows.
    pub(crate) fn net_of(&self, gain: f64, feature: usize, depth: u32, rows: usize) -> f64 {
        gain * self.constraints.factor(feature, depth) - self.constraints.cost(feature, rows)
    }

    /// Returns the direction that a cut must keep. A cut after the last value bin separates missing values only.
    pub(crate) fn direction_of_cut(&self, feature: usize, bin: usize) -> i8 {
        if bin >= self.constraints.last_bins[feature] { 0 } else { self.constraints.direction(feature) }
    }

    /// Returns the random number of a node and a feature, if only one candidate is tried.
    pub(crate) fn pick(&self, feature: usize, node: &Limits) -> Option<u64> {
        self.constraints.extra_seed.map(|_| mixed(node.draw ^ mixed(feature as u64)))
    }

    /// Returns the limits of the root.
    #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
    pub(crate) fn root<S: Sum>(&self, sum: S, rows: usize, seed: u64) -> Limits {
        let value = self.value(self.real(sum), rows as f64, None, 0.0, (f64::NEG_INFINITY, f64::INFINITY));
        let draw = self.constraints.extra_seed.map_or(0, |extra| mixed(seed ^ mixed(extra)));
        Limits { value, draw, groups: Groups::ROOT, ..Limits::FREE }
    }

    /// Sets the limits of both children of a split.
    #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
    pub(crate) fn limit<S: Sum>(&self, node: &Limits, found: &Found<S>, children: &mut [Totals<S>; 2]) {
        let feature = found.sides.feature;
        let groups = self.constraints.groups().map_or(0, |groups| groups.below(node.groups, feature));
        let Constraints { directions, last_bins, .. } = self.constraints;
        let neighbors = self.constraints.neighbors.of(node.neighbors);
        let bounds = neighbors
            .map_or([(node.low, node.high); 2], |neighbors| neighbors.of_children(found, directions, last_bins));
        let mut values = [0, 1].map(|side| {
            let child = &children[side];
            self.value(self.real(child.sum), child.rows as f64, Some(node.value), 0.0, bounds[side])
        });
        let mut limits = [0_u64, 1].map(|side| Limits {
            low: bounds[usize::from(side == 1)].0,
            high: bounds[usize::from(side == 1)].1,
            neighbors: None,
            depth: node.depth + 1,
            parent: Some(node.value),
            draw: mixed(node.draw.wrapping_mul(2) + side),
            groups,
            ..*node
        });
        let direction = match found.how {
            How::Cut { bin, .. } => self.direction_of_cut(feature, bin),
            How::Choice { .. } => 0,
        };
        if direction != 0 {
            let [below, above] = if direction > 0 { [0, 1] } else { [1, 0] };
            let between = if children[below].rows == 0 {
                values[above]
            } else if children[above].rows == 0 {
                values[below]
            } else if is_wrong(direction, values) {
                // Both children keep the value of their parent. Only rounding errors, estimated numbers of rows, forced
                // splits and symmetric trees lead here.
                node.value.max(node.low).min(node.high)
            } else {
                (values[below] / 2.0 + values[above] / 2.0).max(values[below]).min(values[above])
            };
            values[below] = values[below].min(between);
            values[above] = values[above].max(between);
            let tracks = self.constraints.tracks_leaves();
            limits[below].high = limits[below].high.min(if tracks { values[above] } else { between });
            limits[above].low = limits[above].low.max(if tracks { values[below] } else { between });
        }
        for ((child, mut limits), value) in children.iter_mut().zip(limits).zip(values) {
            limits.value = value;
            child.limits = limits;
        }
    }
}

/// Returns whether the values of the left and the right child contradict a direction.
fn is_wrong(direction: i8, [left, right]: [f64; 2]) -> bool {
    match direction {
        1 => left > right,
        -1 => left < right,
        _ => false,
    }
}
