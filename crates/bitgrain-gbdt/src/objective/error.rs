//! What can be wrong with objectives and targets; every number a caller needs is in a field.

use crate::SampleError;

/// Why an objective cannot be made, or targets cannot be learned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// A name that is none of ours.
    #[error("there is no objective {name}; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A parameter that the objective does not take, or does not take like this.
    #[error("{objective} with parameter {parameter}: it takes {takes}")]
    Parameter {
        /// The objective.
        objective: &'static str,
        /// The text behind the colon, or the number given.
        parameter: String,
        /// What it takes.
        takes: &'static str,
    },
    /// No parameter where there is no default.
    #[error("{objective} needs a parameter: write {example}")]
    MissingParameter {
        /// The objective.
        objective: &'static str,
        /// A name with a parameter.
        example: &'static str,
    },
    /// Missing targets.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A target outside what the objective takes.
    #[error("target {target} of row {row}: {objective} takes {takes}")]
    Target {
        /// The first such row.
        row: usize,
        /// Its target.
        target: f32,
        /// The objective.
        objective: String,
        /// What it takes.
        takes: &'static str,
    },
    /// Targets of an objective with a logarithm as its score whose mean is 0.
    #[error("all targets are 0: `{objective}` learns the logarithm of their mean; train on rows with a target above 0")]
    AllZero {
        /// The objective.
        objective: String,
    },
    /// A label that is none of the classes.
    #[error("label {label} of row {row} is none of the {classes} classes, which are the whole numbers from 0 on")]
    Label {
        /// The first such row.
        row: usize,
        /// Its label.
        label: f32,
        /// Classes there are.
        classes: usize,
    },
    /// A weight of a class that is negative, infinite or NaN.
    #[error("weight {weight} of class {class} is not a finite number from 0 on")]
    ClassWeight {
        /// The first such class.
        class: usize,
        /// Its weight.
        weight: f32,
    },
    /// Targets of one class only.
    #[error("the target has one class only; a classifier needs at least two")]
    OneClass,
    /// An objective of another number of classes.
    #[error("`{objective}` predicts {takes} classes, the target has {classes}; use `multiclass`")]
    ClassCount {
        /// The objective.
        objective: String,
        /// Classes it predicts.
        takes: usize,
        /// Classes of the target.
        classes: usize,
    },
    /// Numbers that cannot be class indices.
    #[error("largest target {largest} is not a class index; class indices are integers from 0 to 65535")]
    ClassIndex {
        /// The largest target.
        largest: f64,
    },
}
