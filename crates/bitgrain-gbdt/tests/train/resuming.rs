//! Checkpoints, models of the rounds so far, parameters that change between rounds, and initial scores.

use std::ops::ControlFlow;

use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::metric;
use bitgrain_gbdt::model::Model;
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::train::{Checkpoint, Dataset, Params, SampleStrategy, StopOn, TrainError, Trainer, Training};

use crate::data::Made;
use crate::{dataset, small};

fn trainer<'a>(params: &Params, objective: &str) -> Trainer<'a> {
    Trainer::new(params.clone(), by_name(objective).expect("known name"))
        .metric(metric::by_name("rmse").expect("known"))
}

fn settings() -> Vec<Params> {
    // Sums of integers do not depend on the order of the rows, which a checkpoint does not contain.
    let precision = GradientPrecision::Pair8;
    let plain = Params { n_estimators: 12, early_stopping_rounds: Some(4), gradient_precision: precision, ..small() };
    vec![
        Params { subsample: 0.6, colsample_bytree: 0.7, ..plain.clone() },
        Params { gradient_precision: GradientPrecision::Pair4, ..plain.clone() },
        Params { data_sample_strategy: SampleStrategy::Goss, top_rate: 0.2, other_rate: 0.2, ..plain.clone() },
        Params {
            cegb_penalty_split: 1e-4,
            cegb_penalty_feature_coupled: "1,2,3,4,5,6".parse().expect("numbers"),
            ..plain
        },
    ]
}

#[test]
fn a_training_resumed_after_any_round_has_the_bits_of_one_without_interruption() {
    let (made, held) = (Made::new(800, 3), Made::new(300, 4));
    let (features, other) = (made.categorical(), held.categorical());
    for (params, objective) in settings().iter().zip(["squared", "absolute", "huber:0.5", "squared"]) {
        let fresh = || dataset(&features, &made.targets);
        let valid = fresh().like(&other, held.targets.clone(), None).expect("the same features");
        let mut saved = Vec::new();
        let whole = trainer(params, objective)
            .valid(&valid)
            .on_round(|round| {
                saved.push(round.checkpoint());
                ControlFlow::Continue(())
            })
            .train(&mut fresh())
            .expect("valid data");
        for checkpoint in saved {
            // Through the bytes of a file.
            let bytes = checkpoint.to_model().to_bytes().expect("a valid model");
            let read = Checkpoint::from_model(Model::import(&bytes).expect("our own")).expect("a checkpoint");
            assert_eq!(read, checkpoint);
            let start =
                |data: Dataset, features: &_| data.start_from(read.model(), features).expect("the same features");
            let valid = start(fresh().like(&other, held.targets.clone(), None).expect("the same features"), &other);
            let resumed = trainer(params, objective)
                .valid(&valid)
                .resume(&read)
                .train(&mut start(fresh(), &features))
                .expect("valid data");
            assert_same(&resumed, &whole);
        }
    }
}

fn assert_same(resumed: &Training, whole: &Training) {
    assert_eq!(resumed.model.trees, whole.model.trees);
    assert_eq!(resumed.model, whole.model);
    assert_eq!((&resumed.history, resumed.best_round), (&whole.history, whole.best_round));
}

#[test]
fn checkpoints_of_another_training_are_refused() {
    let made = Made::new(200, 3);
    let features = made.features();
    let params = small();
    let mut last = None;
    let training = trainer(&params, "squared").on_round(|round| {
        last = Some(round.checkpoint());
        ControlFlow::Break(())
    });
    training.train(&mut dataset(&features, &made.targets)).expect("valid data");
    let checkpoint = last.expect("a round");
    assert_eq!(checkpoint.rounds(), 1);
    let resumed = |params: &Params, objective: &str| {
        let mut data = dataset(&features, &made.targets).start_from(checkpoint.model(), &features).expect("features");
        trainer(params, objective).resume(&checkpoint).train(&mut data).map_err(|error| error.to_string())
    };
    assert!(resumed(&params, "squared").is_ok());
    assert!(resumed(&Params { n_estimators: 3, ..params.clone() }, "squared").is_ok(), "it may end at any round");
    let error = resumed(&Params { reg_lambda: 2.5, ..params.clone() }, "squared").expect_err("another penalty");
    assert_eq!(error, "cannot resume training: its reg_lambda is 0.0, but that of the training is 2.5");
    let error = resumed(&params, "absolute").expect_err("another objective");
    assert_eq!(error, "cannot resume training: its objective is `squared`, but that of the training is `absolute`");
    let model = Checkpoint::from_model(checkpoint.model().clone()).expect_err("a model").to_string();
    assert_eq!(model, "cannot resume training: the model file is not a checkpoint");
}

