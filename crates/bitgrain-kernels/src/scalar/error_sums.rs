//! Error sums: the definition, which the other backends compile for their instruction sets.

use crate::ErrorSums;

/// Partial sums side by side.
const LANES: usize = 8;

pub(crate) fn error_sums(original: &[f32], decoded: &[f32]) -> ErrorSums {
    error_sums_inline(original, decoded)
}

/// Inlined into each backend's function, where the compiler may use its registers.
#[inline(always)]
pub(crate) fn error_sums_inline(original: &[f32], decoded: &[f32]) -> ErrorSums {
    let mut lanes = [[0.0_f64; LANES]; 5];
    let mut skipped = 0;
    let (xs, x_rest) = original.as_chunks::<LANES>();
    let (ys, y_rest) = decoded.as_chunks::<LANES>();
    for (x, y) in xs.iter().zip(ys) {
        skipped += add(&mut lanes, x, y);
    }
    // A pair of zeros adds nothing.
    let (mut x, mut y) = ([0.0; LANES], [0.0; LANES]);
    for (i, (from_x, from_y)) in x_rest.iter().zip(y_rest).enumerate() {
        (x[i], y[i]) = (*from_x, *from_y);
    }
    skipped += add(&mut lanes, &x, &y);
    let sum = |lanes: [f64; LANES]| lanes.iter().sum();
    let [squares, original, decoded, product, max] = lanes;
    ErrorSums {
        squares: sum(squares),
        original: sum(original),
        decoded: sum(decoded),
        product: sum(product),
        max: max.into_iter().fold(0.0, f64::max),
        skipped,
    }
}

#[inline(always)]
fn add(lanes: &mut [[f64; LANES]; 5], x: &[f32; LANES], y: &[f32; LANES]) -> usize {
    let mut odd = 0_u32;
    for i in 0..LANES {
        let finite = x[i].is_finite();
        odd += u32::from(!finite);
        let (x, y) = if finite { (f64::from(x[i]), f64::from(y[i])) } else { (0.0, 0.0) };
        // A maximum would pass over NaN, and with it over the worst error there is.
        let error = if y.is_finite() { (x - y).abs() } else { f64::INFINITY };
        lanes[0][i] += error * error;
        lanes[1][i] += x * x;
        lanes[2][i] += y * y;
        lanes[3][i] += x * y;
        lanes[4][i] = if error > lanes[4][i] { error } else { lanes[4][i] };
    }
    odd as usize
}
