//! Error sums: eight lanes per kind of sum.

use crate::ErrorSums;
use crate::generic::registers::{Doubles, MOST_PARTS};
use crate::scalar::ErrorLanes;

#[inline(always)]
pub(crate) fn error_sums<I: Doubles>(isa: I, original: &[f32], decoded: &[f32]) -> ErrorSums {
    let (xs, x_rest) = original.as_chunks::<8>();
    let (ys, y_rest) = decoded.as_chunks::<8>();
    let mut lanes = ErrorLanes::default();
    let mut done = 0;
    loop {
        done += add_run(isa, &mut lanes, &xs[done..], &ys[done..]);
        let (Some(x), Some(y)) = (xs.get(done), ys.get(done)) else { break };
        lanes.add_odd(x, y);
        done += 1;
    }
    lanes.finish(x_rest, y_rest)
}

/// Adds chunks up to the first one with a non-finite value, and returns their number. A separate function, because any
/// call inside the loop would force the sums into memory.
#[inline(always)]
fn add_run<I: Doubles>(isa: I, lanes: &mut ErrorLanes, xs: &[[f32; 8]], ys: &[[f32; 8]]) -> usize {
    // Arrays sized for the narrowest registers; instruction sets with wider registers leave some elements unused.
    let mut sums = [[isa.doubles(&[0.0; 8], 0); 5]; MOST_PARTS];
    for (part, sums) in sums.iter_mut().enumerate().take(I::PARTS) {
        for (sum, lanes) in sums.iter_mut().zip(lanes.sums()) {
            *sum = isa.doubles(lanes, part);
        }
    }
    let mut count = 0;
    for (x, y) in xs.iter().zip(ys) {
        if !isa.all_finite(x, y) {
            break;
        }
        for (part, sums) in sums.iter_mut().enumerate().take(I::PARTS) {
            let (x, y) = (isa.widened(x, part), isa.widened(y, part));
            let error = isa.magnitudes(x - y);
            let [squares, originals, decodeds, products, max] = *sums;
            *sums = [
                // The square of a difference in f64 is not exact, so fusing it would change the sum.
                squares + error * error,
                // The product of two f32 is exact in f64, so that a fused addition gives the same sum as a separate
                // one.
                isa.mul_add(x, x, originals),
                isa.mul_add(y, y, decodeds),
                isa.mul_add(x, y, products),
                isa.greater(error, max),
            ];
        }
        count += 1;
    }
    for (part, sums) in sums.into_iter().enumerate().take(I::PARTS) {
        for (sum, lanes) in sums.into_iter().zip(lanes.sums_mut()) {
            isa.put_doubles(sum, lanes, part);
        }
    }
    count
}
