//! The rules of the reference again, as simply as possible: one value at a time, halves by another crate, rounding by
//! the standard library, a logarithm for the exponent, a search for the nearest FP4.

use bitgrain_kernels::Backend;
use bitgrain_kernels::ggml::GgmlBlock;
use half::f16;

use super::{Bits, ROUNDED, quantized};

fn naive(block: GgmlBlock, values: &[f32]) -> Vec<u8> {
    let encode = match block {
        GgmlBlock::Q4_0 => |v: &[f32]| centered(v, 4),
        GgmlBlock::Q5_0 => |v: &[f32]| centered(v, 5),
        GgmlBlock::Q4_1 => |v: &[f32]| from_minimum(v, 4),
        GgmlBlock::Q5_1 => |v: &[f32]| from_minimum(v, 5),
        GgmlBlock::Q8_0 => q8_0,
        GgmlBlock::TQ1_0 => tq1_0,
        GgmlBlock::TQ2_0 => tq2_0,
        GgmlBlock::MXFP4 => mxfp4,
        other => panic!("{other:?} is searched for"),
    };
    values.chunks(block.weights()).flat_map(encode).collect()
}

fn half(value: f32) -> [u8; 2] {
    f16::from_f32(value).to_le_bytes()
}

fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

/// Casts like x86: a value out of range has 0 in its low byte.
fn cast(value: f32) -> i32 {
    if value.is_finite() { value as i32 } else { 0 }
}

fn magnitude(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |max, v| if v.abs() > max { v.abs() } else { max })
}

fn with_codes(mut head: Vec<u8>, codes: &[i32], bits: u32) -> Vec<u8> {
    if bits == 5 {
        let fifths = (0..32).fold(0_u32, |word, i| word | (codes[i] as u32 >> 4 & 1) << i);
        head.extend(fifths.to_le_bytes());
    }
    head.extend((0..16).map(|i| (codes[i] & 15 | (codes[16 + i] & 15) << 4) as u8));
    head
}

fn centered(values: &[f32], bits: u32) -> Vec<u8> {
    let (mut max, mut largest) = (0.0, 0.0);
    for &v in values {
        if v.abs() > max {
            (max, largest) = (v.abs(), v);
        }
    }
    let middle = (1 << (bits - 1)) as f32;
    let scale: f32 = largest / -middle;
    let id = inverse(scale);
    let codes: Vec<_> = values.iter().map(|x| cast(x * id + (middle + 0.5)).min((1 << bits) - 1)).collect();
    with_codes(half(scale).to_vec(), &codes, bits)
}

fn from_minimum(values: &[f32], bits: u32) -> Vec<u8> {
    let (mut min, mut max) = (f32::MAX, f32::MIN);
    for &v in values {
        if v < min {
            min = v;
        }
        if v > max {
            max = v;
        }
    }
    let scale = (max - min) / ((1 << bits) - 1) as f32;
    let id = inverse(scale);
    let codes: Vec<_> = values.iter().map(|x| cast((x - min) * id + 0.5).min((1 << bits) - 1)).collect();
    with_codes([half(scale), half(min)].concat(), &codes, bits)
}

fn q8_0(values: &[f32]) -> Vec<u8> {
    let scale = magnitude(values) / 127.0;
    let id = inverse(scale);
    half(scale).into_iter().chain(values.iter().map(|x| cast((x * id).round()) as u8)).collect()
}

fn digits(values: &[f32]) -> (f32, Vec<u32>) {
    let scale = magnitude(values);
    let id = inverse(scale);
    (scale, values.iter().map(|x| (cast((x * id).round()) + 1) as u32).collect())
}

fn tq1_0(values: &[f32]) -> Vec<u8> {
    let (scale, digits) = digits(values);
    let byte = |first: usize, step: usize, count: usize| {
        let number = (0..5).fold(0, |number, n| number * 3 + if n < count { digits[first + n * step] } else { 0 });
        (number * 256).div_ceil(243) as u8
    };
    let runs = (0..32).map(|m| byte(m, 32, 5)).chain((0..16).map(|m| byte(160 + m, 16, 5)));
    runs.chain((0..4).map(|m| byte(240 + m, 4, 4))).chain(half(scale)).collect()
}

