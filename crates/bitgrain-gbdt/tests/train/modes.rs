//! Dropout of trees (DART) and random forests.

use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::metric;
use bitgrain_gbdt::model::Model;
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{Boosting, Checkpoint, EvalSet, Params, SampleStrategy, TrainError, Trainer, Training};

use crate::data::Made;
use crate::{dataset, on_threads, predictions, rmse, small, trained};

fn dart() -> Params {
    Params { boosting: Boosting::Dart, drop_rate: 0.3, skip_drop: 0.2, learning_rate: 0.3, ..small() }
}

fn forest() -> Params {
    Params { boosting: Boosting::Rf, subsample: 0.7, num_leaves: 63, ..small() }
}

/// Trains with a validation set and watches both.
fn watched(params: &Params, objective: &str, made: &Made, held: &Made) -> Training {
    let mut data = dataset(&made.categorical(), &made.targets);
    let valid = data.like(&held.categorical(), held.targets.clone(), None).expect("the same features");
    Trainer::new(params.clone(), by_name(objective).expect("a known name"))
        .metric(metric::by_name("rmse").expect("a known name"))
        .valid(&valid)
        .watch_train()
        .train(&mut data)
        .expect("valid data")
}

#[test]
fn models_do_not_depend_on_threads_in_any_mode_and_precision() {
    let made = Made::new(6000, 31);
    for mode in [dart(), forest(), Params { uniform_drop: true, xgboost_dart_mode: true, ..dart() }] {
        for precision in [GradientPrecision::F32, GradientPrecision::Pair8] {
            for subsample in [0.6, 0.9] {
                let params = Params { gradient_precision: precision, subsample, ..mode.clone() };
                let fit = |threads| {
                    let params = params.clone();
                    on_threads(threads, || trained(params, "squared", &made.categorical(), &made.targets))
                };
                let (one, four) = (fit(1).expect("valid data"), fit(4).expect("valid data"));
                assert_eq!(one.model, four.model, "{params:?}");
            }
        }
    }
}

#[test]
fn metrics_during_training_are_those_of_the_final_model_in_every_mode() {
    let (made, held) = (Made::new(1500, 1), Made::new(700, 2));
    let some_rows = Params { subsample: 0.5, ..dart() };
    let goss = Params { data_sample_strategy: SampleStrategy::Goss, top_rate: 0.3, other_rate: 0.3, ..dart() };
    for params in [dart(), some_rows, goss, forest()] {
        for objective in ["squared", "absolute"] {
            let training = watched(&params, objective, &made, &held);
            let last = training.history.last().expect("a round");
            for (set, rows) in [(EvalSet::Train, &made), (EvalSet::Valid, &held)] {
                let found = last.iter().find(|metric| metric.data == set).expect("watched").value;
                let wanted = rmse(&predictions(&training, &rows.categorical()), &rows.targets);
                assert!((found - wanted).abs() < 1e-9 * wanted, "{objective} {set}: {found}, not {wanted}");
            }
        }
    }
}

#[test]
fn dart_without_drops_is_gradient_boosting() {
    let made = Made::new(900, 7);
    let plain = Params { learning_rate: 0.3, ..small() };
    let fit = |params| trained(params, "squared", &made.features(), &made.targets).expect("valid data").model.trees;
    let wanted = fit(plain.clone());
    for params in [Params { drop_rate: 0.0, ..dart() }, Params { skip_drop: 1.0, ..dart() }] {
        assert_eq!(fit(params), wanted);
    }
    assert_ne!(fit(dart()), wanted);
}

#[test]
fn trees_of_dart_learn_from_scores_without_the_dropped_trees() {
    // All rounds are dropped: each tree is fitted to the base score, like the first, and gets the same splits.
    let made = Made::new(900, 8);
    let all = Params { drop_rate: 1.0, skip_drop: 0.0, uniform_drop: true, max_drop: None, n_estimators: 4, ..dart() };
    for (xgboost_dart_mode, weights) in [(false, [0.25; 4]), (true, [0.0; 4])] {
        let params = Params { xgboost_dart_mode, learning_rate: 1.0, ..all.clone() };
        let model = trained(params, "squared", &made.features(), &made.targets).expect("valid data").model;
        let first = trained(
            Params { learning_rate: 1.0, n_estimators: 1, ..small() },
            "squared",
            &made.features(),
            &made.targets,
        )
        .expect("valid data")
        .model;
        for (tree, weight) in model.trees.iter().zip(weights) {
            assert_eq!(tree.splits.len(), first.trees[0].splits.len());
            let weight = if xgboost_dart_mode { 0.25 } else { weight };
            for (leaf, whole) in tree.leaves.iter().zip(&first.trees[0].leaves) {
                assert!((leaf.value - weight * whole.value).abs() < 1e-12, "{} {}", leaf.value, whole.value);
            }
        }
    }
}

#[test]
fn drops_depend_on_their_seed() {
    let made = Made::new(600, 9);
    let fit = |params| trained(params, "squared", &made.features(), &made.targets).expect("valid data").model.trees;
    assert_ne!(fit(dart()), fit(Params { drop_seed: 5, ..dart() }));
    assert_eq!(fit(dart()), fit(dart()));
}

#[test]
fn trees_of_several_classes_are_dropped_together() {
    let made = Made::new(900, 10);
    let targets: Vec<f32> = made.targets.iter().map(|target| target.rem_euclid(3.0).floor()).collect();
    let model = trained(dart(), "multiclass:3", &made.features(), &targets).expect("valid data").model;
    let plain = trained(Params { boosting: Boosting::Gbdt, ..dart() }, "multiclass:3", &made.features(), &targets);
    assert_ne!(model, plain.expect("valid data").model);
    let predictor = Predictor::new(&model).expect("a trained model");
    let classes = predictor.class_indices(&made.features()).expect("the same features");
    let right = classes.iter().zip(&targets).filter(|&(&class, &target)| f64::from(class) == f64::from(target));
    assert!(right.count() > 600);
}

