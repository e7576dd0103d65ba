//! LambdaRank: pairs of rows, weighted by the change of a metric if the two rows traded places.

use std::sync::Arc;

use bitgrain_kernels::histograms::PairF32;

use super::LabelGain;
use super::gains::{discounts, label_of};
use super::pair_weight::{PairWeight, Query};
use super::pairs::PairLoss;
use super::position_bias::PositionBias;
use crate::metric::{MeanAveragePrecision, Metric, Ndcg};
use crate::model::Link;
use crate::objective::{Batch, GradientBatch, Objective, ObjectiveError, check_finite, targets};
use crate::parameter::Params;
use crate::{Groups, SampleError};

/// Ranking by pairs of rows of a query with different labels. Names: `lambdarank`, `rank_map`, `rank_pairwise`.
///
/// The loss of a pair is the logistic loss of its score difference, and its weight the difference of NDCG or MAP if the
/// two rows traded places; 1 for `rank_pairwise`. Gradients are those of LightGBM's `lambdarank`: pairs with one of the
/// best [`lambdarank_truncation_level`](Params::lambdarank_truncation_level) rows count.
#[derive(Debug, Clone)]
pub struct LambdaRank {
    weight: PairWeight,
    loss: PairLoss,
    gains: LabelGain,
    /// Factor of the weights of each query: the inverse of its largest DCG, or of its number of relevant rows.
    scales: Vec<f64>,
    discounts: Vec<f64>,
    bias: Option<PositionBias>,
}

impl LambdaRank {
    /// Optimizes NDCG: `lambdarank`.
    #[must_use]
    pub fn ndcg() -> Self {
        Self::new(PairWeight::Ndcg)
    }

    /// Optimizes mean average precision: `rank_map`. Labels are 0 or 1.
    #[must_use]
    pub fn map() -> Self {
        Self::new(PairWeight::AveragePrecision)
    }

    /// Minimizes the number of pairs in the wrong order: `rank_pairwise`. Labels are any numbers.
    #[must_use]
    pub fn pairwise() -> Self {
        Self::new(PairWeight::Equal)
    }

    fn new(weight: PairWeight) -> Self {
        let defaults = Params::default();
        let mut created = Self {
            weight,
            loss: PairLoss { sigmoid: 1.0, truncation: 1, normalize: true },
            gains: LabelGain::default(),
            scales: Vec::new(),
            discounts: Vec::new(),
            bias: None,
        };
        created.configure(&defaults);
        created
    }

    fn configure(&mut self, params: &Params) {
        self.loss = PairLoss {
            sigmoid: params.lambdarank_sigmoid,
            truncation: params.lambdarank_truncation_level,
            normalize: params.lambdarank_norm,
        };
        self.gains = params.label_gain.clone();
    }

    /// Returns the factor of the weights of a query; 0 if its labels are equal, because it has no pairs then.
    fn scale(&self, labels: &[f32], counts: &mut Vec<usize>) -> f64 {
        if labels.iter().all(|label| *label == labels[0]) {
            return 0.0;
        }
        let inverse = |total: f64| if total > 0.0 { 1.0 / total } else { 0.0 };
        #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
        match self.weight {
            PairWeight::Equal => 1.0,
            PairWeight::AveragePrecision => inverse(labels.iter().filter(|label| **label > 0.0).count() as f64),
            PairWeight::Ndcg => {
                let labels = labels.iter().filter_map(|&label| label_of(label, self.gains.gains().len()));
                let best = &self.discounts[..self.discounts.len().min(self.loss.truncation)];
                inverse(self.gains.ideal(labels, best, counts))
            }
        }
    }
}

impl Objective for LambdaRank {
    fn name(&self) -> String {
        match self.weight {
            PairWeight::Ndcg => "lambdarank",
            PairWeight::AveragePrecision => "rank_map",
            PairWeight::Equal => "rank_pairwise",
        }
        .into()
    }

    fn link(&self) -> Link {
        Link::Identity
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        match self.weight {
            PairWeight::Equal => check_finite(targets, || self.name()),
            PairWeight::AveragePrecision => {
                targets::check(targets, || self.name(), "targets 0 or 1", |target| target == 0.0 || target == 1.0)
            }
            PairWeight::Ndcg => check_labels(targets, &self.gains),
        }
    }

    fn base_scores(&self, _targets: &[f32], _weights: Option<&[f32]>) -> Vec<f64> {
        vec![0.0]
    }

    fn ranks(&self) -> bool {
        true
    }

    fn unsaved_state(&self) -> Option<&'static str> {
        self.bias.is_some().then_some("biases of positions")
    }

    fn prepare(
        &mut self,
        params: &Params,
        targets: &[f32],
        groups: Option<&Arc<Groups>>,
    ) -> Result<(), ObjectiveError> {
        self.configure(params);
        self.check(targets)?;
        let groups = groups.ok_or_else(|| ObjectiveError::NoGroups { objective: self.name() })?;
        self.discounts = discounts(groups.largest());
        let mut counts = Vec::new();
        self.scales = groups.ranges().map(|rows| self.scale(&targets[rows], &mut counts)).collect();
        self.bias = PositionBias::new(groups, params);
        Ok(())
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        let (grads, hess) = out.single();
        let Some(queries) = batch.queries.filter(|_| !self.scales.is_empty()) else {
            // Without `prepare`: NaN stops the training.
            grads.fill(f32::NAN);
            return;
        };
        let scores = batch.single();
        let mut query = Query::default();
        for (group, rows) in queries.iter() {
            let (grads, hess) = (&mut grads[rows.clone()], &mut hess[rows.clone()]);
            let scale = self.scales[group];
            if scale == 0.0 {
                grads.fill(0.0);
                hess.fill(0.0);
                continue;
            }
            match &self.bias {
                Some(bias) => {
                    query.adjusted.clear();
                    query.adjusted.extend_from_slice(&scores[rows.clone()]);
                    bias.add_to(queries.groups.range(group), &mut query.adjusted);
                    query.ranked.sort(&query.adjusted, self.loss.sigmoid);
                }
                None => query.ranked.sort(&scores[rows.clone()], self.loss.sigmoid),
            }
            let terms = (self.gains.gains(), &self.discounts[..]);
            self.weight.add_pairs(&batch.targets[rows], terms, (self.loss, scale), &mut query);
            query.ranked.write(grads, hess);
        }
        out.apply_weights(batch.weights);
    }

    fn end_round(&mut self, gradients: &[PairF32]) {
        if let Some(bias) = &mut self.bias {
            bias.update(gradients);
        }
    }

    fn metric(&self) -> Box<dyn Metric> {
        match self.weight {
            PairWeight::AveragePrecision => Box::new(MeanAveragePrecision::at(10)),
            PairWeight::Ndcg | PairWeight::Equal => Box::new(Ndcg::at(10)),
        }
    }
}

/// Checks that targets are labels with a gain.
pub(super) fn check_labels(targets: &[f32], gains: &LabelGain) -> Result<(), ObjectiveError> {
    let labels = gains.gains().len();
    let Some(row) = targets.iter().position(|&target| label_of(target, labels).is_none()) else { return Ok(()) };
    let label = targets[row];
    if label.is_nan() {
        return Err(SampleError::MissingTarget { row }.into());
    }
    Err(ObjectiveError::Relevance { row, label, labels })
}
