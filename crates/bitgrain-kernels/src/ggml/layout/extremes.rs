//! Extremes of a block as in the reference: NaN is ignored, the first of equal values wins.
//!
//! The order matters only between equal magnitudes of different sign, so the extremes are found in sixteen lanes, and a
//! scan in order resolves ties.

/// Lanes of running extremes.
const LANES: usize = 16;

/// Returns the value of largest magnitude, the first one on ties; 0 if all are NaN.
#[inline(always)]
pub(crate) fn largest(values: &[f32; 32]) -> f32 {
    let (mut top, mut bottom) = ([0.0; LANES], [0.0; LANES]);
    for sixteen in values.as_chunks::<LANES>().0 {
        for i in 0..LANES {
            top[i] = higher(sixteen[i], top[i]);
            bottom[i] = lower(sixteen[i], bottom[i]);
        }
    }
    let (top, bottom) = (fold(top, higher), fold(bottom, lower));
    if top > -bottom {
        top
    } else if top < -bottom {
        bottom
    } else {
        first_of_magnitude(values, top)
    }
}

/// Returns minimum and maximum. Of zeros of both signs, the first is the minimum.
#[inline(always)]
pub(crate) fn range(values: &[f32; 32]) -> (f32, f32) {
    let (mut max, mut min) = ([f32::MIN; LANES], [f32::MAX; LANES]);
    for sixteen in values.as_chunks::<LANES>().0 {
        for i in 0..LANES {
            max[i] = higher(sixteen[i], max[i]);
            min[i] = lower(sixteen[i], min[i]);
        }
    }
    let (max, min) = (fold(max, higher), fold(min, lower));
    if min == 0.0 { range_in_order(values) } else { (min, max) }
}

/// Returns the largest magnitude, ignoring NaN.
#[inline(always)]
pub(super) fn magnitude<const N: usize>(values: &[f32; N]) -> f32 {
    let mut max = [0.0; LANES];
    for sixteen in values.as_chunks::<LANES>().0 {
        for i in 0..LANES {
            max[i] = higher(sixteen[i].abs(), max[i]);
        }
    }
    fold(max, higher)
}

#[inline(always)]
fn higher(value: f32, than: f32) -> f32 {
    if value > than { value } else { than }
}

#[inline(always)]
fn lower(value: f32, than: f32) -> f32 {
    if value < than { value } else { than }
}

/// Folds the lanes in halves until one is left.
#[inline(always)]
fn fold(lanes: [f32; LANES], pick: impl Fn(f32, f32) -> f32) -> f32 {
    let eight: [f32; 8] = core::array::from_fn(|i| pick(lanes[i], lanes[i + 8]));
    let four: [f32; 4] = core::array::from_fn(|i| pick(eight[i], eight[i + 4]));
    pick(pick(four[0], four[2]), pick(four[1], four[3]))
}

#[cold]
#[inline(never)]
fn first_of_magnitude(values: &[f32; 32], magnitude: f32) -> f32 {
    // If all values are zero, the result is +0 regardless of their signs.
    if magnitude == 0.0 { 0.0 } else { values.iter().copied().find(|v| v.abs() == magnitude).unwrap_or(0.0) }
}

#[cold]
#[inline(never)]
fn range_in_order(values: &[f32; 32]) -> (f32, f32) {
    values.iter().fold((f32::MAX, f32::MIN), |(min, max), &v| (lower(v, min), higher(v, max)))
}
