//! Link functions, applied in place.
//!
//! The exponential of the standard library is that of the operating system, whose last bit differs; `math` has another.

use crate::math::exp;
use crate::model::Link;

/// Maximum score of exponential link functions, so that predictions stay finite.
const LARGEST_EXPONENT: f64 = 700.0;

/// Converts the scores of a row to predictions.
pub(crate) fn apply(link: Link, scores: &mut [f64]) {
    match link {
        Link::Identity => {}
        Link::Logistic { slope } => scores.iter_mut().for_each(|score| *score = 1.0 / (1.0 + exp(-slope * *score))),
        Link::Exponential => scores.iter_mut().for_each(|score| *score = exp(score.min(LARGEST_EXPONENT))),
        // Equal to ln(1 + exp(score)), whose exponential would overflow for large scores.
        Link::Softplus => scores.iter_mut().for_each(|score| *score = score.max(0.0) + libm::log1p(exp(-score.abs()))),
        Link::SignedSquare => scores.iter_mut().for_each(|score| *score *= score.abs()),
        Link::Step => scores.iter_mut().for_each(|score| *score = f64::from(u8::from(*score > 0.0))),
        Link::Softmax => {
            // Subtract the maximum: the ratio is the same, and no exponential overflows.
            let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            scores.iter_mut().for_each(|score| *score = exp(*score - largest));
            let sum: f64 = scores.iter().sum();
            scores.iter_mut().for_each(|score| *score /= sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied<const N: usize>(link: Link, mut scores: [f64; N]) -> [f64; N] {
        apply(link, &mut scores);
        scores
    }

    #[test]
    fn links_match_their_formulas() {
        assert_eq!(applied(Link::Identity, [3.0]), [3.0]);
        assert_eq!(applied(Link::Logistic { slope: 2.0 }, [0.0, f64::INFINITY]), [0.5, 1.0]);
        assert_eq!(applied(Link::Logistic { slope: 2.0 }, [0.5]), [1.0 / (1.0 + exp(-1.0))]);
        assert_eq!(applied(Link::Exponential, [0.0, 1e9]), [1.0, exp(700.0)]);
        assert_eq!(applied(Link::Softplus, [0.0, 5000.0, -5000.0]), [std::f64::consts::LN_2, 5000.0, 0.0]);
        assert_eq!(applied(Link::SignedSquare, [-3.0, 2.0]), [-9.0, 4.0]);
        assert_eq!(applied(Link::Step, [-3.0, 0.0, 2.0]), [0.0, 0.0, 1.0]);
        assert_eq!(applied(Link::Softmax, [5000.0, 5000.0]), [0.5, 0.5]);
    }
}
