//! `ParameterError`: one type and one message for every front end.

use super::ParameterStage;

/// Reason why parameters are rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A value of the wrong type or out of range.
    #[error("invalid {name}: `{value}`; use {takes}")]
    Invalid {
        /// The name used by the caller.
        name: String,
        /// The invalid value.
        value: String,
        /// Description of valid values.
        takes: String,
        /// Whether the type rather than the value is wrong. Python raises a `TypeError` then, else a `ValueError`.
        wrong_type: bool,
    },
    /// A list, map or tree that cannot be read.
    #[error("invalid {name}: {reason}; use {takes}")]
    Malformed {
        /// The name used by the caller.
        name: String,
        /// Description of the mistake.
        reason: String,
        /// Description of valid values.
        takes: String,
    },
    /// A name that is neither a parameter nor an alias.
    #[error("unknown parameter: `{name}`; {}", advice(*.nearest))]
    Unknown {
        /// The unknown name.
        name: String,
        /// The most similar known name, if any.
        nearest: Option<&'static str>,
    },
    /// A parameter of another stage.
    #[error("misplaced parameter: `{name}` belongs to {stage}; set it there")]
    Misplaced {
        /// The name used by the caller.
        name: String,
        /// Stage that the parameter belongs to.
        stage: ParameterStage,
    },
    /// Two incompatible parameters, or one parameter given twice with different values.
    #[error("conflicting parameters: `{first}` and `{second}`; {fix}")]
    Conflict {
        /// One of the parameters, as `name = value`.
        first: String,
        /// The other parameter.
        second: String,
        /// Advice that resolves the conflict.
        fix: String,
    },
}

fn advice(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(|| "docs/parameters.md lists all names".to_owned(), |name| format!("did you mean `{name}`?"))
}
