//! Maximum, quantize and dequantize, including hostile values and near ties.

use bitgrain_kernels::codes::{dequantize, quantize};
use bitgrain_kernels::{Backend, BitWidth, max_abs, max_difference};

use crate::{Bits, for_hostile, lengths};

#[test]
fn max_abs_is_the_same_on_every_backend() {
    for_hostile(|backend, values| {
        let want = max_abs(Backend::scalar(), values);
        let got = max_abs(backend, values);
        assert_eq!(want.to_bits(), got.to_bits(), "{backend}: {values:?}");
    });
}

#[test]
fn the_largest_difference_is_found_at_every_position() {
    for &backend in Backend::available() {
        for len in [0_usize, 1, 15, 63, 64, 65, 200] {
            let values: Vec<f32> = (0..len).map(|i| i as f32 * 0.37 - 20.0).collect();
            assert_eq!(max_difference(backend, &values, &values), Ok(0.0), "{backend}");
            for at in 0..len {
                let mut other = values.clone();
                other[at] += 0.3;
                other[len - 1 - at] -= 0.01;
                let want = values.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert_eq!(max_difference(backend, &values, &other), Ok(want), "{backend}: {at} of {len}");
                other[at] = f32::NAN;
                let got = max_difference(backend, &values, &other).expect("as long");
                assert!(got < 0.011, "{backend}: {got} at {at} of {len}");
            }
        }
        assert!(max_difference(backend, &[1.0], &[]).is_err());
    }
}

#[test]
fn max_abs_ignores_nan_and_finds_the_largest() {
    for &backend in Backend::available() {
        assert_eq!(max_abs(backend, &[f32::NAN; 40]), 0.0, "{backend}");
        for at in 0..40 {
            let mut values = [f32::NAN; 40];
            values[at] = -7.0;
            assert_eq!(max_abs(backend, &values), 7.0, "{backend} at {at}");
        }
    }
}

fn assert_same_codes(backend: Backend, width: BitWidth, values: &[f32], scale: f32) {
    let mut want = vec![99; values.len()];
    let mut got = vec![77; values.len()];
    quantize(Backend::scalar(), width, values, scale, &mut want).expect("room");
    quantize(backend, width, values, scale, &mut got).expect("room");
    assert_eq!(want, got, "{backend} {width:?} scale {scale:e}: {values:?}");
}

#[test]
fn codes_are_the_same_on_every_backend() {
    for_hostile(|backend, values| {
        for width in [BitWidth::W2, BitWidth::W5, BitWidth::W8] {
            for scale in [0.37, 1e-45, 3e38] {
                assert_same_codes(backend, width, values, scale);
            }
        }
    });
}

#[test]
fn codes_are_the_same_at_unusual_scales() {
    let values = crate::ramp(200);
    let scales = [0.0, -0.0, -0.37, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE, 1e-44, 9e-31, 1.1e-30, 9e29, 1.1e30];
    for &backend in Backend::available() {
        for width in BitWidth::ALL {
            for scale in scales {
                assert_same_codes(backend, width, &values, scale);
            }
        }
    }
}

/// Cases in which a reciprocal and a division differ: quotients next to a half.
#[test]
fn codes_are_the_same_around_every_half() {
    for scale in [0.1_f32, 1.0 / 3.0, 7.7e-5, 123.456, 0.009_765_626] {
        let halves = (-256..256).map(|k| (k as f32 + 0.5) * scale);
        let values: Vec<f32> = halves
            .flat_map(|middle| (-8..=8).map(move |step| f32::from_bits(middle.to_bits().wrapping_add_signed(step))))
            .collect();
        for &backend in Backend::available() {
            for width in BitWidth::ALL {
                assert_same_codes(backend, width, &values, scale);
            }
        }
    }
}

#[test]
fn codes_are_the_same_on_a_million_random_values() {
    let values = Bits(1).normals(1 << 20);
    for &backend in Backend::available() {
        for (i, chunk) in values.chunks(4096).enumerate() {
            assert_same_codes(backend, BitWidth::W8, chunk, 0.011 + i as f32 * 1e-5);
        }
    }
}

#[test]
fn scalar_codes_round_ties_to_even() {
    let mut codes = [0; 6];
    quantize(Backend::scalar(), BitWidth::W8, &[0.5, 1.5, 2.5, -0.5, -1.5, -126.5], 1.0, &mut codes).expect("room");
    assert_eq!(codes, [0, 2, 2, 0, -2, -126]);
}

#[test]
fn scalar_codes_are_the_rounded_quotient() {
    let values = Bits(2).normals(100_000);
    let scale = 0.0173_f32;
    let mut codes = vec![0; values.len()];
    quantize(Backend::scalar(), BitWidth::W8, &values, scale, &mut codes).expect("room");
    for (value, code) in values.iter().zip(codes) {
        assert_eq!(f32::from(code), (value / scale).round_ties_even().clamp(-127.0, 127.0));
    }
}

#[test]
fn dequantized_values_are_the_same_on_every_backend() {
    let codes: Vec<i8> = Bits(3).bytes(600).into_iter().map(|b| b as i8).collect();
    for &backend in Backend::available() {
        for len in lengths() {
            for scale in [0.0, 0.1, -3.7, 1e-45, 3e38, f32::INFINITY] {
                let (mut want, mut got) = (vec![9.0; len], vec![8.0; len]);
                dequantize(Backend::scalar(), &codes[..len], scale, &mut want).expect("room");
                dequantize(backend, &codes[..len], scale, &mut got).expect("room");
                let same = want.iter().zip(&got).all(|(w, g)| w.to_bits() == g.to_bits() || w.is_nan() && g.is_nan());
                assert!(same, "{backend} {len} {scale:e}");
            }
        }
    }
}
