//! `Rnn`: simple recurrent layer (Elman 1990).

use serde::{Deserialize, Serialize};

use super::recurrent::{Cell, Recurrent};
use super::sequence::SequenceOutput;
use crate::network::NetworkError;
use crate::network::site::Site;
use crate::network::step::Step;

/// Computes `h = tanh(W x + U h' + b)` for each position in order. Masked-out positions leave the state unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rnn {
    /// Length of the state.
    pub hidden: usize,
    /// Output of the layer.
    pub output: SequenceOutput,
}

impl Rnn {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        Recurrent::<Tanh, 1, 1>::build(site, self.hidden, self.output)
    }
}

#[derive(Debug)]
struct Tanh;

impl Cell<1, 1> for Tanh {
    fn forward([sum]: [f32; 1], _: [f32; 1]) -> ([f32; 1], [f32; 1]) {
        let state = sum.tanh();
        ([state], [state])
    }

    fn backward(_: [f32; 1], _: [f32; 1], [state]: [f32; 1], [slope]: [f32; 1]) -> ([f32; 1], [f32; 1]) {
        ([slope * (1.0 - state * state)], [0.0])
    }
}
