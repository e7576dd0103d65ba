//! Kernels against the CPU, on the adapter that `BITGRAIN_GPU` names, or the best one. `cargo xtask test --platforms` installs
//! a software adapter and runs these tests.

#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes from random numbers")]

mod adapter;
mod histograms;
mod networks;
mod products;
mod sentences;
#[expect(dead_code, reason = "these tests use a part of it")]
#[path = "../../../bitgrain-nn/tests/embedding/tiny.rs"]
mod tiny;

use std::sync::OnceLock;

use bitgrain_gpu::{AdapterChoice, Device, DeviceOptions};

/// Returns the device that all tests share.
///
/// # Panics
/// Without an adapter: a test that cannot run must not pass.
fn device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| open(None))
}

/// Opens a device whose arrays have at most this many bytes.
fn open(max_binding: Option<u64>) -> Device {
    let adapter = AdapterChoice::parse(&std::env::var("BITGRAIN_GPU").unwrap_or_default());
    Device::open(&DeviceOptions { adapter, max_binding })
        .unwrap_or_else(|error| panic!("these tests need a GPU: {error}"))
}

/// Returns numbers between -1 and 1 that look random and depend on the seed only.
fn noise(len: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    std::iter::repeat_with(next).take(len).collect()
}
