//! `TrainingSet`: samples with what is to come out for them.

use crate::network::{InputBatch, NetworkError};

/// What is to come out.
#[derive(Debug, Clone, PartialEq)]
pub enum TrainingTargets {
    /// The class of each sample, or of each place of its sequence.
    Classes(Vec<usize>),
    /// As many numbers as come out.
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

/// Samples with what is to come out for them.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingSet {
    inputs: InputBatch,
    targets: TrainingTargets,
}

impl TrainingSet {
    /// Samples with their targets, in the same order.
    ///
    /// # Errors
    /// [`NetworkError::Targets`] if there are not as many for each sample, [`NetworkError::NonFiniteInput`] for a target
    /// that is not finite.
    pub fn new(inputs: InputBatch, targets: TrainingTargets) -> Result<Self, NetworkError> {
        if targets.len() == 0 || !targets.len().is_multiple_of(inputs.count()) {
            let (wanted, found) = (inputs.count(), targets.len());
            return Err(NetworkError::Targets { what: "targets for each sample", wanted, found });
        }
        if let TrainingTargets::Values(values) = &targets
            && let Some(at) = values.iter().position(|value| !value.is_finite())
        {
            let each = values.len() / inputs.count();
            return Err(NetworkError::NonFiniteInput { sample: at / each, index: at % each });
        }
        Ok(Self { inputs, targets })
    }

    /// The samples.
    #[must_use]
    pub const fn inputs(&self) -> &InputBatch {
        &self.inputs
    }

    /// What is to come out.
    #[must_use]
    pub const fn targets(&self) -> &TrainingTargets {
        &self.targets
    }

    /// How many samples there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.inputs.count()
    }

    /// Some of the samples, in the order of `indices`.
    ///
    /// # Errors
    /// As [`InputBatch::pick`].
    pub fn pick(&self, indices: &[usize]) -> Result<Self, NetworkError> {
        let each = self.targets.len() / self.count();
        let inputs = self.inputs.pick(indices)?;
        let places = indices.iter().flat_map(|index| index * each..(index + 1) * each);
        let targets = match &self.targets {
            TrainingTargets::Classes(classes) => TrainingTargets::Classes(places.map(|place| classes[place]).collect()),
            TrainingTargets::Values(values) => TrainingTargets::Values(places.map(|place| values[place]).collect()),
        };
        Ok(Self { inputs, targets })
    }

    /// The first `count` samples and the others.
    ///
    /// # Errors
    /// [`NetworkError::EmptyBatch`] if either would be empty.
    pub fn split(&self, count: usize) -> Result<(Self, Self), NetworkError> {
        let indices: Vec<usize> = (0..self.count()).collect();
        let (first, rest) = indices.split_at_checked(count).ok_or(NetworkError::EmptyBatch)?;
        Ok((self.pick(first)?, self.pick(rest)?))
    }
}
