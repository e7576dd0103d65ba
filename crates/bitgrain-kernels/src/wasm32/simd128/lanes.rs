//! `simd128` registers: four lanes of 32 bits, 16 bytes, and eight f64 in four registers.

use core::arch::wasm32::*;
// Names under which `four_lanes!` calls single instructions.
use core::arch::wasm32::{
    f32x4_abs as abs, f32x4_add as add_f32, f32x4_convert_i32x4 as to_floats, f32x4_div as div_f32, f32x4_gt as gt,
    f32x4_le as le, f32x4_mul as mul_f32, f32x4_ne as ne, f32x4_neg as neg, f32x4_splat as splat_f32,
    f32x4_sqrt as sqrt, f32x4_sub as sub_f32, f64x2_abs as magnitudes, f64x2_add as add_f64, f64x2_mul as mul_f64,
    f64x2_pmax as greater_f64, f64x2_sub as sub_f64, i8x16_splat as splat_byte, i32x4_add as add_u32,
    i32x4_eq as equal, i32x4_gt as greater, i32x4_shl as shl, i32x4_splat as splat_integer, i32x4_sub as sub_u32,
    u8x16_le as at_most, u32x4_max as max_unsigned, u32x4_shr as shr, v128_and as and, v128_any_true as any,
    v128_not as not, v128_or as or,
};

use self::select as select_f32;
use crate::generic::registers::{
    Bytes, Doubles, Integers, Registers, bytes, calls, doubles, operators, proven, registers,
};
use crate::ggml::scale_search::levels::{LEVEL_STARTS, LEVELS};
use crate::lanes::{Isa, Lanes, Mask, ROUNDER};
use crate::narrow::lanes::four_lanes;

/// Proof that the module is compiled with `simd128`, as this file is.
#[derive(Clone, Copy)]
pub(crate) struct Simd128(());

four_lanes!(Simd128, v128, v128, v128, v128);

#[inline]
fn load_f32(values: &[f32; 4]) -> v128 {
    // SAFETY: `values` has 16 readable bytes; the load needs no alignment.
    unsafe { v128_load(values.as_ptr().cast()) }
}

#[inline]
fn store_f32(out: &mut [f32; 4], values: v128) {
    // SAFETY: `out` has 16 writable bytes; the store needs no alignment.
    unsafe { v128_store(out.as_mut_ptr().cast(), values) }
}

