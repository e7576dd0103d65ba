//! Float conversions, over every code and every rounding decision.

use bitgrain_kernels::floats::{
    bf16_from_f32, bf16_to_f32, e2m1_from_f32, e2m1_to_f32, e4m3_from_f32, e4m3_to_f32, e5m2_from_f32, e5m2_to_f32,
    f16_from_f32, f16_to_f32,
};
use bitgrain_kernels::{Backend, KernelError};

use crate::for_hostile;

type From<C> = fn(Backend, &[f32], &mut [C]) -> Result<usize, KernelError>;
type To<C> = fn(Backend, &[C], &mut [f32]) -> Result<usize, KernelError>;

/// Every upper half of an f32 with the lower halves that decide a rounding.
fn telling_values() -> Vec<f32> {
    let lower = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0xFFFF];
    (0..=0xFFFF_u32).flat_map(|upper| lower.map(|lower| f32::from_bits(upper << 16 | lower))).collect()
}

fn assert_same<C: Copy + Default + PartialEq + std::fmt::Debug>(from: From<C>, to: To<C>, codes: &[C]) {
    let check = |backend, values: &[f32]| {
        let (mut want, mut got) = (vec![C::default(); values.len()], vec![C::default(); values.len()]);
        from(Backend::scalar(), values, &mut want).expect("room");
        from(backend, values, &mut got).expect("room");
        if want != got {
            let at = want.iter().zip(&got).position(|(w, g)| w != g).expect("differs");
            panic!("{backend}: {:e} gives {:?}, not {:?}", values[at], got[at], want[at]);
        }
    };
    for_hostile(check);
    let values = telling_values();
    let mut want = vec![0.0; codes.len()];
    to(Backend::scalar(), codes, &mut want).expect("room");
    for &backend in Backend::available() {
        check(backend, &values);
        for cut in 0..40 {
            let mut got = vec![0.0; codes.len() - cut];
            to(backend, &codes[cut..], &mut got).expect("room");
            for ((want, got), code) in want[cut..].iter().zip(&got).zip(&codes[cut..]) {
                assert_eq!(want.to_bits(), got.to_bits(), "{backend} {code:?}");
            }
        }
    }
}

fn bytes() -> Vec<u8> {
    (0..=255).collect()
}

fn words() -> Vec<u16> {
    (0..=u16::MAX).collect()
}

#[test]
fn f16_is_the_same_on_every_backend() {
    assert_same(f16_from_f32, f16_to_f32, &words());
}

#[test]
fn bf16_is_the_same_on_every_backend() {
    assert_same(bf16_from_f32, bf16_to_f32, &words());
}

#[test]
fn e4m3_is_the_same_on_every_backend() {
    assert_same(e4m3_from_f32, e4m3_to_f32, &bytes());
}

#[test]
fn e5m2_is_the_same_on_every_backend() {
    assert_same(e5m2_from_f32, e5m2_to_f32, &bytes());
}

#[test]
fn e2m1_is_the_same_on_every_backend() {
    assert_same(e2m1_from_f32, e2m1_to_f32, &bytes());
}
