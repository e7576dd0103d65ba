//! Metrics, callbacks, early stopping, continued training, cross-validation.

use std::ops::ControlFlow;

use bitgrain_gbdt::SampleError;
use bitgrain_gbdt::metric;
use bitgrain_gbdt::model::{Importance, Link};
use bitgrain_gbdt::objective::{Batch, GradientBatch, Objective, ObjectiveError, by_name};
use bitgrain_gbdt::predict::{EvaluationData, ImportanceError, permutation_importance};
use bitgrain_gbdt::train::{CrossValidation, EvalSet, Params, TrainError, Trainer};

use crate::data::Made;
use crate::{dataset, predictions, rmse, small, trained};

fn squared() -> Box<dyn Objective> {
    by_name("squared").expect("known name")
}

#[test]
fn metrics_of_a_round_are_those_of_the_model_up_to_it() {
    let (made, other) = (Made::new(3000, 1), Made::new(1000, 2));
    let mut data = dataset(&made.features(), &made.targets);
    let valid = data.like(&other.features(), other.targets.clone(), None).expect("the same features");
    let training = Trainer::new(small(), squared())
        .metric(metric::by_name("rmse").expect("known name"))
        .valid(&valid)
        .watch_train()
        .train(&mut data)
        .expect("valid data");
    let last = training.history.last().expect("a round");
    let of = |data: EvalSet| last.iter().find(|metric| metric.data == data).expect("watched").value;
    let (on_train, on_valid) = (
        rmse(&predictions(&training, &made.features()), &made.targets),
        rmse(&predictions(&training, &other.features()), &other.targets),
    );
    assert!((of(EvalSet::Train) - on_train).abs() < 1e-5 && (of(EvalSet::Valid) - on_valid).abs() < 1e-5);
}

#[test]
fn several_validation_sets_are_measured_and_the_first_decides() {
    let (made, first, mut second) = (Made::new(800, 1), Made::new(400, 2), Made::new(300, 3));
    // Negated targets: more training makes the metric worse.
    second.targets.iter_mut().for_each(|target| *target = -*target);
    let mut data = dataset(&made.features(), &made.targets);
    let like = |other: &Made| data.like(&other.features(), other.targets.clone(), None).expect("the same features");
    let valid = [like(&first), like(&second)];
    let params = Params { n_estimators: 1000, learning_rate: 0.5, early_stopping_rounds: Some(5), ..small() };
    let mut fit = |order: &[usize]| {
        let trainer = Trainer::new(params.clone(), squared()).metric(metric::by_name("rmse").expect("known name"));
        order.iter().fold(trainer, |trainer, &at| trainer.valid(&valid[at])).train(&mut data).expect("valid data")
    };
    let (one, both, turned) = (fit(&[0]), fit(&[0, 1]), fit(&[1, 0]));
    let of = |training: &bitgrain_gbdt::train::Training, data: EvalSet| -> Vec<f64> {
        training.history.iter().flatten().filter(|metric| metric.data == data).map(|metric| metric.value).collect()
    };
    // Further validation sets do not change the result.
    assert_eq!((&one.model, one.best_round), (&both.model, both.best_round));
    assert_eq!(of(&one, EvalSet::Valid), of(&both, EvalSet::Valid));
    let rounds = both.history.len().min(turned.history.len());
    assert_eq!(of(&both, EvalSet::Further(1))[..rounds], of(&turned, EvalSet::Valid)[..rounds]);
    let least = |values: &[f64]| (0..values.len()).min_by(|&a, &b| values[a].total_cmp(&values[b]));
    assert_eq!(turned.best_round, least(&of(&turned, EvalSet::Valid)));
    assert!(both.best_round > turned.best_round);
    assert_eq!(EvalSet::Further(1).to_string(), "valid_1");
}

#[test]
fn training_stops_without_improvement_and_keeps_the_best() {
    let (made, other) = (Made::new(500, 3), Made::new(500, 4));
    let mut data = dataset(&made.features(), &made.targets);
    let valid = data.like(&other.features(), other.targets.clone(), None).expect("the same features");
    let params = Params { n_estimators: 1000, learning_rate: 0.5, early_stopping_rounds: Some(5), ..small() };
    let training = Trainer::new(params, squared())
        .metric(metric::by_name("rmse").expect("known name"))
        .valid(&valid)
        .train(&mut data)
        .expect("valid data");
    let best = training.best_round.expect("watched");
    assert_eq!(training.model.trees.len(), best + 1);
    assert_eq!(training.history.len(), best + 1 + 5);
    let values: Vec<f64> = training.history.iter().map(|metrics| metrics[0].value).collect();
    assert!(values.iter().all(|value| *value >= values[best]));
}

