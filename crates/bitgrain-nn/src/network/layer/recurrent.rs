//! `Recurrent`: common part of the layers that carry a state along a sequence.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::linear::{add_to_rows, sum_rows};
use super::sequence::{SequenceOutput, place, put, seen, state_shape};
use crate::network::parameter::Init;
use crate::network::site::{Id, Site};
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// One element of a recurrent layer at one position. It carries `CARRIED` values from position to position; the first
/// is the state, which is the output and enters the sums of the next position.
pub(super) trait Cell<const GATES: usize, const CARRIED: usize>: Debug + Send + Sync + 'static {
    /// Maps the pre-activations of the gates and the carried values to the activations of the gates and the new carried
    /// values.
    fn forward(sums: [f32; GATES], before: [f32; CARRIED]) -> ([f32; GATES], [f32; CARRIED]);

    /// Returns the gradients of the pre-activations and of the previous carried values, given those of the new ones.
    fn backward(
        open: [f32; GATES],
        before: [f32; CARRIED],
        after: [f32; CARRIED],
        slopes: [f32; CARRIED],
    ) -> ([f32; GATES], [f32; CARRIED]);
}

/// A recurrent layer of these cells. The rows of its matrices are grouped by gate. Masked-out positions leave the
/// carried values unchanged.
#[derive(Debug)]
pub(super) struct Recurrent<C, const GATES: usize, const CARRIED: usize> {
    input: Id,
    state: Id,
    bias: Id,
    inputs: usize,
    hidden: usize,
    output: SequenceOutput,
    cell: PhantomData<C>,
}

impl<C: Cell<GATES, CARRIED>, const GATES: usize, const CARRIED: usize> Recurrent<C, GATES, CARRIED> {
    pub(super) fn build(
        site: &mut Site<'_>,
        hidden: usize,
        output: SequenceOutput,
    ) -> Result<Box<dyn Step>, NetworkError> {
        let (inputs, hidden) = (site.sequence()?, site.positive("hidden", hidden)?);
        let gates = hidden.checked_mul(GATES).ok_or_else(|| site.setting("hidden", hidden))?;
        let input = site.matrix("weight", gates, inputs, Init::glorot(inputs, hidden))?;
        let state = site.matrix("state.weight", gates, hidden, Init::glorot(hidden, hidden))?;
        let bias = site.vector("bias", gates, Init::Constant(0.0))?;
        site.shape = state_shape(&site.shape, hidden, output);
        Ok(Box::new(Self { input, state, bias, inputs, hidden, output, cell: PhantomData }))
    }

    /// Extracts the states from the carried values.
    fn states(&self, carried: &[f32]) -> Vec<f32> {
        place(carried, CARRIED, self.hidden, 0)
    }

    /// Adds to the states within the carried values.
    fn add(&self, carried: &mut [f32], more: &[f32]) {
        for (row, more) in carried.chunks_exact_mut(CARRIED * self.hidden).zip(more.chunks_exact(self.hidden)) {
            row.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
    }
}

impl<C: Cell<GATES, CARRIED>, const GATES: usize, const CARRIED: usize> Step for Recurrent<C, GATES, CARRIED> {
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let (length, hidden) = (x.dims()[0], self.hidden);
        let (wide, far) = (GATES * hidden, CARRIED * hidden);
        // The input products do not depend on the state: compute them for all positions at once.
        let mut gates = run.product(self.input, x.values())?;
        add_to_rows(&run.values(self.bias)?, &mut gates);
        let mut carried = vec![0.0; x.count() * far];
        let mut all = vec![0.0; length * carried.len()];
        for at in 0..length {
            let mut now = place(&gates, length, wide, at);
            let more = run.product(self.state, &self.states(&carried))?;
            now.iter_mut().zip(more).for_each(|(now, more)| *now += more);
            let rows = now.chunks_exact_mut(wide).zip(carried.chunks_exact_mut(far)).enumerate();
            for (_, (row, carried)) in rows.filter(|(sample, _)| seen(&x, *sample, at)) {
                for i in 0..hidden {
                    let (open, next) = C::forward(read(row, hidden, i), read(carried, hidden, i));
                    write(row, hidden, i, open);
                    write(carried, hidden, i, next);
                }
            }
            put(&mut gates, length, wide, at, &now);
            put(&mut all, length, far, at, &carried);
        }
        let y = self.output.of(&x.with_last(self.states(&all), hidden));
        if run.is_training() {
            let saved = [x.with_last(gates, wide), x.with_last(all, far)];
            run.save(x);
            saved.into_iter().for_each(|batch| run.save(batch));
        }
        Ok(y)
    }

    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        // Popped in the reverse order of saving.
        let [all, gates, x] = std::array::from_fn(|_| back.saved());
        let (length, hidden) = (x.dims()[0], self.hidden);
        let (wide, far) = (GATES * hidden, CARRIED * hidden);
        let slopes = self.output.back(&dy, length);
        let mut to_sums = vec![0.0; gates.values().len()];
        let mut to_carried = vec![0.0; x.count() * far];
        for at in (0..length).rev() {
            self.add(&mut to_carried, &place(&slopes, length, hidden, at));
            let (open, after) = (place(gates.values(), length, wide, at), place(all.values(), length, far, at));
            let before = match at.checked_sub(1) {
                Some(before) => place(all.values(), length, far, before),
                None => vec![0.0; to_carried.len()],
            };
            let mut to_sum = vec![0.0; x.count() * wide];
            for sample in (0..x.count()).filter(|sample| seen(&x, *sample, at)) {
                let (gates, carried) = (sample * wide, sample * far);
                for i in 0..hidden {
                    let (sums, slopes) = C::backward(
                        read(&open[gates..], hidden, i),
                        read(&before[carried..], hidden, i),
                        read(&after[carried..], hidden, i),
                        read(&to_carried[carried..], hidden, i),
                    );
                    write(&mut to_sum[gates..], hidden, i, sums);
                    write(&mut to_carried[carried..], hidden, i, slopes);
                }
            }
            let through = back.product(self.state, &self.states(&before), &to_sum);
            self.add(&mut to_carried, &through);
            put(&mut to_sums, length, wide, at, &to_sum);
        }
        sum_rows(&to_sums, back.gradient(self.bias));
        let dx = back.product(self.input, x.values(), &to_sums);
        x.with_last(dx, self.inputs)
    }
}

/// Reads the values of element `i`: one from each of the row's `N` groups.
fn read<const N: usize>(row: &[f32], hidden: usize, i: usize) -> [f32; N] {
    std::array::from_fn(|part| row[part * hidden + i])
}

fn write<const N: usize>(row: &mut [f32], hidden: usize, i: usize, values: [f32; N]) {
    values.into_iter().enumerate().for_each(|(part, value)| row[part * hidden + i] = value);
}
