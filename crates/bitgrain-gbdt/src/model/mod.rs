//! Trained models: features, trees and outputs.
//!
//! [`Model::check`] checks consistency; models from files and imports have passed it. [`Model::raw_scores_of`] is the
//! reference implementation of prediction, which the faster code is tested against.
//!
//! ```
//! use bitgrain_gbdt::model::Model;
//! let text = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n\
//!     feature_names=x\nfeature_infos=[0:9]\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=4.5\n\
//!     decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=-0.5 0.25\n\nend of trees\n";
//! let model = Model::import(text.as_bytes())?; // or XGBoost JSON or UBJSON, a Bitgrain model file or its JSON
//! assert_eq!(model.raw_scores_of(&[4.5]), [-0.5]);
//! assert_eq!(Model::from_bytes(&model.to_bytes()?)?, model);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::feature::Schema;

mod category_set;
mod check;
mod export;
mod file;
mod import;
mod importance;
mod input;
mod json;
mod output;
mod rates;
mod summary;
mod tree;
mod walk;

pub use category_set::CategorySet;
pub use check::ModelError;
pub use export::{ExportError, ModelFormat, TreeArrays};
pub use file::{EXTENSION, FileError, LoadError, SaveError};
pub use import::ImportError;
pub use importance::Importance;
pub use input::{Comparison, Input, InputKind};
pub use output::{Link, Output};
pub use tree::{Child, Leaf, Missing, Rule, Split, Tree};

/// Trees with their inputs and outputs.
///
/// Tree `i` adds to score `i % output.base_scores.len()`: with three classes, trees 0, 1 and 2 are the first round.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Features of a row.
    pub inputs: Vec<Input>,
    /// Precision in which values are compared with thresholds.
    pub comparison: Comparison,
    /// Conversion of leaf sums to predictions.
    pub output: Output,
    /// Trees in training order.
    pub trees: Vec<Tree>,
    /// Key-value metadata: parameters of the training, the best round. Does not affect predictions.
    pub metadata: BTreeMap<String, String>,
}

impl Model {
    /// Names, kinds and category labels of the inputs, for reading tables.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        let part = |input: &Input| match &input.kind {
            InputKind::Numeric => (input.name.clone(), None),
            InputKind::Categorical { labels, .. } => (input.name.clone(), Some(labels.clone())),
        };
        Arc::new(Schema::from_parts(self.inputs.iter().map(part)))
    }

    /// Number of features.
    #[must_use]
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Number of scores per row.
    #[must_use]
    pub fn n_outputs(&self) -> usize {
        self.output.base_scores.len()
    }

    /// Number of training rounds, that is, of trees per score.
    #[must_use]
    pub fn n_rounds(&self) -> usize {
        self.trees.len() / self.n_outputs().max(1)
    }

    /// Returns a copy with the first `rounds` rounds, or with all if there are fewer.
    #[must_use]
    pub fn truncated(&self, rounds: usize) -> Self {
        self.slice(0..rounds)
    }

    /// Returns a copy with a range of the rounds. Base scores belong to the first round: the raw scores of consecutive
    /// ranges add up to those of the model, unless it averages over the rounds.
    #[must_use]
    pub fn slice(&self, rounds: Range<usize>) -> Self {
        let tree = |round: usize| round.saturating_mul(self.n_outputs()).min(self.trees.len());
        let mut output = self.output.clone();
        if rounds.start > 0 {
            output.base_scores.fill(0.0);
        }
        let trees = tree(rounds.start)..tree(rounds.end.max(rounds.start));
        let mut slice = Self {
            inputs: self.inputs.clone(),
            comparison: self.comparison,
            output,
            trees: self.trees[trees.clone()].to_vec(),
            metadata: self.metadata.clone(),
        };
        if let Some(rates) = self.rates() {
            slice.set_rates(&rates[trees]);
        }
        slice
    }
}
