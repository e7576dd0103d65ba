//! Constraints and costs of splits: monotone features, interactions, limits of leaf values, random cuts, penalties and
//! forced splits.
//!
//! Training without any of them has no [`Constraints`] and runs the vectorized search. The others search with a
//! [`Scorer`], which computes the values of both children for every candidate.

mod forced;
mod groups;
mod limits;
mod method;
mod neighbors;
mod order;
mod score;
mod settle;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

pub(crate) use forced::Forced;
pub(crate) use groups::Groups;
pub(crate) use limits::Limits;
pub use method::MonotoneMethod;
pub(crate) use neighbors::{Bounds, CutBounds, Neighbors};
pub(crate) use order::LeafOrder;
pub(crate) use score::{NodeTerms, Scorer};

use super::{Dataset, Params, TrainError};
use crate::narrow::narrow;
use crate::parameter::PerFeature;

/// Constraints and costs of splits, for the features of a dataset.
#[derive(Debug)]
pub(crate) struct Constraints {
    /// Monotone direction of each feature; empty without monotone constraints.
    directions: Vec<i8>,
    method: MonotoneMethod,
    monotone_penalty: f64,
    /// Maximum absolute value of a leaf; may be infinite.
    max_value: f64,
    path_smooth: f64,
    /// Seed of random cuts, if only random cuts are tried.
    extra_seed: Option<u64>,
    /// Factor of each feature's gain; empty if all are 1.
    factors: Vec<f64>,
    /// Cost of a split per row of its node.
    split_cost: f64,
    /// Cost of the first split on each feature; empty without costs.
    first_costs: Vec<f64>,
    /// Whether an earlier split used each feature. Changed between searches only.
    used: Vec<AtomicBool>,
    /// Last value bin of each feature. A cut after it separates missing values from all others.
    last_bins: Vec<usize>,
    groups: Option<Groups>,
    forced: Option<Forced>,
    neighbors: NeighborTable,
}

/// Neighbors of the leaves of the tree that is grown. Changed between searches only.
#[derive(Debug, Default)]
struct NeighborTable(RwLock<Vec<Option<Arc<Neighbors>>>>);

impl NeighborTable {
    fn of(&self, leaf: Option<u32>) -> Option<Arc<Neighbors>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(leaf? as usize)?.clone()
    }

    /// Sets the neighbors of a leaf; returns whether they changed.
    fn set(&self, leaf: usize, neighbors: Option<Neighbors>) -> bool {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() <= leaf {
            all.resize(leaf + 1, None);
        }
        let changed = all[leaf].as_deref() != neighbors.as_ref();
        if changed {
            all[leaf] = neighbors.map(Arc::new);
        }
        changed
    }
}

impl Constraints {
    /// Returns the constraints that parameters set for a dataset; `None` without any.
    pub(crate) fn new(params: &Params, data: &Dataset) -> Result<Option<Self>, TrainError> {
        let names = data.schema.names();
        let refused = |name: &'static str| move |reason: String| TrainError::FeatureParameter { name, reason };
        let mut directions = Vec::new();
        if params.monotone_constraints != PerFeature::Unset {
            let of = params.monotone_constraints.of_features(names, 0).map_err(refused("monotone_constraints"))?;
            let categorical = of.iter().zip(0..).find(|&(&to, feature)| to != 0 && data.is_categorical(feature));
            if let Some((_, feature)) = categorical {
                let reason = format!("feature `{}` is categorical and has no order; set it to 0", names[feature]);
                return Err(refused("monotone_constraints")(reason));
            }
            if of.iter().any(|&direction| direction != 0) {
                directions = of;
            }
        }
        let factors = params.feature_contri.of_features(names, 1.0).map_err(refused("feature_contri"))?;
        let coupled = &params.cegb_penalty_feature_coupled;
        let coupled = coupled.of_features(names, 0.0).map_err(refused("cegb_penalty_feature_coupled"))?;
        let first_costs: Vec<f64> = coupled.iter().map(|cost| cost * params.cegb_tradeoff).collect();
        let groups = &params.interaction_constraints;
        let positions = groups.positions(names).map_err(refused("interaction_constraints"))?;
        let forced = params.forced_splits.0.as_ref().map(|root| Forced::new(root, data));
        let map = data.cuts.map();
        let value_bins =
            |feature| map.missing_bin(feature).unwrap_or_else(|| map.n_bins(feature)).saturating_sub(1) as usize;
        let kept = |numbers: Vec<f64>, idle: f64| if numbers.iter().all(|&n| n == idle) { Vec::new() } else { numbers };
        let constraints = Self {
            directions,
            method: params.monotone_constraints_method,
            monotone_penalty: params.monotone_penalty,
            max_value: if params.max_delta_step > 0.0 { params.max_delta_step } else { f64::INFINITY },
            path_smooth: params.path_smooth,
            extra_seed: params.extra_trees.then_some(params.extra_seed),
            factors: kept(factors, 1.0),
            split_cost: params.cegb_tradeoff * params.cegb_penalty_split,
            first_costs: kept(first_costs, 0.0),
            used: names.iter().map(|_| AtomicBool::new(false)).collect(),
            last_bins: (0..names.len()).map(value_bins).collect(),
            groups: (!positions.is_empty()).then(|| Groups::new(positions, names.len())),
            forced: forced.transpose().map_err(refused("forced_splits"))?,
            neighbors: NeighborTable::default(),
        };
        constraints.check(params)?;
        let any = constraints.scores() || constraints.groups.is_some() || constraints.forced.is_some();
        Ok(any.then_some(constraints))
    }

