//! Gauss-Legendre quadrature on the interval from 0 to 1.

/// Points and weights that integrate polynomials exactly, up to rounding.
#[derive(Debug, Clone)]
pub(super) struct Quadrature {
    /// Pairs of a point and its weight.
    pub(super) points: Vec<(f64, f64)>,
}

impl Quadrature {
    /// Creates a rule that is exact for polynomials up to `degree`.
    #[expect(clippy::cast_precision_loss, reason = "degrees are at most the number of features")]
    pub(super) fn for_degree(degree: usize) -> Self {
        // n points are exact up to degree 2n - 1.
        let n = degree / 2 + 1;
        let root = |index: usize| {
            // An approximation of the root, improved by Newton's method, which then converges quadratically.
            let mut x = (std::f64::consts::PI * (index as f64 + 0.75) / (n as f64 + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..100 {
                let (value, derivative) = legendre(n, x);
                slope = derivative;
                let step = value / derivative;
                x -= step;
                if step.abs() < 1e-16 {
                    break;
                }
            }
            // From -1..1 to 0..1, which halves the weight.
            (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope))
        };
        Self { points: (0..n).map(root).collect() }
    }
}

/// Returns the Legendre polynomial of degree `n` at `x`, and its derivative.
#[expect(clippy::cast_precision_loss, reason = "degrees are at most the number of features")]
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut current) = (1.0, x);
    for degree in 2..=n {
        let degree = degree as f64;
        let next = ((2.0 * degree - 1.0) * x * current - (degree - 1.0) * before) / degree;
        (before, current) = (current, next);
    }
    (current, n as f64 * (x * current - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_exactly() {
        for degree in 0..60_i32 {
            let rule = Quadrature::for_degree(usize::try_from(degree).expect("not negative"));
            for power in 0..=degree {
                let sum: f64 = rule.points.iter().map(|(point, weight)| weight * point.powi(power)).sum();
                let exact = 1.0 / f64::from(power + 1);
                assert!((sum - exact).abs() < 1e-14, "x^{power} with degree {degree}: {sum} instead of {exact}");
            }
        }
    }
}
