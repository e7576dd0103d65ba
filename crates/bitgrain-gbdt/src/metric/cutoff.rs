//! `Cutoff`: number of first rows of a query that a metric evaluates.

use super::MetricError;

/// Number of first rows of a query; all by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cutoff(Option<usize>);

impl Cutoff {
    /// Description of valid numbers.
    pub(super) const TAKES: &'static str = "a number of rows of at least 1, such as `ndcg@10`";

    pub(super) fn at(rows: usize) -> Self {
        Self(Some(rows.max(1)))
    }

    /// Parses the number after `@`.
    pub(super) fn parse(metric: &'static str, parameter: Option<&str>) -> Result<Self, MetricError> {
        let Some(text) = parameter else { return Ok(Self(None)) };
        match text.parse() {
            Ok(rows) if rows > 0 => Ok(Self(Some(rows))),
            _ => Err(MetricError::Parameter { metric, parameter: text.into(), takes: Self::TAKES }),
        }
    }

    /// Returns the number of rows of a query of `rows` that are evaluated.
    pub(super) fn of(self, rows: usize) -> usize {
        self.0.map_or(rows, |most| most.min(rows))
    }

    /// Returns the name of a metric with the number.
    pub(super) fn named(self, metric: &str) -> String {
        self.0.map_or_else(|| metric.to_owned(), |rows| format!("{metric}@{rows}"))
    }
}

/// Returns whether a target is a relevance label, an integer of at least 0.
pub(super) fn is_relevance(target: f64) -> bool {
    target >= 0.0 && target.fract() == 0.0 && target.is_finite()
}
