//! `Network`: a network that runs in any weight format.

use bitgrain::nn::network::InputBatch;
use bitgrain::nn::network::save::Contents;
use bitgrain::nn::{Network as Layers, model::convert::FormatOptions};
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};

/// A network with weights at f32 or quantized.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Network(Layers);

#[wasm_bindgen]
impl Network {
    /// Reads a network file, JSON or safetensors.
    pub fn load(bytes: &[u8]) -> Result<Self> {
        Layers::from_bytes(bytes).map(Self).map_err(js)
    }

    /// Encodes the network as a safetensors file: all weights, or only those in use.
    pub fn save(&self, only_active: Option<bool>) -> Result<Vec<u8>> {
        let contents = if only_active.unwrap_or(false) { Contents::Active } else { Contents::All };
        self.0.to_safetensors(contents).map_err(js)
    }

    /// Computes the outputs of samples of shape `dims`, row-major.
    pub fn forward(&self, values: Vec<f32>, dims: Vec<u32>) -> Result<Vec<f32>> {
        let dims: Vec<usize> = dims.into_iter().map(|dim| dim as usize).collect();
        let batch = InputBatch::new(values, &dims).map_err(js)?;
        Ok(self.0.forward(&batch).map_err(js)?.values().to_vec())
    }

    /// Switches all matrices to a weight format, such as `int4` or `float32`.
    pub fn morph(&mut self, format: &str) -> Result<()> {
        let format = FormatOptions::default().resolve(format).map_err(js)?.format;
        self.0.morph(format).map_err(js)
    }

    /// Size in bytes of the weights that a forward pass reads.
    #[wasm_bindgen(getter, js_name = activeBytes)]
    pub fn active_bytes(&self) -> Result<usize> {
        self.0.active_bytes().map_err(js)
    }
}
