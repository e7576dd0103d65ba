//! How trees are grown.

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
    /// Leaves of a tree at most; 31. Symmetric and depth-wise trees are also bounded by `max_depth`.
    pub num_leaves: usize,
    /// Splits from the root to a leaf at most; `None` is no bound (6 for symmetric trees).
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
