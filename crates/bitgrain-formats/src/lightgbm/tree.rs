//! `Tree`: lists with one entry per split or per leaf.

use super::LightgbmError;
use super::list::Field;

/// Lists of a tree. Optional lists are empty if the file lacks them; the lengths of all others are checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    /// Number of leaves: the number of splits plus 1.
    pub num_leaves: usize,
    /// Feature index of each split.
    pub split_feature: Vec<u32>,
    /// Gain of each split; optional.
    pub split_gain: Vec<f64>,
    /// Threshold of each split, or the index of its category set.
    pub threshold: Vec<f64>,
    /// Flags of each split: bit 0 categorical, bit 1 missing values go left, bits 2 and 3 the kind of missing value (0
    /// none, 1 zero, 2 NaN).
    pub decision_type: Vec<u8>,
    /// Left child of each split: a split index, or `-1 - i` for leaf `i`.
    pub left_child: Vec<i32>,
    /// Right child of each split.
    pub right_child: Vec<i32>,
    /// Value of each leaf.
    pub leaf_value: Vec<f64>,
    /// Sum of hessians of each leaf; optional.
    pub leaf_weight: Vec<f64>,
    /// Row count of each leaf; optional.
    pub leaf_count: Vec<u64>,
    /// Value of each split; optional.
    pub internal_value: Vec<f64>,
    /// Sum of hessians of each split; optional.
    pub internal_weight: Vec<f64>,
    /// Row count of each split; optional.
    pub internal_count: Vec<u64>,
    /// Start of each category set in `cat_threshold`, followed by the end of the last one.
    pub cat_boundaries: Vec<u32>,
    /// Words of the category sets: category `c` is bit `c % 32` of word `c / 32`.
    pub cat_threshold: Vec<u32>,
    /// Whether leaves hold linear models.
    pub is_linear: bool,
    /// Factor that training multiplied the leaf values with.
    pub shrinkage: Option<f64>,
}

impl Tree {
    /// Reads one line; unknown lines are skipped.
    pub(super) fn take(&mut self, field: Field<'_>) -> Result<(), LightgbmError> {
        match field.name {
            "num_leaves" => self.num_leaves = field.number("num_leaves")?,
            "split_feature" => self.split_feature = field.numbers("split_feature")?,
            "split_gain" => self.split_gain = field.numbers("split_gain")?,
            "threshold" => self.threshold = field.numbers("threshold")?,
            "decision_type" => self.decision_type = field.numbers("decision_type")?,
            "left_child" => self.left_child = field.numbers("left_child")?,
            "right_child" => self.right_child = field.numbers("right_child")?,
            "leaf_value" => self.leaf_value = field.numbers("leaf_value")?,
            "leaf_weight" => self.leaf_weight = field.numbers("leaf_weight")?,
            "leaf_count" => self.leaf_count = field.numbers("leaf_count")?,
            "internal_value" => self.internal_value = field.numbers("internal_value")?,
            "internal_weight" => self.internal_weight = field.numbers("internal_weight")?,
            "internal_count" => self.internal_count = field.numbers("internal_count")?,
            "cat_boundaries" => self.cat_boundaries = field.numbers("cat_boundaries")?,
            "cat_threshold" => self.cat_threshold = field.numbers("cat_threshold")?,
            "is_linear" => self.is_linear = field.number::<u8>("is_linear")? != 0,
            "shrinkage" => self.shrinkage = Some(field.number("shrinkage")?),
            _ => {}
        }
        Ok(())
    }

    /// Checks the length of every list.
    pub(super) fn check(&self, index: usize) -> Result<(), LightgbmError> {
        let place = || format!("tree {index}");
        if self.num_leaves == 0 {
            return Err(LightgbmError::Missing { place: place(), field: "num_leaves" });
        }
        let (leaves, splits) = (self.num_leaves, self.num_leaves - 1);
        for (field, found, expected, may_lack) in [
            ("split_feature", self.split_feature.len(), splits, false),
            ("split_gain", self.split_gain.len(), splits, true),
            ("threshold", self.threshold.len(), splits, false),
            ("decision_type", self.decision_type.len(), splits, false),
            ("left_child", self.left_child.len(), splits, false),
            ("right_child", self.right_child.len(), splits, false),
            ("leaf_value", self.leaf_value.len(), leaves, false),
            ("leaf_weight", self.leaf_weight.len(), leaves, true),
            ("leaf_count", self.leaf_count.len(), leaves, true),
            ("internal_value", self.internal_value.len(), splits, true),
            ("internal_weight", self.internal_weight.len(), splits, true),
            ("internal_count", self.internal_count.len(), splits, true),
        ] {
            if found != expected && !(may_lack && found == 0) {
                return Err(LightgbmError::Length { place: place(), field, expected, found });
            }
        }
        Ok(())
    }

    /// Returns the words of category set `set`, if it exists.
    #[must_use]
    pub fn category_words(&self, set: usize) -> Option<&[u32]> {
        let (from, to) = (*self.cat_boundaries.get(set)?, *self.cat_boundaries.get(set + 1)?);
        self.cat_threshold.get(from as usize..to as usize)
    }
}
