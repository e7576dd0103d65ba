//! `Grid`: scale and zero point of a group of weights, and the conversion between weights and codes.
//!
//! Conversions go through small stack buffers, so that nothing is allocated and all dtypes share one packer.

use bitgrain_kernels::codes::{dequantize, pack_u8, quantize, unpack_u8};
use bitgrain_kernels::floats::{
    bf16_from_f32, bf16_to_f32, e2m1_from_f32, e2m1_to_f32, e4m3_from_f32, e4m3_to_f32, e5m2_from_f32, e5m2_to_f32,
    f16_from_f32, f16_to_f32,
};
use bitgrain_kernels::{Backend, BitWidth, UnsignedWidth};

use super::dtype::{DType, Kind};
use crate::CodecErr;

/// Weights converted at once: a multiple of 8, so that the codes of every dtype end on a byte boundary.
pub(crate) const CHUNK: usize = 256;

/// Scale and zero point of a group. A weight is `(code - zero) * scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Step between two codes. Negative if the asymmetric code range reaches further on the side of the largest weight
    /// that way.
    pub scale: f32,
    /// Code of weight 0; always 0 for signed dtypes.
    pub zero: u64,
}

impl Grid {
    /// The grid of codes that are the weights themselves.
    pub const UNIT: Self = Self { scale: 1.0, zero: 0 };

    /// Packs the codes of a group's weights into `out`, which has `dtype.packed_len(values.len())` bytes.
    pub(crate) fn encode(self, dtype: DType, values: &[f32], out: &mut [u8]) -> Result<(), CodecErr> {
        let backend = Backend::best();
        for (values, out) in values.chunks(CHUNK).zip(out.chunks_mut(dtype.packed_len(CHUNK))) {
            match dtype.kind() {
                Kind::Float => encode_float(backend, dtype, values, out)?,
                Kind::Wide | Kind::WideAffine => self.encode_wide(dtype, values, out),
                Kind::Mini { .. } | Kind::Signed { .. } | Kind::Affine { .. } | Kind::Sign => {
                    let mut codes = [0; CHUNK];
                    let codes = &mut codes[..values.len()];
                    self.codes(backend, dtype, values, codes)?;
                    pack(backend, dtype, codes, out)?;
                }
            }
        }
        Ok(())
    }

    /// Decodes the weights of packed codes.
    pub(crate) fn decode(self, dtype: DType, bytes: &[u8], out: &mut [f32]) -> Result<(), CodecErr> {
        let backend = Backend::best();
        for (bytes, out) in bytes.chunks(dtype.packed_len(CHUNK)).zip(out.chunks_mut(CHUNK)) {
            match dtype.kind() {
                Kind::Float => decode_float(backend, dtype, bytes, out)?,
                Kind::Wide | Kind::WideAffine => self.decode_wide(dtype, bytes, out),
                Kind::Mini { .. } | Kind::Signed { .. } | Kind::Affine { .. } | Kind::Sign => {
                    let mut codes = [0; CHUNK];
                    let codes = &mut codes[..out.len()];
                    unpack(backend, dtype, bytes, codes)?;
                    self.values(backend, dtype, codes, out)?;
                }
            }
        }
        Ok(())
    }

    /// Quantizes and dequantizes at most [`CHUNK`] `values`. Only for dtypes of at most 8 bits.
    pub(crate) fn round_trip(self, dtype: DType, values: &[f32], out: &mut [f32]) -> Result<(), CodecErr> {
        let backend = Backend::best();
        let mut codes = [0; CHUNK];
        let codes = &mut codes[..values.len()];
        self.codes(backend, dtype, values, codes)?;
        self.values(backend, dtype, codes, out)
    }

