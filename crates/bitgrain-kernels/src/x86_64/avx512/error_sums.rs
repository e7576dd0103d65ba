//! Error sums: one register for each kind of sum.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::ErrorSums;
use crate::scalar::ErrorLanes;

/// Quiet and signalling NaN, both infinities.
const NOT_FINITE: i32 = 0x99;

#[avx512]
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
#[avx512]
fn add_run(lanes: &mut ErrorLanes, xs: &[[f32; 8]], ys: &[[f32; 8]]) -> usize {
    let mut sums = load(lanes);
    let mut count = 0;
    for (x, y) in xs.iter().zip(ys) {
        // SAFETY: `x` is `&[f32; 8]`, 32 readable bytes; `loadu` needs no alignment.
        let from_x = unsafe { _mm256_loadu_ps(x.as_ptr()) };
        // SAFETY: as above, for `y`.
        let from_y = unsafe { _mm256_loadu_ps(y.as_ptr()) };
        let odd = _mm256_fpclass_ps_mask::<NOT_FINITE>(from_x) | _mm256_fpclass_ps_mask::<NOT_FINITE>(from_y);
        if odd != 0 {
            break;
        }
        let (x, y) = (_mm512_cvtps_pd(from_x), _mm512_cvtps_pd(from_y));
        let error = _mm512_abs_pd(_mm512_sub_pd(x, y));
        let [squares, originals, decodeds, products, max] = sums;
        sums = [
            _mm512_add_pd(squares, _mm512_mul_pd(error, error)),
            // Products of two f32 are exact in f64: fused or not, the sum is the same.
            _mm512_fmadd_pd(x, x, originals),
            _mm512_fmadd_pd(y, y, decodeds),
            _mm512_fmadd_pd(x, y, products),
            _mm512_max_pd(error, max),
        ];
        count += 1;
    }
    store(lanes, sums);
    count
}

#[inline]
#[avx512]
fn load(lanes: &ErrorLanes) -> [__m512d; 5] {
    // SAFETY: each kind of sum is `[f64; 8]`, 64 readable bytes; `loadu` needs no alignment.
    lanes.sums().map(|sums| unsafe { _mm512_loadu_pd(sums.as_ptr()) })
}

#[inline]
#[avx512]
fn store(lanes: &mut ErrorLanes, from: [__m512d; 5]) {
    for (sums, from) in lanes.sums_mut().into_iter().zip(from) {
        // SAFETY: each kind of sum is `[f64; 8]`, 64 writable bytes; `storeu` needs no alignment.
        unsafe { _mm512_storeu_pd(sums.as_mut_ptr(), from) };
    }
}
