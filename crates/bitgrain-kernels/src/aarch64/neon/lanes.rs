//! NEON registers: four lanes of 32 bits, 16 bytes, and eight f64 in four registers.

use core::arch::aarch64::*;
// Names under which `four_lanes!` calls single instructions.
use core::arch::aarch64::{
    vabsq_f32 as abs, vabsq_f64 as magnitudes, vaddq_f32 as add_f32, vaddq_f64 as add_f64, vaddq_u32 as add_u32,
    vandq_u32 as and, vbslq_f32 as select_f32, vbslq_u8 as choose, vbslq_u32 as select, vceqq_u32 as equal,
    vcgtq_f32 as gt, vcleq_f32 as le, vcleq_u8 as at_most, vdivq_f32 as div_f32, vdupq_n_f32 as splat_f32,
    vmaxq_f64 as greater_f64, vmaxq_u32 as max_unsigned, vmaxvq_u32 as largest, vmulq_f32 as mul_f32,
    vmulq_f64 as mul_f64, vmvnq_u32 as not, vnegq_f32 as neg, vorrq_u32 as or, vreinterpretq_f32_u32 as from_bits,
    vreinterpretq_u32_f32 as bits, vsqrtq_f32 as sqrt, vsubq_f32 as sub_f32, vsubq_f64 as sub_f64,
    vsubq_u32 as sub_u32,
};
use core::arch::asm;

use bitgrain_isa::neon;

use crate::generic::registers::{
    Bytes, Doubles, Integers, Registers, bytes, calls, doubles, operators, proven, registers,
};
use crate::ggml::scale_search::levels::{LEVEL_STARTS, LEVELS};
use crate::lanes::{Isa, Lanes, Mask, ROUNDER};
use crate::narrow::lanes::four_lanes;

/// Proof that the CPU has NEON: this file is compiled only for targets that have it.
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

four_lanes!(Neon, float32x4_t, uint32x4_t, float64x2_t, uint8x16_t);

#[inline]
#[neon]
fn any(mask: uint32x4_t) -> bool {
    vmaxvq_u32(mask) != 0
}

#[inline]
#[neon]
fn load_f32(values: &[f32; 4]) -> float32x4_t {
    // SAFETY: `values` has 16 readable bytes; `vld1q` needs no more alignment than an f32.
    unsafe { vld1q_f32(values.as_ptr()) }
}

#[inline]
#[neon]
fn store_f32(out: &mut [f32; 4], values: float32x4_t) {
    // SAFETY: `out` has 16 writable bytes; `vst1q` needs no more alignment than an f32.
    unsafe { vst1q_f32(out.as_mut_ptr(), values) }
}

#[inline]
#[neon]
fn load_bytes(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: `bytes` has 16 readable bytes; `vld1q` needs no alignment for bytes.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[neon]
fn store_bytes(out: &mut [u8; 16], bytes: uint8x16_t) {
    // SAFETY: `out` has 16 writable bytes; `vst1q` needs no alignment for bytes.
    unsafe { vst1q_u8(out.as_mut_ptr(), bytes) }
}

#[inline]
#[neon]
fn load_words(words: &[u16; 4]) -> uint16x4_t {
    // SAFETY: `words` has 8 readable bytes; `vld1` needs no more alignment than a u16.
    unsafe { vld1_u16(words.as_ptr()) }
}

#[inline]
#[neon]
fn store_words(words: uint16x4_t, out: &mut [u16; 4]) {
    // SAFETY: `out` has 8 writable bytes; `vst1` needs no more alignment than a u16.
    unsafe { vst1_u16(out.as_mut_ptr(), words) }
}

/// Returns the second operand if either is NaN, as SSE does; NEON's own minimum returns NaN.
#[inline]
#[neon]
fn min(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    vbslq_f32(vcltq_f32(a, b), a, b)
}

#[inline]
#[neon]
fn max(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    vbslq_f32(vcgtq_f32(a, b), a, b)
}

#[inline]
#[neon]
fn ne(a: float32x4_t, b: float32x4_t) -> uint32x4_t {
    vmvnq_u32(vceqq_f32(a, b))
}

#[inline]
#[neon]
fn greater(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
    vcgtq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b))
}

