//! A trained model: its features, its trees, and what their sums mean.
//!
//! [`Model::check`] says whether the parts fit together; files and imports have been checked. [`Model::raw_scores_of`] is
//! the definition of a prediction, row by row, that faster code is held against.
//!
//! ```
//! use bitgrain_gbdt::model::Model;
//! let text = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n\
//!     feature_names=x\nfeature_infos=[0:9]\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=4.5\n\
//!     decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=-0.5 0.25\n\nend of trees\n";
//! let model = Model::import(text.as_bytes())?; // LightGBM's text, XGBoost's JSON or UBJSON, or our own file
//! assert_eq!(model.raw_scores_of(&[4.5]), [-0.5]);
//! assert_eq!(Model::from_bytes(&model.to_bytes()?)?, model);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::feature::Schema;

mod category_set;
mod check;
mod file;
mod import;
mod importance;
mod input;
mod json;
mod output;
mod summary;
mod tree;
mod walk;

pub use category_set::CategorySet;
pub use check::ModelError;
pub use file::{EXTENSION, FileError, LoadError, SaveError};
pub use import::ImportError;
pub use importance::Importance;
pub use input::{Comparison, Input, InputKind};
pub use output::{Link, Output};
pub use tree::{Child, Leaf, Missing, Rule, Split, Tree};

/// Trees and all that is needed to use them.
///
/// Tree `i` adds to score `i % output.base_scores.len()`: with three classes, trees 0, 1 and 2 are the first round.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What a row consists of.
    pub inputs: Vec<Input>,
    /// How values are compared with thresholds.
    pub comparison: Comparison,
    /// What the sums of the leaves mean.
    pub output: Output,
    /// In the order they were grown.
    pub trees: Vec<Tree>,
    /// Free texts by key: parameters of the training, the best round. Predictions do not depend on them.
    pub metadata: BTreeMap<String, String>,
}

impl Model {
    /// Names, kinds and category labels of the inputs, which tables are read by.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        let part = |input: &Input| match &input.kind {
            InputKind::Numeric => (input.name.clone(), None),
            InputKind::Categorical { labels, .. } => (input.name.clone(), Some(labels.clone())),
        };
        Arc::new(Schema::from_parts(self.inputs.iter().map(part)))
    }

    /// Features of a row.
    #[must_use]
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Scores of a row.
    #[must_use]
    pub fn n_outputs(&self) -> usize {
        self.output.base_scores.len()
    }

    /// Rounds of training: trees of a score.
    #[must_use]
    pub fn n_rounds(&self) -> usize {
        self.trees.len() / self.n_outputs().max(1)
    }

    /// The model after its first `rounds` rounds, or all of it if there are fewer.
    #[must_use]
    pub fn truncated(&self, rounds: usize) -> Self {
        let trees = rounds.saturating_mul(self.n_outputs()).min(self.trees.len());
        Self {
            inputs: self.inputs.clone(),
            comparison: self.comparison,
            output: self.output.clone(),
            trees: self.trees[..trees].to_vec(),
            metadata: self.metadata.clone(),
        }
    }
}
