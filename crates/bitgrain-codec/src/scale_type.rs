//! Scales stored separately from codes, as f32 or as normal f16. Spec: `spec/blocks.md#separate-scales`.

use bitgrain_kernels::floats::{f16_from_f32, f16_to_f32};
use bitgrain_kernels::{Backend, BitWidth};

use crate::CodecErr;
use crate::bound::usable_scale;

/// Smallest normal f16. Smaller halves are subnormal and lose precision.
const F16_MIN: f32 = 6.103_515_6e-5;
/// Largest finite f16.
const F16_MAX: f32 = 65_504.0;
/// Mantissa bits of an f32 that an f16 does not have.
const F16_CUT: u32 = 0x1FFF;
/// Number of scales converted at once.
const CHUNK: usize = 64;

/// Type of scales that are stored separately from their codes. Values are quantized with the stored, rounded scale, so
/// that decoding needs nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ScaleType {
    /// IEEE half precision, 2 bytes; scales are rounded up by at most a thousandth.
    #[default]
    F16,
    /// Single precision, 4 bytes.
    F32,
}

impl ScaleType {
    /// Returns the size of a scale in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }

    /// Returns the smallest scale of this type that is not below `scale`, so that no value is clamped. `None` if
    /// `scale` is out of range: for f16, zero and 2^-14 to 65504 are valid; subnormal halves are too coarse.
    ///
    /// ```
    /// use bitgrain_codec::ScaleType;
    /// assert_eq!(ScaleType::F16.at_least(1.000_1), Some(1.000_976_6)); // 1 + 2^-10
    /// assert_eq!(ScaleType::F16.at_least(1e-7), None);
    /// assert_eq!(ScaleType::F32.at_least(1e-7), Some(1e-7));
    /// ```
    #[must_use]
    pub fn at_least(self, scale: f32) -> Option<f32> {
        let up = f32::from_bits(scale.to_bits().saturating_add(F16_CUT) & !F16_CUT);
        self.checked(scale, up)
    }

    /// Returns the largest scale of this type that is not above `scale`, or `None` as in [`at_least`](Self::at_least).
    #[must_use]
    pub fn at_most(self, scale: f32) -> Option<f32> {
        self.checked(scale, f32::from_bits(scale.to_bits() & !F16_CUT))
    }

    fn checked(self, scale: f32, half: f32) -> Option<f32> {
        match self {
            Self::F32 => Some(scale),
            Self::F16 if scale == 0.0 => Some(0.0),
            Self::F16 => (F16_MIN..=F16_MAX).contains(&half).then_some(half),
        }
    }

    /// Writes scales that this type represents exactly. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns [`CodecErr::OutputTooSmall`].
    pub fn write(self, scales: &[f32], out: &mut [u8]) -> Result<usize, CodecErr> {
        let required = scales.len().saturating_mul(self.bytes());
        let out = out.get_mut(..required).ok_or(CodecErr::OutputTooSmall { required })?;
        match self {
            Self::F32 => {
                for (out, scale) in out.as_chunks_mut().0.iter_mut().zip(scales) {
                    *out = scale.to_le_bytes();
                }
            }
            Self::F16 => {
                let mut halves = [0; CHUNK];
                for (scales, out) in scales.chunks(CHUNK).zip(out.chunks_mut(2 * CHUNK)) {
                    f16_from_f32(Backend::best(), scales, &mut halves)?;
                    for (out, half) in out.as_chunks_mut().0.iter_mut().zip(&halves) {
                        *out = half.to_le_bytes();
                    }
                }
            }
        }
        Ok(required)
    }

    /// Reads `out.len()` scales of codes of `width`. Returns the number of bytes read.
    ///
    /// # Errors
    /// Returns [`CodecErr::InputTooSmall`], or [`CodecErr::InvalidScale`] with the index of the first scale that is
    /// negative, not finite, or decodes to an infinity.
    pub fn read(self, width: BitWidth, bytes: &[u8], out: &mut [f32]) -> Result<usize, CodecErr> {
        let required = out.len().saturating_mul(self.bytes());
        let bytes = bytes.get(..required).ok_or(CodecErr::InputTooSmall { required })?;
        match self {
            Self::F32 => {
                for (out, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                    *out = f32::from_le_bytes(*bytes);
                }
            }
            Self::F16 => {
                let mut halves = [0; CHUNK];
                for (out, bytes) in out.chunks_mut(CHUNK).zip(bytes.chunks(2 * CHUNK)) {
                    for (half, bytes) in halves.iter_mut().zip(bytes.as_chunks().0) {
                        *half = u16::from_le_bytes(*bytes);
                    }
                    f16_to_f32(Backend::best(), &halves[..out.len()], out)?;
                }
            }
        }
        match out.iter().position(|&scale| !usable_scale(width, scale)) {
            Some(index) => Err(CodecErr::InvalidScale { index }),
            None => Ok(required),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f16_scales_enclose_the_exact_scale() {
        let scales = (0..40_000).map(|k| f32::from_bits(F16_MIN.to_bits() + k * 6_553));
        for scale in scales.take_while(|&scale| scale <= F16_MAX) {
            let (up, down) = (ScaleType::F16.at_least(scale), ScaleType::F16.at_most(scale));
            let (up, down) = (up.expect("in range"), down.expect("in range"));
            assert!(down <= scale && scale <= up && up <= scale * (1.0 + 1.0 / 1024.0), "{scale:e}");
            let mut bytes = [0; 4];
            ScaleType::F16.write(&[up, down], &mut bytes).expect("fits");
            let mut back = [0.0; 2];
            ScaleType::F16.read(BitWidth::W8, &bytes, &mut back).expect("just written");
            assert_eq!(back, [up, down], "{scale:e}");
        }
    }

    #[test]
    fn scales_out_of_the_range_of_f16_have_no_f16() {
        for odd in [F16_MIN.next_down() * 0.99, 65_505.0, 1e-45, f32::MAX, f32::INFINITY, f32::NAN, -1.0] {
            assert_eq!(ScaleType::F16.at_least(odd), None, "{odd}");
        }
        assert_eq!(ScaleType::F16.at_most(F16_MIN.next_down()), None);
        assert_eq!(ScaleType::F16.at_most(65_520.0), Some(65_504.0));
        assert_eq!(ScaleType::F16.at_least(0.0), Some(0.0));
    }

    #[test]
    fn scales_that_no_writer_produces_are_rejected() {
        let mut out = [0.0; 2];
        for half in [0x7C00_u16, 0x7E00, 0x8000, 0xBC00] {
            let bytes = [[0, 0], half.to_le_bytes()].concat();
            let refused = ScaleType::F16.read(BitWidth::W3, &bytes, &mut out);
            assert_eq!(refused, Err(CodecErr::InvalidScale { index: 1 }), "{half:x}");
        }
        let large = [0.0_f32.to_le_bytes(), 1e38_f32.to_le_bytes()].concat();
        assert!(ScaleType::F32.read(BitWidth::W8, &large, &mut out).is_err());
        assert!(ScaleType::F32.read(BitWidth::W2, &large, &mut out).is_ok());
        assert_eq!(
            ScaleType::F32.read(BitWidth::W2, &large[1..], &mut out),
            Err(CodecErr::InputTooSmall { required: 8 })
        );
    }
}
