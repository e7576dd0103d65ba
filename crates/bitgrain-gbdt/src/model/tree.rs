//! Trees of a model.

use super::CategorySet;

/// Decision tree. The root is split 0, or leaf 0 if there are no splits.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Splits; parents come before their children.
    pub splits: Vec<Split>,
    /// Leaves, one more than splits.
    pub leaves: Vec<Leaf>,
}

/// Child of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// Index of a split.
    Split(u32),
    /// Index of a leaf.
    Leaf(u32),
}

/// Inner node of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Index of the feature.
    pub feature: u32,
    /// Condition for going left.
    pub rule: Rule,
    /// Values that count as missing.
    pub missing: Missing,
    /// Whether missing values go left.
    pub missing_left: bool,
    /// Child if the rule holds.
    pub left: Child,
    /// Child otherwise.
    pub right: Child,
    /// Loss reduction of the split in training.
    pub gain: f32,
    /// Prediction of the node if it were a leaf.
    pub value: f64,
    /// Sum of the hessians of the training rows in the node.
    pub weight: f64,
    /// Number of training rows in the node.
    pub count: u64,
}

/// Condition for going left, for values that are not missing.
///
/// The category of a value is its integer part: 2.7 is category 2. Negative numbers, infinities and numbers of at least
/// 2^31 do not have a category and are in no set: they go right by `In` and left by `NotIn`, or are missing if the
/// feature lists its known codes. Numbers between -1 and 0 are category 0 if values are compared as f64 (as in
/// LightGBM), and have no category if they are rounded to f32 (as in XGBoost).
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Values up to this threshold; infinity sends all values left.
    AtMost(f64),
    /// Categories of the set.
    In(CategorySet),
    /// Categories outside the set.
    NotIn(CategorySet),
}

/// Values that count as missing at a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// NaN. Used by all models trained here.
    Nan,
    /// NaN, and numbers within [`Missing::ZERO`] of zero. LightGBM's `zero_as_missing`.
    NanOrZero,
    /// No value: NaN is treated as 0. LightGBM's features without missing values in training.
    Nothing,
}

impl Missing {
    /// Largest magnitude that counts as zero: 1e-35 as an f32, in f64.
    pub const ZERO: f64 = 1e-35_f32 as f64;
}

/// Leaf of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leaf {
    /// Value added to the scores of the leaf's rows, including the learning rate.
    pub value: f64,
    /// Sum of the hessians of the training rows in the leaf.
    pub weight: f64,
    /// Number of training rows in the leaf.
    pub count: u64,
}
