//! Products on codes: all formats against exact sums of dequantized weights, odd sizes, threads, invalid input.

mod dense;
mod packed;

use bitgrain_codec::weight::{BlockLen, DType, QuantizedTensor, ScaledFormat, Scaling, WeightFormat};

/// A reproducible stream of roughly normal values.
struct Normals(u64);

impl Normals {
    fn next(&mut self) -> f32 {
        let mut sum = 0.0;
        for _ in 0..4 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sum += f32::from(u16::try_from(self.0 >> 48).expect("16 bits")) / 32_768.0 - 1.0;
        }
        sum
    }

    fn take(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// Returns all dtypes, those of 4 and 8 bits with all scalings, and all block formats.
fn formats() -> Vec<WeightFormat> {
    let mut list: Vec<WeightFormat> = WeightFormat::all().collect();
    for dtype in [DType::Int8, DType::Int4, DType::Fp4, DType::Uint8] {
        let groups = [8, 32, 40, 96].map(|len| Scaling::Group(BlockLen::new(len).expect("a multiple of eight")));
        for scaling in [Scaling::None, Scaling::Tensor, Scaling::Channel].into_iter().chain(groups) {
            list.push(ScaledFormat { scaling, ..ScaledFormat::new(dtype) }.into());
        }
    }
    list
}

/// Returns a random matrix in a format.
fn tensor(format: WeightFormat, rows: usize, cols: usize, seed: u64) -> QuantizedTensor {
    QuantizedTensor::quantize(format, &Normals(seed).take(rows * cols), cols).expect("finite, whole blocks")
}
