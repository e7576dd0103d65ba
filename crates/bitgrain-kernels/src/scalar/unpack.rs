//! Bit unpacking: the definition, eight codes per machine word.

use super::pack::{EACH, HIGH};
use crate::UnsignedWidth;
use crate::backend::for_width;

/// Codes between two range checks: they are still in L1 when they are checked.
const CHUNK: usize = 4096;

/// Unpacks `out.len()` codes and subtracts `bias`; false if a code was above `max` before that.
pub(crate) fn unpack_bytes(bits: u8, bias: u8, max: u8, bytes: &[u8], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8], bits, unpack_bytes_of(bias, max, bytes, out))
}

fn unpack_bytes_of<const W: u32>(bias: u8, max: u8, bytes: &[u8], out: &mut [u8]) -> bool {
    let mut largest = 0;
    let mut at = 0;
    for chunk in out.chunks_mut(CHUNK) {
        unpack_run::<W>(bias, &bytes[at..], chunk);
        at += CHUNK / 8 * W as usize;
        largest = chunk.iter().fold(largest, |max: u8, code| max.max(code.wrapping_add(bias)));
    }
    largest <= max
}

/// Unpacks `out.len()` codes and subtracts `bias`, without a range check. `bytes` may be longer than needed.
pub(crate) fn unpack_run<const W: u32>(bias: u8, bytes: &[u8], out: &mut [u8]) {
    let width = W as usize;
    if W == 8 {
        for (code, byte) in out.iter_mut().zip(bytes) {
            *code = byte.wrapping_sub(bias);
        }
        return;
    }
    let (mut out, mut at) = (out, 0);
    // Four independent words per iteration, which compilers vectorize; single words at the end.
    while out.len() >= 32
        && let Some(reach) = bytes[at..].first_chunk::<32>()
    {
        let words: [u64; 4] = core::array::from_fn(|i| {
            let word = u64::from_le_bytes(padded(&reach[i * width..][..8]));
            subtract_bytes(spread::<W>(word), bias)
        });
        let (four, rest) = out.split_at_mut(32);
        for (group, word) in four.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *group = word.to_le_bytes();
        }
        out = rest;
        at += 4 * width;
    }
    let (groups, rest) = out.as_chunks_mut::<8>();
    for group in groups {
        let word = match bytes[at..].first_chunk::<8>() {
            Some(eight) => *eight,
            None => padded(&bytes[at..at + width]),
        };
        *group = subtract_bytes(spread::<W>(u64::from_le_bytes(word)), bias).to_le_bytes();
        at += width;
    }
    if !rest.is_empty() {
        let len = (rest.len() * width).div_ceil(8);
        let word = u64::from_le_bytes(padded(&bytes[at..at + len]));
        let codes = subtract_bytes(spread::<W>(word), bias).to_le_bytes();
        rest.copy_from_slice(&codes[..rest.len()]);
    }
}

/// Copies at most `N` bytes and pads them with zeros.
fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut word = [0; N];
    word[..bytes.len()].copy_from_slice(bytes);
    word
}

/// Subtracts `bias` from each byte of a word, all below 128.
const fn subtract_bytes(word: u64, bias: u8) -> u64 {
    ((word | HIGH) - bias as u64 * EACH) ^ HIGH
}

/// Spreads eight codes to fours, pairs and bytes: the inverse of `squeeze`.
const fn spread<const W: u32>(word: u64) -> u64 {
    let four = (1 << (4 * W)) - 1;
    let fours = (word & four) | (word << (32 - 4 * W) & four << 32);
    let pair = 0x0000_0001_0000_0001 * ((1 << (2 * W)) - 1);
    let pairs = (fours & pair) | (fours << (16 - 2 * W) & pair << 16);
    let code = 0x0001_0001_0001_0001 * ((1 << W) - 1);
    (pairs & code) | (pairs << (8 - W) & code << 8)
}

/// Unpacks `out.len()` codes of up to 16 bits.
pub(crate) fn unpack_words(width: UnsignedWidth, bytes: &[u8], out: &mut [u16]) {
    for_width!([1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16], width.bits(), unpack_words_run(bytes, out));
}

/// Unpacks codes of one width; see [`unpack_words`].
pub(crate) fn unpack_words_run<const W: u32>(bytes: &[u8], out: &mut [u16]) {
    let (groups, rest) = out.as_chunks_mut::<8>();
    let (fulls, tail) = bytes.split_at(groups.len() * W as usize);
    for (group, bytes) in groups.iter_mut().zip(fulls.chunks_exact(W as usize)) {
        *group = spread_words::<W>(u128::from_le_bytes(padded(bytes)));
    }
    if !rest.is_empty() {
        let len = (rest.len() * W as usize).div_ceil(8);
        rest.copy_from_slice(&spread_words::<W>(u128::from_le_bytes(padded(&tail[..len])))[..rest.len()]);
    }
}

/// Unpacks `8 * W` contiguous bits into eight 16-bit codes.
#[expect(clippy::cast_possible_truncation, reason = "masked to 16 bits, and to 64 by design")]
fn spread_words<const W: u32>(word: u128) -> [u16; 8] {
    let mask = (1_u64 << W) - 1;
    let halves = [word as u64, (word >> (4 * W)) as u64];
    core::array::from_fn(|i| (halves[i / 4].unbounded_shr(i as u32 % 4 * W) & mask) as u16)
}
