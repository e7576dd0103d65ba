//! Access to the positions of sequences, for layers that process them in order.

use serde::{Deserialize, Serialize};

use crate::network::{InputBatch, Shape};

/// Output of a recurrent layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SequenceOutput {
    /// The state at each position.
    Sequence,
    /// The state at the last position.
    Last,
}

impl SequenceOutput {
    /// Selects the output from the states at all positions.
    pub(super) fn of(self, states: &InputBatch) -> InputBatch {
        let (length, len) = (states.dims()[0], states.last());
        match self {
            Self::Sequence => states.clone(),
            Self::Last => states.with(place(states.values(), length, len, length - 1), vec![len]),
        }
    }

    /// Returns the gradients of the states at `length` positions, given those of the output.
    pub(super) fn back(self, dy: &InputBatch, length: usize) -> Vec<f32> {
        match self {
            Self::Sequence => dy.values().to_vec(),
            Self::Last => {
                let mut slopes = vec![0.0; length * dy.values().len()];
                put(&mut slopes, length, dy.last(), length - 1, dy.values());
                slopes
            }
        }
    }
}

/// Returns the output shape of a recurrent layer.
pub(super) fn state_shape(shape: &Shape, hidden: usize, output: SequenceOutput) -> Shape {
    match output {
        SequenceOutput::Sequence => shape.with_last(hidden),
        SequenceOutput::Last => Shape::new(&[hidden]),
    }
}

/// Copies the vectors of all samples at one position.
pub(super) fn place(values: &[f32], length: usize, len: usize, at: usize) -> Vec<f32> {
    values.chunks_exact(length * len).flat_map(|sample| &sample[at * len..][..len]).copied().collect()
}

/// Writes the vectors of all samples at one position.
pub(super) fn put(values: &mut [f32], length: usize, len: usize, at: usize, rows: &[f32]) {
    for (sample, row) in values.chunks_exact_mut(length * len).zip(rows.chunks_exact(len)) {
        sample[at * len..][..len].copy_from_slice(row);
    }
}

/// Returns whether the mask includes a position of a sample.
pub(super) fn seen(x: &InputBatch, sample: usize, at: usize) -> bool {
    x.mask().is_none_or(|mask| mask[sample * x.dims()[0] + at])
}
