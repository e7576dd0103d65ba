//! Continued training from a model.

use bitgrain_gbdt::feature::Features;
use bitgrain_gbdt::metric;
use bitgrain_gbdt::model::{Comparison, InputKind, Link, Model};
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{CrossValidation, Dataset, Params, TrainError, Trainer};

use crate::data::Made;
use crate::{dataset, small, trained};

#[test]
fn continued_training_starts_from_the_scores_of_the_model() {
    let made = Made::new(500, 10);
    let (features, classes) = (made.features(), made.three_classes());
    let one = trained(small(), "squared", &features, &classes).expect("valid data").model;
    let three = trained(small(), "multiclass:3", &features, &classes).expect("valid data").model;
    let from = |model: &Model| dataset(&features, &classes).start_from(model, &features).expect("the same features");
    let refused = |objective: &str, init: Option<&Model>, data: &Dataset| {
        let mut trainer = Trainer::new(small(), by_name(objective).expect("known name"));
        if let Some(model) = init {
            trainer = trainer.continue_from(model);
        }
        matches!(trainer.train(&mut data.clone()), Err(TrainError::Continue { .. }))
    };
    assert!(refused("squared", None, &from(&one)), "its trees would be those of two models");
    assert!(refused("multiclass:3", Some(&three), &from(&one)) && refused("squared", Some(&one), &from(&three)));
    assert!(!refused("squared", Some(&one), &from(&one)) && !refused("absolute", Some(&one), &from(&one)));
    let change = |change: &dyn Fn(&mut Model)| {
        let mut model = one.clone();
        change(&mut model);
        refused("squared", Some(&model), &from(&model))
    };
    assert!(change(&|model| model.output.link = Link::Exponential));
    assert!(change(&|model| model.output.average = true));
    assert!(!change(&|model| model.comparison = Comparison::F64), "new thresholds are made for it");
}

#[test]
fn continued_training_keeps_the_categories_of_earlier_trees() {
    let made = Made::new(3000, 11);
    let features = made.categorical();
    let first = trained(small(), "squared", &features, &made.targets).expect("valid data").model;
    // Only even categories remain.
    let kept: Vec<&[f32]> = made.values.chunks(6).filter(|row| row[2] % 2.0 == 0.0).collect();
    let targets: Vec<f32> =
        made.values.chunks(6).zip(&made.targets).filter(|(row, _)| row[2] % 2.0 == 0.0).map(|(_, t)| *t).collect();
    let values = kept.concat();
    let fewer =
        Features::row_major(&values[..], targets.len(), 6).and_then(|f| f.with_categorical(&[2])).expect("rows");
    let mut data = dataset(&fewer, &targets).start_from(&first, &fewer).expect("the same features");
    let trainer = Trainer::new(Params { n_estimators: 1, ..small() }, by_name("squared").expect("known name"));
    let more = trainer.continue_from(&first).train(&mut data).expect("valid data").model;
    let raw = |model| Predictor::new(model).and_then(|predictor| predictor.predict(&features)).expect("our own");
    assert_eq!(raw(&more.truncated(20)), raw(&first));
    let InputKind::Categorical { known: Some(known), .. } = &more.inputs[2].kind else { panic!("a category") };
    assert_eq!(known[..], [0, 1, 2, 3, 4, 5, 6, 7]);
    // A categorical feature of the model is numeric in the data.
    let numbers = Features::row_major(&values[..], targets.len(), 6).expect("rows");
    let mut data = dataset(&numbers, &targets).start_from(&first, &fewer).expect("the same features");
    let trainer = Trainer::new(small(), by_name("squared").expect("known name")).continue_from(&first);
    assert!(matches!(trainer.train(&mut data), Err(TrainError::Continue { .. })));
}

#[test]
fn folds_that_continue_a_model_are_measured_after_their_last_round() {
    let made = Made::new(2000, 12);
    let features = made.features();
    let model = trained(small(), "squared", &features, &made.targets).expect("valid data").model;
    let model: &'static _ = Box::leak(Box::new(model));
    let data = dataset(&features, &made.targets).start_from(model, &features).expect("the same features");
    for early_stopping in [None, Some(2)] {
        let trainer = |_| {
            let params = Params { n_estimators: 5, early_stopping_rounds: early_stopping, ..small() };
            Trainer::new(params, by_name("squared").expect("known name"))
                .metric(metric::by_name("rmse").expect("known name"))
                .continue_from(model)
        };
        let result =
            CrossValidation { folds: 2, ..CrossValidation::default() }.run(&data, trainer).expect("valid data");
        let want: Vec<f64> = result
            .trainings
            .iter()
            .map(|training| {
                let last = training.best_round.filter(|_| early_stopping.is_some());
                training.history[last.unwrap_or(4)][0].value
            })
            .collect();
        assert_eq!(result.metrics[0].values, want);
    }
}
