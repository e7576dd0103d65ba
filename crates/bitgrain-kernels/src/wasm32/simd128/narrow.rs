//! Integer operations on 128-bit registers with `simd128`.

use core::arch::wasm32::*;

use bitgrain_isa::baseline;

use super::lanes::{Four, FourBools, FourIntegers, Simd128, transpose};
use crate::narrow::lanes::methods;
use crate::narrow::register::{ByteProducts, Narrow};
use crate::scalar::mul_add;

impl Narrow for Simd128 {
    methods! { #[baseline]
        bits_of(values: FourIntegers) -> v128 = values.0;
        dwords(bits: v128) -> FourIntegers = FourIntegers(bits);
        and_bits(a: v128, b: v128) -> v128 = v128_and(a, b);
        or_bits(a: v128, b: v128) -> v128 = v128_or(a, b);
        xor_bits(a: v128, b: v128) -> v128 = v128_xor(a, b);
        add8(a: v128, b: v128) -> v128 = i8x16_add(a, b);
        sub8(a: v128, b: v128) -> v128 = i8x16_sub(a, b);
        max8(a: v128, b: v128) -> v128 = u8x16_max(a, b);
        min8(a: v128, b: v128) -> v128 = u8x16_min(a, b);
        eq8(a: v128, b: v128) -> v128 = i8x16_eq(a, b);
        shr8(values: v128, bits: u32) -> v128 = u8x16_shr(values, bits);
        lookup(table: v128, indices: v128) -> v128 = i8x16_swizzle(table, indices);
        fifth_bits(values: v128) -> u32 = u32::from(i8x16_bitmask(i8x16_shl(values, 3)));
        all_at_most(values: v128, limit: u8) -> bool = !v128_any_true(u8x16_gt(values, u8x16_splat(limit)));
        any_bit(values: v128) -> bool = v128_any_true(values);
        // SAFETY: `values` has 16 readable bytes; the load needs no alignment.
        words8(values: &[u16; 8]) -> v128 = unsafe { v128_load(values.as_ptr().cast()) };
        splat16(value: u16) -> v128 = u16x8_splat(value);
        mul16(a: v128, b: v128) -> v128 = i16x8_mul(a, b);
        max16(a: v128, b: v128) -> v128 = u16x8_max(a, b);
        shr16(values: v128, bits: u32) -> v128 = u16x8_shr(values, bits);
        widen8(values: v128) -> [v128; 2] = [i16x8_extend_low_i8x16(values), i16x8_extend_high_i8x16(values)];
        mul32(a: FourIntegers, b: FourIntegers) -> FourIntegers = FourIntegers(i32x4_mul(a.0, b.0));
        narrow32(low: FourIntegers, high: FourIntegers) -> v128 = i16x8_narrow_i32x4(low.0, high.0);
        widen16(values: v128) -> [FourIntegers; 2] =
            [FourIntegers(i32x4_extend_low_i16x8(values)), FourIntegers(i32x4_extend_high_i16x8(values))];
        truncated(values: Four) -> FourIntegers = FourIntegers(i32x4_trunc_sat_f32x4(values.0));
        sum32(values: FourIntegers) -> i32 = {
            let two = i32x4_add(values.0, i64x2_shuffle::<1, 0>(values.0, values.0));
            i32x4_extract_lane::<0>(two).wrapping_add(i32x4_extract_lane::<1>(two))
        };
        splat64(value: u64) -> v128 = u64x2_splat(value);
        shr64(values: v128, bits: u32) -> v128 = u64x2_shr(values, bits);
        shl64(values: v128, bits: u32) -> v128 = i64x2_shl(values, bits);
        fused(a: Four, b: Four, c: Four) -> Four = Four(fused(a.0, b.0, c.0));
        transpose(rows: [Four; 4]) -> [Four; 4] = transpose(rows.map(|row| row.0)).map(Four);
        count_true(masks: [FourBools; 4]) -> usize = {
            let [a, b, c, d] = masks.map(|mask| mask.0);
            let bytes = i8x16_narrow_i16x8(i16x8_narrow_i32x4(a, b), i16x8_narrow_i32x4(c, d));
            i8x16_bitmask(bytes).count_ones() as usize
        };
    }