#[inline]
#[neon]
fn shl(values: uint32x4_t, bits: u32) -> uint32x4_t {
    vshlq_u32(values, vdupq_n_s32(bits.cast_signed()))
}

/// NEON shifts right by shifting left by a negative amount.
#[inline]
#[neon]
fn shr(values: uint32x4_t, bits: u32) -> uint32x4_t {
    vshlq_u32(values, vdupq_n_s32(-bits.cast_signed()))
}

#[inline]
#[neon]
fn splat_integer(value: i32) -> uint32x4_t {
    vdupq_n_u32(value.cast_unsigned())
}

#[inline]
#[neon]
fn splat_byte(value: i8) -> uint8x16_t {
    vdupq_n_u8(value.cast_unsigned())
}

#[inline]
#[neon]
fn mul_add(a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
    vfmaq_f64(c, a, b)
}

#[inline]
#[neon]
fn load_prefix_f32(values: &[f32]) -> float32x4_t {
    let mut padded = [0.0; 4];
    padded[..values.len()].copy_from_slice(values);
    load_f32(&padded)
}

#[inline]
#[neon]
fn to_floats(values: uint32x4_t) -> float32x4_t {
    vcvtq_f32_s32(vreinterpretq_s32_u32(values))
}

#[inline]
#[neon]
fn widened_bytes(bytes: &[u8; 4]) -> uint32x4_t {
    let eight = vcreate_u8(u32::from_le_bytes(*bytes).into());
    vmovl_u16(vget_low_u16(vmovl_u8(eight)))
}

#[inline]
#[neon]
fn put_bytes(values: uint32x4_t, out: &mut [u8; 4]) {
    let words = vmovn_u32(values);
    let bytes = vmovn_u16(vcombine_u16(words, words));
    *out = vget_lane_u32::<0>(vreinterpret_u32_u8(bytes)).to_le_bytes();
}

#[inline]
#[neon]
fn widened_words(words: &[u16; 4]) -> uint32x4_t {
    vmovl_u16(load_words(words))
}

#[inline]
#[neon]
fn put_words(values: uint32x4_t, out: &mut [u16; 4]) {
    store_words(vmovn_u32(values), out);
}

/// Uses inline assembly, because the intrinsic takes an unstable type.
#[inline]
#[neon]
fn halves(words: &[u16; 4]) -> float32x4_t {
    let words = load_words(words);
    let floats: float32x4_t;
    // SAFETY: converts one register to another and does not access memory.
    unsafe { asm!("fcvtl {0:v}.4s, {1:v}.4h", out(vreg) floats, in(vreg) words, options(pure, nomem, nostack)) };
    floats
}

#[inline]
#[neon]
fn put_halves(values: float32x4_t, out: &mut [u16; 4]) {
    let words: uint16x4_t;
    // SAFETY: converts one register to another and does not access memory.
    unsafe { asm!("fcvtn {0:v}.4h, {1:v}.4s", out(vreg) words, in(vreg) values, options(pure, nomem, nostack)) };
    store_words(words, out);
}

/// Rounds like the reference; NaN gives 0.
#[inline]
#[neon]
fn integers(values: float32x4_t) -> int32x4_t {
    let numbers = vceqq_f32(values, values);
    let bits = vreinterpretq_u32_f32(vaddq_f32(values, vdupq_n_f32(ROUNDER)));
    let low = vandq_u32(bits, vdupq_n_u32(0x007F_FFFF));
    vreinterpretq_s32_u32(vandq_u32(numbers, vsubq_u32(low, vdupq_n_u32(0x0040_0000))))
}

#[inline]
#[neon]
fn nearest(values: float32x4_t) -> float32x4_t {
    vcvtq_f32_s32(integers(values))
}

