//! Products on packed weights against exact sums of the decoded weights and against the CPU, within their stated bounds.

use bitgrain_codec::weight::{
    BlockLen, DType, GgmlBlock, PartsBuf, QuantizedTensor, ScaledFormat, Scaling, WeightFormat,
};
use bitgrain_gpu::{Device, DeviceMatrix, GpuError};
use bitgrain_nn::network::product::PackedMatrix;

use crate::{device, noise, open};

/// Numbers of activation rows on both sides of the limits between kernels and of a tile.
const BATCHES: [usize; 4] = [1, 4, 5, 33];

/// Returns every format with its default scaling, and the dtypes with one scale per tensor, per row and per group.
fn formats() -> Vec<WeightFormat> {
    let group = Scaling::Group(BlockLen::new(8).expect("a multiple of 8"));
    let scaled = DType::ALL.into_iter().filter(|dtype| !dtype.is_plain()).flat_map(|dtype| {
        [Scaling::Tensor, Scaling::Channel, group]
            .map(|scaling| WeightFormat::Scaled(ScaledFormat { scaling, ..ScaledFormat::new(dtype) }))
    });
    WeightFormat::all().chain(scaled).collect()
}

/// Checks rows and products of a matrix on the device.
fn check(device: &Device, tensor: &QuantizedTensor, scale: f32) {
    let (format, (rows, cols)) = (tensor.format(), tensor.shape());
    let label = format!("{format}, {rows} × {cols}, scaled by {scale:e}");
    let weights = tensor.dequantize().expect("finite scales");
    let matrix = DeviceMatrix::upload(device, tensor).unwrap_or_else(|error| panic!("{label}: {error}"));
    check_rows(&matrix, &weights, &label);
    let cpu = PackedMatrix::new(tensor.clone()).expect("finite weights");
    for batch in BATCHES {
        let x = noise(batch * cols, 7);
        let found = matrix.multiply(&x, batch).unwrap_or_else(|error| panic!("{label}: {error}"));
        let bounds = matrix.bound(&weights, &x, batch).expect("matching lengths");
        let (mut on_cpu, mut cpu_bounds) = (vec![0.0; batch * rows], vec![0.0; batch * rows]);
        cpu.multiply(&x, batch, &mut on_cpu).expect("finite activations");
        cpu.bound(&x, batch, &mut cpu_bounds).expect("finite activations");
        assert_eq!(found.len(), batch * rows);
        for (at, found) in found.iter().enumerate() {
            let (x, w) = (&x[at / rows * cols..][..cols], &weights[at % rows * cols..][..cols]);
            let exact: f64 = x.iter().zip(w).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
            let off = (f64::from(*found) - exact).abs();
            assert!(
                off <= f64::from(bounds[at]),
                "{label}, batch {batch}, output {at}: {found} is {off:e} from {exact}"
            );
            let apart = (f64::from(*found) - f64::from(on_cpu[at])).abs();
            let both = f64::from(bounds[at]) + f64::from(cpu_bounds[at]);
            assert!(
                apart <= both,
                "{label}, batch {batch}, output {at}: {found} on the device, {} on the CPU",
                on_cpu[at]
            );
        }
    }
}

/// Checks that a lookup decodes every weight to within three units in the last place; devices may flush subnormals.
fn check_rows(matrix: &DeviceMatrix, weights: &[f32], label: &str) {
    let (rows, cols) = matrix.shape();
    let order: Vec<u32> = (0..u32::try_from(rows).expect("few rows")).rev().collect();
    let found = matrix.rows(&order).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert_eq!(found.len(), weights.len());
    for (at, found) in found.iter().enumerate() {
        let (row, col) = (rows - 1 - at / cols, at % cols);
        let wanted = weights[row * cols + col];
        // Zero points of blocks cancel against scaled codes: the units are those of the larger term.
        let largest = weights[row * cols..][..cols].iter().fold(0.0_f32, |most, w| most.max(w.abs()));
        let unit = if matrix.format().block() > 1 { largest } else { wanted.abs() };
        let off = (found - wanted).abs();
        assert!(off <= unit * 3.6e-7 + f32::MIN_POSITIVE, "{label}: weight {row}, {col} is {found}, expected {wanted}");
    }
}

fn quantize(format: WeightFormat, values: &[f32], cols: usize) -> QuantizedTensor {
    QuantizedTensor::quantize(format, values, cols).unwrap_or_else(|error| panic!("{format}: {error}"))
}

#[test]
fn products_in_every_format_are_within_their_bound() {
    for format in formats() {
        let block = format.block();
        // One row, one block per row, odd numbers of rows, columns that are not multiples of eight, of 32 or of 512.
        let shapes = if block > 1 { [(1, block), (3, 3 * block), (65, block)] } else { [(1, 1), (3, 77), (65, 530)] };
        for (rows, cols) in shapes {
            check(device(), &quantize(format, &noise(rows * cols, 5), cols), 1.0);
        }
    }
}

