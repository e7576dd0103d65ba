//! candle: llama.cpp's formats in Rust. It selects vector code at compile time, so a default build is scalar.

mod bert;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use bitgrain::codec::weight::{DType, QuantizedTensor, ScaledFormat, WeightFormat};
use bitgrain::kernels::ggml::GgmlBlock;
use candle_core::quantized::ggml_file::qtensor_from_ggml;
use candle_core::quantized::gguf_file::Content;
use candle_core::quantized::k_quants::{
    BlockQ2K, BlockQ3K, BlockQ4_0, BlockQ4K, BlockQ5K, BlockQ6K, BlockQ8_0, GgmlType,
};
use candle_core::quantized::{GgmlDType, QMatMul};
use candle_core::{Device, Module, Result, Tensor};

use super::{Blocks, Encoder, Product};

impl<B: GgmlType> Blocks for Vec<B> {
    fn quantize(&mut self, values: &[f32]) {
        B::from_float(values, self);
    }

    fn dequantize(&self, out: &mut [f32]) {
        B::to_float(self, out);
    }
}

/// Allocates blocks for `weights` weights; `None` for unsupported formats.
pub(crate) fn blocks(block: GgmlBlock, weights: usize) -> Option<Box<dyn Blocks>> {
    fn zeros<B: GgmlType + 'static>(weights: usize) -> Option<Box<dyn Blocks>> {
        Some(Box::new(vec![B::zeros(); weights / B::BLCK_SIZE]))
    }
    match block {
        GgmlBlock::Q4_0 => zeros::<BlockQ4_0>(weights),
        GgmlBlock::Q8_0 => zeros::<BlockQ8_0>(weights),
        GgmlBlock::Q2_K => zeros::<BlockQ2K>(weights),
        GgmlBlock::Q3_K => zeros::<BlockQ3K>(weights),
        GgmlBlock::Q4_K => zeros::<BlockQ4K>(weights),
        GgmlBlock::Q5_K => zeros::<BlockQ5K>(weights),
        GgmlBlock::Q6_K => zeros::<BlockQ6K>(weights),
        _ => None,
    }
}

/// Reads the values of a tensor in a GGUF file.
pub(crate) fn gguf_values(path: &Path, tensor: &str) -> Result<Vec<f32>> {
    let mut reader = BufReader::new(File::open(path)?);
    let content = Content::read(&mut reader)?;
    let tensor = content.tensor(&mut reader, tensor, &Device::Cpu)?;
    tensor.dequantize(&Device::Cpu)?.flatten_all()?.to_vec1()
}

/// Reads the values of a float tensor in a safetensors file.
pub(crate) fn safetensors_values(path: &Path, tensor: &str) -> Result<Vec<f32>> {
    let all = candle_core::safetensors::load(path, &Device::Cpu)?;
    let tensor = all.get(tensor).ok_or_else(|| candle_core::Error::Msg(format!("no {tensor}")))?;
    tensor.to_dtype(candle_core::DType::F32)?.flatten_all()?.to_vec1()
}

/// Returns the number of tensors of a GGUF file, from its header.
pub(crate) fn gguf_tensors(path: &Path) -> Result<usize> {
    let mut reader = BufReader::new(File::open(path)?);
    Ok(Content::read(&mut reader)?.tensor_infos.len())
}

/// Opens a BERT encoder in f32 from a Hugging Face folder.
///
/// # Errors
/// Returns candle's error.
pub(crate) fn encoder(folder: &Path) -> Result<Box<dyn Encoder>> {
    Ok(Box::new(bert::Bert::open(folder)?))
}

/// Creates the product of a matrix with a batch of activations; `None` for formats that candle lacks.
///
/// # Errors
/// Returns candle's error.
pub(crate) fn product(weights: &QuantizedTensor, x: &[f32]) -> Result<Option<Box<dyn Product>>> {
    let (rows, cols) = weights.shape();
    let x = Tensor::from_slice(x, (x.len() / cols, cols), &Device::Cpu)?;
    let bytes = weights.parts().codes;
    let dtype = match weights.format() {
        WeightFormat::Ggml(GgmlBlock::Q4_0) => GgmlDType::Q4_0,
        WeightFormat::Ggml(GgmlBlock::Q4_1) => GgmlDType::Q4_1,
        WeightFormat::Ggml(GgmlBlock::Q5_0) => GgmlDType::Q5_0,
        WeightFormat::Ggml(GgmlBlock::Q5_1) => GgmlDType::Q5_1,
        WeightFormat::Ggml(GgmlBlock::Q8_0) => GgmlDType::Q8_0,
        WeightFormat::Ggml(GgmlBlock::Q2_K) => GgmlDType::Q2K,
        WeightFormat::Ggml(GgmlBlock::Q3_K) => GgmlDType::Q3K,
        WeightFormat::Ggml(GgmlBlock::Q4_K) => GgmlDType::Q4K,
        WeightFormat::Ggml(GgmlBlock::Q5_K) => GgmlDType::Q5K,
        WeightFormat::Ggml(GgmlBlock::Q6_K) => GgmlDType::Q6K,
        WeightFormat::Scaled(ScaledFormat { dtype: DType::Float32, .. }) => {
            let floats: Vec<f32> = bytes.as_chunks().0.iter().map(|&word| f32::from_le_bytes(word)).collect();
            let matrix = QMatMul::Tensor(Tensor::from_vec(floats, (rows, cols), &Device::Cpu)?);
            return Ok(Some(Box::new(Multiplied { matrix, x, out: None })));
        }
        _ => return Ok(None),
    };
    let tensor = qtensor_from_ggml(dtype, bytes, vec![rows, cols], &Device::Cpu)?;
    Ok(Some(Box::new(Multiplied { matrix: QMatMul::from_qtensor(tensor)?, x, out: None })))
}

struct Multiplied {
    matrix: QMatMul,
    x: Tensor,
    out: Option<Tensor>,
}

impl Product for Multiplied {
    fn run(&mut self) {
        self.out = self.matrix.forward(&self.x).ok();
    }

    fn result(&self) -> Vec<f32> {
        self.out.as_ref().and_then(|out| out.flatten_all().and_then(|out| out.to_vec1()).ok()).unwrap_or_default()
    }
}
