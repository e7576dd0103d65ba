//! Fused block kernels compared with `scalar`, and `scalar` compared with its separate steps.

use bitgrain_kernels::blocks::{
    block_scale, blocks_len, decode_blocks, encode_blocks, quantize_pack, unpack_dequantize,
};
use bitgrain_kernels::codes::{pack_i8, quantize};
use bitgrain_kernels::{Backend, BitWidth, BlockLen, KernelError, max_abs};

use crate::{Bits, HOSTILE, for_hostile, lengths, ramp_with};

fn block(len: usize) -> BlockLen {
    BlockLen::new(len).expect("a multiple of eight")
}

fn encoded(backend: Backend, width: BitWidth, block: BlockLen, values: &[f32]) -> Result<Vec<u8>, KernelError> {
    let mut out = vec![0xA5; blocks_len(width, block, values.len())];
    assert_eq!(encode_blocks(backend, width, block, values, &mut out)?, out.len());
    Ok(out)
}

/// The fused kernel, composed of the separate ones.
fn encoded_in_steps(width: BitWidth, block: BlockLen, values: &[f32]) -> Result<Vec<u8>, KernelError> {
    if let Some(index) = values.iter().position(|v| !v.is_finite()) {
        return Err(KernelError::NonFinite { index });
    }
    let mut out = Vec::new();
    for values in values.chunks(block.get()) {
        let scale = block_scale(width, max_abs(Backend::scalar(), values));
        out.extend(scale.to_le_bytes());
        let mut codes = vec![0; values.len()];
        quantize(Backend::scalar(), width, values, scale, &mut codes)?;
        if width == BitWidth::W8 {
            out.extend(codes.iter().map(|&c| c as u8));
        } else {
            let mut packed = vec![0; width.packed_len(codes.len())];
            pack_i8(Backend::scalar(), width, &codes, &mut packed)?;
            out.extend(packed);
        }
    }
    Ok(out)
}

#[test]
fn scalar_blocks_are_the_separate_steps_put_together() {
    for width in BitWidth::ALL {
        for len in lengths() {
            for odd in HOSTILE {
                let values = ramp_with(odd, len / 2, len);
                let want = encoded_in_steps(width, block(64), &values);
                assert_eq!(encoded(Backend::scalar(), width, block(64), &values), want, "{width:?} {len} {odd}");
            }
        }
    }
}

#[test]
fn encoded_blocks_are_the_same_on_every_backend() {
    let mut width = BitWidth::ALL.into_iter().cycle();
    for_hostile(|backend, values| {
        // Every width meets every hostile value many times; all combinations would take minutes.
        for width in width.by_ref().take(3) {
            let want = encoded(Backend::scalar(), width, block(64), values);
            assert_eq!(encoded(backend, width, block(64), values), want, "{backend} {width:?} {values:?}");
        }
    });
}

/// Cases in which a shortcut for the division would show: a maximum that gives an awkward scale, and all other values
/// next to a midpoint between two codes.
#[test]
fn blocks_full_of_near_ties_are_the_same_on_every_backend() {
    for width in BitWidth::ALL {
        let qmax = i32::from(width.qmax());
        for scale in [0.1_f32, 1.0 / 3.0, 7.7e-5, 123.456, 0.009_765_626, 1e-29, 1e-31, 9e29, 1e31] {
            let largest = scale * qmax as f32;
            let scale = block_scale(width, largest);
            let mut values = Vec::new();
            for steps in -9..=9 {
                let half = |i: i32| (i % (2 * qmax) - qmax) as f32 + 0.5;
                let near = |i| f32::from_bits((half(i) * scale).to_bits().wrapping_add_signed(steps));
                values.push(largest);
                values.extend((0..63).map(near));
            }
            for &backend in Backend::available() {
                let want = encoded_in_steps(width, block(64), &values);
                assert_eq!(encoded(backend, width, block(64), &values), want, "{backend} {width:?} scale {scale:e}");
            }
        }
    }
}

#[test]
fn every_block_length_is_the_same_on_every_backend() {
    let values = Bits(5).normals(1500);
    for &backend in Backend::available() {
        for width in BitWidth::ALL {
            for len in [8, 16, 24, 32, 40, 56, 64, 72, 96, 128, 136, 256, 512, 1024] {
                for count in [len - 1, len, len + 1, 2 * len + 7, 1500] {
                    let values = &values[..count.min(1500)];
                    let want = encoded(Backend::scalar(), width, block(len), values).expect("finite");
                    let got = encoded(backend, width, block(len), values).expect("finite");
                    assert_eq!(got, want, "{backend} {width:?} block {len}, {count} values");
                    assert_same_decode(backend, width, block(len), &want, values.len());
                }
            }
        }
    }
}

