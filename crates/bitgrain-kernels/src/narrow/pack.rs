//! Bit packing, 64 bytes or 8 words at a time. Sixteen packed codes are at the low end of a register, which is stored
//! completely: the next store overwrites the excess.

use crate::UnsignedWidth;
use crate::backend::for_width;
use crate::generic::registers::Integers;
use crate::narrow::register::{Bits, Narrow, store_at};
use crate::scalar;

/// Maximum number of bytes touched by the stores of 64 packed codes: four stores of 16, each `2 * W` after the previous
/// one.
pub(super) const REACH: usize = 64;

#[inline(always)]
pub(crate) fn pack_bytes(isa: impl Narrow, bits: u8, bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8], bits, pack_bytes_of(isa, bias, max, codes, out))
}

#[inline(always)]
fn pack_bytes_of<const W: u32>(isa: impl Narrow, bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    let (chunks, mut rest) = codes.as_chunks::<64>();
    let biases = isa.code8(bias);
    let mut largest = isa.code8(0);
    let mut at = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        // The last stores would write beyond `out`; the scalar code packs the remaining codes.
        let Some(reach) = out[at..].first_chunk_mut::<REACH>() else {
            rest = &codes[i * 64..];
            break;
        };
        for (quarter, codes) in chunk.as_chunks::<16>().0.iter().enumerate() {
            let codes = isa.add8(isa.codes8(codes), biases);
            largest = isa.max8(largest, codes);
            store_at(isa, pack16::<W, _>(isa, codes), reach, quarter * 2 * W as usize);
        }
        at += 8 * W as usize;
    }
    scalar::pack_run::<W>(bias, rest, &mut out[at..]);
    isa.all_at_most(largest, max) && rest.iter().all(|code| code.wrapping_add(bias) <= max)
}

/// Packs 16 codes of `W` bits, one per byte, into `2 * W` bytes at the low end. All other bits of the codes must be zero.
#[inline(always)]
pub(super) fn pack16<const W: u32, I: Narrow>(isa: I, codes: Bits<I>) -> Bits<I> {
    if W == 8 {
        return codes;
    }
    // The shift moves the second of two neighbors down to the end of the first; bits of the first that it moves along are
    // below that end and are not chosen.
    let pairs = isa.choose(isa.splat16((1 << W) - 1), codes, isa.shr16(codes, 8 - W));
    let shifted = isa.bits_of(isa.dwords(pairs).shr(16 - 2 * W));
    let fours = isa.choose(isa.bits_of(isa.integer((1 << (2 * W)) - 1)), pairs, shifted);
    let eights = isa.choose(isa.splat64((1 << (4 * W)) - 1), fours, isa.shr64(fours, 32 - 4 * W));
    isa.lookup(eights, isa.codes8(const { &gather_bytes(W as usize) }))
}

/// Indices that move the first `width` bytes of both halves of a register together, followed by zeros.
const fn gather_bytes(width: usize) -> [u8; 16] {
    let mut table = [0x80; 16];
    let mut i = 0;
    while i < 2 * width {
        #[expect(clippy::cast_possible_truncation, reason = "below 16")]
        let from = (i / width * 8 + i % width) as u8;
        table[i] = from;
        i += 1;
    }
    table
}

#[inline(always)]
pub(crate) fn pack_words(isa: impl Narrow, width: UnsignedWidth, codes: &[u16], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16], width.bits(), pack_words_of(isa, width.max_code(), codes, out))
}

#[inline(always)]
fn pack_words_of<const W: u32>(isa: impl Narrow, max: u16, codes: &[u16], out: &mut [u8]) -> bool {
    let (chunks, mut rest) = codes.as_chunks::<8>();
    let mut largest = isa.code8(0);
    let mut at = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        let Some(reach) = out[at..].first_chunk_mut() else {
            rest = &codes[i * 8..];
            break;
        };
        let codes = isa.words8(chunk);
        largest = isa.max16(largest, codes);
        isa.put_codes8(pack8_words::<W, _>(isa, codes), reach);
        at += W as usize;
    }
    scalar::pack_words_run::<W>(rest, &mut out[at..]);
    // Compares the maxima as words: the low byte of one must not be compared with the high byte of the limit.
    let in_range = isa.eq8(isa.max16(largest, isa.splat16(max)), isa.splat16(max));
    !isa.any_bit(isa.xor_bits(in_range, isa.code8(0xFF))) && rest.iter().all(|&code| code <= max)
}

/// Packs eight codes of `W` bits, one per 16-bit lane, into `W` bytes at the low end.
#[inline(always)]
fn pack8_words<const W: u32, I: Narrow>(isa: I, codes: Bits<I>) -> Bits<I> {
    if W == 16 {
        return codes;
    }
    let shifted = isa.bits_of(isa.dwords(codes).shr(16 - W));
    let pairs = isa.choose(isa.bits_of(isa.integer((1 << W) - 1)), codes, shifted);
    let fours = isa.choose(isa.splat64((1 << (2 * W)) - 1), pairs, isa.shr64(pairs, 32 - 2 * W));
    // Half a byte is left over at odd widths: the second four codes then start at the upper half of a byte.
    let second = if W % 2 == 1 { isa.shl64(fours, 4) } else { fours };
    let first = isa.lookup(fours, isa.codes8(const { &places(W as usize, 0) }));
    isa.or_bits(first, isa.lookup(second, isa.codes8(const { &places(W as usize, 1) })))
}

/// Indices that move one half of a register, with four codes, to its position.
const fn places(width: usize, half: usize) -> [u8; 16] {
    let mut table = [0x80; 16];
    let start = half * (width / 2);
    let mut i = 0;
    while i < 8 && start + i < 16 {
        #[expect(clippy::cast_possible_truncation, reason = "below 16")]
        let from = (8 * half + i) as u8;
        table[start + i] = from;
        i += 1;
    }
    table
}
