//! `TrainConfig`: training settings.

use super::LossFunction;
use crate::network::NetworkError;

/// Training settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainConfig {
    /// Number of passes over the samples.
    pub epochs: usize,
    /// Number of samples per step.
    pub batch: usize,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Learning rate schedule.
    pub schedule: Schedule,
    /// Loss function to minimize.
    pub loss: LossFunction,
    /// Seed of the order of samples.
    pub seed: u64,
    /// Number of epochs without a smaller loss after which training stops. Uses the validation loss if there is a
    /// validation set.
    pub patience: Option<usize>,
    /// Maximum norm of the gradients of all parameters together.
    pub clip: Option<f32>,
}

/// Optimization algorithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Optimizer {
    /// Stochastic gradient descent with momentum.
    Sgd {
        /// Learning rate.
        rate: f32,
        /// Share of the previous step that is added, in 0..1; 0 disables momentum.
        momentum: f32,
    },
    /// Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019). Vectors do not decay.
    AdamW {
        /// Learning rate.
        rate: f32,
        /// Decay rate of the mean gradient, in 0..1.
        beta1: f32,
        /// Decay rate of the mean square gradient, in 0..1.
        beta2: f32,
        /// Added to the root of the mean square gradient.
        epsilon: f32,
        /// Weight decay, multiplied with the learning rate.
        decay: f32,
    },
}

/// Learning rate schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// Constant learning rate.
    Constant,
    /// Half a cosine, from the full rate to 0 at the last step.
    Cosine,
}

impl Optimizer {
    pub(super) const fn rate(self) -> f32 {
        match self {
            Self::Sgd { rate, .. } | Self::AdamW { rate, .. } => rate,
        }
    }
}

impl TrainConfig {
    /// Returns `AdamW` with the usual settings and this learning rate: 30 epochs of batches of 32.
    #[must_use]
    pub const fn adam(rate: f32, loss: LossFunction) -> Self {
        let optimizer = Optimizer::AdamW { rate, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0.01 };
        Self {
            epochs: 30,
            batch: 32,
            optimizer,
            schedule: Schedule::Constant,
            loss,
            seed: 0,
            patience: None,
            clip: None,
        }
    }

    /// Returns SGD with momentum, with the other settings as in [`adam`](Self::adam).
    #[must_use]
    pub const fn sgd(rate: f32, momentum: f32, loss: LossFunction) -> Self {
        Self { optimizer: Optimizer::Sgd { rate, momentum }, ..Self::adam(rate, loss) }
    }

    pub(super) fn check(&self) -> Result<(), NetworkError> {
        let share = |x: f32| (0.0..1.0).contains(&x);
        let above = |x: f32| x > 0.0 && x.is_finite();
        let invalid = |what, value: f32| Err(NetworkError::Training { what, value: value.into() });
        match self.optimizer {
            _ if self.epochs == 0 => invalid("number of epochs", 0.0),
            _ if self.batch == 0 => invalid("batch size", 0.0),
            _ if self.clip.is_some_and(|clip| !above(clip)) => {
                invalid("gradient clipping norm", self.clip.unwrap_or_default())
            }
            Optimizer::Sgd { rate, .. } | Optimizer::AdamW { rate, .. } if !above(rate) => {
                invalid("learning rate", rate)
            }
            Optimizer::Sgd { momentum, .. } if !share(momentum) => invalid("momentum", momentum),
            Optimizer::AdamW { beta1, .. } if !share(beta1) => invalid("beta1", beta1),
            Optimizer::AdamW { beta2, .. } if !share(beta2) => invalid("beta2", beta2),
            Optimizer::AdamW { epsilon, .. } if !above(epsilon) => invalid("epsilon", epsilon),
            Optimizer::AdamW { decay, .. } if !(decay >= 0.0 && decay.is_finite()) => invalid("weight decay", decay),
            Optimizer::Sgd { .. } | Optimizer::AdamW { .. } => Ok(()),
        }
    }
}