fn tq2_0(values: &[f32]) -> Vec<u8> {
    let (scale, digits) = digits(values);
    let byte = |i: usize| (0..4).fold(0, |byte, n| byte | digits[i / 32 * 128 + n * 32 + i % 32] << (2 * n)) as u8;
    (0..64).map(byte).chain(half(scale)).collect()
}

fn mxfp4(values: &[f32]) -> Vec<u8> {
    const TABLE: [f32; 16] = [0., 1., 2., 3., 4., 6., 8., 12., 0., -1., -2., -3., -4., -6., -8., -12.];
    let max = magnitude(values);
    // In f64 and then rounded, because libraries differ in the last bit of an f32 logarithm.
    let exponent = if max > 0.0 { cast((f64::from(max).log2() as f32).floor() - 2.0 + 127.0) as u8 } else { 0 };
    let step = 2.0_f64.powi(i32::from(exponent) - 128) as f32;
    let nearest = |x: f32| {
        let distance = |code: i32| (TABLE[code as usize] * step - x).abs();
        (1..16).fold(0, |best, code| if distance(code) < distance(best) { code } else { best })
    };
    with_codes(vec![exponent], &values.iter().map(|&x| nearest(x)).collect::<Vec<_>>(), 4)
}

/// 768 weights of one kind: sixteen blocks, eight more, and everything that a shortcut could get wrong.
fn kinds(random: &mut Bits) -> Vec<(&'static str, Vec<f32>)> {
    let size = 2.0_f32.powi(random.around_zero(30));
    let scale = random.normal() * 0.1;
    let mut make = |name, value: &mut dyn FnMut(&mut Bits, usize) -> f32| {
        (name, (0..768).map(|i| value(random, i)).collect::<Vec<_>>())
    };
    vec![
        make("normal", &mut |r, _| r.normal() * scale),
        make("heavy tails", &mut |r, _| r.normal() / (r.normal() + 0.01)),
        make("sparse", &mut |r, _| if r.next() % 16 == 0 { r.normal() } else { 0.0 }),
        make("equal", &mut |_, i| (i / 32) as f32 * scale),
        make("signed zeros", &mut |r, _| if r.next() % 2 == 0 { 0.0 } else { -0.0 }),
        make("none negative", &mut |r, _| [0.0, -0.0, 1.0, r.normal().abs()][r.next() as usize % 4]),
        make("ties", &mut |r, _| r.around_zero(1) as f32 * scale),
        make("quarters", &mut |r, _| r.around_zero(64) as f32 * 0.25 * size),
        make("halves", &mut |r, i| if i % 32 == 0 { 127.0 } else { r.around_zero(126) as f32 + 0.5 }),
        make("near halves", &mut |r, i| {
            let half = r.around_zero(126) as f32 + 0.5;
            if i % 32 == 9 { -127.0 } else { f32::from_bits(half.to_bits().wrapping_add_signed(r.around_zero(2))) }
        }),
        make("below powers of two", &mut |r, i| {
            let power = 2.0_f32.powi(i as i32 / 32 * 10 - 120);
            if i % 32 == 5 { f32::from_bits(power.to_bits() - r.next() as u32 % 100) } else { power * r.normal() * 0.2 }
        }),
        make("tiny", &mut |r, i| r.normal() * 10.0_f32.powi(-(i as i32 / 32) - 30)),
        make("huge", &mut |r, i| r.normal() * 10.0_f32.powi(i as i32 / 32 + 13)),
        make("any finite bits", &mut |r, _| {
            Some(f32::from_bits(r.next() as u32)).filter(|v| v.is_finite()).unwrap_or(1.0)
        }),
        make("some not finite", &mut |r, _| match r.next() % 100 {
            0 => f32::NAN,
            1 => f32::INFINITY,
            2 => f32::NEG_INFINITY,
            _ => r.normal(),
        }),
    ]
}

#[test]
fn the_rules_of_the_specification_give_the_same_bytes() {
    let mut random = Bits(11);
    for round in 0..60 {
        for (kind, values) in kinds(&mut random) {
            for block in ROUNDED {
                let want = naive(block, &values);
                for &backend in Backend::available() {
                    let got = quantized(backend, block, &values);
                    let at = (0..want.len()).find(|&i| got[i] != want[i]).map(|i| i / block.bytes());
                    assert_eq!(at, None, "{backend} {block:?} of {kind}, round {round}: the first wrong block");
                }
            }
        }
    }
}
