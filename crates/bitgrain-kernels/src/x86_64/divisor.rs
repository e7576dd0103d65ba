//! Division by a scale in fixed point, with a test for results that are certain.
//!
//! A code is the quotient `x / scale`, rounded to f32, rounded to an integer. The kernels compute
//! `x * (65536 / scale) + 32768 + MARGIN` instead and convert it to an integer, whose upper half is the code and whose
//! lower half is the distance of the quotient from the nearest boundary between two codes. For quotients up to 128, the
//! rounding of the factor, of the true quotient, of the product, of the sum and of the conversion each move it by less
//! than half a unit. If the lower half is more than `2 * MARGIN`, the quotient therefore lies in the same interval and
//! the code is exact; beyond 128 both are clamped to the same code. Otherwise (one block of 64 in 110) the kernels
//! divide. Division alone would limit encoding to 16 GB/s in cache.

/// A scale, with a factor that replaces the division if that is safe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    /// The divisor.
    pub(super) scale: f32,
    /// `65536 / scale`, unless that is too close to the limits of f32 for full precision.
    pub(super) factor: Option<f32>,
}

impl Divisor {
    /// More units than all rounding errors together. Required by the proof; no test found a wrong code without it.
    const MARGIN: u16 = 4;
    /// Lower halves up to this value are uncertain.
    pub(super) const UNCERTAIN: u16 = 2 * Self::MARGIN;
    /// Added before the upper half is taken.
    pub(super) const OFFSET: f32 = 32_768.0 + Self::MARGIN as f32;
    /// Smallest scale with a factor of full precision, with some margin.
    pub(super) const LEAST: f32 = 1e-30;
    /// Largest such scale.
    pub(super) const MOST: f32 = 1e30;
    /// One code in fixed point.
    pub(super) const ONE: f32 = 65_536.0;

    #[inline]
    pub(super) fn new(scale: f32) -> Self {
        let safe = (Self::LEAST..Self::MOST).contains(&scale.abs());
        Self { scale, factor: safe.then(|| Self::ONE / scale) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;

    fn round(x: f64) -> f64 {
        x.round_ties_even()
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "halves of an integer")]
    fn certain_codes_are_the_rounded_quotient_near_every_half() {
        let mut certain = 0;
        // Every float within 12 steps of each midpoint, for hundreds of scales with awkward mantissas.
        for scale in (0..400_u32).map(|k| f32::from_bits(0x3C00_0000 + k * 0x0001_2345)) {
            let factor = Divisor::new(scale).factor.expect("in range");
            for half in (-255..=255).step_by(2).map(|k| k as f32 * 0.5) {
                let middle = half * scale;
                for step in -12..=12 {
                    let x = f32::from_bits(middle.to_bits().wrapping_add_signed(step));
                    // As in the kernels: fused in one backend, not fused in the other.
                    let fused = x.mul_add(factor, Divisor::OFFSET);
                    for fixed in [fused, x * factor + Divisor::OFFSET] {
                        let fixed = round(f64::from(fixed)) as i32;
                        if fixed as u16 > Divisor::UNCERTAIN {
                            certain += 1;
                            assert_eq!(f64::from(fixed >> 16), round(f64::from(x / scale)), "{x:e} / {scale:e}");
                        }
                    }
                }
            }
        }
        assert!(certain > 100_000, "too few certain codes: {certain}");
    }
}
