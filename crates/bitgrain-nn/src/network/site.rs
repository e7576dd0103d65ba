//! `Site`: context in which a layer is built, with the input shape and the parameters so far.

use super::parameter::{Init, ParameterSpec};
use super::{NetworkError, Shape};

/// Index of a parameter in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id(pub(crate) usize);

/// Context in which a layer is built.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    /// Indices of the enclosing layers and of this one, separated by dots.
    path: String,
    kind: &'static str,
    /// Input shape of the layer, which the layer replaces by its output shape.
    pub(crate) shape: Shape,
    parameters: &'a mut Vec<ParameterSpec>,
}

impl<'a> Site<'a> {
    pub(crate) fn new(shape: Shape, parameters: &'a mut Vec<ParameterSpec>) -> Self {
        Self { path: String::new(), kind: "network", shape, parameters }
    }

    /// Returns the site of inner layer `index`.
    pub(crate) fn inner(&mut self, index: usize, kind: &'static str) -> Site<'_> {
        let path = if self.path.is_empty() { index.to_string() } else { format!("{}.{index}", self.path) };
        Site { path, kind, shape: self.shape.clone(), parameters: self.parameters }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Adds a weight matrix.
    pub(crate) fn matrix(&mut self, part: &str, rows: usize, cols: usize, init: Init) -> Result<Id, NetworkError> {
        self.parameter(part, rows, cols, false, init)
    }

    /// Adds a weight vector.
    pub(crate) fn vector(&mut self, part: &str, len: usize, init: Init) -> Result<Id, NetworkError> {
        self.parameter(part, 1, len, true, init)
    }

    fn parameter(
        &mut self,
        part: &str,
        rows: usize,
        cols: usize,
        vector: bool,
        init: Init,
    ) -> Result<Id, NetworkError> {
        let name = format!("{}.{part}", self.path);
        let most = usize::MAX / 32;
        if rows.checked_mul(cols).is_none_or(|count| count > most) {
            return Err(NetworkError::TooLarge { parameter: name, rows, cols });
        }
        self.parameters.push(ParameterSpec { name, rows, cols, vector, init });
        Ok(Id(self.parameters.len() - 1))
    }

    /// Creates the error for an input shape that the layer does not accept.
    pub(crate) fn shape_error(&self, wanted: &'static str) -> NetworkError {
        NetworkError::Shape { layer: self.path.clone(), kind: self.kind, wanted, found: self.shape.clone() }
    }

    /// Creates the error for an invalid setting.
    pub(crate) fn setting(&self, what: &'static str, value: impl ToString) -> NetworkError {
        NetworkError::Setting { layer: self.path.clone(), kind: self.kind, what, value: value.to_string() }
    }

    /// Returns `value`, or an error if it is 0.
    pub(crate) fn positive(&self, what: &'static str, value: usize) -> Result<usize, NetworkError> {
        if value > 0 { Ok(value) } else { Err(self.setting(what, value)) }
    }

    /// Returns the last dimension of the input, which must be fixed.
    pub(crate) fn last(&self) -> Result<usize, NetworkError> {
        self.shape.last().ok_or_else(|| self.shape_error("a fixed last dimension"))
    }

    /// Returns the vector length of an input that must be a sequence of vectors.
    pub(crate) fn sequence(&self) -> Result<usize, NetworkError> {
        match self.shape.dims() {
            [_, Some(len)] => Ok(*len),
            _ => Err(self.shape_error("sequences of vectors")),
        }
    }
}