#[test]
fn a_callback_sees_every_round_and_can_stop_training() {
    let made = Made::new(500, 5);
    let mut seen = Vec::new();
    let training = Trainer::new(small(), squared())
        .on_round(|round| {
            seen.push((round.index, round.total));
            if round.index == 6 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .train(&mut dataset(&made.features(), &made.targets))
        .expect("valid data");
    assert_eq!(training.model.trees.len(), 7);
    assert_eq!(seen, (0..7).map(|index| (index, 20)).collect::<Vec<_>>());
}

#[test]
fn continued_training_equals_uninterrupted_training() {
    let made = Made::new(3000, 6);
    let features = made.features();
    let half =
        trained(Params { n_estimators: 10, ..small() }, "squared", &features, &made.targets).expect("valid data");
    let mut data = dataset(&features, &made.targets).start_from(&half.model, &features).expect("the same features");
    let more = Trainer::new(Params { n_estimators: 10, ..small() }, squared())
        .continue_from(&half.model)
        .train(&mut data)
        .expect("valid data");
    assert_eq!(more.model.trees.len(), 20);
    assert_eq!(more.model.trees[..10], half.model.trees[..]);
    let whole = trained(small(), "squared", &features, &made.targets).expect("valid data");
    let (a, b) = (predictions(&more, &features), predictions(&whole, &features));
    let (a, b) = (rmse(&a, &made.targets), rmse(&b, &made.targets));
    assert!((a / b - 1.0).abs() < 0.05, "{a} and {b}");
}

#[test]
fn continued_training_requires_a_dataset_with_the_initial_model() {
    let made = Made::new(500, 7);
    let half = trained(small(), "squared", &made.features(), &made.targets).expect("valid data");
    let mut data = dataset(&made.features(), &made.targets);
    let error = Trainer::new(small(), squared()).continue_from(&half.model).train(&mut data).expect_err("no scores");
    assert!(matches!(error, TrainError::Continue { .. }), "{error}");
}

#[test]
fn a_custom_objective_trains() {
    /// Squared error without the factor 1/2.
    struct Own;
    impl Objective for Own {
        fn name(&self) -> String {
            "own".into()
        }
        fn link(&self) -> Link {
            Link::Identity
        }
        fn check(&self, _targets: &[f32]) -> Result<(), ObjectiveError> {
            Ok(())
        }
        fn base_scores(&self, _targets: &[f32], _weights: Option<&[f32]>) -> Vec<f64> {
            vec![0.0]
        }
        fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
            for (row, (score, target)) in batch.scores[0].iter().zip(batch.targets).enumerate() {
                out.grads[0][row] = 2.0 * (score - target);
                out.hess[0][row] = if target.is_nan() { -1.0 } else { 2.0 };
            }
        }
    }
    let made = Made::new(2000, 8);
    let mut data = dataset(&made.features(), &made.targets);
    let training =
        Trainer::new(Params { n_estimators: 60, ..small() }, Box::new(Own)).train(&mut data).expect("valid data");
    assert_eq!(training.model.output.objective, "own");
    assert!(rmse(&predictions(&training, &made.features()), &made.targets) < 0.5);
    let mut targets = made.targets.clone();
    targets[77] = f32::NAN;
    let error = Trainer::new(small(), Box::new(Own)).train(&mut dataset(&made.features(), &targets));
    assert!(matches!(error, Err(TrainError::Gradient { row: 77, round: 0, .. })), "{error:?}");
}

#[test]
fn every_fold_is_held_out_once() {
    let made = Made::new(3000, 9);
    let classes = made.classes();
    let data = dataset(&made.features(), &classes);
    let trainer = |_| {
        Trainer::new(small(), by_name("binary").expect("known name"))
            .metric(metric::by_name("auc").expect("known name"))
            .metric(metric::by_name("logloss").expect("known name"))
    };
    let folds = CrossValidation { folds: 4, stratified: true, seed: 1 };
    let result = folds.run(&data, trainer).expect("valid data");
    assert_eq!((result.trainings.len(), result.metrics.len()), (4, 2));
    let auc = &result.metrics[0];
    assert!(auc.name == "auc" && auc.values.len() == 4 && auc.mean > 0.9 && auc.deviation < 0.05, "{auc:?}");
    assert_eq!(folds.run(&data, trainer).expect("valid data"), result);
    for folds in [0, 1, 3001] {
        let error = CrossValidation { folds, ..CrossValidation::default() }.run(&data, trainer);
        assert!(matches!(error, Err(TrainError::Folds { rows: 3000, .. })), "{folds}");
    }
}

#[test]
fn importance_finds_what_the_target_depends_on() {
    let (made, other) = (Made::new(4000, 10), Made::new(2000, 11));
    let model = trained(Params { n_estimators: 60, ..small() }, "squared", &made.features(), &made.targets)
        .expect("valid data")
        .model;
    let metric = metric::by_name("r2").expect("known name");
    let features = other.features();
    let targets: Vec<f64> = other.targets.iter().map(|&target| f64::from(target)).collect();
    let data = EvaluationData { features: &features, targets: &targets, weights: None };
    let report = permutation_importance(&model, &data, &*metric, 3, 1).expect("its own features");
    let shuffled = &report.features;
    let gain = model.feature_importance(Importance::Gain);
    // The last feature is noise.
    for feature in 0..5 {
        assert!(shuffled[feature].mean > 20.0 * shuffled[5].mean.abs(), "{shuffled:?}");
        assert!(gain[feature] > 20.0 * gain[5], "{gain:?}");
    }
    assert!(shuffled.iter().all(|feature| feature.losses.len() == 3 && feature.deviation >= 0.0));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    let again = pool.install(|| permutation_importance(&model, &data, &*metric, 3, 1).expect("the same"));
    assert_eq!(again, report, "another number of threads");
    let other = permutation_importance(&model, &data, &*metric, 3, 2).expect("another seed");
    assert!(other.baseline == report.baseline && other.features[0].losses != shuffled[0].losses);
    assert_eq!(permutation_importance(&model, &data, &*metric, 0, 1), Err(ImportanceError::NoRepeats));
    let mut missing = targets.clone();
    missing[7] = f64::NAN;
    let missing = EvaluationData { targets: &missing, ..data };
    let expected = ImportanceError::Sample(SampleError::MissingTarget { row: 7 });
    assert_eq!(permutation_importance(&model, &missing, &*metric, 1, 1), Err(expected));
    let short = EvaluationData { targets: &targets[1..], ..data };
    assert!(permutation_importance(&model, &short, &*metric, 1, 1).is_err());
}
