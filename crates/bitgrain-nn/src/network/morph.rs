//! Switches a network to another weight format, as a whole or by a recipe.

use bitgrain_codec::weight::{DType, WeightFormat};
use rayon::prelude::*;

use super::{Network, NetworkError};
use crate::model::convert::{FormatChoice, Recipe};

/// A copy of a parameter in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Name of the parameter.
    pub parameter: String,
    /// Format of the copy; float32 for the master weights.
    pub format: WeightFormat,
    /// Size of the copy in bytes.
    pub bytes: usize,
}

impl Network {
    /// Switches all matrices to `format`; vectors stay at f32. The master weights are kept for training.
    ///
    /// # Errors
    /// Returns [`NetworkError::Codec`] or [`NetworkError::Overflow`] if weights cannot be quantized; the network is
    /// then unchanged.
    pub fn morph(&mut self, format: impl Into<WeightFormat>) -> Result<(), NetworkError> {
        let format = format.into();
        self.morph_with(|_, vector| if vector { DType::Float32.into() } else { format })
    }

    /// Switches each parameter to the format that the recipe has for its name. Parameters that the recipe keeps run at
    /// f32; as in files, vectors are kept unless a rule matches them.
    ///
    /// # Errors
    /// Same as [`morph`](Self::morph).
    pub fn morph_by(&mut self, recipe: &Recipe) -> Result<(), NetworkError> {
        self.morph_with(|name, vector| match recipe.choice_of(name, vector) {
            FormatChoice::Keep => DType::Float32.into(),
            FormatChoice::To(format) => format,
        })
    }

    fn morph_with(&mut self, format: impl Fn(&str, bool) -> WeightFormat) -> Result<(), NetworkError> {
        let formats: Vec<WeightFormat> =
            self.parameters().iter().map(|parameter| format(parameter.name(), parameter.is_vector())).collect();
        // Create all versions before switching any parameter, so that an error leaves the network unchanged.
        self.parameters().par_iter().zip(&formats).try_for_each(|(parameter, format)| {
            parameter.store().morph(*format).map_err(|error| parameter.error(error))
        })?;
        self.parameters_mut().iter_mut().zip(formats).for_each(|(parameter, format)| parameter.set_format(format));
        Ok(())
    }

    /// Drops all data that a forward pass does not read: master weights of quantized parameters, other versions,
    /// importances and moments. The rest is what [`Contents::Active`](crate::network::save::Contents::Active) saves.
    ///
    /// Outputs do not change. Training or switching the format later starts from the decoded weights, which then take
    /// memory again.
    ///
    /// ```
    /// use bitgrain_codec::weight::DType;
    /// use bitgrain_nn::network::layer::Layer;
    /// use bitgrain_nn::network::{Network, Shape};
    /// let mut network = Network::new(Shape::new(&[256]), vec![Layer::dense(64)], 1)?;
    /// network.morph(DType::Int4)?;
    /// network.freeze()?;
    /// let bytes: usize = network.memory().iter().map(|copy| copy.bytes).sum();
    /// assert!(bytes < 64 * 256); // 4 bits and scales, not the 4 bytes of f32
    /// # Ok::<(), bitgrain_nn::network::NetworkError>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`morph`](Self::morph), if a version has to be created; the network is then unchanged.
    pub fn freeze(&mut self) -> Result<(), NetworkError> {
        self.parameters().iter().try_for_each(|parameter| parameter.active().map(|_| ()))?;
        for parameter in self.parameters_mut() {
            let format = parameter.format();
            parameter.store_mut().freeze(format).map_err(|error| parameter.error(error))?;
        }
        Ok(())
    }

    /// Returns all copies of all parameters in memory.
    #[must_use]
    pub fn memory(&self) -> Vec<Memory> {
        let of = |parameter: &super::Parameter| {
            let name = parameter.name().to_owned();
            let copy = move |(format, bytes)| Memory { parameter: name.clone(), format, bytes };
            parameter.store().memory().into_iter().map(copy)
        };
        self.parameters().iter().flat_map(of).collect()
    }

    /// Returns the size in bytes of the weights that a forward pass reads.
    ///
    /// # Errors
    /// Same as [`morph`](Self::morph), if a version has to be created.
    pub fn active_bytes(&self) -> Result<usize, NetworkError> {
        self.parameters().iter().map(|parameter| Ok(parameter.active()?.bytes())).sum()
    }
}

/// Switches all matrices of a network to `format`: see [`Network::morph`].
///
/// # Errors
/// Same as [`Network::morph`].
pub fn morph_network(network: &mut Network, format: impl Into<WeightFormat>) -> Result<(), NetworkError> {
    network.morph(format)
}
