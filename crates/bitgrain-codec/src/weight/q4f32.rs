//! Q4F32: 32 weights, one f32 scale, two 4-bit codes per byte, low half first. Spec: `spec/weights.md`.
//!
//! The same codes as int4 with groups of 32, but each block lies together in 20 bytes.

use alloc::vec::Vec;

use super::calibrate::calibrate;
use super::grid::Grid;
use super::{Calibration, DType};
use crate::CodecErr;

/// Weights of a block.
pub(crate) const WEIGHTS: usize = 32;
/// Bytes of a block.
pub(crate) const BYTES: usize = 20;

pub(crate) fn encode(values: &[f32], out: &mut [u8]) -> Result<(), CodecErr> {
    let mut scratch = Vec::new();
    for (values, out) in values.chunks_exact(WEIGHTS).zip(out.chunks_exact_mut(BYTES)) {
        let grid = calibrate(DType::Int4, Calibration::AbsMax, values, None, &mut scratch)?;
        let (scale, codes) = out.split_at_mut(4);
        scale.copy_from_slice(&grid.scale.to_le_bytes());
        grid.encode(DType::Int4, values, codes)?;
    }
    Ok(())
}

pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) -> Result<(), CodecErr> {
    for (i, (bytes, out)) in bytes.as_chunks::<BYTES>().0.iter().zip(out.chunks_exact_mut(WEIGHTS)).enumerate() {
        let scale = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        if !scale.is_finite() {
            return Err(CodecErr::InvalidScale { index: i * WEIGHTS });
        }
        Grid { scale, zero: 0 }.decode(DType::Int4, &bytes[4..], out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_a_scale_and_nibbles_low_first() {
        let mut values = [0.0_f32; WEIGHTS];
        (values[0], values[1], values[2]) = (7.0, -1.0, 2.0);
        let mut bytes = [0; BYTES];
        encode(&values, &mut bytes).expect("finite");
        assert_eq!(bytes[..6], [0, 0, 0x80, 0x3F, 0xF7, 0x02]); // 1.0, then 7 and -1, then 2 and 0
        let mut back = [9.0; WEIGHTS];
        decode(&bytes, &mut back).expect("a finite scale");
        assert_eq!(back, values);
    }

    #[test]
    fn a_scale_that_is_not_finite_is_refused() {
        let mut bytes = [0; 2 * BYTES];
        bytes[BYTES..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(decode(&bytes, &mut [0.0; 2 * WEIGHTS]), Err(CodecErr::InvalidScale { index: WEIGHTS }));
    }
}
