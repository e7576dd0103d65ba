//! A trained model: its features, its trees, and what their sums mean.

mod category_set;
mod input;
mod output;
mod tree;

pub use category_set::CategorySet;
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
}
