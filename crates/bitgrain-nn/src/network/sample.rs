//! Sample data: handwritten digits, and a network that classifies them. Origin and license: `data/README.md`.
//!
//! Demonstration code. It is part of the library because the guide's examples, the crate's examples and tests, and the
//! `tour` command all train on it, and none of them can import from another.

use std::ops::ControlFlow;

use bitgrain_formats::npy::Header;
use bitgrain_formats::npz::Archive;

use crate::network::layer::Layer;
use crate::network::train::{History, LossFunction, Schedule, TrainConfig, TrainingSet, TrainingTargets, train};
use crate::network::{InputBatch, Network, NetworkError, Shape};

static DIGITS: &[u8] = include_bytes!("../../data/digits.npz");

/// Number of training images.
const LEARNED: usize = 1437;

/// A network trained on handwritten digits.
#[derive(Debug, Clone)]
pub struct Classifier {
    /// Network with two hidden layers of 256 units, trained at f32.
    pub network: Network,
    /// Training images.
    pub known: TrainingSet,
    /// Test images, by other writers than the training images.
    pub unknown: TrainingSet,
    /// Training history.
    pub history: History,
}

/// Trains a small classifier of the [`digits`] for `epochs` epochs. The result is deterministic.
///
/// # Errors
/// Returns [`NetworkError::Training`] if `epochs` is 0.
pub fn classifier(epochs: usize) -> Result<Classifier, NetworkError> {
    let (known, unknown) = digits()?.split(LEARNED)?;
    let layers = vec![Layer::dense(256), Layer::relu(), Layer::dense(256), Layer::relu(), Layer::dense(10)];
    let mut network = Network::new(Shape::new(&[64]), layers, 1)?;
    let config =
        TrainConfig { epochs, schedule: Schedule::Cosine, ..TrainConfig::adam(2e-3, LossFunction::CrossEntropy) };
    let history = train(&mut network, &known, None, &config, &mut |_| ControlFlow::Continue(()))?;
    Ok(Classifier { network, known, unknown, history })
}

/// Returns 1,797 handwritten digits by 13 writers: images of 8×8 pixels from 0 to 1, and their class labels. Images are
/// grouped by writer, so the last images are by writers that the first do not include.
///
/// ```
/// let digits = bitgrain_nn::network::sample::digits()?;
/// assert_eq!((digits.count(), digits.inputs().dims()), (1797, &[64][..]));
/// # Ok::<(), bitgrain_nn::network::NetworkError>(())
/// ```
///
/// # Errors
/// Fails only if the embedded data was modified.
pub fn digits() -> Result<TrainingSet, NetworkError> {
    let lacking = NetworkError::Nothing { what: "the embedded sample images" };
    let read = |name: &str| -> Option<Vec<u8>> {
        let archive = Archive::parse(DIGITS).ok()?;
        let bytes = archive.members.iter().find(|member| member.name == name)?.read(1 << 20).ok()?;
        let range = Header::parse(&bytes).ok()?.range();
        Some(bytes[range].to_vec())
    };
    let (images, labels) = read("images.npy").zip(read("labels.npy")).ok_or(lacking)?;
    let inputs = InputBatch::new(images.into_iter().map(|pixel| f32::from(pixel) / 16.0).collect(), &[64])?;
    TrainingSet::new(inputs, TrainingTargets::Classes(labels.into_iter().map(usize::from).collect()))
}