#[inline]
fn load_bytes(bytes: &[u8; 16]) -> v128 {
    // SAFETY: `bytes` has 16 readable bytes; the load needs no alignment.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

#[inline]
fn store_bytes(out: &mut [u8; 16], bytes: v128) {
    // SAFETY: `out` has 16 writable bytes; the store needs no alignment.
    unsafe { v128_store(out.as_mut_ptr().cast(), bytes) }
}

#[inline]
fn load_f64(values: &[f64; 2]) -> v128 {
    // SAFETY: `values` has 16 readable bytes; the load needs no alignment.
    unsafe { v128_load(values.as_ptr().cast()) }
}

#[inline]
fn store_f64(out: &mut [f64; 2], values: v128) {
    // SAFETY: `out` has 16 writable bytes; the store needs no alignment.
    unsafe { v128_store(out.as_mut_ptr().cast(), values) }
}

/// Returns the second operand if either is NaN, as SSE does. `pmin` returns its first operand then.
#[inline]
fn min(a: v128, b: v128) -> v128 {
    f32x4_pmin(b, a)
}

#[inline]
fn max(a: v128, b: v128) -> v128 {
    f32x4_pmax(b, a)
}

#[inline]
fn bits(values: v128) -> v128 {
    values
}

#[inline]
fn from_bits(bits: v128) -> v128 {
    bits
}

#[inline]
fn select(mask: v128, yes: v128, no: v128) -> v128 {
    v128_bitselect(yes, no, mask)
}

#[inline]
fn choose(flags: v128, yes: v128, no: v128) -> v128 {
    v128_bitselect(yes, no, flags)
}

#[inline]
fn largest(values: v128) -> u32 {
    let two = u32x4_max(values, i64x2_shuffle::<1, 0>(values, values));
    u32x4_extract_lane::<0>(u32x4_max(two, i32x4_shuffle::<1, 0, 3, 2>(two, two)))
}

#[inline]
fn load_prefix_f32(values: &[f32]) -> v128 {
    let mut padded = [0.0; 4];
    padded[..values.len()].copy_from_slice(values);
    load_f32(&padded)
}

#[inline]
fn widened_bytes(bytes: &[u8; 4]) -> v128 {
    let bytes = u32x4_splat(u32::from_le_bytes(*bytes));
    u32x4_extend_low_u16x8(u16x8_extend_low_u8x16(bytes))
}

#[inline]
fn put_bytes(values: v128, out: &mut [u8; 4]) {
    let words = i16x8_narrow_i32x4(values, values);
    *out = u32x4_extract_lane::<0>(u8x16_narrow_i16x8(words, words)).to_le_bytes();
}

#[inline]
fn widened_words(words: &[u16; 4]) -> v128 {
    // SAFETY: `words` has 8 readable bytes; the load needs no alignment.
    unsafe { u32x4_load_extend_u16x4(words.as_ptr()) }
}

#[inline]
fn put_words(values: v128, out: &mut [u16; 4]) {
    let words = u16x8_narrow_i32x4(values, values);
    // SAFETY: `out` has 8 writable bytes; the store needs no alignment.
    unsafe { v128_store64_lane::<0>(words, out.as_mut_ptr().cast()) };
}

/// Converts from half precision without a dedicated instruction: shifting the bits of a half to the position of those of
/// an f32 gives a value that is too small by a factor of 2^112, even for subnormals.
#[inline]
fn halves(words: &[u16; 4]) -> v128 {
    let words = widened_words(words);
    let magnitude = v128_and(words, u32x4_splat(0x7FFF));
    let sign = u32x4_shl(v128_xor(words, magnitude), 16);
    let lifted = u32x4_shl(magnitude, 13);
    let finite = f32x4_mul(lifted, f32x4_splat(f32::from_bits((127 + 112) << 23)));
    let nan = v128_or(lifted, u32x4_splat(0x7FC0_0000));
    let special = v128_bitselect(nan, u32x4_splat(0x7F80_0000), u32x4_gt(magnitude, u32x4_splat(0x7C00)));
    let is_special = u32x4_ge(magnitude, u32x4_splat(0x7C00));
    v128_or(sign, v128_bitselect(special, finite, is_special))
}

/// Converts to half precision by the rules of the scalar definition, with selects instead of branches.
#[inline]
fn put_halves(values: v128, out: &mut [u16; 4]) {
    let magnitude = v128_and(values, u32x4_splat(0x7FFF_FFFF));
    let sign = v128_and(u32x4_shr(values, 16), u32x4_splat(0x8000));
    let odd = v128_and(u32x4_shr(magnitude, 13), u32x4_splat(1));
    // Re-bias the exponent by 112 and round off 13 bits.
    let rounded = i32x4_add(i32x4_add(magnitude, i32x4_splat(0xFFF - 0x3800_0000)), odd);
    let normal = u32x4_shr(rounded, 13);
    // Adding 0.5 rounds to a multiple of 2^-24, which is then in the low bits.
    let subnormal = v128_and(f32x4_add(magnitude, f32x4_splat(0.5)), u32x4_splat(0xFFFF));
    let nan = v128_or(u32x4_splat(0x7E00), v128_and(u32x4_shr(magnitude, 13), u32x4_splat(0x3FF)));
    let half = v128_bitselect(subnormal, normal, u32x4_lt(magnitude, u32x4_splat(0x3880_0000)));
    let half = v128_bitselect(u32x4_splat(0x7C00), half, u32x4_ge(magnitude, u32x4_splat(0x4780_0000)));
    let half = v128_bitselect(nan, half, u32x4_gt(magnitude, u32x4_splat(0x7F80_0000)));
    put_words(v128_or(sign, half), out);
}

/// Rounds like the reference; NaN gives 0.
#[inline]
fn integers(values: v128) -> v128 {
    let low = v128_and(f32x4_add(values, f32x4_splat(ROUNDER)), u32x4_splat(0x007F_FFFF));
    v128_and(f32x4_eq(values, values), i32x4_sub(low, u32x4_splat(0x0040_0000)))
}

#[inline]
fn nearest(values: v128) -> v128 {
    f32x4_convert_i32x4(integers(values))
}

#[inline]
fn low_byte(values: v128) -> v128 {
    f32x4_convert_i32x4(v128_and(i32x4_trunc_sat_f32x4(values), i32x4_splat(0xFF)))
}

/// Returns the nearest levels of IQ4_NL, the upper one on ties: each level replaces the one below from its start on.
#[inline]
fn nearest_level(values: v128) -> v128 {
    let mut nearest = f32x4_splat(LEVELS[0]);
    for (start, level) in LEVEL_STARTS.iter().zip(&LEVELS[1..]) {
        nearest = v128_bitselect(f32x4_splat(*level), nearest, f32x4_ge(values, f32x4_splat(*start)));
    }
    nearest
}

/// Transposes: value `j` of register `i` becomes value `i` of register `j`.
#[inline]
pub(super) fn transpose([a, b, c, d]: [v128; 4]) -> [v128; 4] {
    let (ab_low, ab_high) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<2, 6, 3, 7>(a, b));
    let (cd_low, cd_high) = (i32x4_shuffle::<0, 4, 1, 5>(c, d), i32x4_shuffle::<2, 6, 3, 7>(c, d));
    [
        i64x2_shuffle::<0, 2>(ab_low, cd_low),
        i64x2_shuffle::<1, 3>(ab_low, cd_low),
        i64x2_shuffle::<0, 2>(ab_high, cd_high),
        i64x2_shuffle::<1, 3>(ab_high, cd_high),
    ]
}

