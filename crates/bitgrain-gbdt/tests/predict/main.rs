//! Predictions equal the reference implementation bit by bit, for any model, layout, number of rows and number of
//! threads.
#![expect(clippy::cast_possible_truncation, reason = "made-up data")]

mod batches;
mod errors;
mod explanations;
mod naive;
mod partial_dependence;
mod random;

use std::collections::HashSet;

use bitgrain_gbdt::feature::Features;
use bitgrain_gbdt::model::{Comparison, InputKind, Model, Rule, Split};
use bitgrain_gbdt::predict::Predictor;
use bitgrain_kernels::Backend;
use proptest::prelude::*;
use random::{Kind, Random};

const COMPARISONS: [Comparison; 2] = [Comparison::F32, Comparison::F64];

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Runs a function on a pool with a number of threads.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

fn by_rows(model: &Model, rows: &[f64], one: impl Fn(&[f64]) -> Vec<f64>) -> Vec<u64> {
    rows.chunks(model.inputs.len()).flat_map(|row| bits(&one(row))).collect()
}

/// Compares all outputs of a predictor with the reference implementation.
fn assert_naive(predictor: &Predictor, model: &Model, rounds: usize, features: &Features<'_>, rows: &[f64]) {
    let n_features = model.inputs.len();
    let trees = &model.trees[..predictor.n_trees()];
    let first = &model.truncated(rounds);
    let raw = by_rows(model, rows, |row| first.raw_scores_of(row));
    let leaves: Vec<u32> =
        rows.chunks(n_features).flat_map(|row| first.leaves_of(row)).map(|leaf| leaf as u32).collect();
    let found = predictor.leaves(features).expect("same number of features");
    if let Some(at) = found.iter().zip(&leaves).position(|(found, leaf)| found != leaf) {
        let (row, tree) = (at / trees.len(), at % trees.len());
        let values = &rows[row * n_features..][..n_features];
        panic!("row {row} {values:?} is in leaf {} of tree {tree}, not {}", found[at], leaves[at]);
    }
    assert_eq!(bits(&predictor.raw(features).expect("same number of features")), raw);
    let predicted = by_rows(model, rows, |row| naive::predicted(first, row));
    assert_eq!(bits(&predictor.predict(features).expect("same number of features")), predicted);
    let one = |row: &[f64]| {
        let mut out = vec![0.0; predictor.n_outputs()];
        predictor.row_raw(row, &mut out).expect("same number of features");
        out
    };
    assert_eq!(by_rows(model, rows, one), raw, "row by row");
    let both = |row: &[f64]| match naive::predicted(first, row)[..] {
        [second] => vec![1.0 - second, second],
        ref several => several.to_vec(),
    };
    assert_eq!(bits(&predictor.probabilities(features).expect("same number of features")), by_rows(model, rows, both));
    let one = |row: &[f64]| {
        let mut out = vec![0.0; predictor.n_classes()];
        predictor.row_probabilities(row, &mut out).expect("same number of features");
        out
    };
    assert_eq!(by_rows(model, rows, one), by_rows(model, rows, both), "row by row");
    let choices: Vec<u32> = rows.chunks(n_features).map(|row| choice(&first.raw_scores_of(row))).collect();
    assert_eq!(predictor.class_indices(features).expect("same number of features"), choices);
    let row_by_row =
        rows.chunks(n_features).map(|row| predictor.row_class_index(row).expect("same number of features"));
    assert!(row_by_row.eq(choices));
}

/// Returns the first index of the largest score; for one score, whether it is above 0.
fn choice(scores: &[f64]) -> u32 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let place = scores.iter().position(|&score| score == largest).expect("numbers");
    if scores.len() == 1 { u32::from(largest > 0.0) } else { u32::try_from(place).expect("few") }
}

