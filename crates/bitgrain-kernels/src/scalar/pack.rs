//! Bit packing: the definition, eight codes per machine word.

use crate::UnsignedWidth;
use crate::backend::for_width;

/// Codes between two range checks: they stay in L1 for the packing that follows.
const CHUNK: usize = 4096;

/// Packs `code + bias` for each byte; false if one is above `max`.
pub(crate) fn pack_bytes(bits: u8, bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8], bits, pack_bytes_of(bias, max, codes, out))
}

fn pack_bytes_of<const W: u32>(bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    let mut largest = 0;
    let mut at = 0;
    for chunk in codes.chunks(CHUNK) {
        // A separate simple loop, which compilers turn into vector maxima.
        largest = chunk.iter().fold(largest, |max: u8, code| max.max(code.wrapping_add(bias)));
        let len = (chunk.len() * W as usize).div_ceil(8);
        pack_run::<W>(bias, chunk, &mut out[at..at + len]);
        at += len;
    }
    largest <= max
}

/// Packs `code + bias` without a range check. `out` may be longer than the packed codes; up to 8 bytes after them may
/// be written.
pub(crate) fn pack_run<const W: u32>(bias: u8, codes: &[u8], out: &mut [u8]) {
    let width = W as usize;
    if W == 8 {
        for (byte, code) in out.iter_mut().zip(codes) {
            *byte = code.wrapping_add(bias);
        }
        return;
    }
    let (mut codes, mut at) = (codes, 0);
    // Four independent words per iteration, which compilers vectorize; single words at the end.
    while let Some((four, rest)) = codes.split_first_chunk::<32>()
        && let Some(reach) = out[at..].first_chunk_mut::<32>()
    {
        let words: [u64; 4] = core::array::from_fn(|i| squeeze::<W>(add_bytes(four.as_chunks::<8>().0[i], bias)));
        for (i, word) in words.into_iter().enumerate() {
            reach[i * width..][..8].copy_from_slice(&word.to_le_bytes());
        }
        codes = rest;
        at += 4 * width;
    }
    let (groups, rest) = codes.as_chunks::<8>();
    for group in groups {
        let bytes = squeeze::<W>(add_bytes(*group, bias)).to_le_bytes();
        match out[at..].first_chunk_mut::<8>() {
            Some(eight) => *eight = bytes,
            None => out[at..at + width].copy_from_slice(&bytes[..width]),
        }
        at += width;
    }
    if !rest.is_empty() {
        let mut group = [0_u8.wrapping_sub(bias); 8];
        group[..rest.len()].copy_from_slice(rest);
        let len = (rest.len() * width).div_ceil(8);
        out[at..at + len].copy_from_slice(&squeeze::<W>(add_bytes(group, bias)).to_le_bytes()[..len]);
    }
}

/// Adds `bias` to each of eight bytes, whose sums must be below 128. Larger sums corrupt their neighbors, but then the
/// range check has already failed.
fn add_bytes(codes: [u8; 8], bias: u8) -> u64 {
    // With the top bit flipped, every byte is at least as large as the subtrahend, so no borrow crosses bytes.
    (u64::from_le_bytes(codes) ^ HIGH).wrapping_sub(u64::from(128 - bias) * EACH)
}

/// A one in each byte of a word.
pub(super) const EACH: u64 = 0x0101_0101_0101_0101;
/// The top bit of each byte.
pub(super) const HIGH: u64 = 0x80 * EACH;

/// Moves the codes in the bytes of a word together: bytes to pairs, pairs to fours, fours to eight codes.
const fn squeeze<const W: u32>(word: u64) -> u64 {
    let pair = 0x0001_0001_0001_0001 * ((1 << W) - 1);
    let pairs = (word & pair) | (word >> (8 - W) & pair << W);
    let four = 0x0000_0001_0000_0001 * ((1 << (2 * W)) - 1);
    let fours = (pairs & four) | (pairs >> (16 - 2 * W) & four << (2 * W));
    let eight = (1 << (4 * W)) - 1;
    (fours & eight) | (fours >> (32 - 4 * W) & eight << (4 * W))
}

/// Packs 16-bit codes; false if one is too large for the width.
pub(crate) fn pack_words(width: UnsignedWidth, codes: &[u16], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16], width.bits(), pack_words_of(width.max_code(), codes, out))
}

fn pack_words_of<const W: u32>(max: u16, codes: &[u16], out: &mut [u8]) -> bool {
    let mut largest = 0;
    let mut at = 0;
    for chunk in codes.chunks(CHUNK) {
        largest = chunk.iter().fold(largest, |max: u16, &code| max.max(code));
        let len = (chunk.len() * W as usize).div_ceil(8);
        pack_words_run::<W>(chunk, &mut out[at..at + len]);
        at += len;
    }
    largest <= max
}

/// Packs 16-bit codes without a range check.
pub(crate) fn pack_words_run<const W: u32>(codes: &[u16], out: &mut [u8]) {
    let (groups, rest) = codes.as_chunks::<8>();
    let (fulls, tail) = out.split_at_mut(groups.len() * W as usize);
    for (group, bytes) in groups.iter().zip(fulls.chunks_exact_mut(W as usize)) {
        bytes.copy_from_slice(&squeeze_words::<W>(group).to_le_bytes()[..W as usize]);
    }
    if !rest.is_empty() {
        let mut group = [0; 8];
        group[..rest.len()].copy_from_slice(rest);
        let len = (rest.len() * W as usize).div_ceil(8);
        tail[..len].copy_from_slice(&squeeze_words::<W>(&group).to_le_bytes()[..len]);
    }
}

/// Packs eight 16-bit codes into `8 * W` contiguous bits.
fn squeeze_words<const W: u32>(group: &[u16; 8]) -> u128 {
    let mask = (1_u64 << W) - 1;
    let four =
        |codes: &[u16]| codes.iter().rev().fold(0_u64, |word, &code| word.unbounded_shl(W) | (u64::from(code) & mask));
    u128::from(four(&group[..4])) | u128::from(four(&group[4..])) << (4 * W)
}
