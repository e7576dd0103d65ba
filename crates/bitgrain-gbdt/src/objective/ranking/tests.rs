//! Gradients of ranking objectives compared with plain definitions over all pairs.

use std::sync::Arc;

use super::*;
use crate::Groups;
use crate::objective::{Batch, GradientBatch, ObjectiveError, QueryBatch, by_name};
use crate::parameter::Params;
use crate::random::{mixed, share};

const RANKING: [&str; 4] = ["lambdarank", "rank_xendcg", "rank_pairwise", "rank_map"];

/// Labels and scores of queries of 1 to 90 rows.
struct Queries {
    groups: Arc<Groups>,
    labels: Vec<f32>,
    scores: Vec<f32>,
}

impl Queries {
    fn new(labels: u64) -> Self {
        let sizes = [5_usize, 1, 40, 2, 90, 33, 7];
        let rows = sizes.iter().sum();
        let groups = Arc::new(Groups::from_sizes(&sizes, rows).expect("valid"));
        let random = |row: usize, salt: u64| mixed(row as u64 ^ mixed(salt));
        // Some scores are equal.
        #[expect(clippy::cast_possible_truncation, reason = "small")]
        let score = |row: usize| ((share(random(row, 1)) * 40.0).round() / 8.0) as f32;
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let label = |row: usize| (random(row, 2) % labels) as f32;
        Self { groups, labels: (0..rows).map(label).collect(), scores: (0..rows).map(score).collect() }
    }

    fn gradients(&self, name: &str, params: &Params, weights: Option<&[f32]>) -> Vec<[f64; 2]> {
        let mut objective = by_name(name).expect("a name");
        objective.prepare(params, &self.labels, Some(&self.groups)).expect("valid");
        let (mut grads, mut hess) = (vec![f32::NAN; self.labels.len()], vec![f32::NAN; self.labels.len()]);
        let queries = Some(QueryBatch { groups: &self.groups, first: 0, len: self.groups.len(), round: 0 });
        let batch = Batch { targets: &self.labels, weights, scores: &[&self.scores], queries };
        objective.gradients(&batch, &mut GradientBatch { grads: vec![&mut grads], hess: vec![&mut hess] });
        grads.iter().zip(&hess).map(|(grad, hess)| [f64::from(*grad), f64::from(*hess)]).collect()
    }

    /// Computes gradients pair by pair: `delta(labels by rank, higher rank, lower rank)` is the weight of a pair.
    fn plain(&self, params: &Params, delta: impl Fn(&[f32], usize, usize) -> f64) -> Vec<[f64; 2]> {
        let mut all = vec![[0.0, 0.0]; self.labels.len()];
        for rows in self.groups.ranges() {
            let mut order: Vec<usize> = rows.collect();
            order.sort_by(|a, b| self.scores[*b].total_cmp(&self.scores[*a]));
            let labels: Vec<f32> = order.iter().map(|row| self.labels[*row]).collect();
            let score = |rank: usize| f64::from(self.scores[order[rank]]);
            let differ = score(0) != score(order.len() - 1);
            let mut sum = 0.0;
            for i in 0..order.len().min(params.lambdarank_truncation_level) {
                for j in i + 1..order.len() {
                    if labels[i] == labels[j] {
                        continue;
                    }
                    let (high, low) = if labels[i] > labels[j] { (i, j) } else { (j, i) };
                    let distance = score(high) - score(low);
                    let mut weight = delta(&labels, i, j);
                    if params.lambdarank_norm && differ {
                        weight /= 0.01 + distance.abs();
                    }
                    let sigmoid = params.lambdarank_sigmoid;
                    let p = 1.0 / (1.0 + (distance * sigmoid).exp());
                    let (slope, curve) = (sigmoid * weight * p, sigmoid * sigmoid * weight * p * (1.0 - p));
                    all[order[high]][0] -= slope;
                    all[order[low]][0] += slope;
                    all[order[high]][1] += curve;
                    all[order[low]][1] += curve;
                    sum += 2.0 * slope;
                }
            }
            if params.lambdarank_norm && sum > 0.0 {
                let factor = (1.0 + sum).log2() / sum;
                order.iter().for_each(|row| all[*row] = all[*row].map(|value| value * factor));
            }
        }
        all
    }
}