fn assert_all(model: &Model, random: &mut Random, n_rows: usize) {
    let n_features = model.inputs.len();
    let doubles = random::rows(random, model, n_rows);
    let singles: Vec<f32> = doubles.iter().map(|&value| value as f32).collect();
    let rounded: Vec<f64> = singles.iter().map(|&value| value.into()).collect();
    let columns: Vec<f64> = (0..n_features).flat_map(|f| doubles[f..].iter().step_by(n_features).copied()).collect();
    for &backend in Backend::available() {
        let predictor = Predictor::new(model).expect("a model").with_backend(backend);
        let all = model.trees.len();
        let features = Features::row_major(&doubles[..], n_rows, n_features).expect("a matrix");
        assert_naive(&predictor, model, all, &features, &doubles);
        let features = Features::column_major(&columns[..], n_rows, n_features).expect("a matrix");
        assert_naive(&predictor, model, all, &features, &doubles);
        let features = Features::row_major(&singles[..], n_rows, n_features).expect("a matrix");
        assert_naive(&predictor, model, all, &features, &rounded);
        for rounds in [0, 1, 3] {
            assert_naive(&predictor.clone().with_rounds(rounds), model, rounds, &features, &rounded);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_model_predicts_what_its_rules_say(
        seed: u64,
        mixed: bool,
        f64_comparison: bool,
        outputs in 1_usize..4,
        rounds in 1_usize..5,
        n_rows in prop_oneof![Just(1_usize), Just(23), Just(24), 25..700_usize],
    ) {
        let mut random = Random::new(seed);
        let kind = if mixed { Kind::Mixed } else { Kind::Plain };
        let model = random::model(&mut random, kind, COMPARISONS[usize::from(f64_comparison)], outputs, outputs * rounds);
        assert_all(&model, &mut random, n_rows);
    }
}

#[test]
fn more_than_256_thresholds_predict_as_the_rules_say() {
    for comparison in COMPARISONS {
        let mut random = Random::new(3);
        let model = random::model(&mut random, Kind::Mixed, comparison, 1, 90);
        let threshold = |split: &Split| match split.rule {
            Rule::AtMost(threshold) if split.feature == 0 => Some(threshold.to_bits()),
            _ => None,
        };
        let splits = model.trees.iter().flat_map(|tree| &tree.splits);
        assert!(splits.filter_map(threshold).collect::<HashSet<_>>().len() > 2 * 255);
        assert_all(&model, &mut random, 600);
    }
}

#[test]
fn more_than_256_category_classes_predict_as_the_rules_say() {
    let mut random = Random::new(5);
    for known in [None, Some((0..3000).filter(|code| code % 7 > 0).collect())] {
        let mut model = random::model(&mut random, Kind::Plain, Comparison::F32, 1, 12);
        model.inputs[0].kind = InputKind::Categorical { known, labels: vec![] };
        for split in model.trees.iter_mut().flat_map(|tree| &mut tree.splits).filter(|split| split.feature == 0) {
            split.rule = Rule::In((0..3000).filter(|_| random.below(2) == 0).collect());
        }
        let n_rows = 700;
        let mut rows = random::rows(&mut random, &model, n_rows);
        rows.iter_mut().step_by(model.inputs.len()).for_each(|code| *code = random.below(3100) as f64);
        let features = Features::row_major(&rows[..], n_rows, model.inputs.len()).expect("a matrix");
        let rounded: Vec<f64> = rows.iter().map(|&value| f64::from(value as f32)).collect();
        assert_naive(&Predictor::new(&model).expect("a model"), &model, 12, &features, &rounded);
    }
}

#[test]
fn threads_and_batches_change_no_bit() {
    let mut random = Random::new(9);
    let model = random::model(&mut random, Kind::Mixed, Comparison::F64, 2, 20);
    let (n_rows, n_features) = (9001, model.inputs.len());
    let rows = random::rows(&mut random, &model, n_rows);
    let predictor = Predictor::new(&model).expect("a model");
    let all = Features::row_major(&rows[..], n_rows, n_features).expect("a matrix");
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| (bits(&predictor.predict(&all).expect("valid")), predictor.leaves(&all).expect("valid")))
    };
    let one = on(1);
    for threads in [2, 3, 16] {
        assert!(on(threads) == one, "{threads} threads");
    }
    for batch in [1, 7, 100, 4097] {
        let parts = rows.chunks(batch * n_features).map(|part| {
            let features = Features::row_major(part, part.len() / n_features, n_features).expect("a matrix");
            bits(&predictor.predict(&features).expect("valid"))
        });
        assert!(parts.flatten().collect::<Vec<_>>() == one.0, "{batch} rows at a time");
    }
}