fn assert_same_decode(backend: Backend, width: BitWidth, block: BlockLen, bytes: &[u8], count: usize) {
    let (mut want, mut got) = (vec![1.0; count], vec![2.0; count]);
    let want_result = decode_blocks(Backend::scalar(), width, block, bytes, &mut want);
    let got_result = decode_blocks(backend, width, block, bytes, &mut got);
    assert_eq!(want_result, got_result, "{backend} {width:?}");
    if want_result.is_ok() {
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&want), bits(&got), "{backend} {width:?}");
        assert!(want.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn any_bytes_decode_the_same_on_every_backend() {
    let mut random = Bits(6);
    let mut refused = 0;
    for round in 0..400 {
        for width in BitWidth::ALL {
            let count = random.next() as usize % 200;
            let mut bytes = random.bytes(blocks_len(width, block(64), count));
            if round % 2 == 0 {
                // A valid scale, so that the codes are checked.
                for block in bytes.chunks_mut(4 + width.packed_len(64)) {
                    block[..4].copy_from_slice(&0.5_f32.to_le_bytes());
                }
            }
            refused +=
                usize::from(decode_blocks(Backend::scalar(), width, block(64), &bytes, &mut vec![0.0; count]).is_err());
            for &backend in Backend::available() {
                assert_same_decode(backend, width, block(64), &bytes, count);
            }
        }
    }
    assert!(refused > 1000, "hardly anything was refused ({refused}): the bytes test nothing");
}

#[test]
fn a_non_finite_value_is_reported_at_any_position() {
    for &backend in Backend::available() {
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for at in 0..800 {
                let got = encoded(backend, BitWidth::W4, block(64), &ramp_with(odd, at, 800));
                assert_eq!(got, Err(KernelError::NonFinite { index: at }), "{backend} {odd}");
            }
        }
    }
}

#[test]
fn a_bad_scale_is_reported_with_the_first_index_of_its_block() {
    for &backend in Backend::available() {
        for bad in [-1.0, -0.0, f32::NAN, f32::INFINITY, 3e38] {
            let mut bytes = encoded(backend, BitWidth::W7, block(64), &crate::ramp(200)).expect("finite");
            bytes[120..124].copy_from_slice(&bad.to_le_bytes());
            let got = decode_blocks(backend, BitWidth::W7, block(64), &bytes, &mut [0.0; 200]);
            assert_eq!(got, Err(KernelError::InvalidScale { index: 128 }), "{backend} {bad}");
        }
    }
}

#[test]
fn large_outputs_that_bypass_the_cache_are_the_same() {
    // 5 Mi values are 20 MiB, above the streaming threshold; with an odd start and a short last block.
    let values = Bits(7).normals((5 << 20) + 13);
    for width in [BitWidth::W3, BitWidth::W8] {
        for len in [64, 96, 2048] {
            let bytes = encoded(Backend::best(), width, block(len), &values).expect("finite");
            let mut want = vec![0.0; values.len()];
            decode_blocks(Backend::scalar(), width, block(len), &bytes, &mut want).expect("good");
            for &backend in Backend::available() {
                for lead in 0..3 {
                    let mut got = vec![0.0; values.len() + lead];
                    decode_blocks(backend, width, block(len), &bytes, &mut got[lead..]).expect("good");
                    assert!(want == got[lead..], "{backend} {width:?} block {len}, {lead} values off");
                }
                let mut bad = bytes.clone();
                bad[3] |= 0x80;
                let got = decode_blocks(backend, width, block(len), &bad, &mut want.clone());
                assert_eq!(got, Err(KernelError::InvalidScale { index: 0 }), "{backend} {width:?} block {len}");
            }
        }
    }
}

#[test]
fn a_bad_code_at_a_given_scale_is_reported_with_its_index() {
    for &backend in Backend::available() {
        for width in BitWidth::ALL {
            for at in [0, 5, 63, 64, 99] {
                let mut bytes = vec![0; width.packed_len(100)];
                let bits = usize::from(width.bits());
                // Codes of -qmax, or of 0 at 8 bits; one of them with every bit set, or -128.
                for bit in at * bits..(at + 1) * bits {
                    let set = width != BitWidth::W8 || bit % 8 == 7;
                    bytes[bit / 8] |= u8::from(set) << (bit % 8);
                }
                let code = if width == BitWidth::W8 { -128 } else { i32::from(width.qmax()) + 1 };
                let got = unpack_dequantize(backend, width, &bytes, 1.0, &mut [0.0; 100]);
                assert_eq!(got, Err(KernelError::CodeOutOfRange { index: at, code }), "{backend} {width:?}");
            }
        }
    }
}

#[test]
fn given_scales_quantize_and_pack_the_same_on_every_backend() {
    for_hostile(|backend, values| {
        for (width, scale) in [(BitWidth::W3, 0.4), (BitWidth::W8, 0.02), (BitWidth::W7, 0.0)] {
            let required = width.packed_len(values.len());
            let (mut want, mut got) = (vec![1; required], vec![2; required + 3]);
            quantize_pack(Backend::scalar(), width, values, scale, &mut want).expect("room");
            assert_eq!(quantize_pack(backend, width, values, scale, &mut got), Ok(required));
            assert_eq!(got[..required], want, "{backend} {width:?} {scale}: {values:?}");
            assert_eq!(got[required..], [2; 3], "{backend} wrote past its output");
            let (mut want_back, mut got_back) = (vec![1.0; values.len()], vec![2.0; values.len()]);
            assert_eq!(unpack_dequantize(Backend::scalar(), width, &want, scale, &mut want_back), Ok(required));
            assert_eq!(unpack_dequantize(backend, width, &want, scale, &mut got_back), Ok(required));
            let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&want_back), bits(&got_back), "{backend} {width:?} {scale}");
        }
    });
}
