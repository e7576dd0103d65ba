//! Hyperparameters: one table of names, aliases, ranges, defaults and help.
//!
//! [`PARAMETERS`] is the only declaration of a hyperparameter. The fields of [`Params`], command-line options, Python
//! signatures and `docs/parameters.md` are generated from it. The names of LightGBM, XGBoost and scikit-learn are
//! aliases.

mod entry;
mod error;
mod feature_groups;
mod feature_ref;
mod field;
mod forced_splits;
mod kind;
mod per_feature;
mod set;
mod structure;
mod table;
mod value;

pub use entry::{HyperParameter, ParameterStage, find};
pub use error::ParameterError;
pub use feature_groups::FeatureGroups;
pub use feature_ref::FeatureRef;
pub use forced_splits::{ForcedSplit, ForcedSplits};
pub use kind::{ParameterChoice, ParameterKind, ParameterRange};
pub use per_feature::{FeatureNumber, PerFeature};
pub use set::ParameterSet;
pub use structure::Structure;
pub use table::{PARAMETERS, Params};
pub use value::ParameterValue;

#[cfg(test)]
mod tests;
