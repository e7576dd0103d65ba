//! Proportional hazards, for survival times.

use super::{Batch, GradientBatch, Objective, ObjectiveError, targets};
use crate::metric::{Concordance, Metric};
use crate::model::Link;

/// Cox's partial likelihood with Breslow's handling of ties. A target is the time of an event, or minus the time at which
/// a row was last seen without one (right-censored), as in XGBoost. The prediction is the hazard relative to the others:
/// higher for earlier events. Name: `cox`.
///
/// The rows of all times are compared, so gradients are computed on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cox;

impl Objective for Cox {
    fn name(&self) -> String {
        "cox".into()
    }

    fn link(&self) -> Link {
        Link::Exponential
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        let takes = "finite times other than 0, negative if censored";
        targets::check(targets, || self.name(), takes, |target| target.is_finite() && target != 0.0)
    }

    fn check_training(&self, targets: &[f32], weights: Option<&[f32]>) -> Result<(), ObjectiveError> {
        let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
        let event = targets.iter().enumerate().any(|(row, &target)| target > 0.0 && counts(row));
        if event { Ok(()) } else { Err(ObjectiveError::NoEvent { objective: self.name() }) }
    }

    /// Returns 0: the likelihood depends on differences of scores only.
    fn base_scores(&self, _targets: &[f32], _weights: Option<&[f32]>) -> Vec<f64> {
        vec![0.0]
    }

    fn needs_all_rows(&self) -> bool {
        true
    }

    #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        let (scores, times) = (batch.single(), batch.targets);
        let weight = |row: usize| batch.weights.map_or(1.0, |weights| f64::from(weights[row]));
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].abs().total_cmp(&times[b].abs()).then(a.cmp(&b)));
        // Relative to the largest score, so that no hazard overflows; the limit keeps reciprocals of their squares finite.
        let largest = scores.iter().copied().fold(f32::MIN, f32::max);
        let hazard = |row: usize| weight(row) * libm::exp((f64::from(scores[row]) - f64::from(largest)).max(-300.0));
        // Hazards of all rows that are observed at a time or later, summed from the last time on.
        let mut at_risk = vec![0.0; order.len()];
        let mut sum = 0.0;
        for (place, &row) in order.iter().enumerate().rev() {
            sum += hazard(row);
            at_risk[place] = sum;
        }
        let (mut first_order, mut second_order) = (0.0, 0.0);
        let (grads, hess) = out.single();
        let mut start = 0;
        while start < order.len() {
            let time = times[order[start]].abs();
            let len = order[start..].iter().take_while(|&&row| times[row].abs() == time).count();
            let tied = &order[start..start + len];
            let events: f64 = tied.iter().filter(|&&row| times[row] > 0.0).map(|&row| weight(row)).sum();
            // Rows of weight 0 alone have no hazard.
            if events > 0.0 && at_risk[start] > 0.0 {
                first_order += events / at_risk[start];
                second_order += events / (at_risk[start] * at_risk[start]);
            }
            for &row in tied {
                let own = hazard(row);
                let event = if times[row] > 0.0 { weight(row) } else { 0.0 };
                grads[row] = (own * first_order - event) as f32;
                hess[row] = (own * first_order - own * own * second_order).max(0.0) as f32;
            }
            start += len;
        }
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(Concordance)
    }
}
