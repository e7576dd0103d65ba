//! `SwiGlu`: the gated feed-forward block of Llama (Shazeer 2020).

use serde::{Deserialize, Serialize};

use super::activation::ActivationFunction;
use super::linear::Linear;
use crate::network::site::Site;
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// Computes `down(silu(gate(x)) · up(x))` over the last dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwiGlu {
    /// Length of the hidden vector: rows of `gate` and `up`.
    pub hidden: usize,
}

impl SwiGlu {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        let (len, hidden) = (site.last()?, site.positive("hidden", self.hidden)?);
        let gate = Linear::new(site, "gate.", len, hidden, false)?;
        let up = Linear::new(site, "up.", len, hidden, false)?;
        let down = Linear::new(site, "down.", hidden, len, false)?;
        Ok(Box::new(Built { gate, up, down, len, hidden }))
    }
}

#[derive(Debug)]
struct Built {
    gate: Linear,
    up: Linear,
    down: Linear,
    len: usize,
    hidden: usize,
}

fn gated(gate: &[f32], up: &[f32]) -> Vec<f32> {
    gate.iter().zip(up).map(|(gate, up)| ActivationFunction::Silu.value(*gate) * up).collect()
}

impl Step for Built {
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let gate = self.gate.forward(x.values(), run)?;
        let up = self.up.forward(x.values(), run)?;
        let y = x.with_values(self.down.forward(&gated(&gate, &up), run)?);
        if run.is_training() {
            let between = [gate, up].map(|values| x.with_last(values, self.hidden));
            run.save(x);
            between.into_iter().for_each(|batch| run.save(batch));
        }
        Ok(y)
    }

    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let (up, gate, x) = (back.saved(), back.saved(), back.saved());
        let (up, gate) = (up.values(), gate.values());
        let slopes = self.down.backward(&gated(gate, up), dy.values(), back);
        let each = |f: fn(f32, f32, f32) -> f32| -> Vec<f32> {
            slopes.iter().zip(gate).zip(up).map(|((slope, gate), up)| f(*slope, *gate, *up)).collect()
        };
        let to_gate = each(|slope, gate, up| slope * up * ActivationFunction::Silu.derivative(gate));
        let to_up = each(|slope, gate, _| slope * ActivationFunction::Silu.value(gate));
        let mut dx = self.gate.backward(x.values(), &to_gate, back);
        let more = self.up.backward(x.values(), &to_up, back);
        dx.iter_mut().zip(more).for_each(|(dx, more)| *dx += more);
        dy.with_last(dx, self.len)
    }
}
