//! `Step`: a layer that was built, forward and back; `Run` and `Back` are the two passes.

use std::borrow::Cow;
use std::fmt::Debug;

use super::site::Id;
use super::{InputBatch, NetworkError, Parameter};
use crate::network::matmul;
use crate::network::weights::Active;

/// A layer that was built. Shapes were checked then; what each batch chooses freely is checked here.
pub(crate) trait Step: Debug + Send + Sync {
    /// Forward. In training it saves what [`backward`](Step::backward) needs.
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError>;

    /// From the gradients of what went out to those of what came in; adds up those of the parameters.
    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch;
}

/// Who watches what goes into the matrices: the parameter, and rows of its columns.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(Id, &[f32]);

/// A forward pass.
pub(crate) struct Run<'a> {
    parameters: &'a [Parameter],
    /// What the way back needs; `None` if there is none, and then parameters are used in their formats.
    tape: Option<Vec<InputBatch>>,
    watch: Option<Watch<'a>>,
}

impl<'a> Run<'a> {
    /// To see what comes out.
    pub(crate) fn new(parameters: &'a [Parameter]) -> Self {
        Self { parameters, tape: None, watch: None }
    }

    /// With somebody who watches.
    pub(crate) fn watched(parameters: &'a [Parameter], watch: Watch<'a>) -> Self {
        Self { parameters, tape: None, watch: Some(watch) }
    }

    /// To train: on the masters.
    pub(crate) fn training(parameters: &'a [Parameter]) -> Self {
        Self { parameters, tape: Some(Vec::new()), watch: None }
    }

    /// The way back.
    pub(crate) fn back(self) -> Back<'a> {
        let gradients = self.parameters.iter().map(|parameter| vec![0.0; parameter.store().len()]).collect();
        Back { parameters: self.parameters, tape: self.tape.unwrap_or_default(), gradients }
    }

    pub(crate) fn is_training(&self) -> bool {
        self.tape.is_some()
    }

    /// Keeps something for the way back.
    pub(crate) fn save(&mut self, batch: InputBatch) {
        if let Some(tape) = &mut self.tape {
            tape.push(batch);
        }
    }

    fn active(&self, id: Id) -> Result<Active<'a>, NetworkError> {
        let parameter = &self.parameters[id.0];
        if self.is_training() { Ok(Active::Master(parameter.store().master())) } else { parameter.active() }
    }

    /// `x · weightsᵀ`, on the codes where there are any.
    pub(crate) fn product(&mut self, id: Id, x: &[f32]) -> Result<Vec<f32>, NetworkError> {
        if let Some(watch) = &mut self.watch {
            watch(id, x);
        }
        let parameter = &self.parameters[id.0];
        let (rows, cols) = parameter.store().shape();
        let mut out = vec![0.0; x.len() / cols * rows];
        match self.active(id)? {
            Active::Master(weights) => matmul::rows_by_rows(x, weights, cols, &mut out),
            Active::Version(version) => version.multiply(x, &mut out).map_err(|error| parameter.error(error))?,
        }
        Ok(out)
    }

    /// One row of the weights.
    pub(crate) fn row(&self, active: &Active<'_>, id: Id, row: usize, out: &mut [f32]) -> Result<(), NetworkError> {
        match active {
            Active::Master(weights) => out.copy_from_slice(&weights[row * out.len()..][..out.len()]),
            Active::Version(version) => {
                version.row_into(row, out).map_err(|error| self.parameters[id.0].error(error))?;
            }
        }
        Ok(())
    }

    /// What to read rows from.
    pub(crate) fn rows(&self, id: Id) -> Result<Active<'a>, NetworkError> {
        self.active(id)
    }

    /// All weights, as the codes stand for them.
    pub(crate) fn values(&self, id: Id) -> Result<Cow<'a, [f32]>, NetworkError> {
        match self.active(id)? {
            Active::Master(weights) => Ok(Cow::Borrowed(weights)),
            Active::Version(_) => self.parameters[id.0].values().map(Cow::Owned),
        }
    }
}

/// A pass back, after a forward pass that was to train.
pub(crate) struct Back<'a> {
    parameters: &'a [Parameter],
    tape: Vec<InputBatch>,
    gradients: Vec<Vec<f32>>,
}

impl<'a> Back<'a> {
    /// What the forward pass saved last.
    pub(crate) fn saved(&mut self) -> InputBatch {
        self.tape.pop().expect("every layer takes back as much as it saved")
    }

    /// The weights.
    pub(crate) fn values(&self, id: Id) -> &'a [f32] {
        self.parameters[id.0].store().master()
    }

    /// Gradients of the weights so far.
    pub(crate) fn gradient(&mut self, id: Id) -> &mut [f32] {
        &mut self.gradients[id.0]
    }

    /// The way back through [`Run::product`]: from gradients of what came out to those of `x`.
    pub(crate) fn product(&mut self, id: Id, x: &[f32], dy: &[f32]) -> Vec<f32> {
        let (rows, cols) = self.parameters[id.0].store().shape();
        matmul::columns_by_columns(dy, x, rows, cols, &mut self.gradients[id.0]);
        let mut dx = vec![0.0; x.len()];
        matmul::rows_by_columns(dy, self.values(id), cols, &mut dx);
        dx
    }

    /// Gradients of all parameters, in their order.
    pub(crate) fn into_gradients(self) -> Vec<Vec<f32>> {
        self.gradients
    }
}