#[test]
fn a_forest_averages_trees_that_contain_the_base_score() {
    let made = Made::new(1200, 11);
    let training = trained(forest(), "squared", &made.features(), &made.targets).expect("valid data");
    let model = &training.model;
    assert!(model.output.average);
    assert_eq!(model.output.base_scores, [0.0]);
    let mean = made.targets.iter().map(|&target| f64::from(target)).sum::<f64>() / made.targets.len() as f64;
    for tree in &model.trees {
        // A leaf of the squared loss is the mean of its rows, so that the mean over the leaves is near that of all rows.
        let rows: f64 = tree.leaves.iter().map(|leaf| leaf.weight).sum();
        let sum: f64 = tree.leaves.iter().map(|leaf| leaf.value * leaf.weight).sum();
        assert!((sum / rows - mean).abs() < 0.1 * mean.abs().max(1.0));
    }
    let one = trained(Params { n_estimators: 1, ..forest() }, "squared", &made.features(), &made.targets);
    let error = |training: &Training| rmse(&predictions(training, &made.features()), &made.targets);
    assert!(error(&training) < error(&one.expect("valid data")));
}

#[test]
fn a_forest_resumes_at_a_checkpoint_and_continues() {
    let (made, held) = (Made::new(800, 3), Made::new(300, 4));
    let params = Params { n_estimators: 8, gradient_precision: GradientPrecision::Pair8, ..forest() };
    let whole = watched(&params, "squared", &made, &held);
    let features = made.categorical();
    let mut saved = Vec::new();
    let fit = |params: &Params, call: &mut (dyn FnMut(Checkpoint) + Send + Sync)| {
        Trainer::new(params.clone(), by_name("squared").expect("a known name"))
            .on_round(|round| {
                call(round.checkpoint());
                std::ops::ControlFlow::Continue(())
            })
            .train(&mut dataset(&features, &made.targets))
            .expect("valid data")
    };
    fit(&params, &mut |checkpoint| saved.push(checkpoint));
    let start = |model: &Model, made: &Made| {
        let data = dataset(&features, &made.targets);
        data.start_from(model, &features).expect("the same features")
    };
    let resumed = Trainer::new(params.clone(), by_name("squared").expect("a known name"))
        .resume(&saved[4])
        .train(&mut start(saved[4].model(), &made))
        .expect("valid data");
    assert_eq!(resumed.model.trees, whole.model.trees);
    let more = Trainer::new(params.clone(), by_name("squared").expect("a known name"))
        .continue_from(&whole.model)
        .train(&mut start(&whole.model, &made))
        .expect("valid data");
    assert_eq!(more.model.trees.len(), 16);
    assert_eq!(more.model.trees[..8], whole.model.trees[..]);
    let refused = |params: &Params, model: &Model| {
        let trainer = Trainer::new(params.clone(), by_name("squared").expect("a known name"));
        trainer.continue_from(model).train(&mut start(model, &made)).expect_err("refused").to_string()
    };
    let plain = trained(small(), "squared", &features, &made.targets).expect("valid data").model;
    assert!(refused(&params, &plain).contains("a random forest averages them"));
    assert!(refused(&small(), &whole.model).contains("averages over trees"));
}

#[test]
fn modes_refuse_what_they_cannot_do() {
    let made = Made::new(200, 5);
    let refused = |params: Params| match trained(params, "squared", &made.features(), &made.targets) {
        Err(TrainError::Parameter(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let stops = refused(Params { early_stopping_rounds: Some(3), ..dart() });
    assert!(stops.contains("boosting = dart") && stops.contains("early_stopping_rounds = 3"), "{stops}");
    assert!(refused(Params { subsample: 1.0, ..forest() }).contains("set subsample below 1"));
    let goss = Params { data_sample_strategy: SampleStrategy::Goss, subsample: 1.0, ..forest() };
    assert!(refused(goss).contains("data_sample_strategy"));
    assert!(refused(Params { drop_rate: 1.5, ..dart() }).contains("from 0 to 1"));
    assert!(refused(Params { skip_drop: f64::NAN, ..dart() }).contains("skip_drop"));
    let samples_features = Params { subsample: 1.0, colsample_bynode: 0.5, ..forest() };
    trained(samples_features, "squared", &made.features(), &made.targets).expect("different features");

    let scores = dataset(&made.features(), &made.targets).with_init_scores(vec![0.0; 200]).expect("finite");
    let objective = by_name("squared").expect("a known name");
    let error = Trainer::new(forest(), objective).train(&mut scores.clone()).expect_err("refused");
    assert!(error.to_string().contains("a random forest does not start from scores"), "{error}");

    let mut saved = None;
    let objective = || by_name("squared").expect("a known name");
    Trainer::new(dart(), objective())
        .on_round(|round| {
            saved = Some(round.checkpoint());
            std::ops::ControlFlow::Break(())
        })
        .train(&mut dataset(&made.features(), &made.targets))
        .expect("valid data");
    let saved = saved.expect("a round");
    let mut data = dataset(&made.features(), &made.targets).start_from(saved.model(), &made.features()).expect("same");
    let error = Trainer::new(dart(), objective()).resume(&saved).train(&mut data).expect_err("refused");
    assert!(error.to_string().contains("dropped trees"), "{error}");
}
