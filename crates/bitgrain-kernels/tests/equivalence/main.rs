//! Every backend returns the bits of `scalar`: each length to 70 and some beyond, each hostile value in each lane.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "made-up data"
)]

mod best_cut;
mod bin;
#[path = "../bits/mod.rs"]
mod bits;
mod blocks;
mod convert;
mod crc32c;
mod dot;
mod elements;
mod error_sums;
mod exp;
mod mark_rows;
mod pack;
mod planes;
mod product;
mod quantize;
mod round_pairs;
mod score_rows;
mod sum_signs;
mod tree;

use bitgrain_kernels::Backend;
use bits::Bits;

/// Values that broke a kernel in the past, or could.
const HOSTILE: [f32; 12] = [
    -0.0,
    1e-45,
    -1e-45,
    f32::MIN_POSITIVE,
    3.4e38,
    -3.4e38,
    f32::MAX,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    0.5,
    -2.5,
];

/// Lengths around every register and block size, and one of several groups of four blocks.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=70).chain([95, 96, 97, 127, 128, 129, 191, 192, 193, 255, 256, 257, 300, 577])
}

/// A ramp of both signs without two equal magnitudes nearby.
fn ramp(len: usize) -> Vec<f32> {
    (0..len).map(|i| if i % 2 == 0 { i as f32 * 0.37 + 0.11 } else { i as f32 * -0.29 - 0.05 }).collect()
}

fn ramp_with(odd: f32, at: usize, len: usize) -> Vec<f32> {
    let mut values = ramp(len);
    if let Some(value) = values.get_mut(at) {
        *value = odd;
    }
    values
}

/// Calls `check` with each backend but scalar, each length, and each hostile value at each position.
fn for_hostile(mut check: impl FnMut(Backend, &[f32])) {
    for &backend in &Backend::available()[1..] {
        for len in lengths() {
            for at in 0..=len {
                for odd in HOSTILE {
                    check(backend, &ramp_with(odd, at, len));
                }
            }
        }
    }
}

impl Bits {
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// Approximately normal values, like weights and embeddings.
    fn normals(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| (0..4).map(|_| (self.next() >> 40) as f32 / 8_388_608.0 - 1.0).sum::<f32>()).collect()
    }
}

#[test]
fn this_machine_has_a_backend_besides_scalar() {
    // On a machine with only the scalar backend, the rest of these tests would pass without testing anything.
    let has_more = cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"));
    if has_more && std::env::var_os("BITGRAIN_ALLOW_SCALAR_ONLY").is_none() {
        assert!(Backend::available().len() > 1, "no vector backend; set BITGRAIN_ALLOW_SCALAR_ONLY=1 if that is known");
    }
}
