//! Compares the float conversions with the crates `half` and `float8`.
#![expect(clippy::cast_possible_truncation, reason = "made-up data")]

use bitgrain_kernels::floats::{
    bf16_from_f32, bf16_to_f32, e2m1_from_f32, e2m1_to_f32, e4m3_from_f32, e4m3_to_f32, e5m2_from_f32, e5m2_to_f32,
    f16_from_f32, f16_to_f32,
};
use bitgrain_kernels::{Backend, KernelError};

type From<C> = fn(Backend, &[f32], &mut [C]) -> Result<usize, KernelError>;
type To<C> = fn(Backend, &[C], &mut [f32]) -> Result<usize, KernelError>;

/// Every upper half of an f32, combined with the lower halves that decide a rounding.
fn telling_values() -> impl Iterator<Item = f32> {
    let lower = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0xFFFF];
    (0..=0xFFFF_u32).flat_map(move |upper| lower.map(|lower| f32::from_bits(upper << 16 | lower)))
}

fn one<C: Default + Copy>(convert: From<C>, value: f32) -> C {
    let mut code = [C::default()];
    convert(Backend::scalar(), &[value], &mut code).expect("room");
    code[0]
}

fn back<C: Copy>(convert: To<C>, code: C) -> f32 {
    let mut value = [0.0];
    convert(Backend::scalar(), &[code], &mut value).expect("room");
    value[0]
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn f16_agrees_with_half() {
    for value in telling_values() {
        let want = half::f16::from_f32(value);
        let got = one(f16_from_f32, value);
        assert!(want.to_bits() == got || want.is_nan() && half::f16::from_bits(got).is_nan(), "{value:e}");
    }
    for code in 0..=u16::MAX {
        assert!(same(back(f16_to_f32, code), half::f16::from_bits(code).to_f32()), "{code:#x}");
    }
}

#[test]
fn bf16_agrees_with_half() {
    for value in telling_values() {
        assert_eq!(one(bf16_from_f32, value), half::bf16::from_f32(value).to_bits(), "{value:e}");
    }
    for code in 0..=u16::MAX {
        assert!(same(back(bf16_to_f32, code), half::bf16::from_bits(code).to_f32()), "{code:#x}");
    }
}

#[test]
fn fp8_codes_agree_with_float8() {
    for code in 0..=u8::MAX {
        assert!(same(back(e4m3_to_f32, code), float8::F8E4M3::from_bits(code).to_f32()), "e4m3 {code:#x}");
        assert!(same(back(e5m2_to_f32, code), float8::F8E5M2::from_bits(code).to_f32()), "e5m2 {code:#x}");
    }
}

#[test]
fn fp8_rounding_agrees_with_float8_in_range() {
    for value in telling_values().filter(|v| v.abs() <= 448.0) {
        assert_eq!(one(e4m3_from_f32, value), float8::F8E4M3::from_f32(value).to_bits(), "e4m3 {value:e}");
    }
    for value in telling_values().filter(|v| v.abs() <= 57_344.0) {
        assert_eq!(one(e5m2_from_f32, value), float8::F8E5M2::from_f32(value).to_bits(), "e5m2 {value:e}");
    }
}

#[test]
fn fp8_saturates_and_keeps_nan() {
    for huge in [449.0, 1e9, f32::MAX, f32::INFINITY] {
        assert_eq!((one(e4m3_from_f32, huge), one(e4m3_from_f32, -huge)), (0x7E, 0xFE));
    }
    for huge in [65_536.0, f32::MAX, f32::INFINITY] {
        assert_eq!((one(e5m2_from_f32, huge), one(e5m2_from_f32, -huge)), (0x7B, 0xFB));
    }
    assert_eq!((one(e4m3_from_f32, f32::NAN), one(e5m2_from_f32, f32::NAN)), (0x7F, 0x7E));
}

/// The sixteen values of E2M1, from the table of the OCP specification.
const E2M1: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

#[test]
fn fp4_is_the_nearest_of_its_sixteen_values_ties_to_even() {
    for (code, want) in E2M1.into_iter().enumerate() {
        assert!(same(back(e2m1_to_f32, code as u8), want));
        assert!(same(back(e2m1_to_f32, code as u8 | 8), -want));
    }
    for value in telling_values().filter(|v| !v.is_nan()) {
        let distance = |code: &u8| (f64::from(E2M1[usize::from(*code)]) - f64::from(value.abs()).min(6.0)).abs();
        let nearest = (0..8_u8).min_by(|a, b| distance(a).total_cmp(&distance(b)).then((a % 2).cmp(&(b % 2))));
        let want = nearest.expect("eight values") | u8::from(value.is_sign_negative()) << 3;
        assert_eq!(one(e2m1_from_f32, value), want, "{value:e}");
    }
    assert_eq!(one(e2m1_from_f32, f32::NAN), 0);
}
