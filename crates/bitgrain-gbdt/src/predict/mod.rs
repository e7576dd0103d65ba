//! Prediction.
//!
//! A [`Predictor`] is a model compiled for fast prediction. The values of each feature become one-byte codes, ranks
//! among the thresholds that the model compares the feature with. Then all splits of a tree are evaluated for hundreds
//! of rows at once ([`tree_leaves`](bitgrain_kernels::trees::tree_leaves)), without branches and without dependent
//! loads. Trees with more than 256 leaves are walked, on the same codes.
//!
//! ```
//! # use bitgrain_gbdt::model::*;
//! use bitgrain_gbdt::feature::Features;
//! use bitgrain_gbdt::predict::Predictor;
//! # let leaf = |value| Leaf { value, weight: 1.0, count: 1 };
//! # let split = Split { feature: 0, rule: Rule::AtMost(0.5), missing: Missing::Nan, missing_left: true,
//! #     left: Child::Leaf(0), right: Child::Leaf(1), gain: 1.0, value: 0.0, weight: 2.0, count: 2 };
//! # let model = Model {
//! #     inputs: vec![Input { name: "age".into(), kind: InputKind::Numeric }],
//! #     comparison: Comparison::F32,
//! #     output: Output { objective: "squared".into(), link: Link::Identity, base_scores: vec![10.0],
//! #         classes: vec![], average: false },
//! #     trees: vec![Tree { splits: vec![split], leaves: vec![leaf(-1.0), leaf(1.0)] }],
//! #     metadata: Default::default(),
//! # };
//! // A model of one tree: 9 up to 0.5, and 11 above.
//! let predictor = Predictor::new(&model)?;
//! let rows = Features::row_major(&[0.25_f32, 0.75, f32::NAN][..], 3, 1)?;
//! assert_eq!(predictor.predict(&rows)?, [9.0, 11.0, 9.0]); // missing values go left here
//! assert_eq!(predictor.leaves(&rows)?, [0, 1, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Definition of a prediction
//!
//! - The score of a row starts with the base score; leaf values are added in tree order, in f64. If the model averages,
//!   leaf values are added up from 0, divided by the number of rounds, and added to the base score.
//! - Hence the bits of a prediction do not depend on the backend, the number of threads or the number of rows per call.
//! - Codes are ranks among the exact thresholds, so that a value takes the same path as in the reference
//!   implementation.

mod block;
mod classes;
mod code_tree;
mod columns;
mod error;
pub(crate) mod link;
mod numbers;
mod permutation;
mod predictor;
mod question;
mod row_trees;

pub use error::{PredictError, TreeProblem};
pub use permutation::{
    EvaluationData, ImportanceError, PermutationImportance, PermutationReport, permutation_importance,
};
pub use predictor::Predictor;
pub(crate) use predictor::check_trees;
pub(crate) use question::rounding_limit;
