//! How much each row counts.

use super::FeatureError;
use crate::SampleError;
use crate::samples::check_weights;

/// A weight per row, or 1 for all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights<'a>(Option<&'a [f32]>);

/// Some rows: how many, and what they weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tally {
    pub(super) rows: usize,
    pub(super) weight: f64,
}

impl<'a> Weights<'a> {
    /// Refuses weights that are not one per row, not finite or negative, or all 0.
    pub(super) fn new(weights: Option<&'a [f32]>, rows: usize) -> Result<Self, FeatureError> {
        let Some(weights) = weights else { return Ok(Self(None)) };
        check_weights(weights, rows)?;
        if weights.iter().all(|weight| *weight == 0.0) {
            return Err(SampleError::NoWeight.into());
        }
        Ok(Self(Some(weights)))
    }

    pub(super) fn are_equal(self) -> bool {
        self.0.is_none()
    }

    pub(super) fn of(self, row: usize) -> f32 {
        self.0.map_or(1.0, |weights| weights[row])
    }

    /// Whether a row counts at all.
    pub(super) fn counts(self, row: usize) -> bool {
        self.of(row) > 0.0
    }

    /// Those of some rows that count.
    pub(super) fn tally(self, rows: impl ExactSizeIterator<Item = usize>) -> Tally {
        let none = Tally { rows: 0, weight: 0.0 };
        let add = |sum: Tally, weight: f32| Tally { rows: sum.rows + 1, weight: sum.weight + f64::from(weight) };
        match self.0 {
            #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
            None => Tally { rows: rows.len(), weight: rows.len() as f64 },
            Some(weights) => rows.map(|row| weights[row]).filter(|weight| *weight > 0.0).fold(none, add),
        }
    }
}

impl Tally {
    /// What is left without some of the rows.
    pub(super) fn without(self, some: Self) -> Self {
        Self { rows: self.rows - some.rows, weight: self.weight - some.weight }
    }
}
