//! `Lstm`: a state with a memory that gates guard (Hochreiter and Schmidhuber 1997, with forget gates).

use serde::{Deserialize, Serialize};

use super::activation::sigmoid;
use super::linear::{add_to_rows, add_up_rows};
use super::sequence::{Output, place, put, seen, state_shape};
use crate::network::parameter::Init;
use crate::network::site::{Id, Site};
use crate::network::step::{Back, Run, Step};
use crate::network::{Batch, NetworkError};

/// A state and a memory, place after place. The rows of its matrices are those of the gates input, forget, cell and
/// output, in this order. Masked places leave both as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lstm {
    /// Numbers of the state.
    pub hidden: usize,
    /// What comes out.
    pub output: Output,
}

impl Lstm {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        let (inputs, hidden) = (site.sequence()?, site.positive("hidden", self.hidden)?);
        let gates = hidden.checked_mul(4).ok_or_else(|| site.setting("hidden", hidden))?;
        let input = site.matrix("weight", gates, inputs, Init::glorot(inputs, hidden))?;
        let state = site.matrix("state.weight", gates, hidden, Init::glorot(hidden, hidden))?;
        let bias = site.vector("bias", gates, Init::Constant(0.0))?;
        site.shape = state_shape(&site.shape, hidden, self.output);
        Ok(Box::new(Built { input, state, bias, inputs, hidden, output: self.output }))
    }
}

#[derive(Debug)]
struct Built {
    input: Id,
    state: Id,
    bias: Id,
    inputs: usize,
    hidden: usize,
    output: Output,
}

/// The four gates of one number.
#[derive(Clone, Copy)]
struct Gates {
    input: f32,
    forget: f32,
    cell: f32,
    output: f32,
}

impl Gates {
    fn read(row: &[f32], hidden: usize, i: usize) -> Self {
        Self { input: row[i], forget: row[hidden + i], cell: row[2 * hidden + i], output: row[3 * hidden + i] }
    }

    fn write(self, row: &mut [f32], hidden: usize, i: usize) {
        let values = [self.input, self.forget, self.cell, self.output];
        values.into_iter().enumerate().for_each(|(gate, value)| row[gate * hidden + i] = value);
    }

    /// From sums to openings.
    fn open(self) -> Self {
        let Self { input, forget, cell, output } = self;
        Self { input: sigmoid(input), forget: sigmoid(forget), cell: cell.tanh(), output: sigmoid(output) }
    }
}

impl Step for Built {
    fn forward(&self, x: Batch, run: &mut Run<'_>) -> Result<Batch, NetworkError> {
        let (length, hidden, count) = (x.dims()[0], self.hidden, x.count());
        let mut gates = run.product(self.input, x.values())?;
        add_to_rows(&run.values(self.bias)?, &mut gates);
        let [mut state, mut memory] = [(); 2].map(|()| vec![0.0; count * hidden]);
        let [mut states, mut memories] = [(); 2].map(|()| vec![0.0; count * length * hidden]);
        for at in 0..length {
            let mut now = place(&gates, length, 4 * hidden, at);
            let more = run.product(self.state, &state)?;
            now.iter_mut().zip(more).for_each(|(now, more)| *now += more);
            for (sample, row) in now.chunks_exact_mut(4 * hidden).enumerate() {
                for i in 0..hidden {
                    let open = Gates::read(row, hidden, i).open();
                    open.write(row, hidden, i);
                    if seen(&x, sample, at) {
                        let cell = open.forget * memory[sample * hidden + i] + open.input * open.cell;
                        memory[sample * hidden + i] = cell;
                        state[sample * hidden + i] = open.output * cell.tanh();
                    }
                }
            }
            put(&mut gates, length, 4 * hidden, at, &now);
            put(&mut states, length, hidden, at, &state);
            put(&mut memories, length, hidden, at, &memory);
        }
        let states = x.with_last(states, hidden);
        let y = self.output.of(&states);
        if run.is_training() {
            let saved = [x.with_last(gates, 4 * hidden), x.with_last(memories, hidden)];
            run.save(x);
            run.save(states);
            saved.into_iter().for_each(|batch| run.save(batch));
        }
        Ok(y)
    }

    fn backward(&self, dy: Batch, back: &mut Back<'_>) -> Batch {
        let [memories, gates, states, x] = std::array::from_fn(|_| back.saved());
        let (length, hidden, count) = (x.dims()[0], self.hidden, x.count());
        let slopes = self.output.back(&dy, &states);
        let mut to_sums = vec![0.0; gates.values().len()];
        let [mut to_state, mut to_memory] = [(); 2].map(|()| vec![0.0; count * hidden]);
        let nothing = vec![0.0; count * hidden];
        for at in (0..length).rev() {
            to_state.iter_mut().zip(place(&slopes, length, hidden, at)).for_each(|(sum, slope)| *sum += slope);
            let open = place(gates.values(), length, 4 * hidden, at);
            let memory = place(memories.values(), length, hidden, at);
            let [memory_before, state_before] = [&memories, &states].map(|all| match at.checked_sub(1) {
                Some(before) => place(all.values(), length, hidden, before),
                None => nothing.clone(),
            });
            let mut to_sum = vec![0.0; count * 4 * hidden];
            for sample in (0..count).filter(|sample| seen(&x, *sample, at)) {
                for i in 0..hidden {
                    let here = sample * hidden + i;
                    let open = Gates::read(&open[sample * 4 * hidden..], hidden, i);
                    let tanh = memory[here].tanh();
                    let to_cell = to_memory[here] + to_state[here] * open.output * (1.0 - tanh * tanh);
                    let sums = Gates {
                        input: to_cell * open.cell * open.input * (1.0 - open.input),
                        forget: to_cell * memory_before[here] * open.forget * (1.0 - open.forget),
                        cell: to_cell * open.input * (1.0 - open.cell * open.cell),
                        output: to_state[here] * tanh * open.output * (1.0 - open.output),
                    };
                    sums.write(&mut to_sum[sample * 4 * hidden..], hidden, i);
                    (to_memory[here], to_state[here]) = (to_cell * open.forget, 0.0);
                }
            }
            let through = back.product(self.state, &state_before, &to_sum);
            to_state.iter_mut().zip(through).for_each(|(sum, more)| *sum += more);
            put(&mut to_sums, length, 4 * hidden, at, &to_sum);
        }
        add_up_rows(&to_sums, back.gradient(self.bias));
        let dx = back.product(self.input, x.values(), &to_sums);
        x.with_last(dx, self.inputs)
    }
}
