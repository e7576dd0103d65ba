//! Search for the best split of a node from its histogram.

mod category;
mod constrained;
mod numeric;
mod search;

pub(crate) use numeric::is_larger;
pub(crate) use search::{Found, How, Offer, Search};

use super::Params;
use super::constrain::Limits;

/// Constraints and regularization of splits. Histogram sums are in units of the quantization steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Quantization steps of gradients and hessians.
    pub(crate) grad_step: f64,
    pub(crate) hess_step: f64,
    pub(crate) lambda_l1: f64,
    pub(crate) lambda_l2: f64,
    pub(crate) min_child_samples: f64,
    pub(crate) min_child_weight: f64,
    pub(crate) min_split_gain: f64,
    pub(crate) max_cat_to_onehot: usize,
    pub(crate) cat_l2: f64,
    pub(crate) cat_smooth: f64,
    pub(crate) max_cat_threshold: usize,
}

impl Rules {
    #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
    pub(crate) fn new(params: &Params, grad_step: f64, hess_step: f64) -> Self {
        Self {
            grad_step,
            hess_step,
            lambda_l1: params.reg_alpha,
            lambda_l2: params.reg_lambda,
            min_child_samples: params.min_child_samples as f64,
            min_child_weight: params.min_child_weight,
            min_split_gain: params.min_split_gain,
            max_cat_to_onehot: params.max_cat_to_onehot,
            cat_l2: params.cat_l2,
            cat_smooth: params.cat_smooth,
            max_cat_threshold: params.max_cat_threshold,
        }
    }

    /// Returns twice the loss reduction if rows with these sums become a leaf.
    pub(crate) fn worth(&self, grad: f64, hess: f64, extra_l2: f64) -> f64 {
        let grad = self.shrunk(grad);
        let hess = hess + self.lambda_l2 + extra_l2;
        if hess > 0.0 { grad * grad / hess } else { 0.0 }
    }

    /// Returns the optimal value of a leaf with these sums.
    pub(crate) fn leaf(&self, grad: f64, hess: f64) -> f64 {
        let hess = hess + self.lambda_l2;
        if hess > 0.0 { -self.shrunk(grad) / hess } else { 0.0 }
    }

    /// Shrinks a gradient toward zero by `lambda_l1`.
    pub(crate) fn shrunk(&self, grad: f64) -> f64 {
        if self.lambda_l1 == 0.0 { grad } else { grad.signum() * (grad.abs() - self.lambda_l1).max(0.0) }
    }
}

/// Sum and number of rows of a node, and its limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Totals<S> {
    pub(crate) sum: S,
    pub(crate) rows: usize,
    pub(crate) limits: Limits,
}

#[cfg(test)]
mod tests {
    use bitgrain_kernels::histograms::PairF32;

    use super::category::best_choice;
    use super::constrained::choice_worth;
    use super::numeric::{Prefixes, TOGETHER, best_cut, fill_together};
    use super::*;
    use crate::train::grow::{Floats, Numbers, Sum};

    const RULES: Rules = Rules {
        grad_step: 1.0,
        hess_step: 1.0,
        lambda_l1: 0.0,
        lambda_l2: 0.0,
        min_child_samples: 0.0,
        min_child_weight: 0.0,
        min_split_gain: 0.0,
        max_cat_to_onehot: 4,
        cat_l2: 10.0,
        cat_smooth: 10.0,
        max_cat_threshold: 32,
    };

    fn sum(pairs: &[(f32, f32)]) -> <Floats as Numbers>::Sum {
        let mut sum = <Floats as Numbers>::Sum::default();
        pairs.iter().for_each(|&(grad, hess)| Floats::flush(PairF32 { grad, hess }, &mut sum));
        sum
    }

    #[test]
    fn sums_of_features_do_not_depend_on_the_others() {
        let bins: Vec<_> = (0..40_u8).map(|at| sum(&[(f32::from(at).sin(), 0.1 * f32::from(at))])).collect();
        let features: [&[_]; TOGETHER] = [&bins[..7], &bins[7..40], &bins[3..4], &bins[10..30]];
        let mut together: [Prefixes; TOGETHER] = Default::default();
        // Longer leftovers of an earlier search.
        fill_together(&mut together, [&bins[..]; TOGETHER]);
        fill_together(&mut together, features);
        for (found, bins) in together.iter().zip(features) {
            let mut alone = Prefixes::default();
            alone.fill(bins);
            assert_eq!(found, &alone);
        }
    }

    #[test]
    fn rows_of_one_bin_are_not_split_though_their_sums_differ_in_the_last_bit() {
        let (none, all) = (sum(&[]), sum(&[(1.0, 2.0)]));
        let node = Totals { sum: all.plus(sum(&[(1e-3, 1e-9)])), rows: 9, limits: Limits::FREE };
        let cut = |bins: &[_], missing| best_cut(bins, missing, &node, &RULES, &mut Prefixes::default());
        let choice = |bins: &[_], missing| best_choice((bins, missing), &node, &RULES, choice_worth(&RULES), None);
        for few in [&[all][..], &[none, all], &[all, none], &[none, all, none]] {
            assert_eq!((cut(few, None), cut(few, Some(none))), (None, None), "{few:?}");
            assert_eq!((choice(few, None), choice(few, Some(none))), (None, None), "{few:?}");
        }
        assert_eq!((cut(&[none], Some(all)), cut(&[none, none], Some(all))), (None, None));
        assert_eq!((choice(&[none], Some(all)), choice(&[none, none], Some(all))), (None, None));
        let half = sum(&[(0.5, 1.0)]);
        assert!(cut(&[none, half, half], None).is_some_and(|cut| cut.bin == 1));
        assert!(cut(&[half, none], Some(half)).is_some_and(|cut| cut.bin == 0 && !cut.missing_left));
        assert!(choice(&[none, half], Some(half)).is_some_and(|choice| choice.bins == [1]));
    }
}
