//! Nearest level of IQ4_NL by table: bins so narrow that at most one level starts within each.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::ggml::scale_search::levels::{LEVEL_STARTS, LEVELS};
use crate::lanes::ROUNDER;

/// Width of a bin. The closest two starts of levels are 11.5 apart; 31 bins reach to ±139.5.
const BIN: i16 = 9;

/// For each bin: the start of the level within it, the level below it and the level from there on.
struct Bins {
    start: [f32; 32],
    below: [f32; 32],
    above: [f32; 32],
}

/// Entry `n` modulo 32 is the bin around `9 n`.
static BINS: Bins = {
    let mut bins = Bins { start: [0.0; 32], below: [0.0; 32], above: [0.0; 32] };
    let mut n: i16 = -16;
    while n < 16 {
        let slot = (n & 31).unsigned_abs() as usize;
        // 4.5 plus a margin for the rounding of the bin index.
        let (first, last) = ((BIN * n) as f32 - 4.6, (BIN * n) as f32 + 4.6);
        let (mut below, mut above, mut i) = (0, 0, 0);
        while i < 15 {
            below += (LEVEL_STARTS[i] < first) as usize;
            above += (LEVEL_STARTS[i] <= last) as usize;
            i += 1;
        }
        bins.below[slot] = LEVELS[below];
        bins.above[slot] = LEVELS[above];
        bins.start[slot] = if below < 15 { LEVEL_STARTS[below] } else { 0.0 };
        n += 1;
    }
    bins
};

/// Returns the nearest levels, the upper one on ties. For magnitudes up to 139, which a search never exceeds.
#[inline]
#[avx512]
pub(super) fn nearest_level(values: __m512) -> __m512 {
    let scaled = _mm512_mul_ps(values, _mm512_set1_ps(1.0 / BIN as f32));
    let bin = _mm512_castps_si512(_mm512_add_ps(scaled, _mm512_set1_ps(ROUNDER)));
    let above = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(values, lookup(&BINS.start, bin));
    _mm512_mask_mov_ps(lookup(&BINS.below, bin), above, lookup(&BINS.above, bin))
}

/// Looks up a table entry per lane, by the low five bits of the index.
#[inline]
#[avx512]
fn lookup(table: &'static [f32; 32], index: __m512i) -> __m512 {
    let ([low, high], _) = table.as_chunks::<16>() else { return _mm512_setzero_ps() };
    _mm512_permutex2var_ps(super::memory::load_f32(low), index, super::memory::load_f32(high))
}
