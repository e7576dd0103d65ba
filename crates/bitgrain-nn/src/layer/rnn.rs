//! `Rnn`: a state that every place of a sequence changes (Elman 1990).

use serde::{Deserialize, Serialize};

use super::linear::{add_to_rows, add_up_rows};
use super::sequence::{Output, place, put, seen, state_shape};
use crate::network::parameter::Init;
use crate::network::site::{Id, Site};
use crate::network::step::{Back, Run, Step};
use crate::network::{Batch, NetworkError};

/// `h = tanh(W x + U h' + b)`, place after place. Masked places leave the state as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rnn {
    /// Numbers of the state.
    pub hidden: usize,
    /// What comes out.
    pub output: Output,
}

impl Rnn {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        let (inputs, hidden) = (site.sequence()?, site.positive("hidden", self.hidden)?);
        let input = site.matrix("weight", hidden, inputs, Init::glorot(inputs, hidden))?;
        let state = site.matrix("state.weight", hidden, hidden, Init::glorot(hidden, hidden))?;
        let bias = site.vector("bias", hidden, Init::Constant(0.0))?;
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

impl Step for Built {
    fn forward(&self, x: Batch, run: &mut Run<'_>) -> Result<Batch, NetworkError> {
        let (length, hidden) = (x.dims()[0], self.hidden);
        let mut states = run.product(self.input, x.values())?;
        add_to_rows(&run.values(self.bias)?, &mut states);
        let mut last = vec![0.0; x.count() * hidden];
        for at in 0..length {
            let mut next = place(&states, length, hidden, at);
            let more = run.product(self.state, &last)?;
            next.iter_mut().zip(more).for_each(|(next, more)| *next = (*next + more).tanh());
            for (sample, (next, last)) in next.chunks_exact(hidden).zip(last.chunks_exact_mut(hidden)).enumerate() {
                if seen(&x, sample, at) {
                    last.copy_from_slice(next);
                }
            }
            put(&mut states, length, hidden, at, &last);
        }
        let states = x.with_last(states, hidden);
        let y = self.output.of(&states);
        run.save(x);
        run.save(states);
        Ok(y)
    }

    fn backward(&self, dy: Batch, back: &mut Back<'_>) -> Batch {
        let (states, x) = (back.saved(), back.saved());
        let (length, hidden) = (x.dims()[0], self.hidden);
        let slopes = self.output.back(&dy, &states);
        let mut to_sums = vec![0.0; slopes.len()];
        let mut carried = vec![0.0; x.count() * hidden];
        for at in (0..length).rev() {
            let state = place(states.values(), length, hidden, at);
            carried.iter_mut().zip(place(&slopes, length, hidden, at)).for_each(|(sum, slope)| *sum += slope);
            let mut to_sum = vec![0.0; carried.len()];
            let rows =
                to_sum.chunks_exact_mut(hidden).zip(carried.chunks_exact_mut(hidden)).zip(state.chunks_exact(hidden));
            for (_, ((to_sum, carried), state)) in rows.enumerate().filter(|(sample, _)| seen(&x, *sample, at)) {
                for ((to_sum, carried), state) in to_sum.iter_mut().zip(carried).zip(state) {
                    *to_sum = *carried * (1.0 - state * state);
                    *carried = 0.0;
                }
            }
            let before = if at > 0 { place(states.values(), length, hidden, at - 1) } else { vec![0.0; carried.len()] };
            let through = back.product(self.state, &before, &to_sum);
            carried.iter_mut().zip(through).for_each(|(sum, more)| *sum += more);
            put(&mut to_sums, length, hidden, at, &to_sum);
        }
        add_up_rows(&to_sums, back.gradient(self.bias));
        let dx = back.product(self.input, x.values(), &to_sums);
        x.with_last(dx, self.inputs)
    }
}
