//! Products of planes and tiles: four rows, a quarter of a strip, in a register.

use crate::generic::planes::{Strip, StripProducts};
use crate::narrow::register::{Bits, ByteProducts, Dwords, Floats, Narrow};
use crate::product::CodeLine;

impl<I: Narrow> Strip<4> for I {
    type Codes = Bits<I>;

    const ROWS: usize = 4;
    const IS_SIGNED: bool = true;

    #[inline(always)]
    fn run(_: u32) -> usize {
        8
    }

    #[inline(always)]
    fn line(self, line: &CodeLine, part: usize) -> Bits<I> {
        self.codes8(&line.0.as_chunks().0[part])
    }

    #[inline(always)]
    fn field(self, codes: Bits<I>, shift: u32, bits: u32) -> Bits<I> {
        let shifted = if shift == 0 { codes } else { self.shr8(codes, shift) };
        self.and_bits(shifted, self.code8(u8::MAX >> (8 - bits)))
    }

    #[inline(always)]
    fn join(self, low: Bits<I>, high: Bits<I>, shift: u32) -> Bits<I> {
        // The upper bits of every byte are 0, so no bit moves to the next byte.
        self.or_bits(low, self.shl64(high, shift))
    }

    #[inline(always)]
    fn table(self, table: &[u8; 16]) -> Bits<I> {
        self.codes8(table)
    }

    #[inline(always)]
    fn lookup(self, table: Bits<I>, codes: Bits<I>) -> Bits<I> {
        Narrow::lookup(self, table, codes)
    }

    #[inline(always)]
    fn fused_strip(self, a: Floats<I>, b: Floats<I>, c: Floats<I>) -> Floats<I> {
        self.fused(a, b, c)
    }
}

impl<I: Narrow, P: ByteProducts<I>> StripProducts<4, I> for P {
    type Partial = P::Sums;

    #[inline(always)]
    fn none(self) -> P::Sums {
        self.zero()
    }

    #[inline(always)]
    fn add(self, sums: P::Sums, codes: Bits<I>, four: i32) -> P::Sums {
        self.add_four(sums, codes, four)
    }

    #[inline(always)]
    fn add_high(self, isa: I, sums: P::Sums, codes: Bits<I>, four: i32) -> P::Sums {
        self.add_four(sums, isa.xor_bits(codes, isa.code8(0x80)), four)
    }

    #[inline(always)]
    fn widened(self, sums: P::Sums) -> Dwords<I> {
        self.sums(sums)
    }
}
