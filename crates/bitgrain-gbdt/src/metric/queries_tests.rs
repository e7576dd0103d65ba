//! Metrics of queries compared with the values of other libraries, and with definitions.

use super::*;
use crate::{Groups, SampleError};

/// Labels, predictions and sizes of four queries; the third has no relevant rows, and the second has ties.
const LABELS: [f64; 16] = [3., 0., 2., 1., 0., 0., 2., 1., 0., 0., 0., 4., 0., 1., 3., 0.];
const SCORES: [f64; 16] = [0.2, 0.9, 0.5, 0.1, 0.3, 0.4, 0.4, 0.4, 0.7, 0.1, 0.2, 0.3, 0.8, 0.6, 0.5, 0.1];
const SIZES: [usize; 4] = [5, 3, 3, 5];
const WEIGHTS: [f32; 16] = [1., 1., 1., 1., 1., 2., 0., 4., 5., 5., 5., 0.5, 0.5, 0.5, 0.5, 0.5];

fn value(name: &str, labels: &[f64], scores: &[f64], weights: Option<&[f32]>) -> Result<f64, MetricError> {
    let groups = Groups::from_sizes(&SIZES, 16).expect("valid");
    let data = MetricInput { targets: labels, weights, predictions: scores, groups: Some(&groups) };
    by_name(name).expect("a metric").evaluate(&data)
}

#[test]
fn values_are_those_of_lightgbm_and_xgboost() {
    // Made by `bindings/python/tests/test_boosting_ranking.py`, which compares more of them: eval of LightGBM (ndcg,
    // map) and XGBoost (pre) on these rows.
    for (name, want) in [
        ("ndcg@1", 0.25 + 0.25 * 0.0 + 0.0),
        ("mrr", (0.5 + 0.5 + 1.0 + 0.5) / 4.0),
        ("mrr@1", 0.25),
        ("precision@1", 0.0),
        ("precision@2", (0.5 + 0.5 + 0.0 + 0.5) / 4.0),
        ("precision@10", (0.6 + 2.0 / 3.0 + 0.0 + 0.6) / 4.0),
        ("precision", (0.6 + 2.0 / 3.0 + 0.0 + 0.6) / 4.0),
        ("recall@2", (1.0 / 3.0 + 0.5 + 1.0 + 1.0 / 3.0) / 4.0),
        ("recall", 1.0),
        // Average precisions: ranks 2, 4, 5 of 5; ranks 2, 3 of 3; none; ranks 2, 3, 4 of 5.
        ("map", ((0.5 + 0.5 + 0.6) / 3.0 + (0.5 + 2.0 / 3.0) / 2.0 + 1.0 + (0.5 + 2.0 / 3.0 + 0.75) / 3.0) / 4.0),
        ("map@2", (0.25 + 0.25 + 1.0 + 0.25) / 4.0),
    ] {
        let got = value(name, &LABELS, &SCORES, None).expect("defined");
        assert!((got - want).abs() < 1e-12, "{name}: {got} instead of {want}");
    }
}

#[test]
fn ndcg_is_its_definition() {
    for at in [1, 2, 3, 5, 100] {
        let mut start = 0;
        let mut sum = 0.0;
        for size in SIZES {
            let rows = start..start + size;
            start += size;
            let dcg = |labels: &[f64]| {
                let term = |(rank, label): (u32, &f64)| (label.exp2() - 1.0) / f64::from(rank + 1).log2();
                (1..).zip(labels).take(at).map(term).sum::<f64>()
            };
            let mut order: Vec<usize> = rows.clone().collect();
            order.sort_by(|a, b| SCORES[*b].total_cmp(&SCORES[*a]));
            let mut best = LABELS[rows].to_vec();
            best.sort_by(|a, b| b.total_cmp(a));
            let ranked: Vec<f64> = order.iter().map(|row| LABELS[*row]).collect();
            sum += if dcg(&best) > 0.0 { dcg(&ranked) / dcg(&best) } else { 1.0 };
        }
        let got = value(&format!("ndcg@{at}"), &LABELS, &SCORES, None).expect("defined");
        assert!((got - sum / 4.0).abs() < 1e-12, "{at}: {got}");
    }
    assert_eq!(value("ndcg", &LABELS, &LABELS, None), Ok(1.0), "the best order");
}

#[test]
fn queries_weigh_as_much_as_the_mean_of_their_rows() {
    // Weights 1, 2, 5 and 0.5.
    let want = (0.5 + 2.0 * 0.5 + 5.0 + 0.5 * 0.5) / 8.5;
    let got = value("mrr", &LABELS, &SCORES, Some(&WEIGHTS)).expect("defined");
    assert!((got - want).abs() < 1e-12, "{got} instead of {want}");
}

#[test]
fn names_have_the_number_of_rows() {
    for name in ["ndcg@10", "map@3", "mrr@1", "precision@5", "recall@100", "ndcg"] {
        assert_eq!(by_name(name).expect("a metric").name(), name);
    }
    assert_eq!(by_name("pre:5").expect("a colon").name(), "precision@5");
    for name in ["ndcg@0", "ndcg@-1", "ndcg@", "map@x", "ndcg@1.5"] {
        assert!(matches!(by_name(name), Err(MetricError::Parameter { .. })), "{name}");
    }
}

#[test]
fn invalid_input_is_rejected() {
    let (mut labels, mut scores) = (LABELS, SCORES);
    for bad in [-1.0, 0.5, f64::INFINITY] {
        labels[4] = bad;
        for name in ["ndcg", "map", "mrr", "precision", "recall"] {
            let error = value(name, &labels, &SCORES, None).expect_err("not a label");
            assert!(matches!(error, MetricError::Row { row: 4, .. }), "{name}: {error}");
        }
    }
    labels[4] = f64::NAN;
    assert_eq!(value("ndcg", &labels, &SCORES, None), Err(SampleError::MissingTarget { row: 4 }.into()));
    labels[4] = 31.0;
    assert!(value("ndcg", &labels, &SCORES, None).is_err(), "no gain");
    assert!(value("map", &labels, &SCORES, None).is_ok());
    scores[3] = f64::NAN;
    assert!(matches!(value("map", &LABELS, &scores, None), Err(MetricError::Row { row: 3, .. })));
    assert_eq!(value("map", &LABELS, &SCORES, Some(&[0.0; 16])), Err(SampleError::NoWeight.into()));
    let data = MetricInput { targets: &LABELS, weights: None, predictions: &SCORES, groups: None };
    let error = Ndcg::at(3).evaluate(&data).expect_err("no groups");
    assert_eq!(error.to_string(), "missing queries: `ndcg@3` ranks the rows of a query; pass the group of each row");
    let groups = Groups::from_sizes(&[3], 3).expect("valid");
    let data = MetricInput { groups: Some(&groups), ..data };
    assert_eq!(Ndcg::at(3).evaluate(&data), Err(MetricError::GroupRows { grouped: 3, rows: 16 }));
}
