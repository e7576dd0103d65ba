//! Gradients compared with finite differences, base scores with their neighbors, and extreme scores.

use super::*;

/// An objective, its loss as a function of target and scores, the ratio of its hessian to the exact one (`None`: always
/// 1; 0: any nonnegative number), and valid targets.
struct Case {
    name: &'static str,
    loss: fn(f64, &[f64]) -> f64,
    hessian_factor: Option<f64>,
    targets: &'static [f32],
}

const REALS: &[f32] = &[-3.0, 0.0, 0.7, 2.5];
const COUNTS: &[f32] = &[0.0, 1.0, 2.0, 7.0];
const AMOUNTS: &[f32] = &[0.1, 1.0, 2.5, 40.0];

fn tweedie(target: f64, score: f64, power: f64) -> f64 {
    ((2.0 - power) * score).exp() / (2.0 - power) - target * ((1.0 - power) * score).exp() / (1.0 - power)
}

const CASES: [Case; 17] = [
    Case { name: "squared", loss: |t, s| (s[0] - t).powi(2) / 2.0, hessian_factor: Some(1.0), targets: REALS },
    Case { name: "absolute", loss: |t, s| (s[0] - t).abs(), hessian_factor: None, targets: REALS },
    Case {
        name: "huber:1.25",
        loss: |t, s| {
            let error = (s[0] - t).abs();
            if error <= 1.25 { error * error / 2.0 } else { 1.25 * (error - 0.625) }
        },
        hessian_factor: None,
        targets: REALS,
    },
    Case {
        name: "quantile:0.75",
        loss: |t, s| if s[0] >= t { 0.25 * (s[0] - t) } else { 0.75 * (t - s[0]) },
        hessian_factor: None,
        targets: REALS,
    },
    Case {
        name: "expectile:0.75",
        loss: |t, s| if s[0] > t { 0.25 } else { 0.75 } * (s[0] - t).powi(2) / 2.0,
        hessian_factor: Some(1.0),
        // No score is so near to 0.72 that the difference quotient spans the change of the weight.
        targets: &[-3.0, 0.0, 0.72, 2.5],
    },
    Case {
        name: "fair:1.5",
        loss: |t, s| {
            let error = (s[0] - t).abs() / 1.5;
            2.25 * (error - error.ln_1p())
        },
        hessian_factor: Some(1.0),
        targets: &[-3.0, 0.0, 0.72, 2.5],
    },
    Case {
        name: "log_cosh",
        loss: |t, s| {
            let error = (s[0] - t).abs();
            error + (-2.0 * error).exp().ln_1p()
        },
        hessian_factor: Some(0.0),
        targets: REALS,
    },
    Case { name: "mape", loss: |t, s| (s[0] - t).abs() / t.abs().max(1.0), hessian_factor: None, targets: REALS },
    Case {
        name: "cross_entropy",
        loss: |t, s| (1.0 + s[0].exp()).ln() - t * s[0],
        hessian_factor: Some(1.0),
        targets: &[0.0, 1.0, 0.25, 0.875],
    },
    Case {
        name: "focal:0",
        loss: |t, s| (1.0 + s[0].exp()).ln() - t * s[0],
        hessian_factor: Some(1.0),
        targets: &[0.0, 1.0, 1.0, 0.0],
    },
    Case {
        name: "focal:2.5",
        loss: |t, s| {
            let odds = if t > 0.5 { s[0] } else { -s[0] };
            (1.0 + odds.exp()).powf(-2.5) * (1.0 + (-odds).exp()).ln()
        },
        hessian_factor: Some(0.0),
        targets: &[0.0, 1.0, 1.0, 0.0],
    },
    // LightGBM's hessian is exp(score + 0.7).
    Case {
        name: "poisson",
        loss: |t, s| s[0].exp() - t * s[0],
        hessian_factor: Some(2.013_752_707_470_476_5),
        targets: COUNTS,
    },
    Case { name: "gamma", loss: |t, s| s[0] + t * (-s[0]).exp(), hessian_factor: Some(1.0), targets: AMOUNTS },
    Case { name: "tweedie:1.5", loss: |t, s| tweedie(t, s[0], 1.5), hessian_factor: Some(1.0), targets: COUNTS },
    Case { name: "tweedie:1.1", loss: |t, s| tweedie(t, s[0], 1.1), hessian_factor: Some(1.0), targets: COUNTS },
    Case {
        name: "binary",
        loss: |t, s| (1.0 + s[0].exp()).ln() - t * s[0],
        hessian_factor: Some(1.0),
        targets: &[0.0, 1.0, 1.0, 0.0],
    },
    // LightGBM's factor of K / (K - 1).
    Case {
        name: "multiclass:3",
        loss: |t, s| {
            let class = [0.0, 1.0, 2.0].iter().position(|class| *class == t).expect("a class");
            s.iter().map(|score| score.exp()).sum::<f64>().ln() - s[class]
        },
        hessian_factor: Some(1.5),
        targets: &[0.0, 1.0, 2.0, 1.0],
    },
];

