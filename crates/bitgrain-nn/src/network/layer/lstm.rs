//! `Lstm`: long short-term memory (Hochreiter and Schmidhuber 1997, with forget gates).

use serde::{Deserialize, Serialize};

use super::activation::sigmoid;
use super::recurrent::{Cell, Recurrent};
use super::sequence::SequenceOutput;
use crate::network::NetworkError;
use crate::network::site::Site;
use crate::network::step::Step;

/// LSTM layer. The rows of its matrices belong to the input, forget, cell and output gates, in this order. Masked-out
/// positions leave state and cell unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lstm {
    /// Length of the state.
    pub hidden: usize,
    /// Output of the layer.
    pub output: SequenceOutput,
}

impl Lstm {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        Recurrent::<Gated, 4, 2>::build(site, self.hidden, self.output)
    }
}

/// LSTM cell with input, forget, cell and output gates. The carried values are the state and the cell.
#[derive(Debug)]
struct Gated;

impl Cell<4, 2> for Gated {
    fn forward([input, forget, cell, output]: [f32; 4], [_, memory]: [f32; 2]) -> ([f32; 4], [f32; 2]) {
        let open = [sigmoid(input), sigmoid(forget), cell.tanh(), sigmoid(output)];
        let [input, forget, cell, output] = open;
        let memory = forget * memory + input * cell;
        (open, [output * memory.tanh(), memory])
    }

    fn backward(
        [input, forget, cell, output]: [f32; 4],
        [_, before]: [f32; 2],
        [_, memory]: [f32; 2],
        [to_state, to_memory]: [f32; 2],
    ) -> ([f32; 4], [f32; 2]) {
        let tanh = memory.tanh();
        let to_cell = to_memory + to_state * output * (1.0 - tanh * tanh);
        let sums = [
            to_cell * cell * input * (1.0 - input),
            to_cell * before * forget * (1.0 - forget),
            to_cell * input * (1.0 - cell * cell),
            to_state * tanh * output * (1.0 - output),
        ];
        (sums, [0.0, to_cell * forget])
    }
}
