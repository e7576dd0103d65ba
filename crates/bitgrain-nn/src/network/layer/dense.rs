//! `Dense`: a fully connected layer over the last dimension.

use serde::{Deserialize, Serialize};

use super::linear::Linear;
use crate::network::site::Site;
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// Fully connected layer: `y = W x + b` over the last dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dense {
    /// Number of outputs.
    pub outputs: usize,
    /// Whether each output has a bias.
    pub bias: bool,
}

impl Dense {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        let (inputs, outputs) = (site.last()?, site.positive("outputs", self.outputs)?);
        let linear = Linear::new(site, "", inputs, outputs, self.bias)?;
        site.shape = site.shape.with_last(outputs);
        Ok(Box::new(Built { linear, inputs, outputs }))
    }
}

#[derive(Debug)]
struct Built {
    linear: Linear,
    inputs: usize,
    outputs: usize,
}

impl Step for Built {
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let y = x.with_last(self.linear.forward(x.values(), run)?, self.outputs);
        run.save(x);
        Ok(y)
    }

    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let x = back.saved();
        dy.with_last(self.linear.backward(x.values(), dy.values(), back), self.inputs)
    }
}
