//! `PackedMatrix`: products are within their bound of the exact ones and do not depend on the number of threads.

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{DType, GgmlBlock, PartsBuf, QuantizedTensor, ScaledFormat, WeightFormat};
use bitgrain_nn::network::product::PackedMatrix;
use bitgrain_nn::network::weights::WeightsError;

use crate::{Normals, formats, tensor};

/// Computes `x·Wᵀ` in f64.
fn exact(x: &[f32], weights: &[f32], cols: usize) -> Vec<f64> {
    let dot = |x: &[f32], w: &[f32]| x.iter().zip(w).map(|(&x, &w)| f64::from(x) * f64::from(w)).sum();
    x.chunks(cols).flat_map(|x| weights.chunks(cols).map(move |w| dot(x, w))).collect()
}

/// Multiplies and compares the result with the bound; returns the largest share of the bound that was used.
fn check(tensor: QuantizedTensor, batch: usize, seed: u64) -> f64 {
    let (format, (rows, cols)) = (tensor.format(), tensor.shape());
    let weights = tensor.dequantize().expect("good scales");
    let matrix = PackedMatrix::new(tensor).expect("finite weights");
    let x = Normals(seed).take(batch * cols);
    let (mut out, mut bound) = (vec![f32::NAN; batch * rows], vec![0.0; batch * rows]);
    matrix.multiply(&x, batch, &mut out).expect("finite activations");
    matrix.bound(&x, batch, &mut bound).expect("finite activations");
    let mut used = 0.0_f64;
    for (at, ((&got, want), &bound)) in out.iter().zip(exact(&x, &weights, cols)).zip(&bound).enumerate() {
        let off = (f64::from(got) - want).abs();
        assert!(
            off <= f64::from(bound),
            "{format} {rows}x{cols} batch {batch} at {at}: {got} for {want}, bound {bound}"
        );
        used = used.max(off / f64::from(bound));
    }
    used
}

#[test]
fn every_format_is_within_its_bound() {
    for format in formats() {
        let used = check(tensor(format, 37, 512, 1), 9, 2);
        // A bound that is never nearly reached proves little. Products of f32 use hardly any of theirs.
        let on_codes = [
            "q4_0",
            "q8_0",
            "q4f32",
            "int8",
            "int8/32",
            "int8/tensor",
            "int4",
            "int4/96",
            "q4_k",
            "q6_k",
            "q3_k",
            "q2_k",
            "q5_k",
            "iq4_nl",
            "mxfp4",
            "q4_1",
            "q5_0",
            "q5_1",
            "tq2_0",
            "fp4",
            "uint4",
            "uint8",
            "binary",
        ];
        let least = if on_codes.contains(&format.to_string().as_str()) { 0.02 } else { 0.0 };
        assert!(used >= least, "{format}: {used}");
    }
}

#[test]
fn rows_that_are_unpacked_in_several_runs_are_within_the_bound() {
    for format in formats() {
        let cols = if format.block() > 1 { 1280 } else { 1300 };
        for (rows, batch) in [(1, 1), (35, 3)] {
            check(tensor(format, rows, cols, 13), batch, 14);
        }
    }
}

#[test]
fn odd_sizes_are_within_the_bound() {
    let scaled = |dtype| WeightFormat::from(ScaledFormat::new(dtype));
    for format in [DType::Int8, DType::Int4, DType::Float32, DType::BFloat16, DType::Ternary].map(scaled) {
        for (rows, cols) in (1..=70).zip([1, 2, 7, 31, 32, 33, 63, 64, 65, 100, 129, 200].into_iter().cycle()) {
            check(tensor(format, rows, cols, 3), rows % 11, 4);
        }
    }
    for block in [GgmlBlock::Q4_0, GgmlBlock::Q8_0, GgmlBlock::Q5_0, GgmlBlock::MXFP4] {
        for (rows, blocks) in (1..=70).zip((1..=5).cycle()) {
            check(tensor(block.into(), rows, 32 * blocks, 5), rows % 7, 6);
        }
    }
}

