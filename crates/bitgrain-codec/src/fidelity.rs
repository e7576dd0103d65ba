//! Errors measured between the original values and the decoded ones.

use bitgrain_kernels::{Backend, ErrorSums, error_sums};

use crate::CodecErr;

/// Errors between two tensors. Elements whose original is not finite are skipped and counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fidelity {
    /// Largest `|x - x'|`; infinite if a decoded value is not finite where the original is.
    pub max_error: f64,
    /// Square root of the mean of `(x - x')^2`.
    pub rms_error: f64,
    /// `rms_error` divided by the root mean square of the original; 0 if the tensors are equal, infinite if the
    /// original is all zero and the decoded tensor is not.
    pub relative_rmse: f64,
    /// Cosine similarity; 1 if both tensors are all zero.
    pub cosine: f64,
    /// Number of elements skipped because the original is not finite.
    pub skipped: usize,
}

impl Fidelity {
    /// Measures `decoded` against `original`.
    ///
    /// ```
    /// use bitgrain_codec::Fidelity;
    /// let cost = Fidelity::measure(&[3.0, 4.0], &[3.0, 4.5])?;
    /// assert_eq!(cost.max_error, 0.5);
    /// assert_eq!(cost.rms_error, 0.125_f64.sqrt());
    /// # Ok::<(), bitgrain_codec::CodecErr>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`CodecErr::LengthMismatch`] if the slices differ in length.
    pub fn measure(original: &[f32], decoded: &[f32]) -> Result<Self, CodecErr> {
        let sums = error_sums(Backend::best(), original, decoded)
            .map_err(|_| CodecErr::LengthMismatch { left: original.len(), right: decoded.len() })?;
        Ok(Self::of(sums, original.len()))
    }

    /// Derives the figures from sums over `count` pairs.
    #[must_use]
    pub fn of(sums: ErrorSums, count: usize) -> Self {
        let ErrorSums { squares, original: left, decoded: right, product, max, skipped } = sums;
        #[expect(clippy::cast_precision_loss, reason = "a mean over 2^53 values is exact enough")]
        let count = count.saturating_sub(skipped).max(1) as f64;
        let rms_error = libm::sqrt(squares / count);
        let relative_rmse = if squares == 0.0 { 0.0 } else { rms_error / libm::sqrt(left / count) };
        let norms = libm::sqrt(left) * libm::sqrt(right);
        let cosine = if left == 0.0 && right == 0.0 {
            1.0
        } else if norms == 0.0 {
            0.0
        } else {
            product / norms
        };
        Self { max_error: max, rms_error, relative_rmse, cosine, skipped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lossless_format_has_zero_error() {
        let cost = Fidelity::measure(&[1.0, -2.0], &[1.0, -2.0]).expect("equal lengths");
        assert_eq!((cost.max_error, cost.rms_error, cost.relative_rmse), (0.0, 0.0, 0.0));
        assert!((cost.cosine - 1.0).abs() < 1e-15);
    }

    #[test]
    fn figures_are_those_of_the_definitions() {
        let cost = Fidelity::measure(&[3.0, 4.0, f32::NAN], &[3.0, 4.5, 9.0]).expect("equal lengths");
        assert_eq!((cost.max_error, cost.skipped), (0.5, 1));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} and {b}");
        near(cost.rms_error, libm::sqrt(0.125));
        near(cost.relative_rmse, libm::sqrt(0.125 / 12.5));
        near(cost.cosine, 27.0 / (5.0 * libm::sqrt(29.25)));
    }

    #[test]
    fn empty_and_zero_tensors_have_a_cosine_of_one() {
        assert_eq!(Fidelity::measure(&[], &[]).expect("equal lengths").cosine, 1.0);
        assert_eq!(Fidelity::measure(&[0.0], &[0.0]).expect("equal lengths").cosine, 1.0);
        assert_eq!(Fidelity::measure(&[1.0], &[0.0]).expect("equal lengths").cosine, 0.0);
        assert_eq!(Fidelity::measure(&[1.0], &[-1.0]).expect("equal lengths").cosine, -1.0);
        assert_eq!(Fidelity::measure(&[0.0], &[1.0]).expect("equal lengths").relative_rmse, f64::INFINITY);
    }

    #[test]
    fn non_finite_values_are_skipped() {
        let cost = Fidelity::measure(&[1.0, f32::NAN, f32::INFINITY], &[1.0, 0.0, 9.0]).expect("equal lengths");
        assert_eq!((cost.skipped, cost.max_error), (2, 0.0));
    }

    #[test]
    fn a_non_finite_decoded_value_is_an_infinite_error() {
        for odd in [f32::NAN, f32::INFINITY] {
            let cost = Fidelity::measure(&[1.0, 2.0], &[odd, 2.0]).expect("equal lengths");
            assert_eq!((cost.max_error, cost.rms_error), (f64::INFINITY, f64::INFINITY));
        }
    }

    #[test]
    fn different_lengths_are_rejected() {
        assert_eq!(Fidelity::measure(&[1.0], &[]), Err(CodecErr::LengthMismatch { left: 1, right: 0 }));
    }
}