/// Returns the gradients and hessians of every output.
fn gradients(
    objective: &dyn Objective,
    targets: &[f32],
    weights: Option<&[f32]>,
    scores: &[Vec<f32>],
) -> [Vec<Vec<f32>>; 2] {
    let mut out = [(); 2].map(|()| vec![vec![f32::NAN; targets.len()]; scores.len()]);
    let [grads, hess] = &mut out;
    let scores: Vec<&[f32]> = scores.iter().map(Vec::as_slice).collect();
    let mut batch = GradientBatch {
        grads: grads.iter_mut().map(Vec::as_mut_slice).collect(),
        hess: hess.iter_mut().map(Vec::as_mut_slice).collect(),
    };
    objective.gradients(&Batch { targets, weights, scores: &scores, queries: None }, &mut batch);
    out
}

/// Returns each target of a case with each score: at least 1,200 rows, so that they span several blocks.
fn grid(case: &Case, outputs: usize) -> (Vec<f32>, Vec<Vec<f32>>) {
    let steps = 401_u16;
    let targets = case.targets.iter().flat_map(|&target| vec![target; usize::from(steps)]).collect();
    let score = |output: usize, step: u16| {
        let spread = [0.031_25, -0.017, 0.009][output % 3];
        (f32::from(step) - 200.0) * spread + 0.013
    };
    let scores = (0..outputs)
        .map(|output| case.targets.iter().flat_map(|_| (0..steps).map(move |step| score(output, step))).collect());
    (targets, scores.collect())
}

#[test]
fn every_objective_has_a_case() {
    // Objectives that compare rows have no loss of a row; see `ranking::tests` and `cox_tests`.
    let compares = |objective: Box<dyn Objective>| objective.ranks() || objective.needs_all_rows();
    for named in NAMES.iter().filter(|named| !by_name(named.name).is_ok_and(compares)) {
        let covered = CASES.iter().any(|case| case.name.split(':').next() == Some(named.name));
        assert!(covered, "`{}` has no entry in CASES", named.name);
    }
}

#[test]
fn gradients_are_the_slopes_of_their_losses() {
    for case in &CASES {
        let objective = by_name(case.name).expect("a name");
        objective.check(case.targets).expect("good targets");
        let outputs = objective.n_outputs();
        let (targets, scores) = grid(case, outputs);
        let weights: Vec<f32> = (0..targets.len()).map(|row| [1.0, 0.5, 3.0][row % 3]).collect();
        let [grads, hess] = gradients(&*objective, &targets, Some(&weights), &scores);
        for (row, output) in (0..targets.len()).flat_map(|row| (0..outputs).map(move |output| (row, output))) {
            let at = |delta: f64| {
                let mut scores: Vec<f64> = scores.iter().map(|scores| f64::from(scores[row])).collect();
                scores[output] += delta;
                (case.loss)(f64::from(targets[row]), &scores)
            };
            let weight = f64::from(weights[row]);
            let step = 1e-5;
            let slope = weight * (at(step) - at(-step)) / (2.0 * step);
            let got = f64::from(grads[output][row]);
            assert!((got - slope).abs() <= 2e-5 * (1.0 + slope.abs()), "{} row {row}: {got} {slope}", case.name);
            let got = f64::from(hess[output][row]);
            let Some(factor) = case.hessian_factor else {
                assert_eq!(got, weight, "{}", case.name);
                continue;
            };
            if factor == 0.0 {
                assert!(got >= 0.0, "{}", case.name);
                continue;
            }
            let step = 1e-3;
            let curve = weight * factor * (at(step) - 2.0 * at(0.0) + at(-step)) / (step * step);
            assert!((got - curve).abs() <= 1e-4 * (1.0 + curve.abs()), "{} row {row}: {got} {curve}", case.name);
        }
    }
}

