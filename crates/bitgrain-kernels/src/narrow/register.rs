//! `Narrow`: integer operations on 128-bit registers, for kernels that both NEON and wasm `simd128` run.
//!
//! Extends the traits of `generic`, whose four lanes of f32 and sixteen bytes are the same registers. Operations are those
//! that both instruction sets have, or that one of them needs at most a few instructions for. Kernels are
//! `#[inline(always)]` and must not call methods inside closures, for the reason given in `generic/registers.rs`.

use crate::generic::registers::{Bytes, Doubles, Registers};
use crate::lanes::{Isa, Lanes};
use crate::narrow::product::{Block, block_sums};

/// Bytes of a register: any number of lanes.
pub(crate) type Bits<I> = <I as Bytes<16>>::B;

/// Four f32.
pub(crate) type Floats<I> = <I as Isa>::F;

/// Four 32-bit integers.
pub(crate) type Dwords<I> = <I as Registers<4>>::I;

/// An instruction set with 128-bit registers. Flags are bytes of all zeros or all ones, so that
/// [`choose`](Bytes::choose) selects bits.
pub(crate) trait Narrow: Registers<4> + Bytes<16, Flags = Bits<Self>> + Doubles {
    /// Casts integers to bits.
    fn bits_of(self, values: Dwords<Self>) -> Bits<Self>;
    /// Casts bits to integers.
    fn dwords(self, bits: Bits<Self>) -> Dwords<Self>;

    fn and_bits(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;
    fn or_bits(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;
    fn xor_bits(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;

    /// Adds bytes; wraps around, as do the other sums and differences.
    fn add8(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;
    fn sub8(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;
    /// Returns the unsigned maxima of bytes.
    fn max8(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;
    /// Returns the unsigned minima of bytes.
    fn min8(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;
    /// Compares bytes.
    fn eq8(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;
    /// Shifts each byte right and fills with zeros; `bits` is a constant below 8.
    fn shr8(self, values: Bits<Self>, bits: u32) -> Bits<Self>;
    /// Returns the byte of `table` that each index selects, 0 for indices from 128 on. Others must be below 16.
    fn lookup(self, table: Bits<Self>, indices: Bits<Self>) -> Bits<Self>;
    /// Returns bit 4 of each byte, that of the first byte lowest.
    fn fifth_bits(self, values: Bits<Self>) -> u32;
    /// Returns whether no unsigned byte is above `limit`.
    fn all_at_most(self, values: Bits<Self>, limit: u8) -> bool;
    /// Returns whether any bit is set.
    fn any_bit(self, values: Bits<Self>) -> bool;

    /// Loads eight 16-bit lanes.
    fn words8(self, values: &[u16; 8]) -> Bits<Self>;
    /// Returns `value` in every 16-bit lane.
    fn splat16(self, value: u16) -> Bits<Self>;
    /// Returns the low halves of the products of 16-bit lanes.
    fn mul16(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;
    /// Returns the unsigned maxima of 16-bit lanes.
    fn max16(self, a: Bits<Self>, b: Bits<Self>) -> Bits<Self>;
    /// Shifts 16-bit lanes right and fills with zeros; `bits` is a constant below 16.
    fn shr16(self, values: Bits<Self>, bits: u32) -> Bits<Self>;
    /// Narrows 16-bit lanes that hold 0 to 255, or -128 to 127 if `SIGNED`, to bytes; `low` first.
    fn narrow16<const SIGNED: bool>(self, low: Bits<Self>, high: Bits<Self>) -> Bits<Self>;
    /// Widens signed bytes to two registers of 16-bit lanes.
    fn widen8(self, values: Bits<Self>) -> [Bits<Self>; 2];

    /// Returns the low halves of the products of integers.
    fn mul32(self, a: Dwords<Self>, b: Dwords<Self>) -> Dwords<Self>;
    /// Narrows integers of -32768 to 32767 to 16-bit lanes; `low` first.
    fn narrow32(self, low: Dwords<Self>, high: Dwords<Self>) -> Bits<Self>;
    /// Widens signed 16-bit lanes to two registers of integers.
    fn widen16(self, values: Bits<Self>) -> [Dwords<Self>; 2];
    /// Converts floats with a magnitude below 2^31 to integers, towards zero. Other values give an unspecified integer.
    fn truncated(self, values: Floats<Self>) -> Dwords<Self>;
    /// Returns the sum of all integers, which wraps around.
    fn sum32(self, values: Dwords<Self>) -> i32;

    /// Returns `value` in both 64-bit lanes.
    fn splat64(self, value: u64) -> Bits<Self>;
    /// Shifts 64-bit lanes right and fills with zeros; `bits` is a constant below 64.
    fn shr64(self, values: Bits<Self>, bits: u32) -> Bits<Self>;
    /// Shifts 64-bit lanes left; `bits` is a constant below 64.
    fn shl64(self, values: Bits<Self>, bits: u32) -> Bits<Self>;

    /// Computes `a * b + c` with one rounding.
    fn fused(self, a: Floats<Self>, b: Floats<Self>, c: Floats<Self>) -> Floats<Self>;
    /// Transposes: value `j` of register `i` becomes value `i` of register `j`.
    fn transpose(self, rows: [Floats<Self>; 4]) -> [Floats<Self>; 4];
    /// Returns the number of lanes for which a comparison is true.
    fn count_true(self, masks: [<Floats<Self> as Lanes>::Mask; 4]) -> usize;
}

/// Products of signed bytes, which CPUs with the same registers compute with different instructions.
pub(crate) trait ByteProducts<I: Narrow>: Copy {
    /// Partial sums of products.
    type Sums: Copy;

    /// Returns sums of zero.
    fn zero(self) -> Self::Sums;
    /// Adds the products of signed bytes: those of bytes `4 * i` to `4 * i + 3` to sum `i`. A sum of up to 2^15 products
    /// does not overflow.
    fn add(self, sums: Self::Sums, a: Bits<I>, b: Bits<I>) -> Self::Sums;
    /// Adds the products of signed bytes with four bytes that are the same for each sum.
    fn add_four(self, sums: Self::Sums, a: Bits<I>, four: i32) -> Self::Sums;
    /// Returns the four sums.
    fn sums(self, sums: Self::Sums) -> Dwords<I>;

    /// Computes the sums of a block: one register per row of the tile from `first` on, one lane per row of a quarter of
    /// the strip.
    #[inline(always)]
    fn block_sums<const LINES: usize, const W: usize, const N: usize>(
        self,
        isa: I,
        block: Block<'_, LINES, W>,
        quarter: usize,
        first: usize,
    ) -> [Dwords<I>; N] {
        block_sums(isa, self, block, quarter, first)
    }
}

/// Loads the 16 bytes at an offset of a slice.
#[inline(always)]
pub(crate) fn load_at<I: Narrow>(isa: I, bytes: &[u8], at: usize) -> Bits<I> {
    match bytes[at..].first_chunk() {
        Some(bytes) => isa.codes8(bytes),
        None => unreachable!("the caller checked the length"),
    }
}

/// Stores 16 bytes at an offset of a slice.
#[inline(always)]
pub(crate) fn store_at<I: Narrow>(isa: I, values: Bits<I>, bytes: &mut [u8], at: usize) {
    match bytes[at..].first_chunk_mut() {
        Some(bytes) => isa.put_codes8(values, bytes),
        None => unreachable!("the caller checked the length"),
    }
}