#[test]
fn rounds_offer_the_model_so_far_and_parameters_change_before_them() {
    let made = Made::new(400, 5);
    let features = made.features();
    let params = Params { n_estimators: 6, learning_rate: 0.3, ..small() };
    let mut models = Vec::new();
    let whole = trainer(&params, "squared")
        .on_round(|round| {
            models.push(round.model());
            ControlFlow::Continue(())
        })
        .train(&mut dataset(&features, &made.targets))
        .expect("valid data");
    for (round, model) in models.iter().enumerate() {
        assert_eq!(model.trees, whole.model.truncated(round + 1).trees);
    }
    let changing = |change: fn(usize, &mut Params)| {
        let training = trainer(&params, "squared").before_round(change);
        training.train(&mut dataset(&features, &made.targets))
    };
    let slower = changing(|round, params| {
        if round == 3 {
            params.num_leaves = 2;
        }
    });
    let slower = slower.expect("valid data").model;
    assert_eq!(slower.trees[..3], whole.model.trees[..3]);
    assert!(slower.trees[3..].iter().all(|tree| tree.leaves.len() == 2));
    let error = changing(|_, params| params.extra_trees = true).expect_err("fixed").to_string();
    assert_eq!(
        error,
        "`extra_trees` cannot change during training; start a new training that continues from the model"
    );
    assert!(matches!(changing(|_, params| params.learning_rate = -1.0), Err(TrainError::Parameter(_))));
}

#[test]
fn initial_scores_are_added_to_by_the_trees() {
    let made = Made::new(600, 6);
    let features = made.features();
    let first =
        trainer(&Params { n_estimators: 4, ..small() }, "squared").train(&mut dataset(&features, &made.targets));
    let first = first.expect("valid data").model;
    let scores = bitgrain_gbdt::predict::Predictor::new(&first).and_then(|p| p.raw(&features)).expect("our own");
    let data = || dataset(&features, &made.targets);
    let params = Params { n_estimators: 5, ..small() };
    let continued = trainer(&params, "squared").continue_from(&first);
    let continued = continued.train(&mut data().start_from(&first, &features).expect("the same features"));
    let added = trainer(&params, "squared").train(&mut data().with_init_scores(scores).expect("one per row"));
    let (continued, added) = (continued.expect("valid data").model, added.expect("valid data").model);
    assert_eq!(added.output.base_scores, [0.0]);
    assert_eq!(added.trees, continued.trees[4..]);
    assert_eq!(continued.slice(4..9).trees, added.trees);
    assert_eq!(continued.slice(4..9).output.base_scores, [0.0]);
    let message = |scores: Vec<f64>| data().with_init_scores(scores).expect_err("unusable").to_string();
    assert_eq!(message(vec![0.0; 3]), "invalid initial scores: 3 scores for 600 rows; pass one per row and output");
    assert!(message(vec![f64::NAN; 600]).contains("score NaN at index 0 (0-based) is not finite"));
    let refused = |training: Result<Training, TrainError>| matches!(training, Err(TrainError::InitScores { .. }));
    let given = || data().with_init_scores(vec![0.0; 600]).expect("one per row");
    assert!(refused(trainer(&params, "squared").valid(&given()).train(&mut data())));
    assert!(refused(trainer(&params, "squared").valid(&data()).train(&mut given())));
    assert!(refused(trainer(&params, "squared").continue_from(&first).train(&mut given())));
    assert!(refused(trainer(&params, "squared").train(&mut data().with_init_scores(vec![0.0; 1200]).expect("two"))));
}

#[test]
fn the_stopping_metric_and_dataset_must_exist() {
    let made = Made::new(200, 7);
    let features = made.features();
    let valid = dataset(&features, &made.targets);
    for (valid_index, metric, what) in [(0, 1, "metric 1 (0-based): there are only 1"), (1, 0, "validation set 1")] {
        let stop_on = StopOn { valid: valid_index, metric };
        let trained = trainer(&small(), "squared").valid(&valid).stop_on(stop_on).train(&mut valid.clone());
        let error = trained.expect_err("out of range").to_string();
        assert!(error.contains(what), "{error}");
    }
}
