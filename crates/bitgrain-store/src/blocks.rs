//! Encoding of values into the body of a record and back, with the error it causes.
//!
//! Large tensors are split into pieces of whole blocks that are encoded in parallel; the bytes do not depend on the
//! split.

use std::borrow::Cow;
use std::cell::RefCell;

use bitgrain_codec::{BlockFormat, CodecErr, EncodeOptions, NonFinite};
use bitgrain_kernels::{Backend, max_difference};
use rayon::prelude::*;

use crate::StoreError;

/// Values per piece: the input, its codes and the decoded values together stay in the cache of a core.
const PIECE: usize = 16 << 10;
/// Minimum number of values for parallel encoding: 1 MiB of f32.
const PARALLEL: usize = 256 << 10;

thread_local! {
    /// Decoded values of a piece.
    static BACK: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// Error of an encoding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Guaranteed bound: no decoded value is further from the original.
    pub(crate) bound: f32,
    /// Largest error measured.
    pub(crate) measured: f32,
}

/// Encodes `values`, all finite, as blocks and decodes every piece immediately to measure its error. `bytes` must have
/// exactly the length of the encoded blocks.
///
/// # Errors
/// Returns [`StoreError::NonFinite`] with the first value that is not finite.
pub(crate) fn encode(
    format: BlockFormat,
    values: &[f32],
    options: &EncodeOptions,
    bytes: &mut [u8],
) -> Result<Cost, StoreError> {
    let (piece, stride) = piece_of(format);
    let one = |(values, out): (&[f32], &mut [u8])| {
        format.encode_into(values, options, out)?;
        let measured = BACK.with_borrow_mut(|back| {
            if back.len() < values.len() {
                back.resize(values.len(), 0.0);
            }
            let back = &mut back[..values.len()];
            format.decode_into(out, back)?;
            Ok::<_, CodecErr>(max_difference(Backend::best(), values, back)?)
        })?;
        Ok((format.bound(out, values.len())?, measured))
    };
    let larger = |a: (f32, f32), b: (f32, f32)| (a.0.max(b.0), a.1.max(b.1));
    let costs: Result<(f32, f32), CodecErr> = if values.len() < PARALLEL {
        let mut pieces = values.chunks(piece).zip(bytes.chunks_mut(stride));
        pieces.try_fold((0.0, 0.0), |sum, piece| Ok(larger(sum, one(piece)?)))
    } else {
        let pieces = values.par_chunks(piece).zip(bytes.par_chunks_mut(stride));
        pieces.map(one).try_reduce(|| (0.0, 0.0), |a, b| Ok(larger(a, b)))
    };
    let (bound, measured) = costs.map_err(|error| first_non_finite(values).unwrap_or(StoreError::Codec(error)))?;
    Ok(Cost { bound, measured: measured.min(bound) })
}

/// Decodes blocks into `out`.
///
/// # Errors
/// Returns a [`CodecErr`] for bytes that an encoder does not produce.
pub(crate) fn decode(format: BlockFormat, bytes: &[u8], out: &mut [f32]) -> Result<(), CodecErr> {
    if out.len() < PARALLEL {
        return format.decode_into(bytes, out).map(drop);
    }
    let required = format.encoded_len(out.len());
    let bytes = bytes.get(..required).ok_or(CodecErr::InputTooSmall { required })?;
    let (piece, stride) = piece_of(format);
    let pieces = out.par_chunks_mut(piece).zip(bytes.par_chunks(stride)).enumerate();
    pieces.try_for_each(|(i, (out, bytes))| {
        format.decode_into(bytes, out).map(drop).map_err(|error| error.shifted(i * piece))
    })
}

/// Writes the values as a lossless body.
pub(crate) fn write_raw(values: &[f32], bytes: &mut [u8]) {
    for (out, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
        *out = value.to_le_bytes();
    }
}

/// Reads the values of a lossless body.
pub(crate) fn read_raw(bytes: &[u8], out: &mut [f32]) {
    for (value, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
        *value = f32::from_le_bytes(*bytes);
    }
}

/// Replaces non-finite values according to the policy, in blocks of `block` values.
///
/// # Errors
/// Returns [`StoreError::NonFinite`] if the policy is to reject.
pub(crate) fn make_finite(values: &[f32], policy: NonFinite, block: usize) -> Result<Cow<'_, [f32]>, StoreError> {
    let Some(error) = first_non_finite(values) else { return Ok(Cow::Borrowed(values)) };
    if policy == NonFinite::Reject {
        return Err(error);
    }
    let mut clean = values.to_vec();
    clean.chunks_mut(block).for_each(|block| policy.sanitize(block));
    Ok(Cow::Owned(clean))
}