fn assert_close(got: &[[f64; 2]], want: &[[f64; 2]], what: &str) {
    for (row, (got, want)) in got.iter().zip(want).enumerate() {
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() <= 1e-6 * want.abs() + 1e-9, "{what}, row {row}: {got} instead of {want}");
        }
    }
}

fn settings() -> [Params; 4] {
    let plain = Params::default();
    [
        plain.clone(),
        Params { lambdarank_norm: false, ..plain.clone() },
        Params { lambdarank_truncation_level: 3, lambdarank_sigmoid: 2.5, ..plain.clone() },
        Params { label_gain: LabelGain::new(vec![0.0, 1.0, 1.5, 9.0, 9.0]).expect("ascending"), ..plain },
    ]
}

#[test]
fn lambdarank_is_the_sum_over_pairs() {
    let data = Queries::new(5);
    for params in settings() {
        let gain = |label: f32| params.label_gain.gains()[label_of(label, 31).expect("a label")];
        let discount = |rank: usize| 1.0 / f64::from(u16::try_from(rank + 2).expect("small")).log2();
        let ideal = |labels: &[f32]| {
            let mut sorted = labels.to_vec();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let best = sorted.iter().enumerate().take(params.lambdarank_truncation_level);
            best.map(|(rank, &label)| gain(label) * discount(rank)).sum::<f64>()
        };
        let delta = |labels: &[f32], i: usize, j: usize| {
            ((gain(labels[i]) - gain(labels[j])) * (discount(i) - discount(j))).abs() / ideal(labels)
        };
        let (got, want) = (data.gradients("lambdarank", &params, None), data.plain(&params, delta));
        assert_close(&got, &want, &format!("{params:?}"));
        assert!(want.iter().any(|[grad, _]| *grad != 0.0));
    }
}

#[test]
fn pairwise_counts_every_pair_alike() {
    let data = Queries::new(5);
    for params in settings() {
        assert_close(&data.gradients("rank_pairwise", &params, None), &data.plain(&params, |_, _, _| 1.0), "pairwise");
    }
}

#[test]
fn map_weighs_pairs_by_their_average_precision() {
    let precision = |labels: &[f32]| {
        let (mut hits, mut sum) = (0.0, 0.0);
        for (rank, label) in (1..).zip(labels) {
            if *label > 0.0 {
                hits += 1.0;
                sum += hits / f64::from(rank);
            }
        }
        sum / hits
    };
    let data = Queries::new(2);
    for params in settings() {
        let delta = |labels: &[f32], i: usize, j: usize| {
            let mut traded = labels.to_vec();
            traded.swap(i, j);
            (precision(&traded) - precision(labels)).abs()
        };
        assert_close(&data.gradients("rank_map", &params, None), &data.plain(&params, delta), "map");
    }
}

#[test]
fn permuting_the_rows_of_a_query_permutes_its_gradients() {
    let mut data = Queries::new(2);
    // Distinct scores: rows of equal scores are ranked by their order.
    #[expect(clippy::cast_precision_loss, reason = "small")]
    data.scores.iter_mut().enumerate().for_each(|(row, score)| *score += row as f32 * 1e-3);
    for name in RANKING.iter().filter(|name| **name != "rank_xendcg") {
        let before = data.gradients(name, &Params::default(), None);
        let reversed = Queries {
            groups: Arc::clone(&data.groups),
            labels: data
                .groups
                .ranges()
                .flat_map(|rows| data.labels[rows].iter().rev().copied().collect::<Vec<_>>())
                .collect(),
            scores: data
                .groups
                .ranges()
                .flat_map(|rows| data.scores[rows].iter().rev().copied().collect::<Vec<_>>())
                .collect(),
        };
        let after = reversed.gradients(name, &Params::default(), None);
        let back: Vec<[f64; 2]> =
            data.groups.ranges().flat_map(|rows| after[rows].iter().rev().copied().collect::<Vec<_>>()).collect();
        assert_eq!(before, back, "{name}");
    }
}

