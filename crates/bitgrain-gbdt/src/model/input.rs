//! What a row consists of.

/// One feature of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its name, unique in the model.
    pub name: String,
    /// What its values are.
    pub kind: InputKind,
}

/// What the values of a feature are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// Numbers; NaN is missing.
    Numeric,
    /// Codes of categories: whole numbers from 0. NaN is missing.
    Categorical {
        /// The codes that training told apart, ascending. Any other code is missing: it was never seen, or too rarely.
        /// `None` if the model does not say (it was made by another library): then every code is looked up.
        known: Option<Vec<u32>>,
        /// The text of each code, if the table it was trained on held text: code `i` is `labels[i]`.
        labels: Vec<String>,
    },
}

/// How values are compared with thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Values are rounded to the nearest f32 first; thresholds are f32 numbers. Ours, and XGBoost's.
    F32,
    /// Values and thresholds are f64. LightGBM's.
    F64,
}
