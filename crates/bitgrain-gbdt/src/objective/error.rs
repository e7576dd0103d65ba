//! Errors of objectives and targets.

use crate::SampleError;

/// Reason why an objective cannot be created or does not accept the targets. Row indices are 0-based.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// An unknown objective name.
    #[error("unknown objective `{name}`; known objectives: {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// Names of the known objectives.
        known: String,
    },
    /// A parameter that the objective does not take, or an invalid value.
    #[error("invalid parameter `{parameter}` of objective `{objective}`; expected {takes}")]
    Parameter {
        /// Name of the objective.
        objective: &'static str,
        /// The string after the colon, or the given number.
        parameter: String,
        /// Description of valid parameters.
        takes: &'static str,
    },
    /// A missing parameter that has no default.
    #[error("objective `{objective}` needs a parameter, such as `{example}`")]
    MissingParameter {
        /// Name of the objective.
        objective: &'static str,
        /// Example of a name with a parameter.
        example: &'static str,
    },
    /// Missing targets.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A target that the objective does not accept.
    #[error("target {target} of row {row} (0-based) is invalid; `{objective}` expects {takes}")]
    Target {
        /// Index of the first such row.
        row: usize,
        /// Target of that row.
        target: f32,
        /// Name of the objective.
        objective: String,
        /// Description of valid targets.
        takes: &'static str,
    },
    /// Targets that are all 0, for an objective that predicts the logarithm of their mean.
    #[error(
        "all targets are 0, but `{objective}` fits the logarithm of their mean; at least one row needs a target above 0"
    )]
    AllZero {
        /// Name of the objective.
        objective: String,
    },
    /// Times without an event, for a survival objective.
    #[error("no events: all targets are negative (censored), but `{objective}` needs at least one positive event time")]
    NoEvent {
        /// Name of the objective.
        objective: String,
    },
    /// A label that is not a class index.
    #[error("label {label} of row {row} (0-based) is not a class index; expected an integer in 0..{classes}")]
    Label {
        /// Index of the first such row.
        row: usize,
        /// Label of that row.
        label: f32,
        /// Number of classes.
        classes: usize,
    },
    /// A weight of a class that is negative, infinite or NaN.
    #[error("weight {weight} of class {class} is invalid; weights must be finite and at least 0")]
    ClassWeight {
        /// Index of the first such class.
        class: usize,
        /// Weight of that class.
        weight: f32,
    },
    /// Data without queries, for an objective that ranks the rows of a query.
    #[error("missing queries: `{objective}` ranks the rows of a query; pass the group of each row")]
    NoGroups {
        /// Name of the objective.
        objective: String,
    },
    /// A relevance label that is negative, not an integer, or has no gain.
    #[error(
        "label {label} of row {row} (0-based) is not a relevance label; expected an integer in 0..{labels}, or a longer \
         label_gain"
    )]
    Relevance {
        /// Index of the first such row.
        row: usize,
        /// Label of that row.
        label: f32,
        /// Number of labels with a gain.
        labels: usize,
    },
    /// Targets of a single class.
    #[error("the target has only one class; a classifier needs at least two")]
    OneClass,
    /// An objective for another number of classes.
    #[error("`{objective}` predicts {takes} classes, but the target has {classes}; use `multiclass`")]
    ClassCount {
        /// Name of the objective.
        objective: String,
        /// Number of classes that the objective predicts.
        takes: usize,
        /// Number of classes of the target.
        classes: usize,
    },
    /// Numbers that cannot be class indices.
    #[error("largest target {largest} is not a class index; class indices are integers from 0 to 65535")]
    ClassIndex {
        /// The largest target.
        largest: f64,
    },
}
