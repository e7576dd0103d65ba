//! Gradients of `cox` compared with finite differences of the partial likelihood.

use super::*;

/// Times with ties among events and with a censored row, in no order.
const TIMES: [f32; 8] = [3.0, -1.0, 2.0, 5.0, -3.0, 2.0, 7.0, -9.0];
const SCORES: [f32; 8] = [0.5, -1.0, 0.25, 2.0, -0.75, 1.5, 0.0, 0.3];

/// Returns the negative partial log-likelihood with Breslow's ties.
fn loss(scores: &[f64], weights: &[f64]) -> f64 {
    let events = (0..8).filter(|&row| TIMES[row] > 0.0);
    events
        .map(|row| {
            let at_risk = (0..8).filter(|&other| TIMES[other].abs() >= TIMES[row]);
            let sum: f64 = at_risk.map(|other| weights[other] * scores[other].exp()).sum();
            weights[row] * (sum.ln() - scores[row])
        })
        .sum()
}

fn gradients(scores: &[f32], weights: Option<&[f32]>) -> (Vec<f32>, Vec<f32>) {
    let (mut grads, mut hess) = (vec![f32::NAN; 8], vec![f32::NAN; 8]);
    let batch = Batch { targets: &TIMES, weights, scores: &[scores], queries: None };
    Cox.gradients(&batch, &mut GradientBatch { grads: vec![&mut grads], hess: vec![&mut hess] });
    (grads, hess)
}

#[test]
fn gradients_are_the_slopes_of_the_partial_likelihood() {
    let weights: [f32; 8] = [1.0, 0.5, 2.0, 1.0, 0.25, 1.5, 0.0, 3.0];
    for weights in [None, Some(&weights[..])] {
        let exact: Vec<f64> = (0..8).map(|row| weights.map_or(1.0, |weights| f64::from(weights[row]))).collect();
        let (grads, hess) = gradients(&SCORES, weights);
        for row in 0..8 {
            let at = |delta: f64| {
                let mut scores = SCORES.map(f64::from);
                scores[row] += delta;
                loss(&scores, &exact)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            let curve = (at(1e-3) - 2.0 * at(0.0) + at(-1e-3)) / 1e-6;
            assert!((f64::from(grads[row]) - slope).abs() < 1e-5, "row {row}: {} {slope}", grads[row]);
            assert!((f64::from(hess[row]) - curve).abs() < 1e-4, "row {row}: {} {curve}", hess[row]);
        }
    }
}

#[test]
fn adding_a_constant_to_all_scores_changes_nothing() {
    let (grads, hess) = gradients(&SCORES, None);
    let (moved, moved_hess) = gradients(&SCORES.map(|score| score + 64.0), None);
    for (a, b) in grads.iter().chain(&hess).zip(moved.iter().chain(&moved_hess)) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
    assert!(grads.iter().sum::<f32>().abs() < 1e-5);
}

#[test]
fn hostile_scores_give_finite_gradients() {
    for extreme in [3e38, -3e38, 1e4, -1e4, 88.0, -104.0] {
        for row in 0..8 {
            let mut scores = SCORES;
            scores[row] = extreme;
            let (grads, hess) = gradients(&scores, None);
            assert!(grads.iter().all(|grad| grad.abs() < 1e3), "{extreme} {row}: {grads:?}");
            assert!(hess.iter().all(|hess| (0.0..1e3).contains(hess)), "{extreme} {row}: {hess:?}");
        }
    }
}

#[test]
fn targets_without_an_event_are_rejected() {
    assert!(Cox.check_training(&[-1.0, 2.0], None).is_ok());
    let error = Cox.check_training(&[-1.0, 2.0], Some(&[1.0, 0.0])).expect_err("the event has no weight").to_string();
    assert!(error.starts_with("no events"), "{error}");
}
