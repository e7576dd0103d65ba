//! `Step`: a built layer; `Run` and `Back` are the forward and the backward pass.

use std::borrow::Cow;
use std::fmt::Debug;

use super::site::Id;
use super::{InputBatch, NetworkError, Parameter};
use crate::network::matmul;
use crate::network::weights::Active;

/// A built layer. Building checked the fixed dimensions; the passes check what each batch chooses.
pub(crate) trait Step: Debug + Send + Sync {
    /// Computes the output. In training, also saves what [`backward`](Step::backward) needs.
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError>;

    /// Maps gradients of the output to gradients of the input, and accumulates gradients of the parameters.
    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch;
}

/// Callback for the input rows of each matrix.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(Id, &[f32]);

/// A forward pass.
pub(crate) struct Run<'a> {
    parameters: &'a [Parameter],
    /// Values saved for the backward pass. `None` for inference, which reads parameters in their active formats.
    tape: Option<Vec<InputBatch>>,
    watch: Option<Watch<'a>>,
}

impl<'a> Run<'a> {
    /// Creates a pass for inference.
    pub(crate) fn new(parameters: &'a [Parameter]) -> Self {
        Self { parameters, tape: None, watch: None }
    }

    /// Creates a pass for inference with a callback.
    pub(crate) fn watched(parameters: &'a [Parameter], watch: Watch<'a>) -> Self {
        Self { parameters, tape: None, watch: Some(watch) }
    }

    /// Creates a pass for training, which reads the master weights.
    pub(crate) fn training(parameters: &'a [Parameter]) -> Self {
        Self { parameters, tape: Some(Vec::new()), watch: None }
    }

    /// Starts the backward pass.
    pub(crate) fn back(self) -> Back<'a> {
        let gradients = self.parameters.iter().map(|parameter| vec![0.0; parameter.store().len()]).collect();
        Back { parameters: self.parameters, tape: self.tape.unwrap_or_default(), gradients }
    }

    pub(crate) fn is_training(&self) -> bool {
        self.tape.is_some()
    }

    /// Saves values for the backward pass, if this is a training pass.
    pub(crate) fn save(&mut self, batch: InputBatch) {
        if let Some(tape) = &mut self.tape {
            tape.push(batch);
        }
    }

    fn active(&self, id: Id) -> Result<Active<'a>, NetworkError> {
        let parameter = &self.parameters[id.0];
        if self.is_training() { Ok(Active::Master(parameter.store().master())) } else { parameter.active() }
    }

    /// Computes `x · weightsᵀ`, on the codes if the weights are quantized.
    pub(crate) fn product(&mut self, id: Id, x: &[f32]) -> Result<Vec<f32>, NetworkError> {
        if let Some(watch) = &mut self.watch {
            watch(id, x);
        }
        let parameter = &self.parameters[id.0];
        let (rows, cols) = parameter.store().shape();
        let mut out = vec![0.0; x.len() / cols * rows];
        match self.active(id)? {
            Active::Master(weights) => matmul::rows_by_rows(x, weights, cols, &mut out),
            Active::Version(version) => {
                let clamped = parameter.input_range().map(|(lo, hi)| clamped(x, lo, hi));
                let x = clamped.as_deref().unwrap_or(x);
                version.multiply(x, &mut out).map_err(|error| parameter.error(error))?;
            }
        }
        Ok(out)
    }

    /// Decodes one row of the weights.
    pub(crate) fn row(&self, active: &Active<'_>, id: Id, row: usize, out: &mut [f32]) -> Result<(), NetworkError> {
        match active {
            Active::Master(weights) => out.copy_from_slice(&weights[row * out.len()..][..out.len()]),
            Active::Version(version) => {
                version.row_into(row, out).map_err(|error| self.parameters[id.0].error(error))?;
            }
        }
        Ok(())
    }

    /// Returns the weights to read rows from.
    pub(crate) fn rows(&self, id: Id) -> Result<Active<'a>, NetworkError> {
        self.active(id)
    }

    /// Returns all active weights as f32.
    pub(crate) fn values(&self, id: Id) -> Result<Cow<'a, [f32]>, NetworkError> {
        match self.active(id)? {
            Active::Master(weights) => Ok(Cow::Borrowed(weights)),
            Active::Version(_) => self.parameters[id.0].values().map(Cow::Owned),
        }
    }
}

/// Clamps activations; NaN stays, so that products reject it, and so do infinities.
fn clamped(x: &[f32], lo: f32, hi: f32) -> Vec<f32> {
    x.iter().map(|&x| if x.is_finite() { x.clamp(lo, hi) } else { x }).collect()
}

/// A backward pass, after a forward pass for training.
pub(crate) struct Back<'a> {
    parameters: &'a [Parameter],
    tape: Vec<InputBatch>,
    gradients: Vec<Vec<f32>>,
}

impl<'a> Back<'a> {
    /// Returns the values that the forward pass saved last. Layers run in reverse, so the tape is a stack.
    pub(crate) fn saved(&mut self) -> InputBatch {
        self.tape.pop().expect("each layer pops as many batches as it saved")
    }

    /// Returns the master weights.
    pub(crate) fn values(&self, id: Id) -> &'a [f32] {
        self.parameters[id.0].store().master()
    }

    /// Returns the gradients of the weights so far.
    pub(crate) fn gradient(&mut self, id: Id) -> &mut [f32] {
        &mut self.gradients[id.0]
    }

    /// Reverses [`Run::product`]: maps gradients of the output to gradients of `x`, and accumulates those of the
    /// weights.
    pub(crate) fn product(&mut self, id: Id, x: &[f32], dy: &[f32]) -> Vec<f32> {
        let (rows, cols) = self.parameters[id.0].store().shape();
        matmul::columns_by_columns(dy, x, rows, cols, &mut self.gradients[id.0]);
        let mut dx = vec![0.0; x.len()];
        matmul::rows_by_columns(dy, self.values(id), cols, &mut dx);
        dx
    }

    /// Returns the gradients of all parameters, in order.
    pub(crate) fn into_gradients(self) -> Vec<Vec<f32>> {
        self.gradients
    }
}