#[test]
fn hessians_and_leaf_renewal_match_the_declaration() {
    for case in &CASES {
        let objective = by_name(case.name).expect("a name");
        assert_eq!(objective.constant_hessian(), case.hessian_factor.is_none() || case.name == "squared");
        let renews = ["absolute", "mape"].contains(&case.name) || case.name.starts_with("quantile");
        assert_eq!(objective.renews_leaves(), renews);
        assert_eq!(objective.renew_leaf(&mut [(1.0, 1.0), (5.0, 1.0), (2.0, 1.0)]).is_some(), renews);
    }
}

#[test]
fn leaves_are_renewed_to_weighted_quantiles() {
    let mut residuals = [(3.0, 1.0), (-1.0, 1.0), (10.0, 1.0), (0.5, 4.0)];
    assert_eq!(Absolute.renew_leaf(&mut residuals), Some(0.5));
    assert_eq!(Quantile::default().renew_leaf(&mut residuals), Some(10.0));
    assert_eq!(Squared.renew_leaf(&mut residuals), None);
}

#[test]
fn hostile_scores_give_finite_gradients_and_hessians_from_zero_on() {
    let extremes = [1e4, -1e4, 88.0, -88.0, 89.0, -104.0, 745.0, 3e38, -3e38, 1e-45, 0.0, -0.0, 17.0, -17.0];
    for case in &CASES {
        let objective = by_name(case.name).expect("a name");
        for &target in case.targets {
            for (other, shift) in extremes.iter().flat_map(|&other| [(other, 0), (other, 1), (other, 5)]) {
                let scores: Vec<Vec<f32>> = (0..objective.n_outputs())
                    .map(|output| match output {
                        0 => extremes.to_vec(),
                        1 => (0..extremes.len()).map(|i| extremes[(i + shift) % extremes.len()]).collect(),
                        _ => vec![other; extremes.len()],
                    })
                    .collect();
                let out = gradients(&*objective, &[target; 14], None, &scores);
                let name = case.name;
                // The squared error of an enormous score is not clipped; all other losses are bounded.
                let bound = if name == "squared" || name.starts_with("expectile") { f32::MAX } else { 3e28 };
                assert!(out[0].iter().flatten().all(|grad| grad.abs() <= bound), "{name} {target}: {out:?}");
                assert!(out[1].iter().flatten().all(|hess| (0.0..=3e28).contains(hess)), "{name} {target}: {out:?}");
            }
        }
    }
}

#[test]
fn base_scores_fit_better_than_their_neighbors() {
    let weights = [1.0, 2.5, 0.5, 3.0];
    for case in &CASES {
        let objective = by_name(case.name).expect("a name");
        for weights in [None, Some(&weights[..])] {
            let base = objective.base_scores(case.targets, weights);
            assert_eq!(base.len(), objective.n_outputs());
            let total = |scores: &[f64]| -> f64 {
                let weight = |row: usize| weights.map_or(1.0, |weights| f64::from(weights[row]));
                case.targets.iter().enumerate().map(|(row, &t)| weight(row) * (case.loss)(f64::from(t), scores)).sum()
            };
            for (output, delta) in
                (0..base.len()).flat_map(|output| [1e-3, -1e-3, 0.1, -0.1].map(|delta| (output, delta)))
            {
                let mut moved = base.clone();
                moved[output] += delta;
                assert!(total(&base) <= total(&moved) + 1e-12, "{} {base:?} {moved:?}", case.name);
            }
        }
    }
}

