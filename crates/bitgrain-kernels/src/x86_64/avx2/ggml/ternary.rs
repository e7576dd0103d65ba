//! TQ1_0 and TQ2_0: vectorized rounding, portable packing.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::nearest::{codes, narrow};
use crate::cast::as_bytes_mut;
use crate::x86_64::avx2::memory::{load_f32, store_bytes};

/// Returns the codes of a block and its scale; `None` if the scale is too small or not finite.
#[inline]
#[avx2]
pub(super) fn round(values: &[f32; 256]) -> Option<([i8; 256], f32)> {
    let mut max = _mm256_setzero_si256();
    for vector in values.as_chunks::<8>().0 {
        let magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0), load_f32(vector));
        max = _mm256_max_epu32(max, _mm256_castps_si256(magnitude));
    }
    let scale = f32::from_bits(reduce_max(max));
    // Below this limit the inverse of the scale may overflow. Also false for NaN.
    if !(1e-30..f32::INFINITY).contains(&scale) {
        return None;
    }
    let inverse = _mm256_set1_ps(1.0 / scale);
    let mut rounded = [0; 256];
    let bytes = as_bytes_mut(&mut rounded).as_chunks_mut::<32>().0;
    for (values, out) in values.as_chunks::<32>().0.iter().zip(bytes) {
        store_bytes(out, narrow(codes(values, inverse)));
    }
    Some((rounded, scale))
}

#[inline]
#[avx2]
fn reduce_max(lanes: __m256i) -> u32 {
    let four = _mm_max_epu32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let two = _mm_max_epu32(four, _mm_unpackhi_epi64(four, four));
    _mm_cvtsi128_si32(_mm_max_epu32(two, _mm_shuffle_epi32::<1>(two))).cast_unsigned()
}
