//! One tree of the text: lists with an entry per split or per leaf.

use super::LightgbmError;
use super::list::Field;

/// The lists of a tree. Those that a file may lack are empty then; all others have their length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    /// Leaves; one more than there are splits.
    pub num_leaves: usize,
    /// The feature of each split.
    pub split_feature: Vec<u32>,
    /// The gain of each split; may be lacking.
    pub split_gain: Vec<f64>,
    /// The threshold of each split, or which of the category sets it has.
    pub threshold: Vec<f64>,
    /// For each split: bit 0 categorical, bit 1 missing values go left, bits 2 and 3 what is missing (0 nothing, 1 zero,
    /// 2 NaN).
    pub decision_type: Vec<u8>,
    /// Where each split goes on if it holds: a split, or the complement (`-1 - i`) of a leaf.
    pub left_child: Vec<i32>,
    /// Where each split goes on otherwise.
    pub right_child: Vec<i32>,
    /// The value of each leaf.
    pub leaf_value: Vec<f64>,
    /// The hessians of each leaf; may be lacking.
    pub leaf_weight: Vec<f64>,
    /// The rows of each leaf; may be lacking.
    pub leaf_count: Vec<u64>,
    /// The value of each split; may be lacking.
    pub internal_value: Vec<f64>,
    /// The hessians of each split; may be lacking.
    pub internal_weight: Vec<f64>,
    /// The rows of each split; may be lacking.
    pub internal_count: Vec<u64>,
    /// Where each category set begins in `cat_threshold`, and where the last one ends.
    pub cat_boundaries: Vec<u32>,
    /// Words of the category sets: code `c` is bit `c % 32` of word `c / 32`.
    pub cat_threshold: Vec<u32>,
    /// Whether leaves hold linear models.
    pub is_linear: bool,
}

impl Tree {
    /// Takes up a line. Lines it does not know are passed over.
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
            _ => {}
        }
        Ok(())
    }

    /// Whether every list has its length.
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

    /// The words of category set `set`, if there is one.
    #[must_use]
    pub fn category_words(&self, set: usize) -> Option<&[u32]> {
        let (from, to) = (*self.cat_boundaries.get(set)?, *self.cat_boundaries.get(set + 1)?);
        self.cat_threshold.get(from as usize..to as usize)
    }
}
