//! f16 bodies: half precision, two bytes per value, with the error of the rounding.

use bitgrain_codec::CodecErr;
use bitgrain_kernels::floats::{f16_from_f32, f16_to_f32};
use bitgrain_kernels::{Backend, max_difference};
use rayon::prelude::*;

use crate::StoreError;
use crate::blocks::Cost;

/// Values converted at once: f32, f16 and decoded values fit in the L1 cache.
const PIECE: usize = 1024;
/// Minimum number of values for parallel conversion: 1 MiB of f32.
const PARALLEL: usize = 256 << 10;
/// Largest finite f16.
const MAX: f32 = 65504.0;
/// Smallest normal f16; smaller values lose bits and finally become 0.
const MIN_NORMAL: f32 = 1.0 / (1 << 14) as f32;
/// Largest relative error of rounding to a normal f16.
const UNIT: f32 = 1.0 / (1 << 11) as f32;
/// Largest absolute error of rounding to a subnormal f16.
const SUBNORMAL: f32 = 1.0 / (1 << 25) as f32;
/// Bits of the exponent. All of them are set in infinities and NaN.
const EXPONENT: u16 = 0x7c00;

/// Returns whether f16 can represent values up to `largest` without overflow and without losing all of them.
pub(crate) fn fits(largest: f32) -> bool {
    largest == 0.0 || (MIN_NORMAL..=MAX).contains(&largest)
}

/// Returns the error bound of values up to `largest` as f16.
pub(crate) fn bound(largest: f32) -> f32 {
    if largest == 0.0 { 0.0 } else { (largest * UNIT).max(SUBNORMAL) }
}

/// Encodes values, all finite and at most `largest` in magnitude, which must [fit](fits), and measures the error.
pub(crate) fn encode(values: &[f32], largest: f32, bytes: &mut [u8]) -> Result<Cost, StoreError> {
    let one = |(values, bytes): (&[f32], &mut [u8])| {
        let (mut codes, mut back) = ([0_u16; PIECE], [0.0_f32; PIECE]);
        let (codes, back) = (&mut codes[..values.len()], &mut back[..values.len()]);
        f16_from_f32(Backend::best(), values, codes)?;
        f16_to_f32(Backend::best(), codes, back)?;
        for (out, code) in bytes.as_chunks_mut().0.iter_mut().zip(&*codes) {
            *out = code.to_le_bytes();
        }
        Ok::<f32, CodecErr>(max_difference(Backend::best(), values, back)?)
    };
    let measured = if values.len() < PARALLEL {
        let mut pieces = values.chunks(PIECE).zip(bytes.chunks_mut(2 * PIECE));
        pieces.try_fold(0.0, |worst, piece| Ok::<f32, CodecErr>(one(piece)?.max(worst)))?
    } else {
        let pieces = values.par_chunks(PIECE).zip(bytes.par_chunks_mut(2 * PIECE));
        pieces.map(one).try_reduce(|| 0.0, |a, b| Ok(a.max(b)))?
    };
    let bound = bound(largest);
    Ok(Cost { bound, measured: measured.min(bound) })
}

/// Decodes an f16 body.
///
/// # Errors
/// Returns [`CodecErr::NonFinite`] for an infinity or NaN, which an encoder does not produce, and
/// [`CodecErr::InputTooSmall`].
pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) -> Result<(), CodecErr> {
    let required = 2 * out.len();
    let bytes = bytes.get(..required).ok_or(CodecErr::InputTooSmall { required })?;
    let one = |(i, (out, bytes)): (usize, (&mut [f32], &[u8]))| {
        let mut codes = [0_u16; PIECE];
        let codes = &mut codes[..out.len()];
        for (code, bytes) in codes.iter_mut().zip(bytes.as_chunks().0) {
            *code = u16::from_le_bytes(*bytes);
        }
        if let Some(at) = codes.iter().position(|code| code & EXPONENT == EXPONENT) {
            return Err(CodecErr::NonFinite { index: i * PIECE + at });
        }
        f16_to_f32(Backend::best(), codes, out)?;
        Ok(())
    };
    if out.len() < PARALLEL {
        return out.chunks_mut(PIECE).zip(bytes.chunks(2 * PIECE)).enumerate().try_for_each(one);
    }
    out.par_chunks_mut(PIECE).zip(bytes.par_chunks(2 * PIECE)).enumerate().try_for_each(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_within_the_bound_at_every_length() {
        for len in [0, 1, 7, PIECE, PIECE + 1, 5000, PARALLEL + 77] {
            for scale in [1.0, MAX / 3.0, MIN_NORMAL, 1e-3] {
                let values: Vec<f32> = (0..len).map(|i| (i as f32 * 0.37).sin() * scale).collect();
                let largest = bitgrain_codec::max_abs(&values);
                if !fits(largest) {
                    continue;
                }
                let mut bytes = vec![0xff; 2 * len];
                let cost = encode(&values, largest, &mut bytes).expect("finite");
                let mut back = vec![f32::NAN; len];
                decode(&bytes, &mut back).expect("good bytes");
                let worst = values.iter().zip(&back).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert_eq!(cost.measured, worst, "{len} values up to {scale}");
                assert!(worst <= cost.bound, "{len} values up to {scale}: {worst} > {}", cost.bound);
            }
        }
    }

    #[test]
    fn infinities_in_a_body_are_refused_with_their_index() {
        let mut bytes = vec![0; 2 * (PIECE + 9)];
        bytes[2 * (PIECE + 3)..][..2].copy_from_slice(&0xfc00_u16.to_le_bytes());
        let mut out = vec![0.0; PIECE + 9];
        assert_eq!(decode(&bytes, &mut out), Err(CodecErr::NonFinite { index: PIECE + 3 }));
        assert_eq!(decode(&bytes[1..], &mut out), Err(CodecErr::InputTooSmall { required: 2 * (PIECE + 9) }));
    }

    #[test]
    fn values_beyond_the_range_do_not_fit() {
        assert!(fits(0.0) && fits(MAX) && fits(MIN_NORMAL));
        assert!(!fits(MAX.next_up()) && !fits(MIN_NORMAL.next_down()) && !fits(f32::INFINITY) && !fits(f32::NAN));
    }
}
