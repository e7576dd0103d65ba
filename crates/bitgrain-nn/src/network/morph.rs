//! A network into another weight format: all of it, or by a recipe.

use bitgrain_codec::weight::{DType, WeightFormat};
use rayon::prelude::*;

use super::{Network, NetworkError};
use crate::model::convert::{FormatChoice, Recipe};

/// A parameter in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Its name.
    pub parameter: String,
    /// The format of one copy; float32 for the master.
    pub format: WeightFormat,
    /// Bytes of that copy.
    pub bytes: usize,
}

impl Network {
    /// Makes every matrix run in that format; vectors stay at f32. What is trained remains the master.
    ///
    /// # Errors
    /// [`NetworkError::Codec`], [`NetworkError::Overflow`]; then nothing is changed.
    pub fn morph(&mut self, format: impl Into<WeightFormat>) -> Result<(), NetworkError> {
        let format = format.into();
        self.morph_with(|_, vector| if vector { DType::Float32.into() } else { format })
    }

    /// Makes every parameter run in the format that a recipe has for its name. What a recipe keeps runs at f32; as in
    /// files, vectors are kept unless a rule names them.
    ///
    /// # Errors
    /// As [`morph`](Self::morph).
    pub fn morph_by(&mut self, recipe: &Recipe) -> Result<(), NetworkError> {
        self.morph_with(|name, vector| match recipe.choice_of(name, vector) {
            FormatChoice::Keep => DType::Float32.into(),
            FormatChoice::To(format) => format,
        })
    }

    fn morph_with(&mut self, format: impl Fn(&str, bool) -> WeightFormat) -> Result<(), NetworkError> {
        let formats: Vec<WeightFormat> =
            self.parameters().iter().map(|parameter| format(parameter.name(), parameter.is_vector())).collect();
        self.parameters().par_iter().zip(&formats).try_for_each(|(parameter, format)| {
            parameter.store().morph(*format).map_err(|error| parameter.error(error))
        })?;
        self.parameters_mut().iter_mut().zip(formats).for_each(|(parameter, format)| parameter.set_format(format));
        Ok(())
    }

    /// Drops everything that a forward pass does not read: masters of parameters that run on codes, other versions,
    /// importances and moments. What remains is what [`Contents::Active`](crate::network::save::Contents::Active) saves.
    ///
    /// Outputs stay the same. Masters become what the codes stand for: training or morphing the network afterwards
    /// starts from those and decodes them into memory again.
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
    /// As [`morph`](Self::morph), if a version has to be made; then nothing is changed.
    pub fn freeze(&mut self) -> Result<(), NetworkError> {
        self.parameters().iter().try_for_each(|parameter| parameter.active().map(|_| ()))?;
        for parameter in self.parameters_mut() {
            let format = parameter.format();
            parameter.store_mut().freeze(format).map_err(|error| parameter.error(error))?;
        }
        Ok(())
    }

    /// Every copy of every parameter in memory.
    #[must_use]
    pub fn memory(&self) -> Vec<Memory> {
        let of = |parameter: &super::Parameter| {
            let name = parameter.name().to_owned();
            let copy = move |(format, bytes)| Memory { parameter: name.clone(), format, bytes };
            parameter.store().memory().into_iter().map(copy)
        };
        self.parameters().iter().flat_map(of).collect()
    }

    /// Bytes of the weights that a forward pass reads, each parameter in its format.
    ///
    /// # Errors
    /// As [`morph`](Self::morph), if a version has to be made.
    pub fn active_bytes(&self) -> Result<usize, NetworkError> {
        self.parameters().iter().map(|parameter| Ok(parameter.active()?.bytes())).sum()
    }
}

/// Makes every matrix of a network run in that format: see [`Network::morph`].
///
/// # Errors
/// As there.
pub fn morph_network(network: &mut Network, format: impl Into<WeightFormat>) -> Result<(), NetworkError> {
    network.morph(format)
}
