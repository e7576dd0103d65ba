//! Input features of a model.

/// Feature of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Name, unique in the model.
    pub name: String,
    /// Kind of the values.
    pub kind: InputKind,
}

/// Kind of the values of a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// Numbers; NaN is missing.
    Numeric,
    /// Category codes: nonnegative integers. NaN is missing.
    Categorical {
        /// Ascending codes with a bin in training. Any other code is missing, because it was unseen or too rare. `None`
        /// if unknown (models of other libraries); then every code is looked up.
        known: Option<Vec<u32>>,
        /// Category labels, if the training table held strings: code `i` is `labels[i]`.
        labels: Vec<String>,
    },
}

/// Precision in which values are compared with thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Values are rounded to the nearest f32; thresholds are exact in f32. Used by our models and XGBoost's.
    F32,
    /// Values and thresholds are f64. Used by LightGBM's models, and by ours if a feature needs it.
    F64,
}
