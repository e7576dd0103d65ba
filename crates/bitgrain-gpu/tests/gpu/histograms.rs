//! Histograms on the device against sums on the CPU: equal bit for bit.

use bitgrain_gbdt::feature::{BinLayout, Features, QuantizedMatrix, Quantizer};
use bitgrain_gbdt::gradient::{GradientPrecision, GradientStorage, GradientsPair8};
use bitgrain_gpu::{Device, DeviceBins, GpuError};
use bitgrain_kernels::histograms::{CodeSum, GradientPair as _};

use crate::{device, noise, open};

/// Returns a table with this share of missing values.
fn table(rows: usize, features: usize, missing: f32, layout: BinLayout, max_bin: u32) -> QuantizedMatrix {
    let gaps = noise(rows * features, 21);
    let value = |(x, gap): (f32, &f32)| if (gap + 1.0) / 2.0 < missing { f32::NAN } else { x };
    let values: Vec<f32> = noise(rows * features, 20).into_iter().zip(&gaps).map(value).collect();
    let features = Features::row_major(&values[..], rows, features).expect("a matrix");
    let quantizer = Quantizer::default().with_max_bin(max_bin).expect("a valid number");
    let cuts = quantizer.compute_cuts(&features, None).expect("finite or missing");
    cuts.quantize(&features, layout).expect("the same features")
}

fn gradients(rows: usize) -> GradientsPair8 {
    let (grads, hess) = (noise(rows, 30), noise(rows, 31).iter().map(|x| x.abs()).collect::<Vec<_>>());
    match GradientStorage::new(GradientPrecision::Pair8, &grads, &hess, Some(1)).expect("finite") {
        GradientStorage::Pair8(kept) => kept,
        other => panic!("{other:?} has another precision"),
    }
}

/// Adds up pairs of codes as training does on the CPU.
fn sums(matrix: &QuantizedMatrix, gradients: &GradientsPair8, rows: &[u32]) -> Vec<CodeSum> {
    let map = matrix.map();
    let mut sums = vec![CodeSum::default(); map.total_bins() as usize];
    for &row in rows {
        for feature in 0..map.n_features() {
            let bin = map.feature_offsets()[feature] + matrix.bin(row as usize, feature);
            let cell = &mut sums[bin as usize];
            *cell = gradients.codes[row as usize].add_to(*cell);
        }
    }
    sums
}

fn check(device: &Device, matrix: &QuantizedMatrix, label: &str) -> DeviceBins {
    let rows = matrix.n_rows();
    let gradients = gradients(rows);
    let bins = DeviceBins::upload(device, matrix).expect("a small table");
    let all: Vec<u32> = (0..u32::try_from(rows).expect("few rows")).collect();
    assert_eq!(bins.histogram(&gradients, None).expect("all rows"), sums(matrix, &gradients, &all), "{label}");
    let some: Vec<u32> = all.iter().copied().filter(|row| row % 3 == 1).rev().collect();
    assert_eq!(bins.histogram(&gradients, Some(&some)).expect("some rows"), sums(matrix, &gradients, &some), "{label}");
    bins
}

#[test]
fn sums_equal_those_of_the_cpu_bit_for_bit() {
    for (rows, features, missing, max_bin) in
        [(1, 1, 0.0, 255), (10, 3, 0.5, 4), (5000, 7, 0.0, 255), (5000, 30, 0.3, 255), (9001, 2, 0.9, 5000)]
    {
        for layout in BinLayout::ALL {
            let matrix = table(rows, features, missing, layout, max_bin);
            check(device(), &matrix, &format!("{rows} × {features}, {missing} missing, {max_bin} bins, {layout:?}"));
        }
    }
}

#[test]
fn a_table_of_missing_values_has_all_sums_in_the_missing_bins() {
    let features = Features::row_major(&[f32::NAN; 20][..], 10, 2).expect("a matrix");
    let cuts = Quantizer::default().compute_cuts(&features, None).expect("no weights");
    let matrix = cuts.quantize(&features, BinLayout::Ellpack).expect("the same features");
    check(device(), &matrix, "missing values only");
}

#[test]
fn tables_beyond_the_largest_array_are_split_by_rows() {
    let small = open(Some(65_536));
    let matrix = table(3000, 20, 0.1, BinLayout::Ellpack, 255);
    let bins = check(&small, &matrix, "split");
    assert!(bins.parts() > 1 && bins.bytes() > 65_536, "{} parts", bins.parts());
}

#[test]
fn extreme_codes_do_not_overflow() {
    let matrix = table(70_000, 1, 0.0, BinLayout::Columns, 2);
    let mut gradients = gradients(70_000);
    for (at, code) in gradients.codes.iter_mut().enumerate() {
        (code.grad, code.hess) = (if at % 2 == 0 { -128 } else { -127 }, 255);
    }
    let bins = DeviceBins::upload(device(), &matrix).expect("a small table");
    let all: Vec<u32> = (0..70_000).collect();
    assert_eq!(bins.histogram(&gradients, None).expect("all rows"), sums(&matrix, &gradients, &all));
}

#[test]
fn gradients_of_another_table_and_rows_out_of_range_are_errors() {
    let matrix = table(10, 2, 0.0, BinLayout::Columns, 255);
    let bins = DeviceBins::upload(device(), &matrix).expect("a small table");
    let error = bins.histogram(&gradients(9), None).expect_err("nine gradients");
    assert!(matches!(error, GpuError::Length { wanted: 10, found: 9, .. }), "{error}");
    let error = bins.histogram(&gradients(10), Some(&[3, 10])).expect_err("row 10");
    assert!(matches!(error, GpuError::NoRow { row: 10, rows: 10 }), "{error}");
}
