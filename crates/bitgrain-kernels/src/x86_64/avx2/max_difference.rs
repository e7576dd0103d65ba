//! Largest difference, four registers of running maxima.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::lanes::{load_f32, store_f32};
use super::max_abs::magnitude;
use crate::scalar;

#[avx2]
pub(crate) fn max_difference(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let ((a, a_singles), (b, b_singles)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut max = [_mm256_setzero_ps(); 4];
    for (a, b) in a.iter().zip(b) {
        for (max, (a, b)) in max.iter_mut().zip(a.iter().zip(b)) {
            *max = max_or_keep(*max, a, b);
        }
    }
    for (a, b) in a_singles.iter().zip(b_singles) {
        max[0] = max_or_keep(max[0], a, b);
    }
    let mut lanes = [0.0; 8];
    store_f32(&mut lanes, _mm256_max_ps(_mm256_max_ps(max[0], max[1]), _mm256_max_ps(max[2], max[3])));
    scalar::max_abs(&lanes).max(scalar::max_difference(a_rest, b_rest))
}

/// `max_ps` returns its second operand when either is NaN, so the running maximum goes there.
#[inline]
#[avx2]
fn max_or_keep(max: __m256, a: &[f32; 8], b: &[f32; 8]) -> __m256 {
    _mm256_max_ps(magnitude(_mm256_sub_ps(load_f32(a), load_f32(b))), max)
}