#[test]
fn base_scores_are_finite_for_any_weights() {
    for case in &CASES {
        let objective = by_name(case.name).expect("a name");
        for &target in case.targets {
            for weights in [None, Some(&[0.0; 3][..]), Some(&[0.0, 1e-30, 0.0])] {
                let base = objective.base_scores(&[target; 3], weights);
                assert!(base.iter().all(|score| score.abs() < 60.0), "{} {target}: {base:?}", case.name);
            }
        }
        assert!(objective.base_scores(&[], None).iter().all(|score| score.is_finite()), "{}", case.name);
    }
    assert!(Binary.base_scores(&[1.0; 9], None)[0] > 30.0);
    assert!(Binary.base_scores(&[0.0; 9], None)[0] < -30.0);
    assert_eq!(Binary.base_scores(&[0.0, 1.0], Some(&[1.0, 3.0])), [libm::log(3.0)]);
}

#[test]
fn the_huber_constant_is_found_even_far_from_the_median() {
    // Two thirds of the targets are near 0 and outweigh the rest; the mean would be 333.
    let targets: Vec<f32> = (0..9000_u16).map(|i| if i % 3 == 0 { 1000.0 } else { f32::from(i % 2) * 0.1 }).collect();
    let base = Huber::default().base_scores(&targets, None)[0];
    let slope: f64 = targets.iter().map(|&t| (base - f64::from(t)).clamp(-0.9, 0.9)).sum();
    assert!(slope.abs() < 1e-6 && base < 1.0, "{base} {slope}");
}

#[test]
fn targets_outside_the_domain_name_their_row() {
    for case in &CASES {
        let objective = by_name(case.name).expect("a name");
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut targets = case.targets.to_vec();
            targets.push(bad);
            let message = objective.check(&targets).expect_err("not a number").to_string();
            assert!(message.contains("of row 4"), "{message}");
        }
    }
    let refused = |name: &str, target: f32| by_name(name).expect("a name").check(&[1.0, target]).expect_err(name);
    assert_eq!(
        refused("binary", 2.0).to_string(),
        "target 2 of row 1 (0-based) is invalid; `binary` expects targets 0 or 1"
    );
    for (name, target) in [
        ("poisson", -0.5),
        ("gamma", 0.0),
        ("tweedie:1.3", -1e-3),
        ("binary", 0.5),
        ("focal", 0.5),
        ("cross_entropy", 1.1),
        ("cross_entropy", -0.1),
        ("cox", 0.0),
    ] {
        assert!(matches!(refused(name, target), ObjectiveError::Target { row: 1, .. }), "{name}");
    }
    for label in [3.0, -1.0, 0.5, 1e30] {
        assert_eq!(refused("multiclass:3", label), ObjectiveError::Label { row: 1, label, classes: 3 });
    }
}

#[test]
fn a_batch_may_be_any_part_of_the_data() {
    for case in &CASES {
        let objective = by_name(case.name).expect("a name");
        let (targets, scores) = grid(case, objective.n_outputs());
        let weights: Vec<f32> = (0..targets.len()).map(|row| [1.0, 0.5, 3.0][row % 3]).collect();
        let whole = gradients(&*objective, &targets, Some(&weights), &scores);
        let part = 777..1290;
        let scores: Vec<Vec<f32>> = scores.iter().map(|scores| scores[part.clone()].to_vec()).collect();
        let got = gradients(&*objective, &targets[part.clone()], Some(&weights[part.clone()]), &scores);
        for (whole, got) in whole.iter().flatten().zip(got.iter().flatten()) {
            assert_eq!(whole[part.clone()], got[..], "{}", case.name);
        }
    }
}
