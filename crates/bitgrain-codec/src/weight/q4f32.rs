//! Q4F32: 32 weights, one f32 scale, two 4-bit codes per byte, low nibble first. Spec: `spec/weights.md`.
//!
//! The codes equal those of int4 with groups of 32, but each block is contiguous in 20 bytes.

use alloc::vec::Vec;

use super::calibrate::calibrate;
use super::grid::Grid;
use super::{Calibration, DType};
use crate::CodecErr;

/// Block of Q4F32, laid out as in files.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockQ4F32 {
    /// Scale as little-endian f32.
    pub scale: [u8; 4],
    /// 4-bit two's complement codes, two per byte, low nibble first.
    pub codes: [u8; 16],
}

const _: () = assert!(size_of::<BlockQ4F32>() == 20 && align_of::<BlockQ4F32>() == 1);

impl BlockQ4F32 {
    /// Size of a block in bytes.
    pub const BYTES: usize = size_of::<Self>();

    /// Reads a block from its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let [s0, s1, s2, s3, codes @ ..] = *bytes;
        Self { scale: [s0, s1, s2, s3], codes }
    }

    /// Returns the scale.
    #[must_use]
    pub const fn scale(&self) -> f32 {
        f32::from_le_bytes(self.scale)
    }
}

/// Weights per block.
pub(crate) const WEIGHTS: usize = 32;
/// Bytes per block.
pub(crate) const BYTES: usize = BlockQ4F32::BYTES;

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
        let block = BlockQ4F32::from_bytes(bytes);
        let scale = block.scale();
        if !scale.is_finite() {
            return Err(CodecErr::InvalidScale { index: i * WEIGHTS });
        }
        Grid { scale, zero: 0 }.decode(DType::Int4, &block.codes, out)?;
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
    fn a_scale_that_is_not_finite_is_rejected() {
        let mut bytes = [0; 2 * BYTES];
        bytes[BYTES..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(decode(&bytes, &mut [0.0; 2 * WEIGHTS]), Err(CodecErr::InvalidScale { index: WEIGHTS }));
    }
}
