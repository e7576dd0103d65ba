//! `Parameter`: named weights of a layer and their active format.

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
    /// Range that inputs are clamped to before they are multiplied with codes.
    input_range: Option<(f32, f32)>,
}

impl Parameter {
    pub(crate) fn new(spec: &ParameterSpec, store: WeightStore, format: WeightFormat) -> Self {
        Self { name: spec.name.clone(), vector: spec.vector, format, store, input_range: None }
    }

    /// Returns the name: the path of the layer and the role of the parameter, such as `2.query.weight`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the parameter is a vector: a bias, or the scale factors of a norm.
    #[must_use]
    pub const fn is_vector(&self) -> bool {
        self.vector
    }

    /// Returns the format that a forward pass reads; float32 reads the master weights.
    #[must_use]
    pub const fn format(&self) -> WeightFormat {
        self.format
    }

    /// Returns the weights in all formats.
    #[must_use]
    pub const fn store(&self) -> &WeightStore {
        &self.store
    }

    /// Returns the range that inputs are clamped to before products with quantized weights, if one was observed.
    #[must_use]
    pub const fn input_range(&self) -> Option<(f32, f32)> {
        self.input_range
    }

    pub(crate) fn set_input_range(&mut self, range: Option<(f32, f32)>) {
        self.input_range = range;
    }

    pub(crate) fn store_mut(&mut self) -> &mut WeightStore {
        &mut self.store
    }

    /// Returns the weights that a forward pass reads, quantizing them first if necessary.
    ///
    /// # Errors
    /// Returns [`NetworkError::Codec`] or [`NetworkError::Overflow`] if the weights cannot be quantized.
    pub fn active(&self) -> Result<Active<'_>, NetworkError> {
        self.store.get_or_create(self.format).map_err(|error| self.error(error))
    }

    /// Returns the weights that a forward pass reads, as f32.
    ///
    /// # Errors
    /// Same as [`active`](Self::active).
    pub fn values(&self) -> Result<Vec<f32>, NetworkError> {
        self.store.morph_to_f32(self.format).map_err(|error| self.error(error))
    }

    /// Sets the format that a forward pass reads.
    pub(crate) fn set_format(&mut self, format: WeightFormat) {
        self.format = format;
    }

    pub(crate) fn error(&self, error: WeightsError) -> NetworkError {
        NetworkError::store(&self.name)(error)
    }
}

/// Name and shape of a parameter without weights.
#[derive(Debug, Clone)]
pub(crate) struct ParameterSpec {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) vector: bool,
    pub(crate) init: Init,
}

/// Initial weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Init {
    /// A constant.
    Constant(f32),
    /// Normally distributed with this standard deviation.
    Normal(f32),
}

impl Init {
    /// Returns the initialization that preserves the variance of activations and gradients (Glorot and Bengio 2010).
    #[expect(clippy::cast_precision_loss, reason = "a deviation")]
    pub(crate) fn glorot(inputs: usize, outputs: usize) -> Self {
        Self::Normal((2.0 / (inputs as f32 + outputs as f32)).sqrt())
    }
}

impl ParameterSpec {
    /// Creates initial weights, which depend only on the seed and on the index of the parameter.
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

    /// Creates the parameter with the given weights.
    pub(crate) fn filled(&self, master: Vec<f32>) -> Result<Parameter, NetworkError> {
        let (wanted, found) = (self.rows * self.cols, master.len());
        if wanted != found {
            return Err(NetworkError::Count { parameter: self.name.clone(), wanted, found });
        }
        let store = WeightStore::new(master, self.cols).map_err(NetworkError::store(&self.name))?;
        Ok(Parameter::new(self, store, DType::Float32.into()))
    }
}