#[test]
fn tiny_and_huge_weights_are_within_their_bound() {
    for format in formats() {
        let cols = 3 * format.block().max(24);
        // Subnormal scales, and codes whose product with the scale is near the largest f32.
        for scale in [1e-44_f32, 1e-39, 1e-30, 1e30, 3e36] {
            let values: Vec<f32> = noise(4 * cols, 6).iter().map(|x| x * scale).collect();
            let tensor = quantize(format, &values, cols);
            // Half-precision scales overflow: such blocks are refused, which another test checks.
            if tensor.dequantize().is_ok_and(|weights| weights.iter().all(|w| w.is_finite())) {
                check(device(), &tensor, scale);
            }
        }
    }
}

#[test]
fn blocks_of_zeros_are_exact() {
    for format in formats() {
        let cols = 2 * format.block().max(20);
        let matrix = DeviceMatrix::upload(device(), &quantize(format, &vec![0.0; 3 * cols], cols)).expect("zeros");
        let found = matrix.multiply(&noise(2 * cols, 1), 2).expect("finite activations");
        assert!(found.iter().all(|x| *x == 0.0), "{format}: {found:?}");
    }
}

#[test]
fn arbitrary_bytes_decode_as_on_the_cpu() {
    // Every bit pattern of scales, minima and codes, also those that the encoder never writes.
    for (seed, format) in (1..).zip(WeightFormat::all()) {
        let cols = 2 * format.block().max(32);
        let sizes = format.sizes(16, cols).expect("whole blocks");
        let mut parts = PartsBuf::new(sizes);
        let random = |len: usize, seed: u32| noise(len, seed).into_iter().map(|x| ((x + 1.0) * 128.0) as u8);
        parts.codes = random(sizes.codes, seed).collect();
        parts.zeros = random(sizes.zeros, seed + 100).collect();
        parts.scales = noise(sizes.scales, seed + 200);
        let tensor = QuantizedTensor::from_parts(format, 16, cols, parts).expect("the sizes of the format");
        let weights = tensor.dequantize().expect("finite scales");
        if weights.iter().all(|w| w.is_finite() && w.abs() < 1e30) {
            check(device(), &tensor, 1.0);
        } else if weights.iter().any(|w| !w.is_finite()) {
            let error = DeviceMatrix::upload(device(), &tensor).expect_err("weights that are not finite");
            assert!(matches!(error, GpuError::NonFiniteWeight { .. }), "{format}: {error}");
        }
    }
}

#[test]
fn an_empty_batch_and_an_empty_matrix_have_empty_products() {
    let matrix = DeviceMatrix::from_values(device(), &noise(12, 1), 4).expect("finite weights");
    assert!(matrix.multiply(&[], 0).expect("an empty batch").is_empty());
    let empty = DeviceMatrix::from_values(device(), &[], 4).expect("no weights");
    assert!(empty.multiply(&noise(8, 1), 2).expect("finite activations").is_empty());
}

#[test]
fn matrices_beyond_the_largest_array_are_split_by_rows() {
    let small = open(Some(4096));
    for format in formats() {
        let cols = if format.block() > 1 { format.block() } else { 100 };
        let tensor = quantize(format, &noise(300 * cols, 8), cols);
        let matrix = DeviceMatrix::upload(&small, &tensor).unwrap_or_else(|error| panic!("{format}: {error}"));
        if tensor.parts().codes.len() > 4096 {
            assert!(matrix.parts() > 1, "{format}");
        }
        // The outputs of three samples fit, those of five do not: the batch is split as well.
        let x = noise(5 * cols, 9);
        let whole = DeviceMatrix::upload(device(), &tensor).expect("finite weights");
        let (split, whole) = (matrix.multiply(&x, 5).expect("split"), whole.multiply(&x, 5).expect("whole"));
        let weights = tensor.dequantize().expect("finite scales");
        let bounds = matrix.bound(&weights, &x, 5).expect("matching lengths");
        for (at, (split, whole)) in split.iter().zip(&whole).enumerate() {
            assert!((split - whole).abs() <= 2.0 * bounds[at], "{format}, output {at}: {split} and {whole}");
        }
    }
}

#[test]
fn formats_without_a_kernel_are_uploaded_as_f32() {
    let iq4_xs: WeightFormat = "iq4_xs".parse().expect("a format");
    let tensor = quantize(iq4_xs, &noise(4 * 256, 3), 256);
    let matrix = DeviceMatrix::upload(device(), &tensor).expect("finite weights");
    assert_eq!((matrix.format(), matrix.stored()), (iq4_xs, DType::Float32.into()));
    assert_eq!(matrix.bytes(), 4 * 4 * 256);
    check(device(), &tensor, 1.0);
}

#[test]
fn codes_and_scales_take_as_many_bytes_on_the_device_as_in_memory() {
    for format in [DType::Int4.into(), DType::Binary.into(), WeightFormat::Ggml(GgmlBlock::Q4_K)] {
        let tensor = quantize(format, &noise(8 * 512, 3), 512);
        let matrix = DeviceMatrix::upload(device(), &tensor).expect("finite weights");
        assert_eq!((matrix.bytes(), matrix.stored()), (tensor.bytes(), format));
    }
}
