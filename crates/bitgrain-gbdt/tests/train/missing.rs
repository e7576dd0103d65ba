//! Missing values in features that had none in training.

use bitgrain_gbdt::feature::{Features, Quantizer};
use bitgrain_gbdt::metric::{self, MetricInput};
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{Dataset, EvalSet, Growth, Params, Trainer};

use crate::data::Made;
use crate::{dataset, predictions, small, trained};

const GROWTHS: [Growth; 3] = [Growth::LeafWise, Growth::DepthWise, Growth::Symmetric];

#[test]
fn missing_values_not_seen_in_training_go_to_the_larger_child() {
    let values: Vec<f32> = (0..100).map(|row| row as f32).collect();
    let features = Features::column_major(&values[..], 100, 1).expect("a column");
    for growth in GROWTHS {
        for step in [20.0, 80.0] {
            let targets: Vec<f32> = values.iter().map(|&value| f32::from(value >= step)).collect();
            let params = Params { n_estimators: 1, num_leaves: 2, learning_rate: 1.0, growth, ..small() };
            let training = trained(params, "squared", &features, &targets).expect("valid data");
            let missing = Features::column_major(&[f32::NAN][..], 1, 1).expect("a column");
            let want = if step < 50.0 { 1.0 } else { 0.0 };
            assert!((predictions(&training, &missing)[0] - want).abs() < 1e-6, "{growth:?}, {step}");
        }
    }
}

/// Returns a table without missing values, and one with missing values in every column.
fn tables() -> (Made, Made) {
    let (mut whole, mut holes) = (Made::new(2000, 41), Made::new(900, 42));
    whole.values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = 0.5);
    holes.values.iter_mut().step_by(5).for_each(|value| *value = f32::NAN);
    (whole, holes)
}

#[test]
fn validation_data_with_unseen_missing_values_is_measured_as_it_is_predicted() {
    let (whole, holes) = tables();
    for growth in GROWTHS {
        let mut data = dataset(&whole.features(), &whole.targets);
        let valid = data.like(&holes.features(), holes.targets.clone(), None).expect("the same features");
        let some: Vec<usize> = (0..900).filter(|row| row % 3 != 1).rev().collect();
        let some_valid = valid.rows(&some);
        let rmse = || metric::by_name("rmse").expect("known name");
        let trainer = Trainer::new(Params { growth, ..small() }, by_name("squared").expect("known name"));
        let training = trainer.metric(rmse()).valid(&valid).valid(&some_valid).train(&mut data).expect("valid data");
        let predicted = predictions(&training, &holes.features());
        for value in training.history.last().expect("rounds") {
            let rows: Vec<usize> = if value.data == EvalSet::Valid { (0..900).collect() } else { some.clone() };
            let targets: Vec<f64> = rows.iter().map(|&row| f64::from(holes.targets[row])).collect();
            let predictions: Vec<f64> = rows.iter().map(|&row| predicted[row]).collect();
            let evaluated = MetricInput { targets: &targets, weights: None, predictions: &predictions, groups: None };
            assert_eq!(value.value, rmse().evaluate(&evaluated).expect("defined"), "{growth:?}, {}", value.data);
        }
    }
}

#[test]
fn missing_values_unknown_to_the_cuts_are_trained_and_predicted_alike() {
    let (whole, holes) = tables();
    for growth in GROWTHS {
        let cuts = Dataset::new(&whole.features(), whole.targets.clone(), None, &Quantizer::default());
        let mut data = cuts.and_then(|cuts| cuts.like(&holes.features(), holes.targets.clone(), None)).expect("data");
        let trainer = Trainer::new(Params { growth, ..small() }, by_name("squared").expect("known name"));
        let rmse = metric::by_name("rmse").expect("known name");
        let training =
            trainer.metric(metric::by_name("rmse").expect("known name")).train(&mut data).expect("valid data");
        let predictions = predictions(&training, &holes.features());
        let targets: Vec<f64> = holes.targets.iter().map(|&target| f64::from(target)).collect();
        let evaluated = MetricInput { targets: &targets, weights: None, predictions: &predictions, groups: None };
        let want = rmse.evaluate(&evaluated).expect("defined");
        assert_eq!(training.history.last().expect("rounds")[0].value, want, "{growth:?}");
    }
}

#[test]
fn unseen_categories_follow_the_categories_outside_the_set() {
    let values: Vec<f32> = (0..100).map(|row| (row % 2) as f32).collect();
    let features =
        Features::column_major(&values[..], 100, 1).and_then(|f| f.with_categorical(&[0])).expect("a column");
    let params = Params { n_estimators: 1, num_leaves: 2, learning_rate: 1.0, min_child_samples: 1, ..small() };
    let training = trained(params, "squared", &features, &values).expect("valid data");
    assert!(!training.model.trees[0].splits[0].missing_left);
    let predictor = Predictor::new(&training.model).expect("a trained model");
    let predict = |value: f64| {
        let mut out = [0.0];
        predictor.row_raw(&[value], &mut out).expect("a feature");
        out[0]
    };
    for unseen in [7.0, -1.0, f64::NAN] {
        assert_eq!(predict(unseen), predict(1.0), "{unseen}: the set is of code 0");
    }
}
