//! Explanation of predictions: SHAP values, SHAP interaction values and partial dependence.
//!
//! An [`Explainer`] divides the raw score of a row among the features of the model. The contributions of a row and the
//! expected score add up to the raw score.
//!
//! ```
//! # use bitgrain_gbdt::model::*;
//! use bitgrain_gbdt::explain::Explainer;
//! use bitgrain_gbdt::feature::Features;
//! # let leaf = |value, count| Leaf { value, weight: 1.0, count };
//! # let split = Split { feature: 0, rule: Rule::AtMost(0.5), missing: Missing::Nan, missing_left: true,
//! #     left: Child::Leaf(0), right: Child::Leaf(1), gain: 1.0, value: 0.0, weight: 2.0, count: 4 };
//! # let model = Model {
//! #     inputs: vec![Input { name: "age".into(), kind: InputKind::Numeric }],
//! #     comparison: Comparison::F32,
//! #     output: Output { objective: "squared".into(), link: Link::Identity, base_scores: vec![10.0],
//! #         classes: vec![], average: false },
//! #     trees: vec![Tree { splits: vec![split], leaves: vec![leaf(-1.0, 1), leaf(1.0, 3)] }],
//! #     metadata: Default::default(),
//! # };
//! // A model of one tree: 9 for a quarter of the training rows, and 11 for the others. Its mean is 10.5.
//! let rows = Features::row_major(&[0.25_f32, 0.75][..], 2, 1)?;
//! let explainer = Explainer::new(&model)?;
//! assert_eq!(explainer.expected(), [10.5]);
//! assert_eq!(explainer.contributions(&rows)?, [-1.5, 10.5, 0.5, 10.5]); // feature, expected score
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Definition
//!
//! A leaf with value `v` is a game among the distinct features of its path. Feature `j` has a one fraction `o[j]`, which
//! is 1 if the row meets all conditions of the path on that feature and 0 otherwise, and a zero fraction `z[j]`, which
//! stands for an unknown value. A coalition `S` earns `v` times the `o` of its members times the `z` of the others. The
//! Shapley value of feature `i` is
//!
//! ```text
//! v * (o[i] - z[i]) * integral over t from 0 to 1 of the product over j != i of (t * o[j] + (1 - t) * z[j])
//! ```
//!
//! The integrand is a polynomial, so that Gauss-Legendre quadrature with enough points is exact. All factors are
//! nonnegative, so that nothing cancels.
//!
//! Path-dependent explanations take `z[j]` from the number of training rows that follow the path. Interventional
//! explanations average over the rows of a background table, with the `o` of each row as its `z`.

mod decisions;
mod error;
mod explainer;
mod grid;
mod memo;
mod partial_dependence;
mod paths;
mod quadrature;
mod shapley;

pub use error::ExplainError;
pub use explainer::Explainer;
pub use grid::{PartialGrid, feature_index};
pub use partial_dependence::{PartialDependence, PartialOptions, partial_dependence};

pub(crate) use grid::quantile;
