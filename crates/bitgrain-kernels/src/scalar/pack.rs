//! Bit packing: the definition, eight codes at a time in a machine word.

use crate::UnsignedWidth;
use crate::backend::for_width;

/// Codes between two range checks: small enough to stay in L1 for the packing that follows.
const CHUNK: usize = 4096;

/// Packs `code + bias` for each byte; false if one is above `max`.
pub(crate) fn pack_bytes(bits: u8, bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8], bits, pack_bytes_of(bias, max, codes, out))
}

fn pack_bytes_of<const W: u32>(bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    let mut largest = 0;
    let mut at = 0;
    for chunk in codes.chunks(CHUNK) {
        // A plain loop of its own: compilers turn it into vector maxima.
        largest = chunk.iter().fold(largest, |max: u8, code| max.max(code.wrapping_add(bias)));
        let len = (chunk.len() * W as usize).div_ceil(8);
        pack_run::<W>(bias, chunk, &mut out[at..at + len]);
        at += len;
    }
    largest <= max
}

/// Packs `code + bias` without a range check. `out` may be longer than the packed codes; up to 8 bytes past them
/// may be written.
pub(crate) fn pack_run<const W: u32>(bias: u8, codes: &[u8], out: &mut [u8]) {
    let width = W as usize;
    let (groups, rest) = codes.as_chunks::<8>();
    let mut at = 0;
    for group in groups {
        let bytes = squeeze::<W>(add_bytes(u64::from_le_bytes(*group), bias)).to_le_bytes();
        match out[at..].first_chunk_mut::<8>() {
            Some(eight) => *eight = bytes,
            None => out[at..at + width].copy_from_slice(&bytes[..width]),
        }
        at += width;
    }
    if !rest.is_empty() {
        let mut group = [0; 8];
        for (byte, code) in group.iter_mut().zip(rest) {
            *byte = code.wrapping_add(bias);
        }
        let len = (rest.len() * width).div_ceil(8);
        out[at..at + len].copy_from_slice(&squeeze::<W>(u64::from_le_bytes(group)).to_le_bytes()[..len]);
    }
}

/// Adds `bias` to each byte of a word, each sum on its own.
fn add_bytes(word: u64, bias: u8) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let bias = u64::from(bias) * 0x0101_0101_0101_0101;
    ((word & !HIGH) + (bias & !HIGH)) ^ ((word ^ bias) & HIGH)
}

/// Moves the low `W` bits of each byte together: bytes to pairs, pairs to fours, fours to eight codes.
const fn squeeze<const W: u32>(word: u64) -> u64 {
    if W == 8 {
        return word;
    }
    let pair = 0x0001_0001_0001_0001 * ((1 << W) - 1);
    let pairs = (word & pair) | (word >> 8 & pair) << W;
    let four = 0x0000_0001_0000_0001 * ((1 << (2 * W)) - 1);
    let fours = (pairs & four) | (pairs >> 16 & four) << (2 * W);
    let eight = (1 << (4 * W)) - 1;
    (fours & eight) | (fours >> 32 & eight) << (4 * W)
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

/// Eight 16-bit codes as `8 * W` contiguous bits.
fn squeeze_words<const W: u32>(group: &[u16; 8]) -> u128 {
    let mask = (1_u64 << W) - 1;
    let four =
        |codes: &[u16]| codes.iter().rev().fold(0_u64, |word, &code| word.unbounded_shl(W) | (u64::from(code) & mask));
    u128::from(four(&group[..4])) | u128::from(four(&group[4..])) << (4 * W)
}
