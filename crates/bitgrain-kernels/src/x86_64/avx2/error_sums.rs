//! Error sums: two registers for each kind of sum.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::lanes::load_f32;
use crate::ErrorSums;
use crate::scalar::ErrorLanes;

#[avx2]
pub(crate) fn error_sums(original: &[f32], decoded: &[f32]) -> ErrorSums {
    let (xs, x_rest) = original.as_chunks::<8>();
    let (ys, y_rest) = decoded.as_chunks::<8>();
    let mut lanes = ErrorLanes::default();
    let mut done = 0;
    loop {
        done += add_run(&mut lanes, &xs[done..], &ys[done..]);
        let (Some(x), Some(y)) = (xs.get(done), ys.get(done)) else { break };
        lanes.add_odd(x, y);
        done += 1;
    }
    lanes.finish(x_rest, y_rest)
}

/// Adds chunks up to the first that is not all finite, and says how many. Apart from the loop that calls it, because
/// any call inside would keep the sums in memory.
#[inline]
#[avx2]
fn add_run(lanes: &mut ErrorLanes, xs: &[[f32; 8]], ys: &[[f32; 8]]) -> usize {
    let mut sums = load(lanes);
    let mut count = 0;
    for (x, y) in xs.iter().zip(ys) {
        let (from_x, from_y) = (load_f32(x), load_f32(y));
        if any_odd(from_x, from_y) {
            break;
        }
        for (half, sums) in sums.iter_mut().enumerate() {
            let wide =
                |v| _mm256_cvtps_pd(if half == 0 { _mm256_castps256_ps128(v) } else { _mm256_extractf128_ps::<1>(v) });
            let (x, y) = (wide(from_x), wide(from_y));
            let error = _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(x, y));
            let [squares, originals, decodeds, products, max] = *sums;
            *sums = [
                _mm256_add_pd(squares, _mm256_mul_pd(error, error)),
                // Products of two f32 are exact in f64: fused or not, the sum is the same.
                _mm256_fmadd_pd(x, x, originals),
                _mm256_fmadd_pd(y, y, decodeds),
                _mm256_fmadd_pd(x, y, products),
                _mm256_max_pd(error, max),
            ];
        }
        count += 1;
    }
    store(lanes, sums);
    count
}

/// Whether an exponent is all ones: NaN or an infinity.
#[inline]
#[avx2]
fn any_odd(x: __m256, y: __m256) -> bool {
    let exponent = _mm256_set1_epi32(0x7F80_0000);
    let odd = |v| _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(v), exponent), exponent);
    let either = _mm256_or_si256(odd(x), odd(y));
    _mm256_testz_si256(either, either) == 0
}

#[inline]
#[avx2]
fn load(lanes: &ErrorLanes) -> [[__m256d; 5]; 2] {
    let half = |at: usize| {
        lanes.sums().map(|sums| {
            let half = &sums.as_chunks::<4>().0[at];
            // SAFETY: `half` is `&[f64; 4]`, 32 readable bytes; `loadu` needs no alignment.
            unsafe { _mm256_loadu_pd(half.as_ptr()) }
        })
    };
    [half(0), half(1)]
}

#[inline]
#[avx2]
fn store(lanes: &mut ErrorLanes, from: [[__m256d; 5]; 2]) {
    for (kind, sums) in lanes.sums_mut().into_iter().enumerate() {
        for (half, from) in sums.as_chunks_mut::<4>().0.iter_mut().zip([from[0][kind], from[1][kind]]) {
            // SAFETY: `half` is `&mut [f64; 4]`, 32 writable bytes; `storeu` needs no alignment.
            unsafe { _mm256_storeu_pd(half.as_mut_ptr(), from) };
        }
    }
}
