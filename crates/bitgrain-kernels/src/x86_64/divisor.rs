//! Division by a scale through its reciprocal, with a test that says when the answer is certain.
//!
//! A code is the quotient `x / scale`, rounded to f32, rounded to an integer. The product `x * (1 / scale)` differs
//! from that quotient by at most three roundings, that is by `1.5 * 2^-23` of it, which is below `2^-15` for
//! every quotient up to 129; beyond that both are clamped to the same code. So where the product is further than
//! `2^-15` from halfway between two integers, both round to the same integer. Elsewhere (one block in two hundred at
//! 8 bits) the kernels divide. The division alone would hold encoding to 16 GB/s in cache.

/// A scale and, where it is safe, its reciprocal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    /// What to divide by.
    pub(super) scale: f32,
    /// `1 / scale`, unless that is too near the ends of the range to have full precision.
    pub(super) reciprocal: Option<f32>,
}

impl Divisor {
    /// A product at most this far from an integer rounds as the quotient does; twice the distance the proof needs.
    pub(super) const CERTAIN: f32 = 0.5 - 1.0 / 16_384.0;

    #[inline]
    pub(super) fn new(scale: f32) -> Self {
        let safe = (1e-36..1e36).contains(&scale.abs());
        Self { scale, reciprocal: safe.then(|| 1.0 / scale) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round half to even, from the definition.
    fn round(x: f64) -> f64 {
        let floor = libm_floor(x);
        let diff = x - floor;
        if diff > 0.5 || (diff == 0.5 && floor % 2.0 != 0.0) { floor + 1.0 } else { floor }
    }

    fn libm_floor(x: f64) -> f64 {
        extern crate std;
        x.floor()
    }

    #[test]
    fn certain_products_round_like_quotients_near_every_half() {
        // Every float within 300 steps of each halfway point, for awkward scales.
        for scale in [0.1_f32, 1.0 / 3.0, 7.7e-5, 123.456, 1e-30, 9.99e33, f32::from_bits(0x3FFF_FFFF)] {
            let reciprocal = Divisor::new(scale).reciprocal.expect("in range");
            for half in (-255..=255).step_by(2).map(|k| k as f32 * 0.5) {
                let middle = half * scale;
                for step in -300..=300 {
                    let x = f32::from_bits(middle.to_bits().wrapping_add_signed(step));
                    let product = x * reciprocal;
                    let off = (f64::from(product) - round(f64::from(product))).abs();
                    if off <= f64::from(Divisor::CERTAIN) {
                        assert_eq!(round(f64::from(product)), round(f64::from(x / scale)), "{x:e} / {scale:e}");
                    }
                }
            }
        }
    }
}
