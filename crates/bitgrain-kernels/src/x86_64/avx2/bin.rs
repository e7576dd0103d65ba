//! Bins between cuts, two comparisons with sixteen cuts per value: which sixteen, and where among them.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::load_f32;
use crate::bin::BinCode;
use crate::scalar;

/// Fewer values than this do not pay for the table.
const FEW: usize = 64;

#[avx2]
pub(crate) fn bin_f32<C: BinCode>(cuts: &[f32], values: &[f32], nan: C, out: &mut [C]) {
    // The last place of the table stays infinite, so that every value has a sixteen of its own.
    let mut table = [f32::INFINITY; 256];
    let Some(filled) = table[..255].get_mut(..cuts.len()).filter(|_| values.len() >= FEW) else {
        return scalar::bin_f32(cuts, values, nan, out);
    };
    filled.copy_from_slice(cuts);
    let sixteens = table.as_chunks::<16>().0;
    let ends: [f32; 16] = core::array::from_fn(|i| sixteens[i][15]);
    for (value, out) in values.iter().zip(out) {
        let everywhere = _mm256_set1_ps(*value);
        let sixteen = count_below(&ends, everywhere);
        // No value is above an infinity, so at most 15 ends are below one; the mask tells the compiler.
        let within = count_below(&sixteens[sixteen & 15], everywhere);
        *out = if value.is_nan() { nan } else { C::of_bin(sixteen * 16 + within) };
    }
}

/// How many of sixteen ascending cuts are below a value; none are below NaN.
#[inline]
#[avx2]
fn count_below(cuts: &[f32; 16], value: __m256) -> usize {
    let halves = cuts.as_chunks::<8>().0;
    let [low, high] = [0, 1].map(|i| {
        let below = _mm256_cmp_ps::<_CMP_LT_OQ>(load_f32(&halves[i]), value);
        _mm256_movemask_ps(below).cast_unsigned()
    });
    // Those below come first: where they end is how many there are. Counting bits takes POPCNT, which AVX2 has not.
    (!(low | high << 8)).trailing_zeros() as usize
}
