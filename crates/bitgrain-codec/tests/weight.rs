//! Weight formats: the guarantees of each dtype, for every scaling and calibration.

use bitgrain_codec::weight::{
    Calibration, DType, PartsBuf, QuantizedTensor, ScaledFormat, Scaling, WeightFormat, optimum,
};
use bitgrain_codec::{BlockLen, CodecErr, Fidelity};

/// Returns normally distributed weights, the same on every run.
#[expect(clippy::cast_possible_truncation, reason = "f32 weights are wanted")]
fn normal(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    (0..count).map(|_| ((-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()) as f32).collect()
}

fn scalings(dtype: DType) -> Vec<Scaling> {
    if dtype.is_plain() {
        return vec![Scaling::None];
    }
    let groups = [32, 64, 128].map(|len| Scaling::Group(BlockLen::new(len).expect("a multiple of 8")));
    [Scaling::Tensor, Scaling::Channel].into_iter().chain(groups).collect()
}

const CALIBRATIONS: [Calibration; 4] =
    [Calibration::AbsMax, Calibration::Percentile(99.0), Calibration::MeanSquaredError, Calibration::HalfQuadratic];

fn quantize(format: ScaledFormat, values: &[f32], cols: usize) -> (QuantizedTensor, Fidelity) {
    let tensor = QuantizedTensor::quantize(format.into(), values, cols).expect("finite weights");
    let cost = tensor.error(values).expect("same length");
    (tensor, cost)
}

#[test]
fn every_dtype_round_trips_within_half_a_step_at_every_scaling() {
    for cols in [1, 7, 64, 100, 333] {
        let values = normal(cols * 5, cols as u64);
        for dtype in DType::ALL {
            for scaling in scalings(dtype) {
                let (tensor, cost) = quantize(ScaledFormat { scaling, ..ScaledFormat::new(dtype) }, &values, cols);
                let largest = values.iter().fold(0.0_f64, |max, x| max.max(f64::from(x.abs())));
                let steps = match dtype {
                    DType::Float64 | DType::Float32 => f64::INFINITY,
                    DType::Float16 => 2048.0,
                    DType::BFloat16 | DType::Int8 => 127.0 * 1.99,
                    DType::Fp8E4M3 => 28.0,
                    DType::Fp8E5M2 => 14.0,
                    DType::Fp4 => 6.0,
                    DType::Uint8 => 127.0,
                    DType::Int4 => 14.0,
                    DType::Uint4 => 7.0,
                    DType::Uint2 => 1.4,
                    DType::Int2 => 2.0,
                    DType::Ternary | DType::Binary => 1.0,
                    DType::Int64 | DType::Int32 | DType::Uint64 | DType::Uint32 => 1e6,
                    DType::Int16 | DType::Uint16 => 3e4,
                };
                let limit = largest / steps * 1.0001;
                assert!(cost.max_error <= limit, "{dtype} {scaling:?} {cols}: {} > {limit}", cost.max_error);
                assert_eq!(tensor.bytes(), tensor.format().sizes(5, cols).expect("any row").bytes());
            }
        }
    }
}

#[test]
fn gaussian_weights_reach_but_do_not_exceed_the_theoretical_limit() {
    let values = normal(1 << 16, 3);
    for (dtype, reached) in [(DType::Binary, 0.999), (DType::Ternary, 0.999), (DType::Int2, 0.98), (DType::Int4, 0.93)]
    {
        let format = ScaledFormat { scaling: Scaling::Tensor, ..ScaledFormat::new(dtype) };
        let (_, cost) = quantize(format.with_calibration(Calibration::MeanSquaredError), &values, 1 << 16);
        let best = optimum::scalar(dtype.levels());
        assert!(cost.relative_rmse >= best * 0.995, "{dtype} beats the optimum: {} < {best}", cost.relative_rmse);
        let cosine_of = |error: f64| (1.0 - error * error).sqrt();
        assert!(cost.cosine >= reached * cosine_of(best), "{dtype}: {} of {}", cost.cosine, cosine_of(best));
    }
}

#[test]
fn the_search_for_the_least_squared_error_never_increases_it() {
    let values = normal(64 * 128, 5);
    for dtype in DType::ALL.into_iter().filter(|d| d.bits() <= 8) {
        let plain = ScaledFormat::new(dtype);
        let cost = |calibration| quantize(plain.with_calibration(calibration), &values, 128).1.rms_error;
        let (absmax, searched) = (cost(Calibration::AbsMax), cost(Calibration::MeanSquaredError));
        assert!(searched <= absmax * 1.000_001, "{dtype}: {searched} > {absmax}");
        if matches!(dtype, DType::Int4 | DType::Int2 | DType::Uint2 | DType::Fp4) {
            assert!(searched < absmax * 0.97, "{dtype} gained nothing: {searched} of {absmax}");
        }
    }
}

#[test]
fn half_quadratic_calibration_reduces_its_own_norm() {
    let mut values = normal(64 * 128, 7);
    values.iter_mut().step_by(97).for_each(|x| *x *= 6.0);
    let norm = |calibration| {
        let (tensor, _) = quantize(ScaledFormat::new(DType::Uint4).with_calibration(calibration), &values, 128);
        let back = tensor.dequantize().expect("own scales");
        values.iter().zip(back).map(|(x, y)| f64::from((x - y).abs()).powf(0.75)).sum::<f64>()
    };
    assert!(norm(Calibration::HalfQuadratic) < 0.97 * norm(Calibration::AbsMax));
}

#[test]
fn a_percentile_clamps_values_beyond_it() {
    let mut values = vec![1.0_f32; 200];
    (values[0], values[1]) = (100.0, -100.0);
    let format = ScaledFormat::new(DType::Int8).with_calibration(Calibration::Percentile(99.0));
    let (tensor, _) = quantize(format, &values, 200);
    let back = tensor.dequantize().expect("own scales");
    assert_eq!(back[..3], [1.0, -1.0, 1.0]);
    for percent in [0.0, -1.0, 100.5, f32::NAN] {
        let wrong = ScaledFormat::new(DType::Int8).with_calibration(Calibration::Percentile(percent));
        let refused = QuantizedTensor::quantize(wrong.into(), &values, 200);
        assert!(matches!(refused, Err(CodecErr::InvalidPercentile { .. })), "{percent}");
    }
}

#[test]
fn importance_moves_the_error_to_the_columns_that_matter_less() {
    let values = normal(64 * 256, 11);
    let importance: Vec<f32> = (0..256).map(|i| if i % 8 == 0 { 100.0 } else { 1.0 }).collect();
    let format: WeightFormat = ScaledFormat::new(DType::Int2).with_calibration(Calibration::MeanSquaredError).into();
    let error = |importance_given: Option<&[f32]>| {
        let tensor = QuantizedTensor::quantize_with(format, &values, 256, importance_given).expect("finite");
        let back = tensor.dequantize().expect("own scales");
        let errors = values.iter().zip(back).enumerate();
        errors.map(|(i, (x, y))| f64::from(importance[i % 256]) * f64::from(x - y).powi(2)).sum::<f64>()
    };
    assert!(error(Some(&importance)) < 0.9 * error(None));
    let short = QuantizedTensor::quantize_with(format, &values, 256, Some(&importance[1..]));
    assert_eq!(short, Err(CodecErr::InputTooSmall { required: 256 }));
}

#[test]
fn zeros_stay_zeros_and_extremes_stay_finite() {
    let hostile = [
        vec![0.0_f32; 96],
        vec![-0.0; 96],
        vec![1e-45; 96],
        vec![f32::MAX; 96],
        (0..96).map(|i| if i % 2 == 0 { f32::MAX } else { f32::MIN }).collect(),
        (0..96).map(|i| if i == 40 { f32::MAX } else { 1e-40 }).collect(),
        (0..96).map(|i| if i == 95 { -1e30 } else { 0.0 }).collect(),
    ];
    for values in &hostile {
        for dtype in DType::ALL.into_iter().filter(|d| !d.is_plain()) {
            for scaling in scalings(dtype) {
                for calibration in CALIBRATIONS {
                    let format = ScaledFormat { dtype, scaling, calibration };
                    let (tensor, _) = quantize(format, values, 96);
                    let back = tensor.dequantize().expect("finite scales");
                    assert!(back.iter().all(|x| x.is_finite()), "{format:?} of {:?}", &values[38..42]);
                    if values.iter().all(|x| *x == 0.0) {
                        assert!(back.iter().all(|x| *x == 0.0), "{format:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn non_finite_values_are_reported_unless_the_format_can_store_them() {
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut values = vec![1.0_f32; 2048];
        values[1500] = odd;
        for dtype in DType::ALL {
            let result = QuantizedTensor::quantize(ScaledFormat::new(dtype).into(), &values, 1024);
            if dtype.is_plain() {
                let back = result.and_then(|tensor| tensor.dequantize()).expect("a float holds it");
                assert_eq!(back[1500].is_nan(), odd.is_nan());
            } else {
                assert_eq!(result, Err(CodecErr::NonFinite { index: 1500 }), "{dtype}");
            }
        }
        let q4f32 = QuantizedTensor::quantize(WeightFormat::Q4F32, &values, 1024);
        assert_eq!(q4f32, Err(CodecErr::NonFinite { index: 1500 }));
    }
}

#[test]
fn rows_encoded_separately_give_the_same_bytes() {
    let (rows, cols) = (9, 100);
    let values = normal(rows * cols, 13);
    for dtype in DType::ALL {
        for scaling in scalings(dtype) {
            let format: WeightFormat = ScaledFormat { scaling, ..ScaledFormat::new(dtype) }.into();
            let whole = QuantizedTensor::quantize(format, &values, cols).expect("finite");
            let grid = format.tensor_grid(&values).expect("finite");
            let mut joined = PartsBuf { codes: vec![], scales: vec![], zeros: vec![] };
            for run in values.chunks(4 * cols) {
                let mut parts = PartsBuf::new(format.sizes(run.len() / cols, cols).expect("any row"));
                format.encode_rows(run, cols, grid, None, parts.parts_mut()).expect("finite");
                joined.codes.extend(parts.codes);
                if scaling == Scaling::Tensor {
                    (joined.scales, joined.zeros) = (parts.scales, parts.zeros);
                } else {
                    joined.scales.extend(parts.scales);
                    joined.zeros.extend(parts.zeros);
                }
            }
            let joined = QuantizedTensor::from_parts(format, rows, cols, joined).expect("the right sizes");
            assert_eq!(joined, whole, "{dtype} {scaling:?}");
        }
    }
}

#[test]
fn one_scale_per_tensor_follows_from_the_range_alone() {
    let values = normal(1000, 19);
    let (lo, hi) = values.iter().fold((0.0_f32, 0.0_f32), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    for dtype in DType::ALL.into_iter().filter(|dtype| !dtype.is_plain()) {
        let format = ScaledFormat { scaling: Scaling::Tensor, ..ScaledFormat::new(dtype) };
        let by_range = format.tensor_grid_of_range(lo, hi);
        if matches!(dtype, DType::Ternary | DType::Binary) {
            assert_eq!(by_range, None, "{dtype} needs every weight");
        } else {
            assert_eq!(by_range, format.tensor_grid(&values).expect("finite"), "{dtype}");
        }
        assert_eq!(format.with_calibration(Calibration::MeanSquaredError).tensor_grid_of_range(lo, hi), None);
        assert_eq!(ScaledFormat::new(dtype).tensor_grid_of_range(lo, hi), None);
    }
}

#[test]
fn morphing_does_not_depend_on_earlier_formats() {
    let values = normal(512, 17);
    let (int8, _) = quantize(ScaledFormat::new(DType::Int8), &values, 64);
    let (direct, _) = quantize(ScaledFormat::new(DType::Int4), &values, 64);
    drop(int8);
    assert_eq!(quantize(ScaledFormat::new(DType::Int4), &values, 64).0, direct);
}

#[test]
fn signs_survive_in_unsigned_dtypes_and_zero_stays_zero() {
    let values = [-1.0_f32, -0.25, 0.0, 0.5, 3.0];
    for dtype in [DType::Uint2, DType::Uint4, DType::Uint8, DType::Uint16, DType::Uint32, DType::Uint64] {
        let back = quantize(ScaledFormat::new(dtype), &values, 5).0.dequantize().expect("own scales");
        assert_eq!(back[2], 0.0, "{dtype}");
        assert!(back[0] < 0.0 && back[4] > 0.0, "{dtype}: {back:?}");
    }
}

#[test]
fn sizes_that_do_not_fit_are_rejected() {
    let format: WeightFormat = ScaledFormat::new(DType::Uint4).into();
    let values = [1.0_f32; 64];
    assert_eq!(
        QuantizedTensor::quantize(format, &values, 60).map(|_| ()),
        Err(CodecErr::RaggedBlocks { len: 64, block: 60 })
    );
    let mut short = PartsBuf::new(format.sizes(1, 64).expect("any row"));
    short.scales.clear();
    let refused = format.encode_rows(&values, 64, None, None, short.parts_mut());
    assert!(matches!(refused, Err(CodecErr::OutputTooSmall { .. })));
    let refused = format.decode_rows(short.parts(), 64, &mut [0.0; 64]);
    assert!(matches!(refused, Err(CodecErr::InputTooSmall { .. })));
    let mut poisoned = QuantizedTensor::quantize(format, &values, 64).expect("finite").parts().scales.to_vec();
    poisoned[0] = f32::NAN;
    let parts = PartsBuf { codes: vec![0; 32], scales: poisoned, zeros: vec![0] };
    let tensor = QuantizedTensor::from_parts(format, 1, 64, parts).expect("the right sizes");
    assert_eq!(tensor.dequantize(), Err(CodecErr::InvalidScale { index: 0 }));
    assert_eq!(WeightFormat::Q4F32.sizes(1, 40), Err(CodecErr::RaggedBlocks { len: 40, block: 32 }));
}

#[test]
fn an_empty_matrix_has_no_bytes() {
    for dtype in DType::ALL {
        for (values, cols) in [(&[][..], 0), (&[][..], 64)] {
            let tensor = QuantizedTensor::quantize(ScaledFormat::new(dtype).into(), values, cols).expect("empty");
            assert_eq!(tensor.dequantize(), Ok(vec![]));
        }
    }
}

#[test]
fn columns_of_a_row_are_those_of_the_whole_tensor() {
    let blocks =
        ["q4_0", "q8_0", "q4_k", "q3_k", "tq1_0", "mxfp4", "q4f32"].map(|name| (name.parse().expect("known"), 768));
    let scaled = DType::ALL.into_iter().flat_map(|dtype| {
        let format = move |scaling| WeightFormat::from(ScaledFormat { scaling, ..ScaledFormat::new(dtype) });
        scalings(dtype).into_iter().map(move |scaling| (format(scaling), 1100))
    });
    for (format, cols) in scaled.chain(blocks) {
        let tensor = QuantizedTensor::quantize(format, &normal(3 * cols, 5), cols).expect("finite weights");
        let whole = tensor.dequantize().expect("codes of our own");
        for (row, whole) in whole.chunks(cols).enumerate() {
            for start in (0..cols).step_by(tensor.step()) {
                for end in [cols, (start + tensor.step()).min(cols)] {
                    let mut some = vec![f32::NAN; end - start];
                    tensor.columns_into(row, start, &mut some).expect("in the matrix");
                    assert_eq!(some, whole[start..end], "{format}: {start}..{end} of row {row}");
                }
            }
        }
        let beyond = [(3, 0, 1), (0, 0, cols + 1), (0, cols.next_multiple_of(tensor.step()), 1), (0, 1, 1)];
        for (row, start, len) in beyond {
            let refused = tensor.columns_into(row, start, &mut vec![0.0; len]);
            assert!(matches!(refused, Err(CodecErr::InvalidRange { .. })), "{format}: {refused:?}");
        }
    }
}
