//! `TrainingSet`: samples with their targets.

use crate::network::{InputBatch, NetworkError};

/// Targets of samples.
#[derive(Debug, Clone, PartialEq)]
pub enum TrainingTargets {
    /// Class label of each sample, or of each position of its sequence.
    Classes(Vec<usize>),
    /// One value per output of the network.
    Values(Vec<f32>),
}

impl TrainingTargets {
    fn len(&self) -> usize {
        match self {
            Self::Classes(classes) => classes.len(),
            Self::Values(values) => values.len(),
        }
    }
}

/// Samples with their targets.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingSet {
    inputs: InputBatch,
    targets: TrainingTargets,
}

impl TrainingSet {
    /// Creates a set of samples with their targets, in the same order.
    ///
    /// # Errors
    /// Returns [`NetworkError::Targets`] if the number of targets is not a multiple of the number of samples,
    /// [`NetworkError::NonFiniteInput`] for a target that is not finite.
    pub fn new(inputs: InputBatch, targets: TrainingTargets) -> Result<Self, NetworkError> {
        if targets.len() == 0 || !targets.len().is_multiple_of(inputs.count()) {
            let (wanted, found) = (inputs.count(), targets.len());
            return Err(NetworkError::Targets { what: "number of targets must be a multiple of", wanted, found });
        }
        if let TrainingTargets::Values(values) = &targets
            && let Some(at) = values.iter().position(|value| !value.is_finite())
        {
            let each = values.len() / inputs.count();
            return Err(NetworkError::NonFiniteInput { sample: at / each, index: at % each });
        }
        Ok(Self { inputs, targets })
    }

    /// Returns the samples.
    #[must_use]
    pub const fn inputs(&self) -> &InputBatch {
        &self.inputs
    }

    /// Returns the targets.
    #[must_use]
    pub const fn targets(&self) -> &TrainingTargets {
        &self.targets
    }

    /// Returns the number of samples.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.inputs.count()
    }

    /// Copies the samples at `indices`, in that order.
    ///
    /// # Errors
    /// Same as [`InputBatch::select`].
    pub fn select(&self, indices: &[usize]) -> Result<Self, NetworkError> {
        let each = self.targets.len() / self.count();
        let inputs = self.inputs.select(indices)?;
        let places = indices.iter().flat_map(|index| index * each..(index + 1) * each);
        let targets = match &self.targets {
            TrainingTargets::Classes(classes) => TrainingTargets::Classes(places.map(|place| classes[place]).collect()),
            TrainingTargets::Values(values) => TrainingTargets::Values(places.map(|place| values[place]).collect()),
        };
        Ok(Self { inputs, targets })
    }

    /// Splits into the first `count` samples and the rest.
    ///
    /// # Errors
    /// Returns [`NetworkError::EmptyBatch`] if either part would be empty.
    pub fn split(&self, count: usize) -> Result<(Self, Self), NetworkError> {
        let indices: Vec<usize> = (0..self.count()).collect();
        let (first, rest) = indices.split_at_checked(count).ok_or(NetworkError::EmptyBatch)?;
        Ok((self.select(first)?, self.select(rest)?))
    }
}
