//! Finding the best split of a node from its histogram.

mod category;
mod numeric;
mod search;

pub(crate) use numeric::is_larger;
pub(crate) use search::{Found, How, Search};

use super::Params;

/// What a split must fulfil, and how it is valued. Gradients and hessians are in units of their steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Steps of gradients and hessians.
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
            lambda_l1: params.lambda_l1,
            lambda_l2: params.lambda_l2,
            min_child_samples: params.min_child_samples as f64,
            min_child_weight: params.min_child_weight,
            min_split_gain: params.min_split_gain,
            max_cat_to_onehot: params.max_cat_to_onehot,
            cat_l2: params.cat_l2,
            cat_smooth: params.cat_smooth,
            max_cat_threshold: params.max_cat_threshold,
        }
    }

    /// How much lower the loss is (twice) if rows of these sums get a leaf of their own.
    pub(crate) fn worth(&self, grad: f64, hess: f64, extra_l2: f64) -> f64 {
        let grad = self.shrunk(grad);
        let hess = hess + self.lambda_l2 + extra_l2;
        if hess > 0.0 { grad * grad / hess } else { 0.0 }
    }

    /// The best value of a leaf of these sums.
    pub(crate) fn leaf(&self, grad: f64, hess: f64) -> f64 {
        let hess = hess + self.lambda_l2;
        if hess > 0.0 { -self.shrunk(grad) / hess } else { 0.0 }
    }

    /// Towards zero by `lambda_l1`.
    fn shrunk(&self, grad: f64) -> f64 {
        if self.lambda_l1 == 0.0 { grad } else { grad.signum() * (grad.abs() - self.lambda_l1).max(0.0) }
    }
}

/// The sums of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Totals<S> {
    pub(crate) sum: S,
    pub(crate) rows: usize,
}
