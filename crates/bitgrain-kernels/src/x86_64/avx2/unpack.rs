//! Bit unpacking, 64 bytes or 8 words at a time: a shuffle gives each code a window that contains it, a multiplication
//! or a shift aligns it.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::{load_bytes, load_half, sixteen, store_bytes, store_eight_words};
use crate::backend::for_width;
use crate::{UnsignedWidth, scalar};

/// Maximum number of bytes touched by the loads of 64 packed codes: four loads of 16, each `2 * W` after the previous one.
pub(super) const REACH: usize = 64;

#[avx2]
pub(crate) fn unpack_bytes(bits: u8, bias: u8, max: u8, bytes: &[u8], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8], bits, unpack_bytes_of(bias, max, bytes, out))
}

#[avx2]
fn unpack_bytes_of<const W: u32>(bias: u8, max: u8, bytes: &[u8], out: &mut [u8]) -> bool {
    let biases = _mm256_set1_epi8(bias.cast_signed());
    let factors = factors::<W>();
    let mut largest = _mm256_setzero_si256();
    let mut done = 0;
    let mut at = 0;
    for out in out.as_chunks_mut::<64>().0 {
        // The loads would read beyond `bytes`; the scalar code unpacks the rest.
        let Some(reach) = bytes[at..].first_chunk() else { break };
        let codes = unpack64::<W>(reach, factors);
        largest = _mm256_max_epu8(largest, _mm256_max_epu8(codes[0], codes[1]));
        for (out, codes) in out.as_chunks_mut::<32>().0.iter_mut().zip(codes) {
            store_bytes(out, _mm256_sub_epi8(codes, biases));
        }
        at += 8 * W as usize;
        done += 64;
    }
    let rest = &mut out[done..];
    scalar::unpack_run::<W>(bias, &bytes[at..], rest);
    // AVX2 cannot compare unsigned bytes: `max(largest, max) == max` replaces `largest <= max`.
    let max_everywhere = _mm256_set1_epi8(max.cast_signed());
    let in_range = _mm256_cmpeq_epi8(_mm256_max_epu8(largest, max_everywhere), max_everywhere);
    _mm256_movemask_epi8(in_range) == -1 && rest.iter().all(|code| code.wrapping_add(bias) <= max)
}

/// Unpacks 64 codes of `W` bits from the first `8 * W` bytes, one per byte.
#[inline]
#[avx2]
pub(super) fn unpack64<const W: u32>(bytes: &[u8; REACH], factors: __m256i) -> [__m256i; 2] {
    if W == 8 {
        let halves = bytes.as_chunks::<32>().0;
        return [load_bytes(&halves[0]), load_bytes(&halves[1])];
    }
    let sixteen = |at: u32| load_half(sixteen(bytes, (at * W) as usize));
    [spread::<W>(sixteen(0), sixteen(2), factors), spread::<W>(sixteen(4), sixteen(6), factors)]
}

/// Unpacks 32 codes of `W` bits, 16 from the low end of each half, one per byte.
#[inline]
#[avx2]
fn spread<const W: u32>(low: __m128i, high: __m128i, factors: __m256i) -> __m256i {
    let halves = _mm256_set_m128i(high, low);
    // Each lane holds two groups of eight codes; the final pack restores their order.
    let first = _mm256_shuffle_epi8(halves, load_bytes(const { &windows(W as usize, 0) }));
    let second = _mm256_shuffle_epi8(halves, load_bytes(const { &windows(W as usize, W as usize) }));
    // The multiplication moves a code to the top of its window, the shift moves it down alone.
    let down = _mm_cvtsi32_si128(16 - W.cast_signed());
    let first = _mm256_srl_epi16(_mm256_mullo_epi16(first, factors), down);
    let second = _mm256_srl_epi16(_mm256_mullo_epi16(second, factors), down);
    _mm256_packus_epi16(first, second)
}

/// Shuffle table with the two bytes that contain the code of each 16-bit lane, relative to `start`.
const fn windows(width: usize, start: usize) -> [u8; 32] {
    let mut table = [0; 32];
    let mut i = 0;
    while i < 32 {
        let byte = start + i % 16 / 2 * width / 8 + i % 2;
        // A code that ends in the lane's last byte needs no byte after it.
        #[expect(clippy::cast_possible_truncation, reason = "at most 16")]
        let from = if byte < 16 { byte as u8 } else { 0x80 };
        table[i] = from;
        i += 1;
    }
    table
}

/// Returns the factors of [`unpack64`]: in each 16-bit lane, the power of two that moves its code to the top.
#[inline]
#[avx2]
pub(super) fn factors<const W: u32>() -> __m256i {
    // Hidden from the compiler, which would turn the multiplication and shift into three instructions.
    load_bytes(core::hint::black_box(const { &lifts(W as usize) }))
}

const fn lifts(width: usize) -> [u8; 32] {
    let mut table = [0; 32];
    let mut i = 0;
    while i < 32 {
        let lift = (1_u16 << (16 - width - i % 16 / 2 * width % 8)).to_le_bytes();
        table[i] = lift[i % 2];
        i += 1;
    }
    table
}

#[avx2]
pub(crate) fn unpack_words(width: UnsignedWidth, bytes: &[u8], out: &mut [u16]) {
    for_width!([1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16], width.bits(), unpack_words_of(bytes, out));
}

#[avx2]
fn unpack_words_of<const W: u32>(bytes: &[u8], out: &mut [u16]) {
    let mask = _mm256_set1_epi32((1 << W) - 1);
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let shifts = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(W.cast_signed()));
    let shifts = _mm256_and_si256(shifts, _mm256_set1_epi32(7));
    let mut done = 0;
    let mut at = 0;
    for out in out.as_chunks_mut::<8>().0 {
        let Some(half) = bytes[at..].first_chunk() else { break };
        let both = _mm256_broadcastsi128_si256(load_half(half));
        let windows = _mm256_shuffle_epi8(both, load_bytes(const { &wide_windows(W as usize) }));
        let codes = _mm256_and_si256(_mm256_srlv_epi32(windows, shifts), mask);
        let words = _mm_packus_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes));
        store_eight_words(out, words);
        at += W as usize;
        done += 8;
    }
    scalar::unpack_words_run::<W>(&bytes[at..], &mut out[done..]);
}

/// Shuffle table with the bytes that contain the code of each 32-bit lane.
const fn wide_windows(width: usize) -> [u8; 32] {
    let mut table = [0; 32];
    let mut i = 0;
    while i < 32 {
        let byte = i / 4 * width / 8 + i % 4;
        #[expect(clippy::cast_possible_truncation, reason = "at most 16")]
        let from = if byte < 16 { byte as u8 } else { 0x80 };
        table[i] = from;
        i += 1;
    }
    table
}
