//! Quantized tensors and blocks.

use bitgrain::codec::weight::{PartsBuf, QuantizedTensor as Tensor, WeightFormat};
use bitgrain::codec::{BitWidth, BlockFormat, BlockLen, Fidelity as Measured};
use bitgrain::kernels::Backend;
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};

/// Returns the version of the package.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Returns the instruction set of the kernels: `simd128` or `scalar`.
#[wasm_bindgen]
#[must_use]
pub fn backend() -> String {
    Backend::best().to_string()
}

/// Returns the names of all weight formats, such as `int4` and `q4_k`.
#[wasm_bindgen]
#[must_use]
pub fn formats() -> Vec<String> {
    WeightFormat::all().map(|format| format.name().to_owned()).collect()
}

/// Quantizes weights in rows of `cols` values, or one row by default. Format names may state the scaling: `int4/32`.
#[wasm_bindgen]
pub fn quantize(values: &[f32], format: &str, cols: Option<u32>) -> Result<QuantizedTensor> {
    let cols = cols.map_or(values.len(), |cols| cols as usize);
    Ok(QuantizedTensor(Tensor::quantize(format.parse().map_err(js)?, values, cols).map_err(js)?))
}

/// Dequantizes codes, with the scales and zero points of formats that store them apart.
#[wasm_bindgen]
pub fn dequantize(
    format: &str,
    rows: u32,
    cols: u32,
    codes: Vec<u8>,
    scales: Option<Vec<f32>>,
    zeros: Option<Vec<u8>>,
) -> Result<Vec<f32>> {
    QuantizedTensor::from_parts(format, rows, cols, codes, scales, zeros)?.dequantize()
}

/// A matrix of quantized weights.
#[wasm_bindgen]
#[derive(Debug)]
pub struct QuantizedTensor(Tensor);

#[wasm_bindgen]
impl QuantizedTensor {
    /// Creates a tensor from its arrays.
    #[wasm_bindgen(js_name = fromParts)]
    pub fn from_parts(
        format: &str,
        rows: u32,
        cols: u32,
        codes: Vec<u8>,
        scales: Option<Vec<f32>>,
        zeros: Option<Vec<u8>>,
    ) -> Result<Self> {
        let parts = PartsBuf { codes, scales: scales.unwrap_or_default(), zeros: zeros.unwrap_or_default() };
        let format = format.parse().map_err(js)?;
        Ok(Self(Tensor::from_parts(format, rows as usize, cols as usize, parts).map_err(js)?))
    }

    /// Name of the format, with its scaling.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn format(&self) -> String {
        self.0.format().to_string()
    }

    /// Number of rows.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.0.shape().0
    }

    /// Number of values per row.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn cols(&self) -> usize {
        self.0.shape().1
    }

    /// Size of all arrays in bytes.
    #[wasm_bindgen(getter, js_name = byteLength)]
    #[must_use]
    pub fn byte_length(&self) -> usize {
        self.0.bytes()
    }

    /// Copy of the codes, packed at their width.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn codes(&self) -> Vec<u8> {
        self.0.parts().codes.to_vec()
    }

    /// Copy of the scales; empty for formats that store them with the codes.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn scales(&self) -> Vec<f32> {
        self.0.parts().scales.to_vec()
    }

    /// Copy of the zero points; empty for formats without them.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn zeros(&self) -> Vec<u8> {
        self.0.parts().zeros.to_vec()
    }

    /// Decodes all values.
    pub fn dequantize(&self) -> Result<Vec<f32>> {
        self.0.dequantize().map_err(js)
    }

    /// Measures the error relative to the original values.
    pub fn error(&self, original: &[f32]) -> Result<Fidelity> {
        self.0.error(original).map(Fidelity).map_err(js)
    }
}

/// Error of decoded values.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Fidelity(Measured);

#[wasm_bindgen]
impl Fidelity {
    /// Cosine similarity.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn cosine(&self) -> f64 {
        self.0.cosine
    }

    /// Largest absolute error.
    #[wasm_bindgen(getter, js_name = maxError)]
    #[must_use]
    pub fn max_error(&self) -> f64 {
        self.0.max_error
    }

    /// Root mean square of the errors, divided by that of the values.
    #[wasm_bindgen(getter, js_name = relativeRmse)]
    #[must_use]
    pub fn relative_rmse(&self) -> f64 {
        self.0.relative_rmse
    }
}

/// Encodes values as blocks of 2 to 8 bits, each with its own scale. A block has 64 values by default. With `twoLevel`,
/// 3-bit blocks have a second scale for outliers.
#[wasm_bindgen(js_name = encodeBlocks)]
pub fn encode_blocks(values: &[f32], bits: u8, block_len: Option<u32>, two_level: Option<bool>) -> Result<Vec<u8>> {
    block_format(bits, block_len, two_level)?.encode(values).map_err(js)
}

/// Decodes the blocks of `count` values.
#[wasm_bindgen(js_name = decodeBlocks)]
pub fn decode_blocks(
    bytes: &[u8],
    count: u32,
    bits: u8,
    block_len: Option<u32>,
    two_level: Option<bool>,
) -> Result<Vec<f32>> {
    block_format(bits, block_len, two_level)?.decode(bytes, count as usize).map_err(js)
}

/// Returns the error bound of encoded blocks: no decoded value is further from its original.
#[wasm_bindgen(js_name = blockBound)]
pub fn block_bound(bytes: &[u8], count: u32, bits: u8, block_len: Option<u32>, two_level: Option<bool>) -> Result<f32> {
    block_format(bits, block_len, two_level)?.bound(bytes, count as usize).map_err(js)
}

fn block_format(bits: u8, block_len: Option<u32>, two_level: Option<bool>) -> Result<BlockFormat> {
    let format = match (two_level.unwrap_or(false), BitWidth::new(bits).map_err(js)?) {
        (false, width) => BlockFormat::new(width),
        (true, BitWidth::W3) => BlockFormat::two_level(),
        (true, _) => return Err(js(format!("two-level blocks have 3 bits, not {bits}; omit `twoLevel`"))),
    };
    Ok(match block_len {
        Some(len) => format.with_block_len(BlockLen::new(len as usize).map_err(js)?),
        None => format,
    })
}
