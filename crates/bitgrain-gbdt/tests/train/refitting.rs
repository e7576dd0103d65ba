//! Leaf values fitted to new data.

use bitgrain_gbdt::feature::Features;
use bitgrain_gbdt::model::Model;
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{Boosting, Params, Refit, RefitData};

use crate::data::Made;
use crate::{on_threads, small, trained};

fn refit(
    settings: &Refit,
    model: &Model,
    objective: &str,
    features: &Features<'_>,
    targets: &[f32],
) -> Result<Model, String> {
    let data = RefitData { features, targets: targets.to_vec().into(), weights: None, groups: None };
    settings.run(model, by_name(objective).expect("a known name"), data).map_err(|error| error.to_string())
}

fn largest(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Returns the largest difference of the leaf values of two models with the same splits.
fn apart(a: &Model, b: &Model) -> f64 {
    let leaves = |model: &Model| -> Vec<f64> {
        model.trees.iter().flat_map(|tree| &tree.leaves).map(|leaf| leaf.value).collect()
    };
    assert_eq!(a.trees.len(), b.trees.len());
    let base = largest(a.output.base_scores.iter().copied().zip(b.output.base_scores.iter().copied()));
    base.max(largest(leaves(a).into_iter().zip(leaves(b))))
}

/// Modes of training, and objectives.
fn cases() -> Vec<(Params, &'static str)> {
    let plain = Params { n_estimators: 12, learning_rate: 0.3, ..small() };
    let dart = Params { boosting: Boosting::Dart, drop_rate: 0.4, skip_drop: 0.0, ..plain.clone() };
    vec![
        (plain.clone(), "squared"),
        (plain.clone(), "absolute"),
        (plain.clone(), "huber:0.5"),
        (Params { reg_lambda: 3.0, reg_alpha: 0.5, ..plain.clone() }, "squared"),
        (Params { max_delta_step: 0.2, ..plain }, "squared"),
        (Params { n_estimators: 1, ..dart }, "squared"),
    ]
}

#[test]
fn refitting_to_the_training_data_restores_the_model() {
    let made = Made::new(800, 41);
    let features = made.categorical();
    for (params, objective) in cases() {
        let model = trained(params.clone(), objective, &features, &made.targets).expect("valid data").model;
        let Params { reg_alpha, reg_lambda, max_delta_step, .. } = params;
        let settings = Refit { decay_rate: 0.0, reg_alpha, reg_lambda, max_delta_step, ..Refit::default() };
        let again = refit(&settings, &model, objective, &features, &made.targets).expect("the same data");
        let apart = apart(&again, &model);
        assert!(apart < 1e-5, "{objective} {params:?}: {apart}");
        for (a, b) in again.trees.iter().zip(&model.trees) {
            let rules = |tree: &bitgrain_gbdt::model::Tree| -> Vec<_> {
                tree.splits.iter().map(|split| (split.feature, split.rule.clone())).collect()
            };
            assert_eq!(rules(a), rules(b));
        }
    }
}

#[test]
fn the_decay_rate_mixes_old_and_new_values() {
    let (made, new) = (Made::new(800, 42), Made::new(500, 43));
    let features = new.categorical();
    let targets: Vec<f32> = new.targets.iter().map(|target| 2.0 * target + 1.0).collect();
    let one = Params { n_estimators: 1, ..small() };
    let model = trained(one, "squared", &made.categorical(), &made.targets).expect("valid data").model;
    let at = |decay_rate| {
        let settings = Refit { decay_rate, ..Refit::default() };
        refit(&settings, &model, "squared", &features, &targets).expect("valid data")
    };
    assert_eq!(apart(&at(1.0), &model), 0.0);
    let mean = targets.iter().map(|&target| f64::from(target)).sum::<f64>() / 500.0;
    assert!((at(0.0).output.base_scores[0] - mean).abs() < 1e-4);
    let base = |decay: f64| decay * model.output.base_scores[0] + (1.0 - decay) * mean;
    assert!((at(0.3).output.base_scores[0] - base(0.3)).abs() < 1e-4);
    assert_eq!(at(0.3).metadata["refit.decay_rate"], "0.3");
    // Less weight of the old values fits the new data better.
    let error = |model: &Model| -> f64 {
        let scores = Predictor::new(model).expect("valid").raw(&features).expect("the same features");
        scores.iter().zip(&targets).map(|(score, &target)| (score - f64::from(target)).powi(2)).sum()
    };
    assert!(error(&at(0.0)) < error(&at(0.5)) && error(&at(0.5)) < error(&model));
}

#[test]
fn forests_and_several_classes_are_refitted() {
    let made = Made::new(900, 44);
    let features = made.features();
    let forest = Params { boosting: Boosting::Rf, subsample: 0.999_999, n_estimators: 3, ..small() };
    let model = trained(forest, "squared", &features, &made.targets).expect("valid data").model;
    let again = refit(&Refit { decay_rate: 0.0, ..Refit::default() }, &model, "squared", &features, &made.targets);
    assert!(apart(&again.expect("valid data"), &model) < 1e-4);

    let classes: Vec<f32> = made.targets.iter().map(|target| target.rem_euclid(3.0).floor()).collect();
    let model = trained(small(), "multiclass:3", &features, &classes).expect("valid data").model;
    let again = refit(&Refit { decay_rate: 0.0, ..Refit::default() }, &model, "multiclass:3", &features, &classes);
    assert!(apart(&again.expect("valid data"), &model) < 1e-5);
}

#[test]
fn results_do_not_depend_on_threads() {
    let made = Made::new(5000, 45);
    let features = made.features();
    let model = trained(small(), "huber:0.5", &features, &made.targets).expect("valid data").model;
    let at = |threads| on_threads(threads, || refit(&Refit::default(), &model, "huber:0.5", &features, &made.targets));
    assert_eq!(at(1), at(4));
}

#[test]
fn what_does_not_match_is_refused() {
    let made = Made::new(300, 46);
    let features = made.features();
    let mut model = trained(small(), "squared", &features, &made.targets).expect("valid data").model;
    let run = |settings: Refit, model: &Model, objective: &str, targets: &[f32]| {
        refit(&settings, model, objective, &features, targets).expect_err("refused")
    };
    let usual = Refit::default;
    assert!(
        run(Refit { decay_rate: 1.5, ..usual() }, &model, "squared", &made.targets)
            .contains("decay_rate: `1.5`; use a number from 0 to 1")
    );
    assert!(run(Refit { decay_rate: f64::NAN, ..usual() }, &model, "squared", &made.targets).contains("NaN"));
    assert!(
        run(Refit { learning_rate: Some(0.0), ..usual() }, &model, "squared", &made.targets).contains("learning_rate")
    );
    assert!(run(Refit { reg_lambda: -1.0, ..usual() }, &model, "squared", &made.targets).contains("reg_lambda"));
    assert!(run(usual(), &model, "poisson", &made.targets).contains("link function is identity"));
    assert!(run(usual(), &model, "multiclass:3", &made.targets).contains("the objective has 3"));
    assert!(run(usual(), &model, "squared", &made.targets[1..]).contains("299 targets for 300 rows"));
    let mut missing = made.targets.clone();
    missing[7] = f32::NAN;
    assert!(run(usual(), &model, "squared", &missing).contains('7'));
    let narrow = Features::row_major(&[0.0_f32; 300][..], 300, 1).expect("one feature");
    let error = refit(&usual(), &model, "squared", &narrow, &made.targets).expect_err("refused");
    assert!(error.contains("features, but the data has 1"), "{error}");
    model.metadata.clear();
    assert!(run(usual(), &model, "squared", &made.targets).contains("pass learning_rate"));
    let settings = Refit { learning_rate: Some(0.1), ..usual() };
    refit(&settings, &model, "squared", &features, &made.targets).expect("a given rate");
}
