//! candle: llama.cpp's formats in Rust. It picks vector code when it is compiled, so a default build has none.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use bitgrain::kernels::GgmlBlock;
use candle_core::quantized::gguf_file::Content;
use candle_core::quantized::k_quants::{
    BlockQ2K, BlockQ3K, BlockQ4_0, BlockQ4K, BlockQ5K, BlockQ6K, BlockQ8_0, GgmlType,
};
use candle_core::{Device, Result};

use super::Blocks;

impl<B: GgmlType> Blocks for Vec<B> {
    fn quantize(&mut self, values: &[f32]) {
        B::from_float(values, self);
    }

    fn dequantize(&self, out: &mut [f32]) {
        B::to_float(self, out);
    }
}

/// Room for the blocks of `weights` weights; `None` for formats it does not have.
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

/// The values of a tensor of a GGUF file.
pub(crate) fn gguf_values(path: &Path, tensor: &str) -> Result<Vec<f32>> {
    let mut reader = BufReader::new(File::open(path)?);
    let content = Content::read(&mut reader)?;
    let tensor = content.tensor(&mut reader, tensor, &Device::Cpu)?;
    tensor.dequantize(&Device::Cpu)?.flatten_all()?.to_vec1()
}

/// The values of a tensor of plain floats in a safetensors file.
pub(crate) fn safetensors_values(path: &Path, tensor: &str) -> Result<Vec<f32>> {
    let all = candle_core::safetensors::load(path, &Device::Cpu)?;
    let tensor = all.get(tensor).ok_or_else(|| candle_core::Error::Msg(format!("no {tensor}")))?;
    tensor.to_dtype(candle_core::DType::F32)?.flatten_all()?.to_vec1()
}

/// How many tensors a GGUF file has, from its header.
pub(crate) fn gguf_tensors(path: &Path) -> Result<usize> {
    let mut reader = BufReader::new(File::open(path)?);
    Ok(Content::read(&mut reader)?.tensor_infos.len())
}
