//! Bit unpacking, 64 bytes or 8 words at a time: a lookup gives each code a window that contains it, a multiplication
//! aligns it, because `simd128` cannot shift lanes by different amounts.

use crate::UnsignedWidth;
use crate::backend::for_width;
use crate::generic::registers::Integers;
use crate::narrow::register::{Bits, Dwords, Narrow, load_at};
use crate::scalar;

/// Maximum number of bytes touched by the loads of 64 packed codes: four loads of 16, each `2 * W` after the previous one.
pub(super) const REACH: usize = 64;

#[inline(always)]
pub(crate) fn unpack_bytes(isa: impl Narrow, bits: u8, bias: u8, max: u8, bytes: &[u8], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8], bits, unpack_bytes_of(isa, bias, max, bytes, out))
}

#[inline(always)]
fn unpack_bytes_of<const W: u32>(isa: impl Narrow, bias: u8, max: u8, bytes: &[u8], out: &mut [u8]) -> bool {
    let biases = isa.code8(bias);
    let factors = factors::<W, _>(isa);
    let mut largest = isa.code8(0);
    let mut done = 0;
    let mut at = 0;
    for out in out.as_chunks_mut::<64>().0 {
        // The loads would read beyond `bytes`; the scalar code unpacks the rest.
        let Some(reach) = bytes[at..].first_chunk::<REACH>() else { break };
        for (quarter, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let codes = unpack16::<W, _>(isa, load_at(isa, reach, quarter * 2 * W as usize), factors);
            largest = isa.max8(largest, codes);
            isa.put_codes8(isa.sub8(codes, biases), out);
        }
        at += 8 * W as usize;
        done += 64;
    }
    let rest = &mut out[done..];
    scalar::unpack_run::<W>(bias, &bytes[at..], rest);
    isa.all_at_most(largest, max) && rest.iter().all(|code| code.wrapping_add(bias) <= max)
}

/// Unpacks 16 codes of `W` bits from the first `2 * W` bytes, one per byte.
#[inline(always)]
pub(super) fn unpack16<const W: u32, I: Narrow>(isa: I, bytes: Bits<I>, factors: Bits<I>) -> Bits<I> {
    if W == 8 {
        return bytes;
    }
    let first = isa.lookup(bytes, isa.codes8(const { &windows(W as usize, 0) }));
    let second = isa.lookup(bytes, isa.codes8(const { &windows(W as usize, W as usize) }));
    // The multiplication moves a code to the top of its window, the shift moves it down alone.
    let first = isa.shr16(isa.mul16(first, factors), 16 - W);
    let second = isa.shr16(isa.mul16(second, factors), 16 - W);
    isa.narrow16::<false>(first, second)
}

/// Indices of the two bytes that contain the code of each 16-bit lane, relative to `start`.
const fn windows(width: usize, start: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 16 {
        let byte = start + i / 2 * width / 8 + i % 2;
        // A code that ends in the last byte needs no byte after it.
        #[expect(clippy::cast_possible_truncation, reason = "below 16")]
        let from = if byte < 16 { byte as u8 } else { 0x80 };
        table[i] = from;
        i += 1;
    }
    table
}

/// Returns the factors of [`unpack16`]: in each 16-bit lane, the power of two that moves its code to the top.
#[inline(always)]
pub(super) fn factors<const W: u32, I: Narrow>(isa: I) -> Bits<I> {
    // Hidden from the compiler, which would turn the multiplication into shifts of single lanes.
    isa.codes8(core::hint::black_box(const { &lifts(W as usize) }))
}

const fn lifts(width: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 16 {
        let lift = (1_u16 << (16 - width - i / 2 * width % 8)).to_le_bytes();
        table[i] = lift[i % 2];
        i += 1;
    }
    table
}

#[inline(always)]
pub(crate) fn unpack_words(isa: impl Narrow, width: UnsignedWidth, bytes: &[u8], out: &mut [u16]) {
    for_width!([1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16], width.bits(), unpack_words_of(isa, bytes, out));
}

#[inline(always)]
fn unpack_words_of<const W: u32>(isa: impl Narrow, bytes: &[u8], out: &mut [u16]) {
    let lifts = const { [wide_lifts(W as usize, 0), wide_lifts(W as usize, 4)] };
    let lifts = core::hint::black_box(&lifts);
    let lifts = [isa.dwords(isa.codes8(&lifts[0])), isa.dwords(isa.codes8(&lifts[1]))];
    let mut done = 0;
    let mut at = 0;
    for out in out.as_chunks_mut::<8>().0 {
        let Some(bytes) = bytes[at..].first_chunk() else { break };
        let bytes = isa.codes8(bytes);
        let first = isa.lookup(bytes, isa.codes8(const { &wide_windows(W as usize, 0) }));
        let second = isa.lookup(bytes, isa.codes8(const { &wide_windows(W as usize, 4) }));
        let [low, high] = out.as_chunks_mut::<4>().0 else { unreachable!("eight words are two groups of four") };
        isa.put_words(aligned::<W, _>(isa, isa.dwords(first), lifts[0]), low);
        isa.put_words(aligned::<W, _>(isa, isa.dwords(second), lifts[1]), high);
        at += W as usize;
        done += 8;
    }
    scalar::unpack_words_run::<W>(&bytes[at..], &mut out[done..]);
}

/// Moves each code from its position in a window to the low end. Codes start at most 7 bits into a window.
#[inline(always)]
fn aligned<const W: u32, I: Narrow>(isa: I, windows: Dwords<I>, lifts: Dwords<I>) -> Dwords<I> {
    isa.mul32(windows, lifts).shr(7).and(isa.integer((1 << W) - 1))
}

/// Indices of the bytes that contain the code of each 32-bit lane, from code `first` on.
const fn wide_windows(width: usize, first: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 16 {
        let byte = (first + i / 4) * width / 8 + i % 4;
        // Three bytes contain a code of 16 bits and the 7 before it.
        #[expect(clippy::cast_possible_truncation, reason = "below 16")]
        let from = if byte < 16 && i % 4 < 3 { byte as u8 } else { 0x80 };
        table[i] = from;
        i += 1;
    }
    table
}

/// Powers of two that move the codes from `first` on to bit 7 of their windows.
const fn wide_lifts(width: usize, first: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 4 {
        table[4 * i] = 1 << (7 - (first + i) * width % 8);
        i += 1;
    }
    table
}
