//! `TrainConfig`: how a network is trained.

use super::LossFunction;
use crate::network::NetworkError;

/// How a network is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainConfig {
    /// How often every sample is seen.
    pub epochs: usize,
    /// Samples of one step.
    pub batch: usize,
    /// How gradients become steps.
    pub optimizer: Optimizer,
    /// How the learning rate changes.
    pub schedule: Schedule,
    /// What is made small.
    pub loss: LossFunction,
    /// What the order of the samples depends on.
    pub seed: u64,
    /// Epochs without a smaller loss after which it ends; on samples held back if there are any.
    pub patience: Option<usize>,
    /// The length that gradients of all parameters together have at most.
    pub clip: Option<f32>,
}

/// How gradients become steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Optimizer {
    /// Against the gradient, with some of the step before.
    Sgd {
        /// The learning rate.
        rate: f32,
        /// How much of the step before goes on; 0 for none.
        momentum: f32,
    },
    /// Steps of one size, each weight by its own history (Kingma and Ba 2015), with the decay of weights apart from it
    /// (Loshchilov and Hutter 2019). Vectors do not decay.
    AdamW {
        /// The learning rate.
        rate: f32,
        /// How slowly the mean gradient is forgotten.
        beta1: f32,
        /// How slowly the mean square is forgotten.
        beta2: f32,
        /// Added to the root of the mean square.
        epsilon: f32,
        /// The share that weights lose in a step, times the rate.
        decay: f32,
    },
}

/// How the learning rate changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// Not at all.
    Constant,
    /// Along half a cosine, from the full rate to nothing at the last step.
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
    /// `AdamW` with the usual settings and this rate: 30 epochs of batches of 32.
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

    /// Steps against the gradient with momentum, otherwise as [`adam`](Self::adam).
    #[must_use]
    pub const fn sgd(rate: f32, momentum: f32, loss: LossFunction) -> Self {
        Self { optimizer: Optimizer::Sgd { rate, momentum }, ..Self::adam(rate, loss) }
    }

    pub(super) fn check(&self) -> Result<(), NetworkError> {
        let share = |x: f32| (0.0..1.0).contains(&x);
        let above = |x: f32| x > 0.0 && x.is_finite();
        let refuse = |what, value: f32| Err(NetworkError::Training { what, value: value.into() });
        match self.optimizer {
            _ if self.epochs == 0 => refuse("the number of epochs", 0.0),
            _ if self.batch == 0 => refuse("the number of samples in a batch", 0.0),
            _ if self.clip.is_some_and(|clip| !above(clip)) => {
                refuse("the length of gradients", self.clip.unwrap_or_default())
            }
            Optimizer::Sgd { rate, .. } | Optimizer::AdamW { rate, .. } if !above(rate) => {
                refuse("the learning rate", rate)
            }
            Optimizer::Sgd { momentum, .. } if !share(momentum) => refuse("the momentum", momentum),
            Optimizer::AdamW { beta1, .. } if !share(beta1) => refuse("beta1", beta1),
            Optimizer::AdamW { beta2, .. } if !share(beta2) => refuse("beta2", beta2),
            Optimizer::AdamW { epsilon, .. } if !above(epsilon) => refuse("epsilon", epsilon),
            Optimizer::AdamW { decay, .. } if !(decay >= 0.0 && decay.is_finite()) => refuse("the decay", decay),
            Optimizer::Sgd { .. } | Optimizer::AdamW { .. } => Ok(()),
        }
    }
}