#[test]
fn rows_of_a_batch_do_not_depend_on_each_other() {
    for format in [
        "q4_0",
        "q8_0",
        "q4f32",
        "int8",
        "int8/32",
        "int4",
        "int4/1024",
        "float32",
        "fp8_e4m3",
        "q5_1",
        "iq4_nl",
        "uint8",
        "mxfp4",
        "ternary",
        "int32",
        "uint64/32",
        "float64",
    ] {
        let format: WeightFormat = format.parse().expect("known format");
        for (rows, cols) in [(50, 96), (21, if format.block() > 1 { 1088 } else { 1085 })] {
            let matrix = PackedMatrix::new(tensor(format, rows, cols, 7)).expect("finite");
            let x = Normals(8).take(40 * cols);
            let mut alone = vec![0.0; 40 * rows];
            for (x, out) in x.chunks(cols).zip(alone.chunks_mut(rows)) {
                matrix.multiply(x, 1, out).expect("finite");
            }
            for batch in 0..=40 {
                let mut out = vec![0.0; batch * rows];
                matrix.multiply(&x[..batch * cols], batch, &mut out).expect("finite");
                assert!(out == alone[..batch * rows], "{format}: {rows} rows of {cols}, batch {batch}");
            }
        }
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    for format in ["q4_0", "q8_0", "int8", "int4", "float32", "float16", "ternary", "q4_k", "q6_k"] {
        let matrix = PackedMatrix::new(tensor(format.parse().expect("known format"), 700, 512, 9)).expect("finite");
        let x = Normals(10).take(20 * 512);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let mut out = vec![0.0; 20 * 700];
            pool.install(|| matrix.multiply(&x, 20, &mut out)).expect("finite");
            out
        };
        let one = on(1);
        for threads in [2, 3, 7] {
            assert!(on(threads) == one, "{format}: {threads} threads");
        }
    }
}

#[test]
fn rows_are_those_of_the_dequantized_tensor() {
    for format in formats() {
        let tensor = tensor(format, 35, 256, 11);
        let weights = tensor.dequantize().expect("good scales");
        let matrix = PackedMatrix::new(tensor).expect("finite");
        let mut row = vec![0.0; 256];
        for (at, want) in weights.chunks(256).enumerate() {
            matrix.row_into(at, &mut row).expect("there");
            assert!(row == want, "{format}: row {at}");
        }
        assert_eq!(matrix.row_into(35, &mut row), Err(WeightsError::NoRow { row: 35, rows: 35 }));
    }
}

#[test]
fn packing_adds_no_more_than_the_last_strip() {
    for format in formats() {
        let tensor = tensor(format, 64, 512, 12);
        let bytes = tensor.bytes();
        let packed = PackedMatrix::new(tensor).expect("finite").bytes();
        // Six bits of a scale become eight, base-3 digits become two bits, zero points become f32, and one scale per tensor,
        // or none, becomes one per row.
        assert!(packed <= bytes * 5 / 4 + 64 * 8, "{format}: {packed} for {bytes}");
    }
}

#[test]
fn non_finite_activations_are_rejected_with_their_index() {
    for format in ["q4_0", "q8_0", "int8", "int4", "float32", "bfloat16", "binary"] {
        let matrix = PackedMatrix::new(tensor(format.parse().expect("known format"), 20, 64, 13)).expect("finite");
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for at in [0, 63, 64 * 9 + 17, 64 * 11 + 63] {
                let mut x = Normals(14).take(12 * 64);
                x[at] = odd;
                let found = matrix.multiply(&x, 12, &mut vec![0.0; 12 * 20]);
                assert_eq!(found, Err(WeightsError::NonFinite { row: at / 64, column: at % 64 }), "{format}");
            }
        }
    }
}

