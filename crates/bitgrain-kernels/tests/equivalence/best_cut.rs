//! The best cut of a line of bins, compared with trying each.

use bitgrain_kernels::Backend;
use bitgrain_kernels::histograms::{CutTerms, best_cut};

use crate::{Bits, lengths};

/// The rule as documented.
fn naive(terms: &CutTerms, grads: &[f64], hess: &[f64]) -> Option<(usize, f64)> {
    let term = |grad: f64, hess: f64| (grad.abs() - terms.l1).max(0.0).powi(2) / (hess + terms.l2);
    let mut best: Option<(usize, f64)> = None;
    for (cut, (grad, hess)) in grads.iter().zip(hess).enumerate() {
        let (left_grad, left_hess) = (grad + terms.grad_beside, hess + terms.hess_beside);
        let (right_grad, right_hess) = (terms.grad - left_grad, terms.hess - left_hess);
        if left_hess < terms.min_hess || right_hess < terms.min_hess {
            continue;
        }
        let worth = term(left_grad, left_hess) + term(right_grad, right_hess);
        if best.is_none_or(|(_, most)| worth > most * (1.0 + 1e-12)) {
            best = Some((cut, worth));
        }
    }
    best
}

#[test]
fn every_backend_finds_the_first_of_the_best_cuts() {
    let mut bits = Bits(5);
    for len in lengths().chain([1000]) {
        for (l1, l2, min_hess) in [(0.0, 0.0, 1e-3), (0.5, 1.0, 2.0), (0.0, 10.0, 0.0), (0.0, 0.0, 1e9)] {
            let prefix = |values: Vec<f32>| -> Vec<f64> {
                let mut sum = 0.0;
                let add = |value: f32| {
                    sum += f64::from(value);
                    sum
                };
                values.into_iter().map(add).collect()
            };
            let grads = prefix(bits.normals(len));
            let hess = prefix(bits.normals(len).iter().map(|value| value.abs()).collect());
            let (grad, total) = (grads.last().copied().unwrap_or(0.0) + 1.5, hess.last().copied().unwrap_or(0.0) + 3.0);
            let terms = CutTerms { grad, hess: total, grad_beside: -0.75, hess_beside: 1.25, min_hess, l1, l2 };
            let want = naive(&terms, &grads, &hess);
            let scalar = best_cut(Backend::scalar(), &terms, f64::NEG_INFINITY, &grads, &hess);
            assert_eq!(scalar.map(|(cut, _)| cut), want.map(|(cut, _)| cut), "{len} bins, {terms:?}");
            if let (Some((_, got)), Some((_, want))) = (scalar, want) {
                assert!((got - want).abs() <= 1e-9 * want.abs(), "{got} is not {want}");
            }
            for &backend in Backend::available() {
                assert_eq!(
                    best_cut(backend, &terms, f64::NEG_INFINITY, &grads, &hess),
                    scalar,
                    "{backend}: {len} bins"
                );
            }
        }
    }
}

#[test]
fn of_equal_cuts_the_first_is_taken() {
    let terms = CutTerms { grad: 0.0, hess: 10.0, grad_beside: 0.0, hess_beside: 0.0, min_hess: 1.0, l1: 0.0, l2: 0.0 };
    for &backend in Backend::available() {
        let best =
            best_cut(backend, &terms, f64::NEG_INFINITY, &[1.0, 4.0, 4.0, 4.0, -4.0], &[2.0, 5.0, 5.0, 5.0, 5.0]);
        assert_eq!(best.map(|(cut, _)| cut), Some(1), "{backend}");
    }
}

#[test]
fn a_cut_must_score_more_than_the_floor() {
    let terms = CutTerms { grad: 0.0, hess: 10.0, grad_beside: 0.0, hess_beside: 0.0, min_hess: 1.0, l1: 0.0, l2: 0.0 };
    let best = |backend, floor| best_cut(backend, &terms, floor, &[1.0, 4.0, -4.0], &[2.0, 5.0, 5.0]);
    for &backend in Backend::available() {
        let (cut, score) = best(backend, f64::NEG_INFINITY).expect("a cut");
        assert_eq!((cut, best(backend, score), best(backend, score - 0.1)), (1, None, Some((cut, score))), "{backend}");
    }
}
