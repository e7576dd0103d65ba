//! Conversion between values and codes, 64 at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::{load_bytes, load_f32, store_bytes, store_f32, table};
use crate::cast::{as_bytes, as_bytes_mut};
use crate::x86_64::divisor::Divisor;
use crate::{BitWidth, scalar};

#[avx512]
pub(crate) fn quantize(width: BitWidth, values: &[f32], scale: f32, codes: &mut [i8]) {
    if scale == 0.0 {
        codes.fill(0);
        return;
    }
    let divisor = Divisor::new(scale);
    let (chunks, rest) = values.as_chunks::<64>();
    let (outs, out_rest) = codes.split_at_mut(chunks.len() * 64);
    for (chunk, out) in chunks.iter().zip(as_bytes_mut(outs).as_chunks_mut::<64>().0) {
        store_bytes(out, codes64::<true>(chunk, divisor, width.qmax(), 0));
    }
    scalar::quantize(width, rest, scale, out_rest);
}

/// Computes the codes of 64 values plus `bias`. `FOREIGN`: the scale was not computed from these values, so they may
/// need clamping and may contain NaN.
#[inline]
#[avx512]
pub(super) fn codes64<const FOREIGN: bool>(values: &[f32; 64], divisor: Divisor, qmax: u8, bias: u8) -> __m512i {
    let vectors = values.as_chunks::<16>().0;
    let x = [load_f32(&vectors[0]), load_f32(&vectors[1]), load_f32(&vectors[2]), load_f32(&vectors[3])];
    if let Some(factor) = divisor.factor {
        let factor = _mm512_set1_ps(factor);
        let offset = _mm512_set1_ps(Divisor::OFFSET + f32::from(bias) * Divisor::ONE);
        let limit = _mm512_set1_ps(f32::from(qmax) * Divisor::ONE);
        let fixed = x.map(|x| {
            if !FOREIGN {
                return _mm512_cvtps_epi32(_mm512_fmadd_ps(x, factor, offset));
            }
            _mm512_cvtps_epi32(_mm512_add_ps(clamp_finite(_mm512_mul_ps(x, factor), limit), offset))
        });
        // Lower halves of two registers in one, so that half as many comparisons find an uncertain value.
        let low = |even, odd| _mm512_mask_blend_epi16(ODD, even, _mm512_slli_epi32::<16>(odd));
        let least = _mm512_min_epu16(low(fixed[0], fixed[1]), low(fixed[2], fixed[3]));
        let uncertain = _mm512_set1_epi16(Divisor::UNCERTAIN.cast_signed());
        if _mm512_cmple_epu16_mask(least, uncertain) == 0 {
            let high = |even, odd| _mm512_mask_blend_epi16(ODD, _mm512_srli_epi32::<16>(even), odd);
            let codes = _mm512_packs_epi16(high(fixed[0], fixed[1]), high(fixed[2], fixed[3]));
            return _mm512_permutexvar_epi8(table(&INTERLEAVED), codes);
        }
    }
    divided64(values, divisor.scale, qmax, bias)
}

/// Divides instead, for the few values whose code is uncertain otherwise.
#[cold]
#[inline(never)]
#[avx512]
fn divided64(values: &[f32; 64], scale: f32, qmax: u8, bias: u8) -> __m512i {
    let (scale, limit) = (_mm512_set1_ps(scale), _mm512_set1_ps(f32::from(qmax)));
    let mut codes = [_mm512_setzero_si512(); 4];
    for (code, x) in codes.iter_mut().zip(values.as_chunks::<16>().0) {
        *code = _mm512_cvtps_epi32(clamp_finite(_mm512_div_ps(load_f32(x), scale), limit));
    }
    _mm512_add_epi8(narrow(codes), _mm512_set1_epi8(bias.cast_signed()))
}

/// Every second 16-bit lane.
const ODD: __mmask32 = 0xAAAA_AAAA;

/// Permute table that orders 64 codes after neighbors were interleaved and packed within 128-bit lanes.
const INTERLEAVED: [u8; 64] = {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (register, element) = (i / 16, i % 16);
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        let from = (element / 4 * 16 + register / 2 * 8 + element % 4 * 2 + register % 2) as u8;
        table[i] = from;
        i += 1;
    }
    table
};