    #[inline(always)]
    fn narrow16<const SIGNED: bool>(self, low: v128, high: v128) -> v128 {
        if SIGNED { i8x16_narrow_i16x8(low, high) } else { u8x16_narrow_i16x8(low, high) }
    }
}

impl ByteProducts<Self> for Simd128 {
    /// Sums of neighboring pairs of the lower and of the upper eight bytes.
    type Sums = [v128; 2];

    methods! { #[baseline]
        zero() -> [v128; 2] = [i32x4_splat(0); 2];
        add(sums: [v128; 2], a: v128, b: v128) -> [v128; 2] = {
            let low = i32x4_dot_i16x8(i16x8_extend_low_i8x16(a), i16x8_extend_low_i8x16(b));
            let high = i32x4_dot_i16x8(i16x8_extend_high_i8x16(a), i16x8_extend_high_i8x16(b));
            [i32x4_add(sums[0], low), i32x4_add(sums[1], high)]
        };
        add_four(sums: [v128; 2], a: v128, four: i32) -> [v128; 2] = {
            // Both halves of the register are the same.
            let four = i16x8_extend_low_i8x16(i32x4_splat(four));
            let low = i32x4_dot_i16x8(i16x8_extend_low_i8x16(a), four);
            let high = i32x4_dot_i16x8(i16x8_extend_high_i8x16(a), four);
            [i32x4_add(sums[0], low), i32x4_add(sums[1], high)]
        };
        sums(sums: [v128; 2]) -> FourIntegers = {
            let even = i32x4_shuffle::<0, 2, 4, 6>(sums[0], sums[1]);
            FourIntegers(i32x4_add(even, i32x4_shuffle::<1, 3, 5, 7>(sums[0], sums[1])))
        };
    }
}

/// Computes `a * b + c` with one rounding, like the scalar definition: in f64, unless a result needs more care.
#[inline(always)]
fn fused(a: v128, b: v128, c: v128) -> v128 {
    let low = sums(a, b, c);
    let [a_high, b_high, c_high] = [a, b, c].map(|x| i64x2_shuffle::<1, 0>(x, x));
    let high = sums(a_high, b_high, c_high);
    if v128_any_true(v128_or(delicate(low), delicate(high))) {
        return carefully(a, b, c);
    }
    i64x2_shuffle::<0, 2>(f32x4_demote_f64x2_zero(low), f32x4_demote_f64x2_zero(high))
}

/// Computes the sums of the first two lanes in f64, where the products are exact.
#[inline(always)]
fn sums(a: v128, b: v128, c: v128) -> v128 {
    let products = f64x2_mul(f64x2_promote_low_f32x4(a), f64x2_promote_low_f32x4(b));
    f64x2_add(products, f64x2_promote_low_f32x4(c))
}

/// Marks sums that lie halfway between two f32 and those below the normal f32, but not zero, which is exact.
#[inline(always)]
fn delicate(sums: v128) -> v128 {
    let halfway = i64x2_eq(v128_and(sums, u64x2_splat(0x1FFF_FFFF)), u64x2_splat(0x1000_0000));
    let small = f64x2_lt(f64x2_abs(sums), f64x2_splat(f32::MIN_POSITIVE.into()));
    v128_or(halfway, v128_and(small, f64x2_ne(sums, f64x2_splat(0.0))))
}

#[cold]
#[inline(never)]
fn carefully(a: v128, b: v128, c: v128) -> v128 {
    f32x4(
        mul_add(f32x4_extract_lane::<0>(a), f32x4_extract_lane::<0>(b), f32x4_extract_lane::<0>(c)),
        mul_add(f32x4_extract_lane::<1>(a), f32x4_extract_lane::<1>(b), f32x4_extract_lane::<1>(c)),
        mul_add(f32x4_extract_lane::<2>(a), f32x4_extract_lane::<2>(b), f32x4_extract_lane::<2>(c)),
        mul_add(f32x4_extract_lane::<3>(a), f32x4_extract_lane::<3>(b), f32x4_extract_lane::<3>(c)),
    )
}
