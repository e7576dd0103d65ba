//! Primitives that are defined by a portable loop and compiled once per instruction set.
//!
//! The compiler vectorizes these loops as well as intrinsics would, because lanes are independent. A new instruction
//! set gets all of them with one line: `portable_kernels!(avx2);`.

/// Defines the portable primitives in the module of an instruction set, named by its attribute in `bitgrain_isa`.
macro_rules! portable_kernels {
    ($isa:ident) => {
        $crate::generic::shims! { $isa;
            cut_worths(terms: &$crate::best_cut::CutTerms, grads: &[f64], hess: &[f64], worths: &mut [f64]) -> f64 =
                $crate::best_cut::cut_worths_body(terms, grads, hess, worths);
            exp(values: &[f32], out: &mut [f32]) = $crate::scalar::exp_each(values, out);
            sigmoid(values: &[f32], out: &mut [f32]) = $crate::scalar::sigmoid_each(values, out);
            logistic_gradients(scores: &[f32], targets: &[f32], grads: &mut [f32], hess: &mut [f32]) =
                $crate::scalar::logistic_gradients_each(scores, targets, grads, hess);
            softmax_gradients(
                scores: &[&[f32]], targets: &[f32], factor: f32, grads: &mut [&mut [f32]], hess: &mut [&mut [f32]],
            ) = $crate::scalar::softmax_gradients_each(scores, targets, factor, grads, hess);
            round_pairs(
                steps: &$crate::round_pairs::PairSteps, grads: &[f32], hess: &[f32], rows: &[u32],
                out: &mut [$crate::histogram::Pair8],
            ) = $crate::round_pairs::round_pairs_body(steps, grads, hess, rows, out);
            mark_rows(
                conditions: &[$crate::mark_rows::RowCondition; 2], scores: &[f32], norms: &[f32], residuals: &[f32], marks: &mut [u8],
            ) = $crate::mark_rows::mark_rows_body(conditions, scores, norms, residuals, marks);
            score_f32_rows(query: &[f32], bytes: &[u8], rows: &[usize], out: &mut [f32]) =
                $crate::score_rows::score_f32_rows_body(query, bytes, rows, out);
        }
    };
}

pub(crate) use portable_kernels;
