//! One tree: splits and leaves.

use super::CategorySet;

/// A tree of splits and leaves. It starts at split 0, or at leaf 0 if there are no splits.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Parents come before their children.
    pub splits: Vec<Split>,
    /// One more than there are splits.
    pub leaves: Vec<Leaf>,
}

/// Where a row goes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// To the split of this index.
    Split(u32),
    /// To the leaf of this index.
    Leaf(u32),
}

/// A question to a feature of the row, and two ways on.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Which feature.
    pub feature: u32,
    /// What goes left.
    pub rule: Rule,
    /// What counts as missing here.
    pub missing: Missing,
    /// Whether missing values go left.
    pub missing_left: bool,
    /// Where to go if the rule holds.
    pub left: Child,
    /// Where to go otherwise.
    pub right: Child,
    /// How much the split lowered the loss in training.
    pub gain: f32,
    /// What the node would predict if it were a leaf.
    pub value: f64,
    /// Sum of the hessians of the training rows that came here.
    pub weight: f64,
    /// Training rows that came here.
    pub count: u64,
}

/// What goes left, of values that are not missing.
///
/// A category is the whole part of a value: 2.7 is category 2. Negative numbers, infinities and numbers from 2^31 on are
/// no category and in no set: they go right by `In` and left by `NotIn`, or are missing where the feature tells which
/// codes it knows. Between -1 and 0 lies category 0 if values are compared as f64 (so does LightGBM), and none if they
/// are rounded to f32 (so does XGBoost).
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Values at most this; infinity sends all of them left.
    AtMost(f64),
    /// Categories of the set.
    In(CategorySet),
    /// Categories outside the set.
    NotIn(CategorySet),
}

/// What counts as missing at a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// NaN. All splits of models trained here.
    Nan,
    /// NaN, and numbers within [`Missing::ZERO`] of zero. LightGBM's `zero_as_missing`.
    NanOrZero,
    /// Nothing: NaN is taken as 0. LightGBM's features that missed no value in training.
    Nothing,
}

impl Missing {
    /// What counts as zero: 1e-35 as an f32, in f64.
    pub const ZERO: f64 = 1e-35_f32 as f64;
}

/// The end of a way through a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leaf {
    /// Added to the score of rows that end here; the learning rate is in it.
    pub value: f64,
    /// Sum of the hessians of the training rows that ended here.
    pub weight: f64,
    /// Training rows that ended here.
    pub count: u64,
}
