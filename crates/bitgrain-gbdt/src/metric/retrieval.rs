//! Metrics of relevant and irrelevant rows of a query. Rows with a label above 0 are relevant.

use super::cutoff::{Cutoff, is_relevance};
use super::queries::{RankedLabels, mean_over_queries};
use super::{Metric, MetricError, MetricInput};

/// Defines a metric with a cutoff from the value of a query.
macro_rules! retrieval {
    ($(#[$doc:meta])* $type:ident, $name:literal, $value:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $type {
            cutoff: Cutoff,
        }

        impl $type {
            /// Evaluates the first `rows` of each query.
            #[must_use]
            pub fn at(rows: usize) -> Self {
                Self { cutoff: Cutoff::at(rows) }
            }

            pub(super) fn of(cutoff: Cutoff) -> Self {
                Self { cutoff }
            }
        }

        impl Metric for $type {
            fn name(&self) -> String {
                self.cutoff.named($name)
            }

            fn higher_is_better(&self) -> bool {
                true
            }

            fn needs_groups(&self) -> bool {
                true
            }

            fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
                let takes = "integer labels of at least 0, and predictions other than NaN";
                mean_over_queries(data, || self.name(), takes, is_relevance, |ranked| {
                    let ranks = self.cutoff.of(ranked.labels().len());
                    $value(ranked, ranks)
                })
            }
        }
    };
}

retrieval! {
    /// Mean average precision: the mean of the precision at each relevant row among the first rows of a query, relative
    /// to the best possible order. A query without relevant rows counts as 1, as in LightGBM. Name: `map@10`, or `map`
    /// for all rows.
    MeanAveragePrecision, "map", average_precision
}

retrieval! {
    /// Mean reciprocal rank: the inverse rank of the first relevant row of a query, 0 if it is not among the first rows.
    /// A query without relevant rows counts as 1. Name: `mrr@10`, or `mrr` for all rows.
    MeanReciprocalRank, "mrr", reciprocal_rank
}

retrieval! {
    /// Share of relevant rows among the first rows of a query. A query without relevant rows counts as 0. Name:
    /// `precision@10`, or `precision` for all rows.
    Precision, "precision", |ranked: &mut RankedLabels, ranks| share(ranked.hits(ranks), ranks)
}

retrieval! {
    /// Share of a query's relevant rows that are among its first rows. A query without relevant rows counts as 1. Name:
    /// `recall@10`, or `recall` for all rows.
    Recall, "recall", |ranked: &mut RankedLabels, ranks| share(ranked.hits(ranks), ranked.hits(usize::MAX))
}

/// Returns a share, or 1 of nothing.
#[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
fn average_precision(ranked: &mut RankedLabels, ranks: usize) -> f64 {
    let relevant = ranked.hits(usize::MAX);
    let (mut hits, mut sum) = (0.0, 0.0);
    for (rank, label) in ranked.labels().iter().take(ranks).enumerate() {
        if *label > 0.0 {
            hits += 1.0;
            sum += hits / (rank as f64 + 1.0);
        }
    }
    if relevant == 0 { 1.0 } else { sum / relevant.min(ranks) as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
fn reciprocal_rank(ranked: &mut RankedLabels, ranks: usize) -> f64 {
    match ranked.labels().iter().position(|label| *label > 0.0) {
        None => 1.0,
        Some(rank) if rank < ranks => 1.0 / (rank as f64 + 1.0),
        Some(_) => 0.0,
    }
}