#[inline]
#[neon]
fn low_byte(values: float32x4_t) -> float32x4_t {
    vcvtq_f32_s32(vandq_s32(vcvtq_s32_f32(values), vdupq_n_s32(0xFF)))
}

/// Returns the nearest levels of IQ4_NL, the upper one on ties: each level replaces the one below from its start on.
#[inline]
#[neon]
fn nearest_level(values: float32x4_t) -> float32x4_t {
    let mut nearest = vdupq_n_f32(LEVELS[0]);
    for (start, level) in LEVEL_STARTS.iter().zip(&LEVELS[1..]) {
        nearest = vbslq_f32(vcgeq_f32(values, vdupq_n_f32(*start)), vdupq_n_f32(*level), nearest);
    }
    nearest
}

/// Transposes: value `j` of register `i` becomes value `i` of register `j`.
#[inline]
#[neon]
pub(super) fn transpose([a, b, c, d]: [float32x4_t; 4]) -> [float32x4_t; 4] {
    let [ab_even, ab_odd] = [vtrn1q_f32(a, b), vtrn2q_f32(a, b)].map(|x| vreinterpretq_f64_f32(x));
    let [cd_even, cd_odd] = [vtrn1q_f32(c, d), vtrn2q_f32(c, d)].map(|x| vreinterpretq_f64_f32(x));
    [vtrn1q_f64(ab_even, cd_even), vtrn1q_f64(ab_odd, cd_odd), vtrn2q_f64(ab_even, cd_even), vtrn2q_f64(ab_odd, cd_odd)]
        .map(|x| vreinterpretq_f32_f64(x))
}

#[inline]
#[neon]
fn codes(values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16] {
    let mut out = [0; 16];
    for (values, out) in values.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<4>().0) {
        let scaled = vdivq_f32(vaddq_f32(load_f32(values), vdupq_n_f32(plus)), vdupq_n_f32(step));
        let (low, high) = (vdupq_n_s32(low), vdupq_n_s32(high));
        let kept = vmaxq_s32(vminq_s32(integers(scaled), high), low);
        put_bytes(vreinterpretq_u32_s32(vsubq_s32(kept, low)), out);
    }
    out
}

#[inline]
#[neon]
fn load_f64(values: &[f64; 2]) -> float64x2_t {
    // SAFETY: `values` has 16 readable bytes; `vld1q` needs no more alignment than an f64.
    unsafe { vld1q_f64(values.as_ptr()) }
}

#[inline]
#[neon]
fn store_f64(out: &mut [f64; 2], values: float64x2_t) {
    // SAFETY: `out` has 16 writable bytes; `vst1q` needs no more alignment than an f64.
    unsafe { vst1q_f64(out.as_mut_ptr(), values) }
}

#[inline]
#[neon]
fn widened(values: &[f32; 2]) -> float64x2_t {
    // SAFETY: `values` has 8 readable bytes; `vld1` needs no more alignment than an f32.
    vcvt_f64_f32(unsafe { vld1_f32(values.as_ptr()) })
}

/// Returns whether no exponent has all bits set, as in NaN and infinities.
#[inline]
#[neon]
fn all_finite(a: &[f32; 8], b: &[f32; 8]) -> bool {
    let exponent = vdupq_n_u32(0x7F80_0000);
    let mut odd = vdupq_n_u32(0);
    for values in a.as_chunks::<4>().0.iter().chain(b.as_chunks::<4>().0) {
        let bits = vreinterpretq_u32_f32(load_f32(values));
        odd = vorrq_u32(odd, vceqq_u32(vandq_u32(bits, exponent), exponent));
    }
    vmaxvq_u32(odd) == 0
}

#[inline]
#[neon]
fn add_unless(flags: uint8x16_t, sums: uint8x16_t, more: uint8x16_t) -> uint8x16_t {
    vaddq_u8(sums, vbicq_u8(more, flags))
}
