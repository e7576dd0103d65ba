//! Error bounds of products on a device.

use super::DeviceMatrix;
use crate::GpuError;

/// Half the spacing of f32 at 1.
const UNIT: f64 = 1.0 / 16_777_216.0;

/// Smallest normal f32. Devices may replace smaller numbers by 0.
const FLUSHED: f64 = 1.175_494_350_822_287_5e-38;

/// Rounded operations per product besides those of the sum: unpacking a weight takes at most four, the product, the
/// reduction over threads and the bias the rest.
///
/// Minima of blocks do not cancel rounding errors: a half-precision scale times its code of up to 8 bits times a code of up to
/// 5 bits is exact in f32, so only their difference is rounded, with or without a fused multiply-add.
const OTHER: usize = 16;

impl DeviceMatrix {
    /// Bounds the absolute difference of each output of [`multiply`](Self::multiply) from the exact product with the
    /// decoded `weights`:
    ///
    /// `(columns + 16) · 2^-24 · Σ|x·w| · 1.01 + 2^-126 · Σ(|x| + |w| + 2)`
    ///
    /// The first term covers rounding in any order of summation; the second, devices that flush subnormal numbers to 0.
    ///
    /// # Errors
    /// Returns [`GpuError::Length`] if `x` or `weights` have another length than the shapes require.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a bound with room to spare")]
    pub fn bound(&self, weights: &[f32], x: &[f32], batch: usize) -> Result<Vec<f32>, GpuError> {
        let (rows, cols) = self.shape();
        for (what, wanted, found) in [("activations", batch * cols, x.len()), ("weights", rows * cols, weights.len())] {
            if wanted != found {
                return Err(GpuError::Length { what, wanted, found });
            }
        }
        let steps = (cols + OTHER) as f64;
        let bound = |x: &[f32], weights: &[f32]| {
            let (mut products, mut small) = (0.0_f64, 0.0_f64);
            for (x, w) in x.iter().zip(weights) {
                let (x, w) = (f64::from(*x).abs(), f64::from(*w).abs());
                products += x * w;
                small += x + w + 2.0;
            }
            ((steps * UNIT * products * 1.01 + FLUSHED * small) as f32).next_up()
        };
        let mut out = Vec::with_capacity(batch * rows);
        for x in x.chunks(cols.max(1)).take(batch) {
            out.extend(weights.chunks(cols.max(1)).map(|weights| bound(x, weights)));
        }
        out.resize(batch * rows, 0.0);
        Ok(out)
    }
}
