//! Sample weights.

use super::FeatureError;
use crate::SampleError;
use crate::samples::check_weights;

/// Weight of each row, or `None` if all are 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights<'a>(Option<&'a [f32]>);

/// Number and total weight of some rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tally {
    pub(super) rows: usize,
    pub(super) weight: f64,
}

impl<'a> Weights<'a> {
    /// Checks weights: one finite, nonnegative weight per row, not all 0.
    pub(super) fn new(weights: Option<&'a [f32]>, rows: usize) -> Result<Self, FeatureError> {
        let Some(weights) = weights else { return Ok(Self(None)) };
        check_weights(weights, rows)?;
        if weights.iter().all(|weight| *weight == 0.0) {
            return Err(SampleError::NoWeight.into());
        }
        Ok(Self(Some(weights)))
    }

    /// Wraps weights that were checked; unlike those of [`new`](Self::new), all may be 0.
    pub(super) fn checked(weights: Option<&'a [f32]>) -> Self {
        Self(weights)
    }

    pub(super) fn are_equal(self) -> bool {
        self.0.is_none()
    }

    pub(super) fn of(self, row: usize) -> f32 {
        self.0.map_or(1.0, |weights| weights[row])
    }

    /// Returns whether a row has a nonzero weight.
    pub(super) fn counts(self, row: usize) -> bool {
        self.of(row) > 0.0
    }

    /// Counts the given rows that have a nonzero weight.
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
    /// Subtracts a subset of the rows.
    pub(super) fn without(self, some: Self) -> Self {
        Self { rows: self.rows - some.rows, weight: self.weight - some.weight }
    }
}
