//! Places of sequences, for layers that go through them one after another.

use serde::{Deserialize, Serialize};

use crate::network::{InputBatch, Shape};

/// What comes out of a layer with a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SequenceOutput {
    /// The state at every place.
    Sequence,
    /// The state at the end.
    Last,
}

impl SequenceOutput {
    /// What comes out, given the state at every place.
    pub(super) fn of(self, states: &InputBatch) -> InputBatch {
        let (length, len) = (states.dims()[0], states.last());
        match self {
            Self::Sequence => states.clone(),
            Self::Last => states.with(place(states.values(), length, len, length - 1), vec![len]),
        }
    }

    /// Gradients of the state at each of `length` places, given those of what came out.
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

/// The shape behind a layer with a state.
pub(super) fn state_shape(shape: &Shape, hidden: usize, output: SequenceOutput) -> Shape {
    match output {
        SequenceOutput::Sequence => shape.with_last(hidden),
        SequenceOutput::Last => Shape::new(&[hidden]),
    }
}

/// The vectors of all samples at one place.
pub(super) fn place(values: &[f32], length: usize, len: usize, at: usize) -> Vec<f32> {
    values.chunks_exact(length * len).flat_map(|sample| &sample[at * len..][..len]).copied().collect()
}

/// Puts them there.
pub(super) fn put(values: &mut [f32], length: usize, len: usize, at: usize, rows: &[f32]) {
    for (sample, row) in values.chunks_exact_mut(length * len).zip(rows.chunks_exact(len)) {
        sample[at * len..][..len].copy_from_slice(row);
    }
}

/// Whether a place of a sample counts.
pub(super) fn seen(x: &InputBatch, sample: usize, at: usize) -> bool {
    x.mask().is_none_or(|mask| mask[sample * x.dims()[0] + at])
}
