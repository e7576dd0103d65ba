//! Differences to the key frame: the width and scales at which they are at least as accurate as the frame on its own.
//!
//! With `d = x - key` rounded to f32, codes at scale `s` decode to `d'`, and the reader computes `key + d'` in f32. The
//! largest error of a block is then `s / 2`, plus the rounding of quotient and product as in any block, plus the
//! rounding of the two sums, each at most 2^-24 of the exact sum. This total is compared block by block with the bound
//! of the frame on its own, so that blocks of small values next to large ones do not lose accuracy.

use bitgrain_codec::{BitWidth, Drift, ScaleType, bound, max_abs};

use super::run::{Key, Scales, groups};

/// Largest relative error of rounding to f32.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// Per-block magnitudes and bounds of a frame's difference to a key frame.
pub(super) struct Difference<'a> {
    /// Largest magnitudes of the key frame.
    key: &'a [f32],
    /// Largest magnitudes of the difference; infinite where it exceeds f32.
    largest: Vec<f32>,
    /// Bounds of the frame on its own.
    plain: Vec<f32>,
}

impl<'a> Difference<'a> {
    /// Compares `values` with `key`; `maxima` are the largest magnitudes of the blocks of `values`, `width` the width
    /// of the frame on its own.
    pub(super) fn new(key: &'a Key, values: &[f32], maxima: &[f32], width: BitWidth) -> Self {
        let mut largest = Vec::with_capacity(maxima.len());
        let mut difference = Vec::new();
        for (range, _) in groups(key.block, values.len()) {
            subtract(&values[range.clone()], &key.values[range], &mut difference);
            largest.extend(difference.chunks(key.block.get()).map(max_abs));
        }
        let plain = maxima.iter().map(|&max| bound(width, max)).collect();
        Self { key: key.maxima(), largest, plain }
    }

    /// Returns the bound of the frame at the shared `scales`, or `None` if they do not fit.
    pub(super) fn bound_at(&self, scales: &Scales) -> Option<f32> {
        self.bound_of(scales.width, &scales.values)
    }

    fn bound_of(&self, width: BitWidth, scales: &[f32]) -> Option<f32> {
        let mut bounds = scales.iter().enumerate().map(|(i, &scale)| self.block_bound(width, i, scale));
        bounds.try_fold(0.0_f32, |worst, bound| bound.map(|bound| worst.max(bound)))
    }

    /// Returns the bound of block `i` at `scale`, or `None` if a value would be clamped, the sum might overflow, or the
    /// block would be less accurate
    /// than on its own.
    fn block_bound(&self, width: BitWidth, i: usize, scale: f32) -> Option<f32> {
        let (s, key, largest) = (f64::from(scale), f64::from(self.key[i]), f64::from(self.largest[i]));
        let qmax = f64::from(width.qmax());
        let bound = round_up(s * weight(width) + key * UNIT);
        let fits = largest <= (qmax + 0.5) * s && key + qmax * s <= f64::from(f32::MAX);
        (fits && bound <= self.plain[i]).then_some(bound)
    }

    /// Returns the narrowest width that takes fewer than `fewer` bytes and is as accurate as the frame on its own, with
    /// scales and bound. Scales are as wide as that allows, less the share `drift`, so that later frames can share
    /// them.
    pub(super) fn narrowest(
        &self,
        fewer: impl Fn(BitWidth, ScaleType) -> bool,
        wanted: ScaleType,
        drift: Drift,
    ) -> Option<Narrow> {
        let mut scales = Vec::with_capacity(self.plain.len());
        for width in BitWidth::ALL {
            if !fewer(width, wanted) {
                return None;
            }
            scales.clear();
            scales.extend((0..self.plain.len()).map_while(|i| self.scale(width, i, drift)));
            if scales.len() < self.plain.len() {
                continue;
            }
            let scale_type =
                if wanted == ScaleType::F16 && self.round(width, &mut scales) { wanted } else { ScaleType::F32 };
            if let Some(bound) = self.bound_of(width, &scales).filter(|_| fewer(width, scale_type)) {
                return Some(Narrow { width, scale_type, scales, bound });
            }
        }
        None
    }

    /// Returns a scale for block `i`, or `None` if no scale is as accurate as the block on its own.
    fn scale(&self, width: BitWidth, i: usize, drift: Drift) -> Option<f32> {
        let limit = (f64::from(self.plain[i]) - f64::from(self.key[i]) * UNIT) / weight(width);
        let tight = f64::from(self.largest[i]) / f64::from(width.qmax());
        if !(limit >= 0.0 && limit.is_finite() && tight.is_finite()) {
            return None;
        }
        let scale = round_down(tight.clamp(limit * (1.0 - f64::from(drift.share())), limit));
        self.block_bound(width, i, scale).map(|_| scale)
    }

    /// Rounds scales to f16; returns `false` and changes nothing if one of them would become less accurate.
    fn round(&self, width: BitWidth, scales: &mut [f32]) -> bool {
        let half = |(i, &scale): (usize, &f32)| {
            let near = [ScaleType::F16.at_least(scale), ScaleType::F16.at_most(scale)];
            near.into_iter().flatten().find(|&half| self.block_bound(width, i, half).is_some())
        };
        let halves: Option<Vec<f32>> = scales.iter().enumerate().map(half).collect();
        halves.map(|halves| scales.copy_from_slice(&halves)).is_some()
    }
}

/// A difference that is smaller than the frame on its own.
pub(super) struct Narrow {
    pub(super) width: BitWidth,
    pub(super) scale_type: ScaleType,
    pub(super) scales: Vec<f32>,
    pub(super) bound: f32,
}

/// Computes `values - key` in f32.
pub(super) fn subtract(values: &[f32], key: &[f32], out: &mut Vec<f32>) {
    out.clear();
    out.extend(values.iter().zip(key).map(|(value, key)| value - key));
}

/// Returns the error of a block per unit of scale: half a step, `4 * qmax` roundings as in any block, and the part of
/// the rounding of the two sums that depends on the difference, which is below `qmax + 1/2` steps.
fn weight(width: BitWidth) -> f64 {
    0.5 + (6.0 * f64::from(width.qmax()) + 1.0) * UNIT
}

#[expect(clippy::cast_possible_truncation, reason = "rounded up at once")]
pub(super) fn round_up(exact: f64) -> f32 {
    let near = exact as f32;
    if f64::from(near) < exact { near.next_up() } else { near }
}

#[expect(clippy::cast_possible_truncation, reason = "rounded down at once")]
fn round_down(exact: f64) -> f32 {
    let near = exact as f32;
    if f64::from(near) > exact { near.next_down() } else { near }
}
