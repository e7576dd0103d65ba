//! Binning with two comparisons against sixteen cuts per value: one finds the group of sixteen, one the cut in it.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::load_f32;
use crate::bin::BinCode;
use crate::generic::cut_groups::CutGroups;
use crate::scalar;

#[avx2]
pub(crate) fn bin_f32<C: BinCode>(cuts: &[f32], values: &[f32], nan: C, out: &mut [C]) {
    let Some(CutGroups { groups, ends }) = CutGroups::new(cuts, values.len()) else {
        return scalar::bin_f32(cuts, values, nan, out);
    };
    for (value, out) in values.iter().zip(out) {
        let everywhere = _mm256_set1_ps(*value);
        let group = count_below(&ends, everywhere);
        // No value is above infinity, so at most 15 ends are below it; the mask removes the bounds check.
        let within = count_below(&groups[group & 15], everywhere);
        *out = if value.is_nan() { nan } else { C::of_bin(group * 16 + within) };
    }
}

/// Returns the number of cuts below a value among sixteen ascending cuts; 0 for NaN.
#[inline]
#[avx2]
fn count_below(cuts: &[f32; 16], value: __m256) -> usize {
    let halves = cuts.as_chunks::<8>().0;
    let [low, high] = [0, 1].map(|i| {
        let below = _mm256_cmp_ps::<_CMP_LT_OQ>(load_f32(&halves[i]), value);
        _mm256_movemask_ps(below).cast_unsigned()
    });
    // Cuts below come first, so the first zero bit is their number. POPCNT is not part of AVX2.
    (!(low | high << 8)).trailing_zeros() as usize
}