    /// Computes codes of at most 8 bits, one per byte, in the low bits.
    fn codes(self, backend: Backend, dtype: DType, values: &[f32], codes: &mut [u8]) -> Result<(), CodecErr> {
        match dtype.kind() {
            Kind::Sign => values.iter().zip(codes).for_each(|(x, c)| *c = u8::from(*x >= 0.0)),
            Kind::Signed { lo, hi } => {
                // The kernel quantizes to 8 bits; narrower ranges are clamped afterwards.
                let mut wide = [0_i8; CHUNK];
                quantize(backend, BitWidth::W8, values, self.scale, &mut wide)?;
                let mask = u8::MAX >> (8 - dtype.bits());
                for (code, wide) in codes.iter_mut().zip(wide) {
                    *code = wide.clamp(lo, hi).cast_unsigned() & mask;
                }
            }
            Kind::Affine { max } => {
                let (max, zero) = (f32::from(max), self.zero_f32());
                for (code, &x) in codes.iter_mut().zip(values) {
                    let steps = if self.scale == 0.0 { 0.0 } else { round_even(x / self.scale) };
                    *code = to_u8((steps + zero).clamp(0.0, max));
                }
            }
            Kind::Mini { .. } => {
                let mut scaled = [0.0_f32; CHUNK];
                let scaled = &mut scaled[..values.len()];
                let divisor = if self.scale == 0.0 { f32::INFINITY } else { self.scale };
                for (scaled, x) in scaled.iter_mut().zip(values) {
                    *scaled = x / divisor;
                }
                match dtype {
                    DType::Fp8E4M3 => e4m3_from_f32(backend, scaled, codes)?,
                    DType::Fp8E5M2 => e5m2_from_f32(backend, scaled, codes)?,
                    _ => e2m1_from_f32(backend, scaled, codes)?,
                };
            }
            Kind::Float | Kind::Wide | Kind::WideAffine => unreachable!("{dtype} has more than 8 bits"),
        }
        Ok(())
    }

    /// Computes the weights of codes from [`Grid::codes`].
    fn values(self, backend: Backend, dtype: DType, codes: &[u8], out: &mut [f32]) -> Result<(), CodecErr> {
        match dtype.kind() {
            Kind::Sign => {
                codes.iter().zip(&mut *out).for_each(|(c, x)| *x = if *c == 0 { -self.scale } else { self.scale });
            }
            Kind::Signed { .. } => {
                let shift = 8 - dtype.bits();
                let mut signed = [0_i8; CHUNK];
                for (signed, code) in signed.iter_mut().zip(codes) {
                    *signed = (code << shift).cast_signed() >> shift;
                }
                dequantize(backend, &signed[..codes.len()], self.scale, out)?;
            }
            Kind::Affine { .. } => {
                let zero = self.zero_f32();
                codes.iter().zip(&mut *out).for_each(|(c, x)| *x = (f32::from(*c) - zero) * self.scale);
            }
            Kind::Mini { .. } => {
                match dtype {
                    DType::Fp8E4M3 => e4m3_to_f32(backend, codes, out)?,
                    DType::Fp8E5M2 => e5m2_to_f32(backend, codes, out)?,
                    _ => e2m1_to_f32(backend, codes, out)?,
                };
                out.iter_mut().for_each(|x| *x *= self.scale);
            }
            Kind::Float | Kind::Wide | Kind::WideAffine => unreachable!("{dtype} has more than 8 bits"),
        }
        // A clamped code may land half a step beyond the largest f32.
        if !(self.scale * f32::from(u16::MAX)).is_finite() {
            out.iter_mut().for_each(|x| *x = x.clamp(f32::MIN, f32::MAX));
        }
        Ok(())
    }

    /// Computes codes of at least 16 bits, which need more than the precision of an f32.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is the clamp")]
    fn encode_wide(self, dtype: DType, values: &[f32], out: &mut [u8]) {
        let bytes = usize::from(dtype.bits() / 8);
        let steps = |x: f32| if self.scale == 0.0 { 0.0 } else { libm::rint(f64::from(x) / f64::from(self.scale)) };
        for (&x, out) in values.iter().zip(out.chunks_exact_mut(bytes)) {
            let code = if dtype.is_affine() {
                let max = u64::MAX >> (64 - dtype.bits());
                // A zero point plus steps is exact in 128 bits; in f64 a 64-bit zero point would lose its low bits.
                (steps(x) as i128 + i128::from(self.zero)).clamp(0, i128::from(max)) as u64
            } else {
                let max = i64::MAX >> (64 - dtype.bits());
                (steps(x) as i64).clamp(-max, max).cast_unsigned()
            };
            out.copy_from_slice(&code.to_le_bytes()[..bytes]);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "codes of 64 bits lose what f32 does not have anyway")]
    fn decode_wide(self, dtype: DType, bytes: &[u8], out: &mut [f32]) {
        let zero = self.zero as f64;
        match (dtype.is_affine(), dtype.bits()) {
            (false, 16) => self.decode_each(bytes, out, |code| f64::from(i16::from_le_bytes(code))),
            (false, 32) => self.decode_each(bytes, out, |code| f64::from(i32::from_le_bytes(code))),
            (false, _) => self.decode_each(bytes, out, |code| i64::from_le_bytes(code) as f64),
            // Zero points of up to 32 bits are exact in f64, and so are the differences.
            (true, 16) => self.decode_each(bytes, out, |code| f64::from(u16::from_le_bytes(code)) - zero),
            (true, 32) => self.decode_each(bytes, out, |code| f64::from(u32::from_le_bytes(code)) - zero),
            (true, _) => {
                let zero = i128::from(self.zero);
                self.decode_each(bytes, out, |code| (i128::from(u64::from_le_bytes(code)) - zero) as f64);
            }
        }
    }