    fn check(&self, params: &Params) -> Result<(), TrainError> {
        let leaves = self.forced.as_ref().map_or(0, Forced::n_leaves);
        if leaves > params.num_leaves {
            let reason = format!("they have {leaves} leaves, but num_leaves is {}; raise it", params.num_leaves);
            return Err(TrainError::FeatureParameter { name: "forced_splits", reason });
        }
        Ok(())
    }

    /// Returns whether constraints change the gain of splits or the values of leaves.
    pub(crate) fn scores(&self) -> bool {
        self.is_monotone()
            || self.max_value.is_finite()
            || self.path_smooth > 0.0
            || self.extra_seed.is_some()
            || !self.factors.is_empty()
            || self.split_cost > 0.0
            || !self.first_costs.is_empty()
    }

    /// Returns whether a split changes the best splits of other leaves, so that leaves are split one at a time.
    pub(crate) fn is_sequential(&self) -> bool {
        self.tracks_leaves() || !self.first_costs.is_empty() || self.forced.is_some()
    }

    /// Returns whether bounds follow from the values of other leaves.
    pub(crate) fn tracks_leaves(&self) -> bool {
        self.is_monotone() && self.method != MonotoneMethod::Basic
    }

    /// Updates the bounds of a leaf in an order of leaves; returns whether they changed.
    pub(crate) fn update_bounds(
        &self,
        order: &LeafOrder<'_>,
        leaf: usize,
        value: impl Fn(usize) -> f64,
        limits: &mut Limits,
    ) -> bool {
        let (low, high) = order.bounds(leaf, &value);
        let mut changed = (limits.low, limits.high) != (low, high);
        (limits.low, limits.high) = (low, high);
        if self.method == MonotoneMethod::Advanced {
            let neighbors = order.neighbors(leaf, value);
            let at = neighbors.as_ref().map(|_| narrow(leaf));
            // The table may hold neighbors of an earlier leaf; only a leaf that refers to them was searched with them.
            changed |= self.neighbors.set(leaf, neighbors) | (limits.neighbors != at);
            limits.neighbors = at;
        }
        changed
    }

    pub(crate) fn is_monotone(&self) -> bool {
        !self.directions.is_empty()
    }

    /// Returns the monotone direction of a feature.
    fn direction(&self, feature: usize) -> i8 {
        self.directions.get(feature).copied().unwrap_or(0)
    }

    pub(crate) fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }

    pub(crate) fn forced(&self) -> Option<&Forced> {
        self.forced.as_ref()
    }

    /// Marks a feature as used; returns whether its first split had a cost, which changes the gains of other leaves.
    pub(crate) fn mark_used(&self, feature: usize) -> bool {
        let first = !self.used[feature].swap(true, Ordering::Relaxed);
        first && self.first_costs.get(feature).is_some_and(|&cost| cost > 0.0)
    }

    /// Returns the cost of a split, subtracted from its gain.
    #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
    fn cost(&self, feature: usize, rows: usize) -> f64 {
        let first = match self.first_costs.get(feature) {
            Some(&cost) if !self.used[feature].load(Ordering::Relaxed) => cost,
            _ => 0.0,
        };
        first + self.split_cost * rows as f64
    }

    /// Returns the factor of a gain.
    fn factor(&self, feature: usize, depth: u32) -> f64 {
        let own = self.factors.get(feature).copied().unwrap_or(1.0);
        if self.direction(feature) == 0 { own } else { own * monotone_factor(depth, self.monotone_penalty) }
    }
}

/// Returns the factor of the gain of a split on a monotone feature. As in LightGBM, a penalty of `x` forbids them in the
/// first `x` levels, and fades with the depth.
fn monotone_factor(depth: u32, penalty: f64) -> f64 {
    let depth = f64::from(depth);
    if penalty >= depth + 1.0 {
        0.0
    } else if penalty <= 1.0 {
        1.0 - penalty / depth.exp2()
    } else {
        1.0 - (penalty - 1.0 - depth).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotone_penalty_forbids_levels_and_fades() {
        assert_eq!([0, 1, 5].map(|depth| monotone_factor(depth, 0.0)), [1.0; 3]);
        assert_eq!([0, 1, 2].map(|depth| monotone_factor(depth, 0.5)), [0.5, 0.75, 0.875]);
        assert_eq!([0, 1, 2, 3].map(|depth| monotone_factor(depth, 2.0)), [0.0, 0.0, 0.5, 0.75]);
    }
}
