//! Every backend returns the bits of `scalar`.

use bitgrain_kernels::Backend;
use bitgrain_kernels::ggml::{GgmlBlock, dequantize_ggml};

use super::{Bits, ROUNDED, bits, dequantized, quantized};

/// Values that broke a kernel in the past, or could.
const HOSTILE: [f32; 12] = [
    -0.0,
    1e-45,
    -1e-45,
    f32::MIN_POSITIVE,
    3e38,
    -3e38,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    -f32::NAN,
    0.5,
    -11.9,
];

/// A ramp of both signs without two equal magnitudes nearby.
fn ramp(len: usize) -> Vec<f32> {
    (0..len).map(|i| if i % 2 == 0 { i as f32 * 0.37 + 0.11 } else { i as f32 * -0.29 - 0.05 }).collect()
}

#[test]
fn hostile_values_give_the_same_blocks_in_every_lane() {
    for block in ROUNDED {
        // Sixteen blocks that are encoded together, and one remaining block.
        let count = if block.weights() == 32 { 17 } else { 2 };
        let calm = ramp(count * block.weights());
        for odd in HOSTILE {
            for at in (0..block.weights()).chain([9 * 32 + 3, calm.len() - 1]) {
                let mut values = calm.clone();
                values[at] = odd;
                // Also alone in its block.
                values[block.weights()..2 * block.weights()].fill(if at % 2 == 0 { odd } else { -odd });
                let want = quantized(Backend::scalar(), block, &values);
                for &backend in &Backend::available()[1..] {
                    assert_eq!(quantized(backend, block, &values), want, "{backend} {block:?}: {odd} at {at}");
                }
            }
        }
    }
}

#[test]
fn every_number_of_blocks_is_the_same_on_every_backend() {
    let mut random = Bits(21);
    for block in GgmlBlock::ALL {
        for count in 0..=40 {
            let bytes = random.bytes(count * block.bytes());
            let want = dequantized(Backend::scalar(), block, &bytes);
            let values: Vec<_> = (0..count * block.weights()).map(|_| random.normal()).collect();
            for &backend in &Backend::available()[1..] {
                assert_eq!(dequantized(backend, block, &bytes), want, "{backend} {block:?}, {count} blocks");
                if ROUNDED.contains(&block) && count > 0 {
                    let want = quantized(Backend::scalar(), block, &values);
                    assert_eq!(quantized(backend, block, &values), want, "{backend} {block:?}, {count} blocks");
                }
            }
        }
    }
}

#[test]
fn any_bytes_dequantize_to_the_same_weights_everywhere() {
    let mut random = Bits(22);
    let mut odd = 0;
    for block in GgmlBlock::ALL {
        for _ in 0..40 {
            let bytes = random.bytes(40 * block.bytes());
            let want = dequantized(Backend::scalar(), block, &bytes);
            odd += want.iter().filter(|&&bits| !f32::from_bits(bits).is_finite()).count();
            for &backend in &Backend::available()[1..] {
                assert!(dequantized(backend, block, &bytes) == want, "{backend} {block:?}");
            }
        }
    }
    assert!(odd > 1000, "hardly a scale was infinite or NaN: {odd}");
}

#[test]
fn large_outputs_that_bypass_the_cache_are_the_same() {
    // Above 16 MiB, with starts that are not aligned to a cache line, and not a multiple of the staging buffer.
    for block in [GgmlBlock::Q4_0, GgmlBlock::MXFP4, GgmlBlock::Q6_K] {
        let count = (17 << 18) / block.weights() + 3;
        let mut bytes = Bits(23).bytes(997 * block.bytes()).repeat(count / 997 + 1);
        bytes.truncate(count * block.bytes());
        let mut want = vec![0.0; count * block.weights()];
        dequantize_ggml(Backend::scalar(), block, &bytes, &mut want).unwrap();
        for &backend in &Backend::available()[1..] {
            for lead in [0, 1, 4] {
                let mut got = vec![0.0; want.len() + lead];
                assert_eq!(dequantize_ggml(backend, block, &bytes, &mut got[lead..]), Ok(bytes.len()));
                assert!(bits(&got[lead..]) == bits(&want), "{backend} {block:?}, {lead} values off");
            }
        }
    }
}