#[inline]
fn codes(values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16] {
    let mut out = [0; 16];
    for (values, out) in values.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<4>().0) {
        let scaled = f32x4_div(f32x4_add(load_f32(values), f32x4_splat(plus)), f32x4_splat(step));
        let (low, high) = (i32x4_splat(low), i32x4_splat(high));
        put_bytes(i32x4_sub(i32x4_max(i32x4_min(integers(scaled), high), low), low), out);
    }
    out
}

/// Not fused: callers pass factors whose product is exact.
#[inline]
fn mul_add(a: v128, b: v128, c: v128) -> v128 {
    f64x2_add(f64x2_mul(a, b), c)
}

#[inline]
fn widened(values: &[f32; 2]) -> v128 {
    // SAFETY: `values` has 8 readable bytes; the load needs no alignment.
    f64x2_promote_low_f32x4(unsafe { v128_load64_zero(values.as_ptr().cast()) })
}

/// Returns whether no exponent has all bits set, as in NaN and infinities.
#[inline]
fn all_finite(a: &[f32; 8], b: &[f32; 8]) -> bool {
    let exponent = u32x4_splat(0x7F80_0000);
    let mut odd = u32x4_splat(0);
    for values in a.as_chunks::<4>().0.iter().chain(b.as_chunks::<4>().0) {
        odd = v128_or(odd, i32x4_eq(v128_and(load_f32(values), exponent), exponent));
    }
    !v128_any_true(odd)
}

#[inline]
fn add_unless(flags: v128, sums: v128, more: v128) -> v128 {
    i8x16_add(sums, v128_andnot(more, flags))
}
