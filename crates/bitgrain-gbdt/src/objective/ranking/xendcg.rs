//! Cross-entropy surrogate of NDCG.

use std::sync::Arc;

use super::LabelGain;
use super::gains::label_of;
use super::lambdarank::check_labels;
use crate::Groups;
use crate::math::exp;
use crate::metric::{Metric, Ndcg};
use crate::model::Link;
use crate::objective::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::parameter::Params;
use crate::random::{mixed, share};

/// Cross-entropy between the softmax of a query's scores and a distribution over its rows that is drawn from their
/// labels in every round (Bruch 2019). Costs one pass per query instead of all pairs. Name: `rank_xendcg`.
#[derive(Debug, Clone, Default)]
pub struct RankXendcg {
    seed: u64,
    gains: LabelGain,
}

/// Smallest denominator.
const LEAST: f64 = 1e-15;

impl Objective for RankXendcg {
    fn name(&self) -> String {
        "rank_xendcg".into()
    }

    fn link(&self) -> Link {
        Link::Identity
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        check_labels(targets, &self.gains)
    }

    fn base_scores(&self, _targets: &[f32], _weights: Option<&[f32]>) -> Vec<f64> {
        vec![0.0]
    }

    fn ranks(&self) -> bool {
        true
    }

    fn prepare(
        &mut self,
        params: &Params,
        targets: &[f32],
        groups: Option<&Arc<Groups>>,
    ) -> Result<(), ObjectiveError> {
        self.seed = mixed(params.seed ^ 0x8E4D);
        self.gains = params.label_gain.clone();
        self.check(targets)?;
        groups.map_or_else(|| Err(ObjectiveError::NoGroups { objective: self.name() }), |_| Ok(()))
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        let (grads, hess) = out.single();
        let Some(queries) = batch.queries else {
            grads.fill(f32::NAN);
            return;
        };
        let scores = batch.single();
        let (mut shares, mut terms) = (Vec::new(), Vec::new());
        for (group, rows) in queries.iter() {
            let seed = mixed(self.seed ^ mixed(queries.round as u64));
            let first = queries.groups.range(group).start;
            let drawn = |at: usize| share(mixed(seed ^ (first + at) as u64));
            let labels = &batch.targets[rows.clone()];
            let (grads, hess) = (&mut grads[rows.clone()], &mut hess[rows.clone()]);
            self.query(labels, &scores[rows], drawn, (&mut shares, &mut terms), (grads, hess));
        }
        out.apply_weights(batch.weights);
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(Ndcg::at(10))
    }
}

impl RankXendcg {
    /// Computes the gradients of a query, up to terms of the third order as in LightGBM.
    #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
    fn query(
        &self,
        labels: &[f32],
        scores: &[f32],
        drawn: impl Fn(usize) -> f64,
        (shares, terms): (&mut Vec<f64>, &mut Vec<f64>),
        (grads, hess): (&mut [f32], &mut [f32]),
    ) {
        // Without different labels there is nothing to learn; what is drawn would only be noise.
        if labels.iter().all(|label| *label == labels[0]) {
            grads.fill(0.0);
            hess.fill(0.0);
            return;
        }
        softmax(scores, shares);
        let gains = self.gains.gains();
        let gain = |label: f32| label_of(label, gains.len()).map_or(0.0, |label| gains[label]);
        terms.clear();
        // The gain of label 0 is 0, and 1 is added so that every row has a positive weight.
        terms.extend(labels.iter().enumerate().map(|(at, &label)| gain(label) + 1.0 - drawn(at)));
        let total = terms.iter().sum::<f64>().max(LEAST);
        let rest = |share: f64| (1.0 - share).max(LEAST);
        let mut sum = 0.0;
        for ((term, share), grad) in terms.iter_mut().zip(&*shares).zip(&mut *grads) {
            let first = share - *term / total;
            *grad = first as f32;
            *term = first / rest(*share);
            sum += *term;
        }
        let mut next = 0.0;
        for ((term, share), grad) in terms.iter_mut().zip(&*shares).zip(&mut *grads) {
            let second = share * (sum - *term);
            *grad += second as f32;
            *term = second / rest(*share);
            next += *term;
        }
        for (((term, share), grad), hess) in terms.iter().zip(&*shares).zip(grads).zip(hess) {
            *grad += (share * (next - term)) as f32;
            *hess = (share * (1.0 - share)) as f32;
        }
    }
}

/// Computes the softmax of scores.
fn softmax(scores: &[f32], shares: &mut Vec<f64>) {
    let most = scores.iter().fold(f32::NEG_INFINITY, |most, &score| most.max(score));
    shares.clear();
    shares.extend(scores.iter().map(|score| exp(f64::from(score - most))));
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= total);
}
