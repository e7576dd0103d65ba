//! `Parameter`: weights of a layer under a name, and the format they are used in.

use bitgrain_codec::weight::{DType, WeightFormat};

use super::NetworkError;
use super::random::Random;
use crate::network::weights::{Active, WeightStore, WeightsError};

/// Weights of a layer: a matrix, or a vector as a single row.
#[derive(Debug, Clone)]
pub struct Parameter {
    name: String,
    vector: bool,
    format: WeightFormat,
    store: WeightStore,
}

impl Parameter {
    pub(crate) fn new(spec: &ParameterSpec, store: WeightStore, format: WeightFormat) -> Self {
        Self { name: spec.name.clone(), vector: spec.vector, format, store }
    }

    /// Its name: where its layer is, and what it is there: `2.query.weight`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a vector: a bias, or the factors of a norm.
    #[must_use]
    pub const fn is_vector(&self) -> bool {
        self.vector
    }

    /// The format that a forward pass reads it in; float32 is the master.
    #[must_use]
    pub const fn format(&self) -> WeightFormat {
        self.format
    }

    /// Its weights.
    #[must_use]
    pub const fn store(&self) -> &WeightStore {
        &self.store
    }

    pub(crate) fn store_mut(&mut self) -> &mut WeightStore {
        &mut self.store
    }

    /// What a forward pass reads, made if need be.
    ///
    /// # Errors
    /// [`NetworkError::Codec`], [`NetworkError::Overflow`].
    pub fn active(&self) -> Result<Active<'_>, NetworkError> {
        self.store.fresh(self.format).map_err(|error| self.error(error))
    }

    /// The weights that a forward pass sees, as f32.
    ///
    /// # Errors
    /// As [`active`](Self::active).
    pub fn values(&self) -> Result<Vec<f32>, NetworkError> {
        self.store.morph_to_f32(self.format).map_err(|error| self.error(error))
    }

    /// Chooses the format to be used.
    pub(crate) fn set_format(&mut self, format: WeightFormat) {
        self.format = format;
    }

    pub(crate) fn error(&self, error: WeightsError) -> NetworkError {
        NetworkError::store(&self.name)(error)
    }
}

/// A parameter before it has weights.
#[derive(Debug, Clone)]
pub(crate) struct ParameterSpec {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) vector: bool,
    pub(crate) init: Init,
}

/// What weights are before training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Init {
    /// All the same.
    Constant(f32),
    /// Normally distributed, with this deviation.
    Normal(f32),
}

impl Init {
    /// The deviation that keeps the size of what flows forward and back (Glorot and Bengio 2010).
    #[expect(clippy::cast_precision_loss, reason = "a deviation")]
    pub(crate) fn glorot(inputs: usize, outputs: usize) -> Self {
        Self::Normal((2.0 / (inputs as f32 + outputs as f32)).sqrt())
    }
}

impl ParameterSpec {
    /// Weights to begin with, the same for a seed and a place among the parameters.
    pub(crate) fn start(&self, seed: u64, index: usize) -> Result<Parameter, NetworkError> {
        let count = self.rows * self.cols;
        let master = match self.init {
            Init::Constant(value) => vec![value; count],
            Init::Normal(deviation) => {
                let mut random = Random::new(seed, index as u64 + 1);
                (0..count).map(|_| deviation * random.normal()).collect()
            }
        };
        self.filled(master)
    }

    /// The parameter with these weights.
    pub(crate) fn filled(&self, master: Vec<f32>) -> Result<Parameter, NetworkError> {
        let (wanted, found) = (self.rows * self.cols, master.len());
        if wanted != found {
            return Err(NetworkError::Count { parameter: self.name.clone(), wanted, found });
        }
        let store = WeightStore::new(master, self.cols).map_err(NetworkError::store(&self.name))?;
        Ok(Parameter::new(self, store, DType::Float32.into()))
    }
}
