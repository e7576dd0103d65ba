//! Errors of parameters: one type and one message for every front end.

use super::ParameterStage;

/// Why parameters cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A value of the wrong type or out of range.
    #[error("invalid {name}: `{value}`; use {takes}")]
    Invalid {
        /// The name that was given.
        name: String,
        /// The value.
        value: String,
        /// The values that are accepted, in words.
        takes: String,
        /// Whether no value of this type is accepted. Python raises a `TypeError` then, else a `ValueError`.
        wrong_type: bool,
    },
    /// A name that is neither a parameter nor an alias.
    #[error("unknown parameter: `{name}`; {}", advice(*.nearest))]
    Unknown {
        /// The name that was given.
        name: String,
        /// The most similar name, if one is similar at all.
        nearest: Option<&'static str>,
    },
    /// A parameter of another stage.
    #[error("misplaced parameter: `{name}` belongs to {stage}; set it there")]
    Misplaced {
        /// The name that was given.
        name: String,
        /// The stage it belongs to.
        stage: ParameterStage,
    },
    /// Two parameters that do not go together, or one parameter given twice with different values.
    #[error("conflicting parameters: `{first}` and `{second}`; {fix}")]
    Conflict {
        /// One of them, as `name = value`.
        first: String,
        /// The other one.
        second: String,
        /// Advice that resolves the conflict.
        fix: String,
    },
}

fn advice(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(|| "docs/parameters.md lists all names".to_owned(), |name| format!("did you mean `{name}`?"))
}
