//! Training at f32 in mini-batches. The result depends on the seed, but not on the number of threads.

mod config;
mod loss;
mod optimizer;
mod score;
mod training_set;

use std::ops::ControlFlow;

use bitgrain_codec::weight::check_finite;

use crate::network::random::Random;
use crate::network::{Network, NetworkError};
pub use config::{Optimizer, Schedule, TrainConfig};
pub use loss::LossFunction;
use optimizer::Steps;
pub use score::{Score, evaluate};
pub use training_set::{TrainingSet, TrainingTargets};

/// Report of an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// 1-based number.
    pub number: usize,
    /// Mean loss over the batches, each measured before its step.
    pub loss: f64,
    /// Score on the validation set, if there is one.
    pub held_back: Option<Score>,
    /// Learning rate of the last step.
    pub rate: f32,
}

/// Report of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// All completed epochs.
    pub epochs: Vec<Epoch>,
    /// 1-based epoch whose weights the network has: the best on the validation set, else the last; 0 if none was
    /// completed.
    pub chosen: usize,
    /// Whether training stopped because the loss no longer improved.
    pub stopped_early: bool,
}

/// Trains the master weights of a network and drops all quantized versions, which are created again on demand.
///
/// `watch` is called after each epoch and can stop the training. With a validation set (`held_back`), the network ends
/// with the weights of its best epoch.
///
/// ```
/// use std::ops::ControlFlow;
/// use bitgrain_nn::network::layer::Layer;
/// use bitgrain_nn::network::{InputBatch, Network, Shape};
/// use bitgrain_nn::network::train::{TrainingSet, LossFunction, TrainingTargets, TrainConfig, train};
/// let inputs = InputBatch::new(vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], &[2])?;
/// let data = TrainingSet::new(inputs, TrainingTargets::Classes(vec![0, 1, 1, 0]))?; // exclusive or
/// let mut network = Network::new(Shape::new(&[2]), vec![Layer::dense(8), Layer::relu(), Layer::dense(2)], 3)?;
/// let config = TrainConfig { epochs: 200, batch: 4, ..TrainConfig::adam(0.05, LossFunction::CrossEntropy) };
/// let history = train(&mut network, &data, None, &config, &mut |_| ControlFlow::Continue(()))?;
/// assert!(history.epochs[199].loss < 0.05);
/// assert_eq!(network.forward(data.inputs())?.argmax(), [0, 1, 1, 0]);
/// # Ok::<(), bitgrain_nn::network::NetworkError>(())
/// ```
///
/// # Errors
/// Returns [`NetworkError::Training`] for invalid settings, [`NetworkError::Targets`] for targets that do not match the
/// loss or the output, [`NetworkError::Diverged`], and the errors of [`Network::forward`].
pub fn train(
    network: &mut Network,
    data: &TrainingSet,
    held_back: Option<&TrainingSet>,
    config: &TrainConfig,
    watch: &mut dyn FnMut(&Epoch) -> ControlFlow<()>,
) -> Result<History, NetworkError> {
    train_with(network, data, held_back, config, watch, &mut || ControlFlow::Continue(()))
}

/// Like [`train`], and calls `between` after each batch, so that callers need not wait for the end of an epoch to stop.
///
/// If `between` stops the training, the unfinished epoch is not part of the history. Its steps are kept, unless the
/// network returns to its best epoch on the validation set.
///
/// # Errors
/// Same as [`train`].
pub fn train_with(
    network: &mut Network,
    data: &TrainingSet,
    held_back: Option<&TrainingSet>,
    config: &TrainConfig,
    watch: &mut dyn FnMut(&Epoch) -> ControlFlow<()>,
    between: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<History, NetworkError> {
    config.check()?;
    let count = data.count();
    let batches = count.div_ceil(config.batch);
    let mut steps = Steps::new(network, config, batches);
    let mut history = History { epochs: Vec::new(), chosen: 0, stopped_early: false };
    let mut best: Option<(f64, Vec<Vec<f32>>)> = None;
    let mut least = f64::INFINITY;
    let mut since = 0;
    'epochs: for number in 1..=config.epochs {
        let mut order: Vec<usize> = (0..count).collect();
        Random::new(config.seed, number as u64).shuffle(&mut order);
        let mut sum = 0.0;
        for (batch, indices) in order.chunks(config.batch).enumerate() {
            let diverged = NetworkError::Diverged { epoch: number, batch: batch + 1 };
            #[expect(clippy::cast_precision_loss, reason = "a mean over samples")]
            let weight = indices.len() as f64 / count as f64;
            let (loss, gradients) = gradients(network, &data.select(indices)?, config.loss)?;
            if !loss.is_finite() || gradients.iter().any(|all| check_finite(all).is_err()) {
                return Err(diverged);
            }
            sum += weight * loss;
            if !steps.take(network, gradients) {
                return Err(diverged);
            }
            if between().is_break() {
                break 'epochs;
            }
        }
        let scored = held_back.map(|data| evaluate(network, data, config.loss)).transpose()?;
        let epoch = Epoch { number, loss: sum, held_back: scored, rate: steps.rate() };
        history.epochs.push(epoch);
        let loss = scored.map_or(sum, |score| score.loss);
        if loss < least {
            since = 0;
            least = loss;
            if scored.is_some() {
                let masters = network.parameters().iter().map(|p| p.store().master().to_vec()).collect();
                best = Some((loss, masters));
            }
            history.chosen = number;
        } else {
            since += 1;
        }
        if watch(&epoch).is_break() {
            break;
        }
        if config.patience.is_some_and(|patience| since >= patience) {
            history.stopped_early = true;
            break;
        }
    }
    match best {
        Some((_, masters)) => {
            for (parameter, master) in network.parameters_mut().iter_mut().zip(masters) {
                parameter.store_mut().update(|weights| weights.copy_from_slice(&master));
            }
        }
        None => history.chosen = history.epochs.len(),
    }
    Ok(history)
}

/// Returns the loss of a batch and the gradients of all parameters.
fn gradients(network: &Network, batch: &TrainingSet, loss: LossFunction) -> Result<(f64, Vec<Vec<f32>>), NetworkError> {
    let mut value = 0.0;
    let found = network.gradients(batch.inputs(), |y| {
        let (loss, slopes) = loss.measure(y, batch.targets())?;
        value = loss;
        Ok(slopes)
    })?;
    Ok((value, found.parameters))
}
