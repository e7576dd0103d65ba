//! Corner cases of the reference, each with the expected answer.

use bitgrain_kernels::Backend;
use bitgrain_kernels::ggml::GgmlBlock;

use super::{dequantized, quantized};

/// Encodes one block as the first of seventeen, and checks that every backend agrees.
fn block_of(block: GgmlBlock, values: &[f32; 32]) -> Vec<u8> {
    let values = values.repeat(17);
    let want = quantized(Backend::scalar(), block, &values);
    for &backend in Backend::available() {
        assert_eq!(quantized(backend, block, &values), want, "{backend} {block:?}");
    }
    want[..block.bytes()].to_vec()
}

fn zeros_but(places: &[(usize, f32)]) -> [f32; 32] {
    let mut values = [0.0; 32];
    for &(at, value) in places {
        values[at] = value;
    }
    values
}

#[test]
fn the_first_of_two_equal_magnitudes_gives_the_scale_its_sign() {
    // A scale of -1/8 is the half 0xB000, 1/8 is 0x3000.
    for (first, second) in [(3, 20), (20, 3), (0, 31), (15, 16)] {
        let plus_first = block_of(GgmlBlock::Q4_0, &zeros_but(&[(first, 1.0), (second, -1.0)]));
        let sign = if first < second { 0xB0 } else { 0x30 };
        assert_eq!(plus_first[..2], [0x00, sign], "+1 at {first}, -1 at {second}");
        let q5_0 = block_of(GgmlBlock::Q5_0, &zeros_but(&[(first, 1.0), (second, -1.0)]));
        assert_eq!(q5_0[..2], [0x00, sign - 4], "1/16 with the same sign");
    }
}

#[test]
fn a_block_of_zeros_has_negative_zero_as_its_scale() {
    for zero in [0.0, -0.0] {
        let mut want = vec![0x88; 18];
        want[..2].copy_from_slice(&[0x00, 0x80]);
        assert_eq!(block_of(GgmlBlock::Q4_0, &[zero; 32]), want);
        assert_eq!(block_of(GgmlBlock::Q8_0, &[zero; 32]), [0; 34]);
        assert_eq!(block_of(GgmlBlock::MXFP4, &[zero; 32]), [0; 17]);
    }
}

#[test]
fn the_first_of_zeros_is_the_minimum() {
    for (first, second, sign) in [(0.0, -0.0, 0x00), (-0.0, 0.0, 0x80)] {
        let mut values = [1.0; 32];
        (values[4], values[25]) = (first, second);
        for block in [GgmlBlock::Q4_1, GgmlBlock::Q5_1] {
            assert_eq!(block_of(block, &values)[2..4], [0x00, sign], "{block:?} {first}");
        }
    }
}

#[test]
fn halves_round_away_from_zero_in_q8_0() {
    let values = zeros_but(&[(0, 127.0), (1, 0.5), (2, -0.5), (3, 2.5), (4, -2.5), (5, 0.499_999_97)]);
    let bytes = block_of(GgmlBlock::Q8_0, &values);
    assert_eq!(bytes[..2], [0x00, 0x3C], "a scale of one");
    assert_eq!(bytes[2..8], [127, 1, 0xFF, 3, 0xFD, 0]);
}

#[test]
fn maxima_just_below_a_power_of_two_count_as_that_power_in_mxfp4() {
    // The f32 logarithm of up to 44 numbers below 2^100 is 100.
    for (below, exponent) in [(0, 225), (1, 225), (44, 225), (45, 224)] {
        let max = f32::from_bits(2.0_f32.powi(100).to_bits() - below);
        assert_eq!(block_of(GgmlBlock::MXFP4, &zeros_but(&[(8, -max)]))[0], exponent, "{below} below");
    }
    // Near one the logarithms are dense enough to distinguish them, and below 2^-125 the exponent wraps.
    assert_eq!(block_of(GgmlBlock::MXFP4, &[1.0_f32.next_down(); 32])[0], 124);
    assert_eq!(block_of(GgmlBlock::MXFP4, &[2.0_f32.powi(-126); 32])[0], 255);
}

#[test]
fn every_exponent_of_mxfp4_is_a_power_of_two() {
    for exponent in 0..=u8::MAX {
        let mut bytes = [0x11; 17];
        bytes[0] = exponent;
        // The smallest two are subnormal; 255 is not special.
        let want = (2.0_f64.powi(i32::from(exponent) - 128) as f32).to_bits();
        for &backend in Backend::available() {
            assert_eq!(dequantized(backend, GgmlBlock::MXFP4, &bytes), [want; 32], "{backend} {exponent}");
        }
    }
}

#[test]
fn halfway_between_two_fp4_the_smaller_magnitude_wins() {
    // An exponent of 126 with a step of 1/4: 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3.
    let values = zeros_but(&[(0, 2.9), (1, 0.125), (2, -0.125), (3, 0.375), (4, -1.25), (5, 2.5), (6, -0.126)]);
    let bytes = block_of(GgmlBlock::MXFP4, &values);
    assert_eq!(bytes[..8], [126, 7, 0, 0, 1, 12, 6, 9]);
}

#[test]
fn non_finite_weights_have_a_defined_result() {
    for nan in [f32::NAN, -f32::NAN] {
        let bytes = block_of(GgmlBlock::Q4_0, &zeros_but(&[(0, 8.0), (1, nan)]));
        assert_eq!(bytes[..5], [0x00, 0xBC, 0x80, 0x80, 0x88], "passed over; its code is 0");
        let bytes = block_of(GgmlBlock::Q8_0, &zeros_but(&[(0, 127.0), (1, nan)]));
        assert_eq!(bytes[..4], [0x00, 0x3C, 127, 0]);
    }
    let bytes = block_of(GgmlBlock::Q4_0, &zeros_but(&[(0, f32::INFINITY), (1, 8.0)]));
    assert_eq!(bytes[..5], [0x00, 0xFC, 0x80, 0x88, 0x88], "an infinite scale; what is finite becomes zero steps");
    let bytes = block_of(GgmlBlock::Q8_0, &zeros_but(&[(0, f32::NEG_INFINITY), (1, 8.0)]));
    assert_eq!(bytes[..4], [0x00, 0x7C, 0, 0]);
}
