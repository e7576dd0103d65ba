//! How trees are grown, as Python says it.

use bitgrain::gbdt::gradient::GradientPrecision;
use bitgrain::gbdt::train::{Bagging, Goss, Growth, Params};
use pyo3::prelude::*;

use crate::error::{Raised, Result};

/// A dictionary that has all of these.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Settings {
    rounds: usize,
    learning_rate: f64,
    growth: String,
    num_leaves: usize,
    max_depth: Option<usize>,
    min_child_samples: usize,
    min_child_weight: f64,
    lambda_l1: f64,
    lambda_l2: f64,
    min_split_gain: f64,
    feature_fraction: f64,
    feature_fraction_by_node: f64,
    /// A share of the rows, anew every so many rounds.
    bagging: Option<(f64, usize)>,
    /// The share with the largest gradients, and that of the others.
    goss: Option<(f64, f64)>,
    precision: String,
    stochastic_rounding: bool,
    early_stopping: Option<usize>,
    max_cat_to_onehot: usize,
    cat_l2: f64,
    cat_smooth: f64,
    max_cat_threshold: usize,
    seed: u64,
}

impl Settings {
    pub(super) fn params(&self) -> Result<Params> {
        let growth = match self.growth.as_str() {
            "leaf" => Growth::LeafWise,
            "depth" => Growth::DepthWise,
            "symmetric" => Growth::Symmetric,
            other => {
                return Err(Raised::input(format!("growth = '{other}': it must be 'leaf', 'depth' or 'symmetric'")));
            }
        };
        let precision: GradientPrecision = self.precision.parse().map_err(Raised::input)?;
        Ok(Params {
            rounds: self.rounds,
            learning_rate: self.learning_rate,
            growth,
            num_leaves: self.num_leaves,
            max_depth: self.max_depth,
            min_child_samples: self.min_child_samples,
            min_child_weight: self.min_child_weight,
            lambda_l1: self.lambda_l1,
            lambda_l2: self.lambda_l2,
            min_split_gain: self.min_split_gain,
            feature_fraction: self.feature_fraction,
            feature_fraction_by_node: self.feature_fraction_by_node,
            bagging: self.bagging.map(|(fraction, every)| Bagging { fraction, every }),
            goss: self.goss.map(|(top_rate, other_rate)| Goss { top_rate, other_rate }),
            precision,
            stochastic_rounding: self.stochastic_rounding,
            early_stopping: self.early_stopping,
            max_cat_to_onehot: self.max_cat_to_onehot,
            cat_l2: self.cat_l2,
            cat_smooth: self.cat_smooth,
            max_cat_threshold: self.max_cat_threshold,
            seed: self.seed,
        })
    }
}
