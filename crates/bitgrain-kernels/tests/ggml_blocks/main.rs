//! llama.cpp's blocks: bytes and values equal the reference on every backend, for any input.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::unwrap_used,
    reason = "made-up data"
)]

mod arguments;
#[path = "../bits/mod.rs"]
mod bits;
mod corners;
mod equivalence;
mod golden;
mod naive;
mod spec;

use bitgrain_kernels::Backend;
use bitgrain_kernels::ggml::{GgmlBlock, dequantize_ggml, quantize_ggml};
use bits::Bits;

/// Formats that are quantized by rounding alone.
const ROUNDED: [GgmlBlock; 8] = [
    GgmlBlock::Q4_0,
    GgmlBlock::Q4_1,
    GgmlBlock::Q5_0,
    GgmlBlock::Q5_1,
    GgmlBlock::Q8_0,
    GgmlBlock::TQ1_0,
    GgmlBlock::TQ2_0,
    GgmlBlock::MXFP4,
];

/// Formats whose scales are searched; `tests/ggml_quantize.rs` tests their quantization.
const SEARCHED: [GgmlBlock; 6] =
    [GgmlBlock::Q2_K, GgmlBlock::Q3_K, GgmlBlock::Q4_K, GgmlBlock::Q5_K, GgmlBlock::Q6_K, GgmlBlock::IQ4_NL];

#[test]
fn every_format_is_rounded_or_searched() {
    for block in GgmlBlock::ALL {
        assert!(ROUNDED.contains(&block) != SEARCHED.contains(&block), "{block:?} is in neither list, or in both");
    }
}

/// Encodes `values`, which fill whole blocks; checks that nothing after them is written.
fn quantized(backend: Backend, block: GgmlBlock, values: &[f32]) -> Vec<u8> {
    let required = block.bytes_of(values.len()).unwrap();
    let mut out = vec![0xA5; required + 7];
    assert_eq!(quantize_ggml(backend, block, values, block.weights(), None, &mut out), Ok(required));
    assert_eq!(out[required..], [0xA5; 7], "{backend} {block:?} wrote past its output");
    out.truncate(required);
    out
}

/// Returns the bits of the weights of `bytes`, with one pattern for all NaN, whose payload is unspecified.
fn dequantized(backend: Backend, block: GgmlBlock, bytes: &[u8]) -> Vec<u32> {
    let mut out = vec![7.0; bytes.len() / block.bytes() * block.weights()];
    assert_eq!(dequantize_ggml(backend, block, bytes, &mut out), Ok(bytes.len()));
    bits(&out)
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() }).collect()
}

impl Bits {
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// Returns an integer from `-limit` to `limit`.
    fn around_zero(&mut self, limit: i32) -> i32 {
        (self.next() % (2 * limit as u64 + 1)) as i32 - limit
    }

    /// Returns an approximately normal number.
    fn normal(&mut self) -> f32 {
        (0..4).map(|_| (self.next() >> 40) as f32 / 8_388_608.0 - 1.0).sum()
    }
}