#[test]
fn constant_labels_give_zero_gradients() {
    for (name, label) in RANKING.iter().flat_map(|name| [(name, 0.0), (name, 1.0)]) {
        let mut data = Queries::new(2);
        data.labels.fill(label);
        assert!(data.gradients(name, &Params::default(), None).iter().all(|pair| *pair == [0.0, 0.0]), "{name}");
    }
}

#[test]
fn gradients_of_a_query_sum_to_zero_and_weights_multiply() {
    let data = Queries::new(2);
    let weights: Vec<f32> = (0..data.labels.len()).map(|row| [1.0, 2.0, 0.5, 0.0][row % 4]).collect();
    for name in RANKING {
        let plain = data.gradients(name, &Params::default(), None);
        if name != "rank_xendcg" {
            for rows in data.groups.ranges() {
                assert!(plain[rows].iter().map(|[grad, _]| grad).sum::<f64>().abs() < 1e-5, "{name}");
            }
        }
        let weighted = data.gradients(name, &Params::default(), Some(&weights));
        for ((plain, got), weight) in plain.iter().zip(&weighted).zip(&weights) {
            assert_eq!(plain.map(|value| value * f64::from(*weight)), *got, "{name}");
        }
    }
}

#[test]
fn distant_scores_stay_finite() {
    let mut data = Queries::new(2);
    for farthest in [1e4_f32, 1e30, 1e34] {
        data.scores.iter_mut().enumerate().for_each(|(row, score)| *score = [farthest, 0.0, -farthest][row % 3]);
        for name in RANKING {
            let found = data.gradients(name, &Params::default(), None);
            assert!(found.iter().flatten().all(|value| value.is_finite()), "{name} {farthest}");
            assert!(found.iter().all(|[_, hess]| *hess >= 0.0), "{name} {farthest}");
        }
    }
}

#[test]
fn invalid_labels_and_missing_queries_are_named() {
    let data = Queries::new(2);
    let refused = |name: &str, labels: &[f32]| by_name(name).expect("a name").check(labels).expect_err("refused");
    for label in [-1.0, 0.5, 31.0, f32::INFINITY] {
        for name in ["lambdarank", "rank_xendcg"] {
            assert_eq!(refused(name, &[0.0, label]), ObjectiveError::Relevance { row: 1, label, labels: 31 });
        }
    }
    assert!(refused("lambdarank", &[f32::NAN]).to_string().contains("missing"));
    assert!(refused("rank_map", &[0.0, 2.0]).to_string().contains("targets 0 or 1"));
    assert!(refused("rank_pairwise", &[f32::INFINITY]).to_string().contains("finite"));
    let short = Params { label_gain: LabelGain::new(vec![0.0, 1.0]).expect("ascending"), ..Params::default() };
    for name in RANKING {
        let mut objective = by_name(name).expect("a name");
        let error = objective.prepare(&short, &data.labels, None).expect_err("no groups");
        assert_eq!(error, ObjectiveError::NoGroups { objective: name.to_owned() });
    }
    let mut objective = by_name("lambdarank").expect("a name");
    let error = objective.prepare(&short, &[0.0, 2.0], Some(&data.groups)).expect_err("no gain");
    assert_eq!(error, ObjectiveError::Relevance { row: 1, label: 2.0, labels: 2 });
}

#[test]
fn label_gains_are_checked() {
    for (text, valid) in [
        ("0,1,3", true),
        ("[0, 1.5, 3]", true),
        ("3", false),
        ("0,-1", false),
        ("1,0", false),
        ("0,nan", false),
        ("0,inf", false),
        ("0,,1", false),
        ("a,b", false),
    ] {
        assert_eq!(Params::from_pairs([("label_gain", text)]).is_ok(), valid, "{text}");
    }
    assert_eq!(LabelGain::new(vec![0.0; LabelGain::MAX_LABELS + 1]), None);
}