#[test]
fn mismatched_lengths_are_rejected() {
    let matrix = PackedMatrix::new(tensor(GgmlBlock::Q4_0.into(), 3, 32, 15)).expect("finite");
    let x = [0.0; 64];
    let wrong = |what, found, cols| Err(WeightsError::Length { what, found, rows: 2, cols });
    assert_eq!(matrix.multiply(&x[1..], 2, &mut [0.0; 6]), wrong("x", 63, 32));
    assert_eq!(matrix.multiply(&x, 2, &mut [0.0; 7]), wrong("output", 7, 3));
    assert_eq!(matrix.multiply(&x, 2, &mut [0.0; 6]), Ok(()));
    assert_eq!(matrix.multiply(&[], 0, &mut []), Ok(()));
    assert!(matrix.row_into(0, &mut [0.0; 31]).is_err());
}

#[test]
fn matrices_without_rows_or_columns_have_products() {
    for format in ["int8", "float32", "uint4"] {
        let format: WeightFormat = format.parse().expect("known format");
        let none = QuantizedTensor::quantize(format, &[], 5).expect("no rows");
        assert_eq!(PackedMatrix::new(none).expect("empty").multiply(&[1.0; 10], 2, &mut []), Ok(()));
        let flat = QuantizedTensor::quantize(format, &[], 0).expect("no columns");
        assert_eq!(PackedMatrix::new(flat).expect("empty").multiply(&[], 2, &mut []), Ok(()));
    }
}

#[test]
fn scales_and_weights_that_are_non_finite_are_rejected() {
    let broken = |format: WeightFormat, at: usize, bytes: &[u8]| {
        let good = tensor(format, 4, 64, 16);
        let parts = good.parts();
        let mut parts = PartsBuf { codes: parts.codes.into(), scales: parts.scales.into(), zeros: parts.zeros.into() };
        if parts.scales.is_empty() {
            parts.codes[at..at + bytes.len()].copy_from_slice(bytes);
        } else {
            parts.scales[at] = f32::INFINITY;
        }
        PackedMatrix::new(QuantizedTensor::from_parts(format, 4, 64, parts).expect("right sizes")).map(|_| ())
    };
    let infinite = 0x7C00_u16.to_le_bytes();
    let refused = |error| Err(WeightsError::Codec(error));
    assert_eq!(broken(GgmlBlock::Q4_0.into(), 3 * 18, &infinite), refused(CodecErr::InvalidScale { index: 96 }));
    assert_eq!(broken(GgmlBlock::Q8_0.into(), 7 * 34, &infinite), refused(CodecErr::InvalidScale { index: 224 }));
    let scaled = |dtype| WeightFormat::from(ScaledFormat::new(dtype));
    assert_eq!(broken(scaled(DType::Int8), 2, &[]), refused(CodecErr::InvalidScale { index: 128 }));
    assert!(broken(scaled(DType::Int2), 1, &[]).is_err());
    let nan = f32::NAN.to_le_bytes();
    assert_eq!(broken(scaled(DType::Float32), 4 * 70, &nan), refused(CodecErr::NonFinite { index: 70 }));
    let half = 0x7E00_u16.to_le_bytes();
    assert_eq!(broken(scaled(DType::Float16), 2 * 70, &half), refused(CodecErr::NonFinite { index: 70 }));
}

#[test]
fn tiny_and_huge_activations_stay_within_the_bound() {
    for scale in [1e-42, 1e-36, 1e-20, 1e20, 1e35] {
        for format in ["q4_0", "int8", "float32"] {
            let tensor = tensor(format.parse().expect("known format"), 5, 64, 17);
            let weights = tensor.dequantize().expect("good scales");
            let matrix = PackedMatrix::new(tensor).expect("finite");
            let x: Vec<f32> = Normals(18).take(64).into_iter().map(|x| x * scale).collect();
            let (mut out, mut bound) = ([0.0; 5], [0.0; 5]);
            matrix.multiply(&x, 1, &mut out).expect("finite");
            matrix.bound(&x, 1, &mut bound).expect("finite");
            for ((got, want), bound) in out.iter().zip(exact(&x, &weights, 64)).zip(bound) {
                assert!((f64::from(*got) - want).abs() <= f64::from(bound), "{format} {scale}: {got} {want} {bound}");
            }
        }
    }
}
