//! `Steps`: gradient steps with the optimizer's state.

use super::{Optimizer, Schedule, TrainConfig};
use crate::network::Network;

/// Optimizer state of a training.
pub(super) struct Steps {
    config: TrainConfig,
    /// Total number of steps.
    total: usize,
    done: usize,
    /// Mean gradients (AdamW) or velocities (SGD).
    means: Vec<Vec<f32>>,
    /// Mean squared gradients; empty for SGD.
    squares: Vec<Vec<f32>>,
}

impl Steps {
    pub(super) fn new(network: &Network, config: &TrainConfig, batches: usize) -> Self {
        let zeros = || network.parameters().iter().map(|p| vec![0.0; p.store().len()]).collect();
        let squares = if matches!(config.optimizer, Optimizer::AdamW { .. }) { zeros() } else { Vec::new() };
        let total = config.epochs.saturating_mul(batches);
        Self { config: *config, total, done: 0, means: zeros(), squares }
    }

    /// Returns the learning rate of the last step.
    #[expect(clippy::cast_precision_loss, reason = "a share of all steps")]
    pub(super) fn rate(&self) -> f32 {
        let done = self.done.saturating_sub(1) as f32 / self.total.max(1) as f32;
        self.config.optimizer.rate()
            * match self.config.schedule {
                Schedule::Constant => 1.0,
                Schedule::Cosine => 0.5 + 0.5 * (std::f32::consts::PI * done).cos(),
            }
    }

    /// Takes a step. Returns false if a weight would no longer be finite; that parameter is then unchanged.
    pub(super) fn take(&mut self, network: &mut Network, mut gradients: Vec<Vec<f32>>) -> bool {
        self.done += 1;
        let rate = self.rate();
        if let Some(most) = self.config.clip {
            clip(&mut gradients, most);
        }
        let mut finite = true;
        for (i, (parameter, slopes)) in network.parameters_mut().iter_mut().zip(gradients).enumerate() {
            let mut weights = parameter.store().master().to_vec();
            match self.config.optimizer {
                Optimizer::Sgd { momentum, .. } => {
                    for ((weight, slope), last) in weights.iter_mut().zip(slopes).zip(&mut self.means[i]) {
                        *last = momentum * *last + slope;
                        *weight -= rate * *last;
                    }
                }
                Optimizer::AdamW { beta1, beta2, epsilon, decay, .. } => {
                    // Saturation is exact: betas are below 1, so their powers underflow to 0 long before i32::MAX
                    // steps.
                    let steps = i32::try_from(self.done).unwrap_or(i32::MAX);
                    // Bias correction: the means start at 0 and underestimate at first.
                    let (grown1, grown2) = (1.0 - beta1.powi(steps), 1.0 - beta2.powi(steps));
                    let keep = if parameter.is_vector() { 1.0 } else { 1.0 - rate * decay };
                    let history = self.means[i].iter_mut().zip(&mut self.squares[i]);
                    for ((weight, slope), (mean, square)) in weights.iter_mut().zip(slopes).zip(history) {
                        *mean += (1.0 - beta1) * (slope - *mean);
                        *square += (1.0 - beta2) * (slope * slope - *square);
                        *weight = keep * *weight - rate * (*mean / grown1) / ((*square / grown2).sqrt() + epsilon);
                    }
                }
            }
            finite &= parameter.store_mut().set_master(weights).is_ok();
        }
        finite
    }
}

/// Scales gradients down to a total norm of at most `most`.
fn clip(gradients: &mut [Vec<f32>], most: f32) {
    let square: f64 = gradients.iter().flatten().map(|x| f64::from(*x) * f64::from(*x)).sum();
    #[expect(clippy::cast_possible_truncation, reason = "below 1 where it is used")]
    let factor = (f64::from(most) / square.sqrt()) as f32;
    if factor < 1.0 {
        gradients.iter_mut().flatten().for_each(|x| *x *= factor);
    }
}
