//! `Targets`: targets of a dataset in their original precision.

use std::borrow::Cow;

/// Targets of a dataset.
///
/// Training uses f32 differences from a constant near all targets, so that a large offset does not cost precision. f64
/// targets are therefore kept until that constant is known.
///
/// ```
/// use bitgrain_gbdt::train::Targets;
/// assert!(matches!(Targets::from(vec![0.5, 2.0_f64]), Targets::F32(_))); // exact in f32
/// assert!(matches!(Targets::from(vec![1e9 + 1.0]), Targets::F64(_)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision, because some targets are not exact in f32.
    F64(Vec<f64>),
}

impl From<Vec<f32>> for Targets {
    fn from(values: Vec<f32>) -> Self {
        Self::F32(values)
    }
}

impl From<Vec<f64>> for Targets {
    fn from(values: Vec<f64>) -> Self {
        let is_single = |value: &f64| value.is_nan() || f64::from(narrowed(*value)) == *value;
        if values.iter().all(is_single) {
            return Self::F32(values.into_iter().map(narrowed).collect());
        }
        Self::F64(values)
    }
}

impl Targets {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the targets rounded to f32.
    #[must_use]
    pub fn rounded(&self) -> Cow<'_, [f32]> {
        match self {
            Self::F32(values) => Cow::Borrowed(values),
            Self::F64(values) => Cow::Owned(values.iter().map(|&value| narrowed(value)).collect()),
        }
    }

    /// Returns the targets without rounding.
    pub(crate) fn exact(&self) -> Cow<'_, [f64]> {
        match self {
            Self::F32(values) => Cow::Owned(values.iter().map(|&value| f64::from(value)).collect()),
            Self::F64(values) => Cow::Borrowed(values),
        }
    }

    /// Returns the differences from a constant, rounded after the subtraction.
    pub(super) fn relative_to(&self, origin: f64) -> Vec<f32> {
        match self {
            Self::F32(values) if origin == 0.0 => values.clone(),
            Self::F32(values) => values.iter().map(|&value| narrowed(f64::from(value) - origin)).collect(),
            Self::F64(values) => values.iter().map(|&value| narrowed(value - origin)).collect(),
        }
    }

    /// Returns a constant near the targets: their mean for f64 targets, 0 for f32 targets, which need no offset.
    #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
    pub(super) fn anchor(&self) -> f64 {
        match self {
            Self::F32(_) => 0.0,
            Self::F64(values) => values.iter().map(|value| value / values.len() as f64).sum(),
        }
    }

    /// Returns the targets of some rows in the given order.
    pub(super) fn rows(&self, rows: &[usize]) -> Self {
        match self {
            Self::F32(values) => Self::F32(rows.iter().map(|&row| values[row]).collect()),
            Self::F64(values) => Self::F64(rows.iter().map(|&row| values[row]).collect()),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
fn narrowed(value: f64) -> f32 {
    value as f32
}
