//! `Site`: where layers are built: the shape that comes, and the parameters so far.

use super::parameter::{Init, ParameterSpec};
use super::{NetworkError, Shape};

/// A parameter, by its index among those of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id(pub(crate) usize);

/// Where a layer is built.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    /// Indices of this layer and of those it is in.
    path: String,
    kind: &'static str,
    /// What comes; the layer puts in its place what goes.
    pub(crate) shape: Shape,
    parameters: &'a mut Vec<ParameterSpec>,
}

impl<'a> Site<'a> {
    pub(crate) fn new(shape: Shape, parameters: &'a mut Vec<ParameterSpec>) -> Self {
        Self { path: String::new(), kind: "network", shape, parameters }
    }

    /// The site of the layer number `index` in this one.
    pub(crate) fn inner(&mut self, index: usize, kind: &'static str) -> Site<'_> {
        let path = if self.path.is_empty() { index.to_string() } else { format!("{}.{index}", self.path) };
        Site { path, kind, shape: self.shape.clone(), parameters: self.parameters }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A matrix of weights.
    pub(crate) fn matrix(&mut self, part: &str, rows: usize, cols: usize, init: Init) -> Result<Id, NetworkError> {
        self.parameter(part, rows, cols, false, init)
    }

    /// A vector of weights.
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

    /// That the layer cannot take what comes.
    pub(crate) fn refuse(&self, wanted: &'static str) -> NetworkError {
        NetworkError::Shape { layer: self.path.clone(), kind: self.kind, wanted, found: self.shape.clone() }
    }

    /// That the layer cannot have a setting.
    pub(crate) fn setting(&self, what: &'static str, value: impl ToString) -> NetworkError {
        NetworkError::Setting { layer: self.path.clone(), kind: self.kind, what, value: value.to_string() }
    }

    /// A number that must not be 0.
    pub(crate) fn positive(&self, what: &'static str, value: usize) -> Result<usize, NetworkError> {
        if value > 0 { Ok(value) } else { Err(self.setting(what, value)) }
    }

    /// The last dimension of what comes, which must be fixed.
    pub(crate) fn last(&self) -> Result<usize, NetworkError> {
        self.shape.last().ok_or_else(|| self.refuse("a last dimension that is fixed"))
    }

    /// The vectors of a sequence: their length.
    pub(crate) fn sequence(&self) -> Result<usize, NetworkError> {
        match self.shape.dims() {
            [_, Some(len)] => Ok(*len),
            _ => Err(self.refuse("sequences of vectors")),
        }
    }
}
