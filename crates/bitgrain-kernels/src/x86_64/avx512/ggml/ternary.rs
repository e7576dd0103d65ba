//! TQ1_0 and TQ2_0: vectorized rounding, portable packing.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::nearest::{codes, narrow};
use crate::cast::as_bytes_mut;
use crate::x86_64::avx512::memory::{load_f32, store_bytes};

/// Returns the codes of a block and its scale; `None` if the scale is too small or not finite.
#[inline]
#[avx512]
pub(super) fn round(values: &[f32; 256]) -> Option<([i8; 256], f32)> {
    let mut max = _mm512_setzero_si512();
    for vector in values.as_chunks::<16>().0 {
        let magnitude = _mm512_abs_ps(load_f32(vector));
        max = _mm512_max_epu32(max, _mm512_castps_si512(magnitude));
    }
    let scale = f32::from_bits(_mm512_reduce_max_epu32(max));
    // Below this limit the inverse of the scale may overflow. Also false for NaN.
    if !(1e-30..f32::INFINITY).contains(&scale) {
        return None;
    }
    let inverse = _mm512_set1_ps(1.0 / scale);
    let mut rounded = [0; 256];
    let bytes = as_bytes_mut(&mut rounded).as_chunks_mut::<64>().0;
    for (values, out) in values.as_chunks::<32>().0.as_chunks::<2>().0.iter().zip(bytes) {
        let [a, b] = [0, 1].map(|i| codes(&values[i], inverse));
        store_bytes(out, narrow([a[0], a[1], b[0], b[1]]));
    }
    Some((rounded, scale))
}
