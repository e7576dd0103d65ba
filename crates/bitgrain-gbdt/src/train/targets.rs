//! Targets of a dataset, at the precision they were given in.

use std::borrow::Cow;

/// Targets of a dataset.
///
/// Training works on f32 differences from a constant near all targets, so that a large offset costs no digits: targets
/// given as f64 are kept as such until that constant is known.
///
/// ```
/// use bitgrain_gbdt::train::Targets;
/// assert!(matches!(Targets::from(vec![0.5, 2.0_f64]), Targets::F32(_))); // nothing would be lost
/// assert!(matches!(Targets::from(vec![1e9 + 1.0]), Targets::F64(_)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision, of which some are not f32 numbers.
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

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nearest f32 numbers.
    #[must_use]
    pub fn rounded(&self) -> Cow<'_, [f32]> {
        match self {
            Self::F32(values) => Cow::Borrowed(values),
            Self::F64(values) => Cow::Owned(values.iter().map(|&value| narrowed(value)).collect()),
        }
    }

    /// With all their digits.
    pub(super) fn exact(&self) -> Cow<'_, [f64]> {
        match self {
            Self::F32(values) => Cow::Owned(values.iter().map(|&value| f64::from(value)).collect()),
            Self::F64(values) => Cow::Borrowed(values),
        }
    }

    /// Differences from a constant, rounded after the subtraction.
    pub(super) fn relative_to(&self, origin: f64) -> Vec<f32> {
        match self {
            Self::F32(values) if origin == 0.0 => values.clone(),
            Self::F32(values) => values.iter().map(|&value| narrowed(f64::from(value) - origin)).collect(),
            Self::F64(values) => values.iter().map(|&value| narrowed(value - origin)).collect(),
        }
    }

    /// A constant near the targets: 0 if they are f32 numbers, which need none, else their mean.
    #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
    pub(super) fn anchor(&self) -> f64 {
        match self {
            Self::F32(_) => 0.0,
            Self::F64(values) => values.iter().map(|value| value / values.len() as f64).sum(),
        }
    }

    /// Those of some rows, in the order given.
    pub(super) fn rows(&self, rows: &[usize]) -> Self {
        match self {
            Self::F32(values) => Self::F32(rows.iter().map(|&row| values[row]).collect()),
            Self::F64(values) => Self::F64(rows.iter().map(|&row| values[row]).collect()),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is the rule")]
fn narrowed(value: f64) -> f32 {
    value as f32
}
