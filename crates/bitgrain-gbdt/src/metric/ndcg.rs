//! Normalized discounted cumulative gain.

use super::cutoff::{Cutoff, is_relevance};
use super::queries::mean_over_queries;
use super::{Metric, MetricError, MetricInput};
use crate::objective::{LabelGain, discounts, label_of};
use crate::parameter::Params;

/// Normalized discounted cumulative gain of each query's first rows: the sum of `gain(label) / log2(rank + 1)`, divided
/// by the largest possible sum. A query without relevant rows counts as 1, as in LightGBM. Name: `ndcg@10`, or `ndcg` for
/// all rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ndcg {
    cutoff: Cutoff,
    gains: LabelGain,
}

impl Ndcg {
    /// Evaluates the first `rows` of each query.
    #[must_use]
    pub fn at(rows: usize) -> Self {
        Self { cutoff: Cutoff::at(rows), gains: LabelGain::default() }
    }

    pub(super) fn of(cutoff: Cutoff) -> Self {
        Self { cutoff, gains: LabelGain::default() }
    }
}

impl Metric for Ndcg {
    fn name(&self) -> String {
        self.cutoff.named("ndcg")
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn needs_groups(&self) -> bool {
        true
    }

    fn prepare(&mut self, params: &Params) {
        self.gains = params.label_gain.clone();
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let gains = self.gains.gains();
        let discounts = discounts(data.groups.map_or(0, |groups| self.cutoff.of(groups.largest())));
        let takes = "integer labels that have a gain, and predictions other than NaN";
        let is_label = |label: f64| is_relevance(label) && label_of(label, gains.len()).is_some();
        mean_over_queries(
            data,
            || self.name(),
            takes,
            is_label,
            |ranked| {
                let rows = ranked.labels().len();
                let discounts = &discounts[..self.cutoff.of(rows)];
                let label = |label: f64| label_of(label, gains.len()).unwrap_or_default();
                let mut counts = std::mem::take(&mut ranked.counts);
                let ideal = self.gains.ideal(ranked.labels().iter().map(|&each| label(each)), discounts, &mut counts);
                ranked.counts = counts;
                let sum =
                    || ranked.labels().iter().zip(discounts).map(|(&each, discount)| gains[label(each)] * discount);
                if ideal > 0.0 { sum().sum::<f64>() / ideal } else { 1.0 }
            },
        )
    }
}
