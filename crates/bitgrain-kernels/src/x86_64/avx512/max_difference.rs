//! Largest difference, four registers of running maxima.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::lanes::{load_f32, load_prefix_f32};

#[avx512]
pub(crate) fn max_difference(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let ((a, a_singles), (b, b_singles)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut max = [_mm512_setzero_ps(); 4];
    for (a, b) in a.iter().zip(b) {
        for (max, (a, b)) in max.iter_mut().zip(a.iter().zip(b)) {
            *max = max_or_keep(*max, load_f32(a), load_f32(b));
        }
    }
    for (a, b) in a_singles.iter().zip(b_singles) {
        max[0] = max_or_keep(max[0], load_f32(a), load_f32(b));
    }
    max[1] = max_or_keep(max[1], load_prefix_f32(a_rest), load_prefix_f32(b_rest));
    _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(max[0], max[1]), _mm512_max_ps(max[2], max[3])))
}

/// `max_ps` returns its second operand when either is NaN, so the running maximum goes there.
#[inline]
#[avx512]
fn max_or_keep(max: __m512, a: __m512, b: __m512) -> __m512 {
    _mm512_max_ps(_mm512_abs_ps(_mm512_sub_ps(a, b)), max)
}