/// Returns the numbers of values and bytes of a piece of whole blocks.
fn piece_of(format: BlockFormat) -> (usize, usize) {
    let blocks = (PIECE / format.block_len().get()).max(1);
    (blocks * format.block_len().get(), blocks * format.block_bytes())
}

fn first_non_finite(values: &[f32]) -> Option<StoreError> {
    // Without an early exit inside a piece, so that the compiler can vectorize the loop.
    let dirty = values.chunks(PIECE).position(|run| !run.iter().fold(true, |all, v| all & v.is_finite()))?;
    let index = values[dirty * PIECE..].iter().position(|v| !v.is_finite())?;
    Some(StoreError::NonFinite { index: dirty * PIECE + index })
}

#[cfg(test)]
mod tests {
    use bitgrain_codec::{BitWidth, BlockLen};

    use super::*;

    fn wave(len: usize) -> Vec<f32> {
        (0..len).map(|i| (i as f32 * 0.37).sin() * (1.0 + (i % 1000) as f32)).collect()
    }

    #[test]
    fn parallel_pieces_give_the_bytes_of_the_whole() {
        let values = wave(PARALLEL + 77);
        for (width, block) in [(BitWidth::W8, 128), (BitWidth::W3, 24), (BitWidth::W5, 65_536)] {
            let format = BlockFormat::new(width).with_block_len(BlockLen::new(block).expect("in range"));
            let mut bytes = vec![0; format.encoded_len(values.len())];
            let cost = encode(format, &values, &EncodeOptions::default(), &mut bytes).expect("finite");
            assert!(bytes == format.encode(&values).expect("finite"), "{width:?}");
            assert_eq!(cost.bound, format.bound(&bytes, values.len()).expect("good blocks"));
            let mut back = vec![0.0; values.len()];
            decode(format, &bytes, &mut back).expect("good blocks");
            let largest = values.iter().zip(&back).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert_eq!(cost.measured, largest);
            assert!(cost.measured > 0.0 && cost.measured <= cost.bound);
        }
    }

    #[test]
    fn every_byte_of_a_body_is_overwritten() {
        for (width, len) in [BitWidth::W2, BitWidth::W3, BitWidth::W5, BitWidth::W7].into_iter().zip([1, 77, 129, 1001])
        {
            let format = BlockFormat::new(width).with_block_len(BlockLen::new(64).expect("in range"));
            for format in [format, BlockFormat::two_level().with_block_len(format.block_len())] {
                let (values, len_of) = (wave(len), format.encoded_len(len));
                let bodies = [0, 0xff].map(|byte| {
                    let mut bytes = vec![byte; len_of];
                    encode(format, &values, &EncodeOptions::default(), &mut bytes).expect("finite");
                    bytes
                });
                assert_eq!(bodies[0], bodies[1], "{len} values at {width:?}");
            }
        }
    }

    #[test]
    fn the_first_non_finite_value_is_reported_at_every_size() {
        for len in [10, PARALLEL + 10] {
            let mut values = wave(len);
            (values[7], values[len - 1]) = (f32::NAN, f32::INFINITY);
            let format = BlockFormat::new(BitWidth::W8);
            let mut bytes = vec![0; format.encoded_len(len)];
            let error = encode(format, &values, &EncodeOptions::default(), &mut bytes);
            assert!(matches!(error, Err(StoreError::NonFinite { index: 7 })), "{error:?}");
            assert!(matches!(make_finite(&values, NonFinite::Reject, 64), Err(StoreError::NonFinite { index: 7 })));
            let clean = make_finite(&values, NonFinite::Zero, 64).expect("replaced");
            assert_eq!((clean[7], clean[len - 1]), (0.0, 0.0));
        }
    }

    #[test]
    fn raw_bodies_are_the_values() {
        let values = [1.5, -0.0, f32::MIN_POSITIVE, f32::MAX];
        let (mut bytes, mut back) = ([0; 16], [0.0; 4]);
        write_raw(&values, &mut bytes);
        read_raw(&bytes, &mut back);
        assert_eq!(values.map(f32::to_bits), back.map(f32::to_bits));
    }
}