    /// Decodes codes of `N` bytes; `steps` converts the bytes of a code to its distance from zero in steps.
    #[expect(clippy::cast_possible_truncation, reason = "f32 is what comes out")]
    fn decode_each<const N: usize>(self, bytes: &[u8], out: &mut [f32], steps: impl Fn([u8; N]) -> f64) {
        let scale = f64::from(self.scale);
        for (code, x) in bytes.as_chunks().0.iter().zip(out) {
            *x = ((steps(*code) * scale) as f32).clamp(f32::MIN, f32::MAX);
        }
    }

    /// Returns the zero point of a dtype of at most 8 bits.
    #[expect(clippy::cast_precision_loss, reason = "at most 255")]
    fn zero_f32(self) -> f32 {
        self.zero as f32
    }
}

fn encode_float(backend: Backend, dtype: DType, values: &[f32], out: &mut [u8]) -> Result<(), CodecErr> {
    let mut halves = [0; CHUNK];
    match dtype {
        DType::Float64 => {
            values.iter().zip(out.as_chunks_mut().0).for_each(|(x, out)| *out = f64::from(*x).to_le_bytes());
            return Ok(());
        }
        DType::Float32 => {
            values.iter().zip(out.as_chunks_mut().0).for_each(|(x, out)| *out = x.to_le_bytes());
            return Ok(());
        }
        DType::Float16 => f16_from_f32(backend, values, &mut halves)?,
        _ => bf16_from_f32(backend, values, &mut halves)?,
    };
    halves.iter().zip(out.as_chunks_mut().0).for_each(|(half, out)| *out = half.to_le_bytes());
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "a float64 was made from an f32, or is rounded to one")]
fn decode_float(backend: Backend, dtype: DType, bytes: &[u8], out: &mut [f32]) -> Result<(), CodecErr> {
    match dtype {
        DType::Float64 => {
            bytes.as_chunks().0.iter().zip(out).for_each(|(bytes, x)| *x = f64::from_le_bytes(*bytes) as f32);
        }
        DType::Float32 => bytes.as_chunks().0.iter().zip(out).for_each(|(bytes, x)| *x = f32::from_le_bytes(*bytes)),
        _ => {
            let mut halves = [0; CHUNK];
            let halves = &mut halves[..out.len()];
            halves.iter_mut().zip(bytes.as_chunks().0).for_each(|(half, bytes)| *half = u16::from_le_bytes(*bytes));
            if dtype == DType::Float16 {
                f16_to_f32(backend, halves, out)?;
            } else {
                bf16_to_f32(backend, halves, out)?;
            }
        }
    }
    Ok(())
}

/// Packs codes of at most 8 bits, least significant bit first.
pub(crate) fn pack(backend: Backend, dtype: DType, codes: &[u8], out: &mut [u8]) -> Result<(), CodecErr> {
    if dtype.bits() == 8 {
        out.copy_from_slice(codes);
    } else {
        pack_u8(backend, UnsignedWidth::new(dtype.bits())?, codes, out)?;
    }
    Ok(())
}

pub(crate) fn unpack(backend: Backend, dtype: DType, bytes: &[u8], codes: &mut [u8]) -> Result<(), CodecErr> {
    if dtype.bits() == 8 {
        codes.copy_from_slice(bytes);
    } else {
        unpack_u8(backend, UnsignedWidth::new(dtype.bits())?, bytes, codes)?;
    }
    Ok(())
}

/// Rounds to the nearest integer, ties to even, for magnitudes up to 2^22; the caller clamps larger ones.
#[inline]
pub(crate) fn round_even(x: f32) -> f32 {
    // 1.5 * 2^23: a float of this size has no fraction bits, so that adding it rounds to an integer.
    const MAGIC: f32 = 12_582_912.0;
    let x = x.clamp(-4_194_304.0, 4_194_304.0);
    x + MAGIC - MAGIC
}

#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a code's range by the caller")]
fn to_u8(x: f32) -> u8 {
    x as u8
}