/// Replaces NaN by 0 and clamps the rest to `-limit..=limit`.
#[inline]
#[avx512]
fn clamp_finite(quotient: __m512, limit: __m512) -> __m512 {
    // `min` returns its second operand for NaN; the mask below turns that into 0.
    let clamped = _mm512_max_ps(_mm512_min_ps(quotient, limit), _mm512_sub_ps(_mm512_setzero_ps(), limit));
    _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_ORD_Q>(quotient, quotient), clamped)
}

/// Narrows 64 small integers in four registers to 64 bytes, in order.
#[inline]
#[avx512]
fn narrow(codes: [__m512i; 4]) -> __m512i {
    let low = _mm512_packs_epi32(codes[0], codes[1]);
    let high = _mm512_packs_epi32(codes[2], codes[3]);
    // Packs work within 128-bit lanes: dword `4 * lane + register` belongs at `4 * register + lane`.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high))
}

#[avx512]
pub(crate) fn dequantize(codes: &[i8], scale: f32, out: &mut [f32]) {
    let (chunks, rest) = as_bytes(codes).as_chunks::<64>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 64);
    for (chunk, out) in chunks.iter().zip(outs.as_chunks_mut::<64>().0) {
        values64(Codes { bytes: load_bytes(chunk), bias: 0 }, _mm512_set1_ps(scale), out);
    }
    scalar::dequantize(crate::cast::as_codes(rest), scale, out_rest);
}

/// 64 codes as bytes: unsigned with a bias, or signed if the bias is 0.
#[derive(Clone, Copy)]
pub(super) struct Codes {
    pub(super) bytes: __m512i,
    pub(super) bias: u8,
}

impl Codes {
    #[inline]
    #[avx512]
    pub(super) fn floats(self) -> [__m512; 4] {
        if self.bias == 0 { self.signed_floats() } else { self.biased_floats() }
    }

    /// Widens signed bytes: compilers fuse the load of each quarter from memory with its widening.
    #[inline]
    #[avx512]
    fn signed_floats(self) -> [__m512; 4] {
        let quarters = [
            _mm512_castsi512_si128(self.bytes),
            _mm512_extracti32x4_epi32::<1>(self.bytes),
            _mm512_extracti32x4_epi32::<2>(self.bytes),
            _mm512_extracti32x4_epi32::<3>(self.bytes),
        ];
        quarters.map(|quarter| _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(quarter)))
    }

    /// Adding a byte to the lowest mantissa bits of 2^23 adds its value: one permute places sixteen bytes there, one
    /// subtraction removes 2^23 and the bias. A sixth faster than widening from a register.
    #[inline]
    #[avx512]
    fn biased_floats(self) -> [__m512; 4] {
        const TWO_23: f32 = 8_388_608.0;
        let base = _mm512_castps_si512(_mm512_set1_ps(TWO_23));
        let excess = _mm512_set1_ps(TWO_23 + f32::from(self.bias));
        [const { &quarter(0) }, const { &quarter(1) }, const { &quarter(2) }, const { &quarter(3) }].map(|quarter| {
            let bits = _mm512_mask_permutexvar_epi8(base, LOW_BYTES, table(quarter), self.bytes);
            _mm512_sub_ps(_mm512_castsi512_ps(bits), excess)
        })
    }
}

/// The low byte of each 32-bit lane.
const LOW_BYTES: __mmask64 = 0x1111_1111_1111_1111;

/// Permute table that moves a quarter of 64 bytes to the low bytes of sixteen lanes.
const fn quarter(which: u8) -> [u8; 64] {
    let mut table = [0; 64];
    let mut lane = 0;
    while lane < 16 {
        table[4 * lane as usize] = 16 * which + lane;
        lane += 1;
    }
    table
}

/// Multiplies 64 codes by a scale.
#[inline]
#[avx512]
pub(super) fn values64(codes: Codes, scale: __m512, out: &mut [f32; 64]) {
    for (values, out) in codes.floats().into_iter().zip(out.as_chunks_mut::<16>().0) {
        store_f32(out, _mm512_mul_ps(values, scale));
    }
}
