//! `Rnn`: a state that every place of a sequence changes (Elman 1990).

use serde::{Deserialize, Serialize};

use super::recurrent::{Cell, Recurrent};
use super::sequence::SequenceOutput;
use crate::network::NetworkError;
use crate::network::site::Site;
use crate::network::step::Step;

/// `h = tanh(W x + U h' + b)`, place after place. Masked places leave the state as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rnn {
    /// Numbers of the state.
    pub hidden: usize,
    /// What comes out.
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
