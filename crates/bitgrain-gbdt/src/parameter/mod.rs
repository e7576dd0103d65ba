//! Hyperparameters: one table of names, aliases, ranges, defaults and help.
//!
//! [`PARAMETERS`] is the only declaration of a hyperparameter. The fields of [`Params`], command-line options, Python
//! signatures and `docs/parameters.md` are generated from it. The names of LightGBM, XGBoost and scikit-learn are
//! aliases.

mod entry;
mod error;
mod field;
mod kind;
mod set;
mod table;
mod value;

pub use entry::{HyperParameter, ParameterStage, find};
pub use error::ParameterError;
pub use kind::{ParameterChoice, ParameterKind, ParameterRange};
pub use set::ParameterSet;
pub use table::{PARAMETERS, Params};
pub use value::ParameterValue;

#[cfg(test)]
mod tests;
