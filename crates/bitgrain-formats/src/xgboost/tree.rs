//! `Tree`: lists with one entry per node.

use serde::Deserialize;

use super::XgboostError;
use super::lists::{self, Flags, number};

/// Lists of a tree. Lists that older versions lack are empty.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct Tree {
    /// Sizes of the tree.
    pub tree_param: TreeParam,
    /// Left child of each node; -1 for leaves.
    pub left_children: Vec<i32>,
    /// Right child of each node; -1 for leaves.
    pub right_children: Vec<i32>,
    /// Feature index of each node.
    pub split_indices: Vec<u32>,
    /// Threshold of each node, or the value of a leaf.
    #[serde(deserialize_with = "lists::floats")]
    pub split_conditions: Vec<f32>,
    #[serde(rename = "default_left")]
    flags: Flags,
    /// Value each node would predict as a leaf.
    #[serde(default)]
    pub base_weights: Vec<f32>,
    /// Loss reduction of each node.
    #[serde(default)]
    pub loss_changes: Vec<f32>,
    /// Sum of hessians of each node.
    #[serde(default)]
    pub sum_hessian: Vec<f32>,
    /// 1 for categorical splits.
    #[serde(default)]
    pub split_type: Vec<u8>,
    /// Categories of all nodes, concatenated.
    #[serde(default)]
    pub categories: Vec<u32>,
    /// Nodes with categorical splits.
    #[serde(default)]
    pub categories_nodes: Vec<u32>,
    /// Start of each such node's categories.
    #[serde(default)]
    pub categories_segments: Vec<u64>,
    /// Number of each such node's categories.
    #[serde(default)]
    pub categories_sizes: Vec<u64>,
}

/// Sizes of a tree, as quoted numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct TreeParam {
    num_nodes: String,
    #[serde(default)]
    size_leaf_vector: String,
}

impl TreeParam {
    /// Creates the sizes of a tree with one value per leaf.
    #[must_use]
    pub(super) fn new(nodes: usize) -> Self {
        Self { num_nodes: nodes.to_string(), size_leaf_vector: "1".into() }
    }
}

impl Tree {
    /// Creates a tree for a number of nodes, whose lists are empty.
    #[must_use]
    pub fn for_nodes(nodes: usize) -> Self {
        Self { tree_param: TreeParam::new(nodes), ..Self::default() }
    }

    /// Sets whether missing values go left, for each node.
    pub fn set_default_left(&mut self, flags: Vec<bool>) {
        self.flags = Flags(flags);
    }

    /// Whether missing values go left, for each node.
    #[must_use]
    pub fn default_left(&self) -> &[bool] {
        &self.flags.0
    }

    /// Returns the number of values per leaf; more than 1 in multi-output trees.
    ///
    /// # Errors
    /// Returns [`XgboostError::Number`] if the value is not a number.
    pub fn leaf_size(&self) -> Result<usize, XgboostError> {
        match &*self.tree_param.size_leaf_vector {
            "" => Ok(1),
            text => number("size_leaf_vector", text).map(|size: usize| size.max(1)),
        }
    }

    /// Checks the length of every list. Multi-output trees are not checked.
    pub(super) fn check(&self, index: usize) -> Result<(), XgboostError> {
        if self.leaf_size()? > 1 {
            return Ok(());
        }
        let nodes: usize = number("num_nodes", &self.tree_param.num_nodes)?;
        let sets = self.categories_nodes.len();
        for (field, found, expected, may_lack) in [
            ("left_children", self.left_children.len(), nodes, false),
            ("right_children", self.right_children.len(), nodes, false),
            ("split_indices", self.split_indices.len(), nodes, false),
            ("split_conditions", self.split_conditions.len(), nodes, false),
            ("default_left", self.flags.0.len(), nodes, false),
            ("base_weights", self.base_weights.len(), nodes, true),
            ("loss_changes", self.loss_changes.len(), nodes, true),
            ("sum_hessian", self.sum_hessian.len(), nodes, true),
            ("split_type", self.split_type.len(), nodes, true),
            ("categories_segments", self.categories_segments.len(), sets, false),
            ("categories_sizes", self.categories_sizes.len(), sets, false),
        ] {
            if found != expected && !(may_lack && found == 0) {
                return Err(XgboostError::Length { place: format!("tree {index}"), field, expected, found });
            }
        }
        Ok(())
    }

    /// Returns the categories of entry `entry` of `categories_nodes`, if they exist.
    #[must_use]
    pub fn categories_of(&self, entry: usize) -> Option<&[u32]> {
        let from = usize::try_from(*self.categories_segments.get(entry)?).ok()?;
        let size = usize::try_from(*self.categories_sizes.get(entry)?).ok()?;
        self.categories.get(from..from.checked_add(size)?)
    }
}
