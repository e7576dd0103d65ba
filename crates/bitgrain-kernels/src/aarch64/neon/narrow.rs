//! Integer operations on 128-bit registers with NEON.

use core::arch::aarch64::*;

use bitgrain_isa::neon;

use super::lanes::{Four, FourBools, FourIntegers, Neon, transpose};
use crate::generic::registers::proven;
use crate::narrow::lanes::methods;
use crate::narrow::register::{ByteProducts, Narrow};

impl Narrow for Neon {
    methods! { #[neon]
        bits_of(values: FourIntegers) -> uint8x16_t = vreinterpretq_u8_u32(values.0);
        dwords(bits: uint8x16_t) -> FourIntegers = FourIntegers(vreinterpretq_u32_u8(bits));
        and_bits(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vandq_u8(a, b);
        or_bits(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vorrq_u8(a, b);
        xor_bits(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = veorq_u8(a, b);
        add8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vaddq_u8(a, b);
        sub8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vsubq_u8(a, b);
        max8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vmaxq_u8(a, b);
        min8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vminq_u8(a, b);
        eq8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vceqq_u8(a, b);
        // NEON shifts right by shifting left by a negative amount, also in the other lane sizes.
        shr8(values: uint8x16_t, bits: u32) -> uint8x16_t = vshlq_u8(values, vdupq_n_s8(-bits.to_le_bytes()[0].cast_signed()));
        lookup(table: uint8x16_t, indices: uint8x16_t) -> uint8x16_t = vqtbl1q_u8(table, indices);
        fifth_bits(values: uint8x16_t) -> u32 = {
            let places = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
            let bits = vandq_u8(vtstq_u8(values, vdupq_n_u8(16)), places);
            u32::from(vaddv_u8(vget_low_u8(bits))) | u32::from(vaddv_u8(vget_high_u8(bits))) << 8
        };
        all_at_most(values: uint8x16_t, limit: u8) -> bool = vmaxvq_u8(values) <= limit;
        any_bit(values: uint8x16_t) -> bool = vmaxvq_u32(vreinterpretq_u32_u8(values)) != 0;
        // SAFETY: `values` has 16 readable bytes; `vld1q` needs no more alignment than a u16.
        words8(values: &[u16; 8]) -> uint8x16_t = vreinterpretq_u8_u16(unsafe { vld1q_u16(values.as_ptr()) });
        splat16(value: u16) -> uint8x16_t = vreinterpretq_u8_u16(vdupq_n_u16(value));
        mul16(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t =
            vreinterpretq_u8_u16(vmulq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
        max16(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t =
            vreinterpretq_u8_u16(vmaxq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
        shr16(values: uint8x16_t, bits: u32) -> uint8x16_t = {
            let down = vdupq_n_s16(-i16::from(bits.to_le_bytes()[0]));
            vreinterpretq_u8_u16(vshlq_u16(vreinterpretq_u16_u8(values), down))
        };
        widen8(values: uint8x16_t) -> [uint8x16_t; 2] = {
            let values = vreinterpretq_s8_u8(values);
            let (low, high) = (vmovl_s8(vget_low_s8(values)), vmovl_high_s8(values));
            [vreinterpretq_u8_s16(low), vreinterpretq_u8_s16(high)]
        };
        mul32(a: FourIntegers, b: FourIntegers) -> FourIntegers = FourIntegers(vmulq_u32(a.0, b.0));
        narrow32(low: FourIntegers, high: FourIntegers) -> uint8x16_t =
            vreinterpretq_u8_u16(vuzp1q_u16(vreinterpretq_u16_u32(low.0), vreinterpretq_u16_u32(high.0)));
        widen16(values: uint8x16_t) -> [FourIntegers; 2] = {
            let values = vreinterpretq_s16_u8(values);
            let (low, high) = (vmovl_s16(vget_low_s16(values)), vmovl_high_s16(values));
            [FourIntegers(vreinterpretq_u32_s32(low)), FourIntegers(vreinterpretq_u32_s32(high))]
        };
        truncated(values: Four) -> FourIntegers = FourIntegers(vreinterpretq_u32_s32(vcvtq_s32_f32(values.0)));
        sum32(values: FourIntegers) -> i32 = vaddvq_s32(vreinterpretq_s32_u32(values.0));
        splat64(value: u64) -> uint8x16_t = vreinterpretq_u8_u64(vdupq_n_u64(value));
        shr64(values: uint8x16_t, bits: u32) -> uint8x16_t =
            vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(values), vdupq_n_s64(-i64::from(bits))));
        shl64(values: uint8x16_t, bits: u32) -> uint8x16_t =
            vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(values), vdupq_n_s64(i64::from(bits))));
        fused(a: Four, b: Four, c: Four) -> Four = Four(vfmaq_f32(c.0, a.0, b.0));
        transpose(rows: [Four; 4]) -> [Four; 4] = transpose(rows.map(|row| row.0)).map(Four);
        count_true(masks: [FourBools; 4]) -> usize = {
            let [a, b, c, d] = masks.map(|mask| mask.0);
            // A true comparison is -1.
            let counts = vaddq_u32(vaddq_u32(a, b), vaddq_u32(c, d));
            vaddvq_u32(counts).wrapping_neg() as usize
        };
    }

    #[inline(always)]
    fn narrow16<const SIGNED: bool>(self, low: uint8x16_t, high: uint8x16_t) -> uint8x16_t {
        // The low byte of each lane, whichever sign it has.
        proven!(vuzp1q_u8(low, high))
    }
}

impl ByteProducts<Self> for Neon {
    /// Sums of neighboring pairs of the lower and of the upper eight bytes.
    type Sums = [int32x4_t; 2];

    methods! { #[neon]
        zero() -> [int32x4_t; 2] = [vdupq_n_s32(0); 2];
        add(sums: [int32x4_t; 2], a: uint8x16_t, b: uint8x16_t) -> [int32x4_t; 2] = {
            let (a, b) = (vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b));
            [
                vpadalq_s16(sums[0], vmull_s8(vget_low_s8(a), vget_low_s8(b))),
                vpadalq_s16(sums[1], vmull_high_s8(a, b)),
            ]
        };
        add_four(sums: [int32x4_t; 2], a: uint8x16_t, four: i32) -> [int32x4_t; 2] = {
            let (a, four) = (vreinterpretq_s8_u8(a), vreinterpretq_s8_s32(vdupq_n_s32(four)));
            [
                vpadalq_s16(sums[0], vmull_s8(vget_low_s8(a), vget_low_s8(four))),
                vpadalq_s16(sums[1], vmull_high_s8(a, four)),
            ]
        };
        sums(sums: [int32x4_t; 2]) -> FourIntegers = FourIntegers(vreinterpretq_u32_s32(vpaddq_s32(sums[0], sums[1])));
    }
}
