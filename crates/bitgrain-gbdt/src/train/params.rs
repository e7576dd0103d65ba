//! How trees are grown.

use super::TrainError;
use crate::gradient::GradientPrecision;

/// How trees are grown. The defaults are LightGBM's.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Trees per class; 100.
    pub rounds: usize,
    /// How far each tree goes; 0.1.
    pub learning_rate: f64,
    /// The order nodes are split in.
    pub growth: Growth,
    /// Leaves of a tree at most; 31. Of symmetric trees, whose leaves double with every level, it is rounded up to a
    /// power of two, and counts only without a `max_depth`.
    pub num_leaves: usize,
    /// Splits from the root to a leaf at most; `None` is no bound but that of the leaves. Symmetric trees have no more
    /// than 16 levels.
    pub max_depth: Option<usize>,
    /// Rows of a leaf at least; 20. Estimated from the hessians while a split is searched.
    pub min_child_samples: usize,
    /// Sum of the hessians of a leaf at least; 0.001.
    pub min_child_weight: f64,
    /// Shrinks leaves by a constant: 0.
    pub lambda_l1: f64,
    /// Shrinks leaves in proportion: 0.
    pub lambda_l2: f64,
    /// What a split must gain at least; 0.
    pub min_split_gain: f64,
    /// Share of the features a tree may use; 1.
    pub feature_fraction: f64,
    /// Share of the features a node may use; 1.
    pub feature_fraction_by_node: f64,
    /// Random part of the rows for each tree; all by default.
    pub bagging: Option<Bagging>,
    /// Sampling by the size of gradients instead.
    pub goss: Option<Goss>,
    /// How gradients are kept.
    pub precision: GradientPrecision,
    /// Stochastic rounding of gradients (always on for `Pair4`); true.
    pub stochastic_rounding: bool,
    /// Rounds without improvement on the validation set before training stops.
    pub early_stopping: Option<usize>,
    /// Categories of a feature at most for splits of one category against the rest; 4.
    pub max_cat_to_onehot: usize,
    /// Extra `lambda_l2` of splits by categories; 10.
    pub cat_l2: f64,
    /// Smooths the order of categories; 10.
    pub cat_smooth: f64,
    /// Categories on the smaller side of a split at most; 32.
    pub max_cat_threshold: usize,
    /// Chooses samples and roundings.
    pub seed: u64,
}

/// The order nodes are split in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// The leaf that gains most, next.
    #[default]
    LeafWise,
    /// All nodes of a level, then those of the next.
    DepthWise,
    /// All nodes of a level by one and the same question.
    Symmetric,
}

/// A random part of the rows for each tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bagging {
    /// Share of the rows.
    pub fraction: f64,
    /// A new part every so many rounds.
    pub every: usize,
}

/// Rows with large gradients are kept, some of the others stand for the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goss {
    /// Share of the rows kept for their large gradients; 0.2.
    pub top_rate: f64,
    /// Share of the rows drawn from the others; 0.1.
    pub other_rate: f64,
}

impl Params {
    /// Whether every setting is in its range.
    ///
    /// # Errors
    /// [`TrainError::Param`] for the first that is not.
    pub fn check(&self) -> Result<(), TrainError> {
        let share = |x: f64| x > 0.0 && x <= 1.0;
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        let bag = self.bagging.unwrap_or(Bagging { fraction: 1.0, every: 1 });
        let goss = self.goss.unwrap_or(Goss { top_rate: 0.2, other_rate: 0.1 });
        let depth = self.max_depth.unwrap_or(1);
        let settings: [(&'static str, String, bool, &'static str); 18] = [
            ("rounds", self.rounds.to_string(), self.rounds >= 1, "at least 1"),
            (
                "learning_rate",
                self.learning_rate.to_string(),
                self.learning_rate > 0.0 && self.learning_rate.is_finite(),
                "above 0",
            ),
            ("num_leaves", self.num_leaves.to_string(), (2..=1 << 17).contains(&self.num_leaves), "from 2 to 131072"),
            ("max_depth", depth.to_string(), (1..=64).contains(&depth), "from 1 to 64"),
            ("min_child_weight", self.min_child_weight.to_string(), not_negative(self.min_child_weight), "0 or more"),
            ("lambda_l1", self.lambda_l1.to_string(), not_negative(self.lambda_l1), "0 or more"),
            ("lambda_l2", self.lambda_l2.to_string(), not_negative(self.lambda_l2), "0 or more"),
            ("min_split_gain", self.min_split_gain.to_string(), not_negative(self.min_split_gain), "0 or more"),
            (
                "feature_fraction",
                self.feature_fraction.to_string(),
                share(self.feature_fraction),
                "above 0 and at most 1",
            ),
            (
                "feature_fraction_by_node",
                self.feature_fraction_by_node.to_string(),
                share(self.feature_fraction_by_node),
                "above 0 and at most 1",
            ),
            ("bagging.fraction", bag.fraction.to_string(), share(bag.fraction), "above 0 and at most 1"),
            ("bagging.every", bag.every.to_string(), bag.every >= 1, "at least 1"),
            ("goss.top_rate", goss.top_rate.to_string(), share(goss.top_rate), "above 0 and at most 1"),
            ("goss.other_rate", goss.other_rate.to_string(), share(goss.other_rate), "above 0 and at most 1"),
            (
                "goss",
                "both it and bagging".to_owned(),
                self.goss.is_none() || self.bagging.is_none(),
                "without bagging",
            ),
            ("cat_l2", self.cat_l2.to_string(), not_negative(self.cat_l2), "0 or more"),
            ("cat_smooth", self.cat_smooth.to_string(), not_negative(self.cat_smooth), "0 or more"),
            ("early_stopping", "0".to_owned(), self.early_stopping != Some(0), "at least 1"),
        ];
        match settings.into_iter().find(|(_, _, fits, _)| !fits) {
            Some((name, value, _, range)) => Err(TrainError::Param { name, value, range }),
            None => Ok(()),
        }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            rounds: 100,
            learning_rate: 0.1,
            growth: Growth::default(),
            num_leaves: 31,
            max_depth: None,
            min_child_samples: 20,
            min_child_weight: 1e-3,
            lambda_l1: 0.0,
            lambda_l2: 0.0,
            min_split_gain: 0.0,
            feature_fraction: 1.0,
            feature_fraction_by_node: 1.0,
            bagging: None,
            goss: None,
            precision: GradientPrecision::default(),
            stochastic_rounding: true,
            early_stopping: None,
            max_cat_to_onehot: 4,
            cat_l2: 10.0,
            cat_smooth: 10.0,
            max_cat_threshold: 32,
            seed: 0,
        }
    }
}
