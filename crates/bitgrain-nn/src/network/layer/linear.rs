//! `Linear`: a matrix with an optional bias, the building block of several layers.

use crate::network::NetworkError;
use crate::network::parameter::Init;
use crate::network::site::{Id, Site};
use crate::network::step::{Back, Run};

/// A linear map from rows of inputs to rows of outputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Linear {
    weight: Id,
    bias: Option<Id>,
}

impl Linear {
    /// Adds the parameters `{part}weight` and, with `bias`, `{part}bias`.
    pub(crate) fn new(
        site: &mut Site<'_>,
        part: &str,
        inputs: usize,
        outputs: usize,
        bias: bool,
    ) -> Result<Self, NetworkError> {
        let weight = site.matrix(&format!("{part}weight"), outputs, inputs, Init::glorot(inputs, outputs))?;
        let bias = if bias { Some(site.vector(&format!("{part}bias"), outputs, Init::Constant(0.0))?) } else { None };
        Ok(Self { weight, bias })
    }

    pub(crate) fn forward(self, x: &[f32], run: &mut Run<'_>) -> Result<Vec<f32>, NetworkError> {
        let mut y = run.product(self.weight, x)?;
        if let Some(bias) = self.bias {
            add_to_rows(&run.values(bias)?, &mut y);
        }
        Ok(y)
    }

    pub(crate) fn backward(self, x: &[f32], dy: &[f32], back: &mut Back<'_>) -> Vec<f32> {
        if let Some(bias) = self.bias {
            sum_rows(dy, back.gradient(bias));
        }
        back.product(self.weight, x, dy)
    }
}

/// Adds a vector to each row.
pub(crate) fn add_to_rows(vector: &[f32], rows: &mut [f32]) {
    for row in rows.chunks_exact_mut(vector.len()) {
        row.iter_mut().zip(vector).for_each(|(out, x)| *out += x);
    }
}

/// Adds all rows to a vector.
pub(crate) fn sum_rows(rows: &[f32], sums: &mut [f32]) {
    for row in rows.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
}
