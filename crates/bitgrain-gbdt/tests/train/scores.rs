//! Training scores equal the predictions of the model.

use bitgrain_gbdt::feature::{Features, Quantizer};
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::metric::{self, MetricInput};
use bitgrain_gbdt::objective::{NAMES, by_name};
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{Dataset, EvalSet, Growth, Params, SampleStrategy, Targets, Trainer, Training};

use crate::data::Made;
use crate::{predictions, small};

const OBJECTIVES: [&str; 16] = [
    "squared",
    "absolute",
    "huber:0.9",
    "quantile:0.3",
    "poisson",
    "gamma",
    "tweedie:1.5",
    "binary",
    "multiclass:3",
    "expectile:0.7",
    "fair:1",
    "log_cosh",
    "mape",
    "cross_entropy",
    "cox",
    "focal:2",
];

/// Returns targets that an objective accepts.
fn targets(made: &Made, objective: &str) -> Vec<f32> {
    match objective {
        "binary" | "focal:2" => made.classes(),
        "cross_entropy" => made.targets.iter().map(|target| (0.5 + target / 20.0).clamp(0.0, 1.0)).collect(),
        "cox" => made.targets.iter().map(|target| if *target == 0.0 { 1.0 } else { *target }).collect(),
        "multiclass:3" => made.three_classes(),
        "poisson" | "gamma" | "tweedie:1.5" => made.targets.iter().map(|target| target.abs() + 0.01).collect(),
        _ => made.targets.clone(),
    }
}

fn root_mean_square(training: &Training, features: &Features<'_>, targets: &[f64]) -> f64 {
    let squares: f64 = predictions(training, features).iter().zip(targets).map(|(p, t)| (p - t).powi(2)).sum();
    (squares / targets.len() as f64).sqrt()
}

#[test]
fn every_objective_is_listed() {
    // Those that rank are in `ranking.rs`.
    for named in NAMES.iter().filter(|named| !by_name(named.name).is_ok_and(|objective| objective.ranks())) {
        let listed = OBJECTIVES.iter().any(|name| name.split(':').next() == Some(named.name));
        assert!(listed, "`{}` is missing from OBJECTIVES", named.name);
    }
}

#[test]
fn recorded_metrics_equal_the_metrics_of_predictions() {
    let (made, held) = (Made::new(3000, 1), Made::new(700, 2));
    let weights: Vec<f32> = (0..3000).map(|row| (row % 4) as f32 * 0.7).collect();
    let plain = || Params { n_estimators: 12, ..small() };
    let settings = [
        plain(),
        Params { growth: Growth::Symmetric, gradient_precision: GradientPrecision::Pair8, ..plain() },
        Params { subsample: 0.6, ..plain() },
        Params {
            data_sample_strategy: SampleStrategy::Goss,
            top_rate: 0.3,
            other_rate: 0.2,
            learning_rate: 0.5,
            gradient_precision: GradientPrecision::Pair4,
            ..plain()
        },
    ];
    for objective in OBJECTIVES {
        for params in &settings {
            let quantizer = Quantizer::default();
            let (own, other) = (targets(&made, objective), targets(&held, objective));
            let mut data =
                Dataset::new(&made.categorical(), own.clone(), Some(weights.clone()), &quantizer).expect("valid data");
            let valid = data.like(&held.categorical(), other.clone(), None).expect("the same features");
            let made_objective = by_name(objective).expect("known name");
            let metric = made_objective.metric();
            let trainer = Trainer::new(params.clone(), made_objective).metric(metric).valid(&valid).watch_train();
            let training = trainer.train(&mut data).expect("valid data");
            let metric = by_name(objective).expect("known name").metric();
            for (round, history) in training.history.iter().enumerate() {
                let predictor = Predictor::new(&training.model).expect("a trained model").with_rounds(round + 1);
                for value in history {
                    let (features, targets, weights) = match value.data {
                        EvalSet::Train => (made.categorical(), &own, Some(&weights[..])),
                        _ => (held.categorical(), &other, None),
                    };
                    let by_row = predictor.predict(&features).expect("the same features");
                    let outputs = predictor.n_outputs();
                    let predictions: Vec<f64> =
                        (0..outputs).flat_map(|output| by_row.iter().skip(output).step_by(outputs)).copied().collect();
                    let targets: Vec<f64> = targets.iter().map(|&target| f64::from(target)).collect();
                    let evaluated = MetricInput { targets: &targets, weights, predictions: &predictions, groups: None };
                    let want = metric.evaluate(&evaluated).expect("defined");
                    assert_eq!(value.value, want, "{objective}, round {round}, {}, {params:?}", value.data);
                }
            }
        }
    }
}

#[test]
fn a_large_mean_does_not_reduce_accuracy() {
    let x: Vec<f32> = (0..2000).map(|row| ((row * 7919) % 2000) as f32 / 2000.0).collect();
    let near: Vec<f64> = x.iter().map(|x| f64::from((1000.0 * x).round())).collect();
    let features = Features::column_major(&x[..], x.len(), 1).expect("a column");
    let error = |objective: &str, offset: f64| {
        let targets: Vec<f64> = near.iter().map(|target| target + offset).collect();
        let mut data = Dataset::new(&features, targets.clone(), None, &Quantizer::default()).expect("valid data");
        let trainer =
            Trainer::new(Params { n_estimators: 300, ..Params::default() }, by_name(objective).expect("known name"));
        let training =
            trainer.metric(metric::by_name("rmse").expect("known name")).train(&mut data).expect("valid data");
        let error = root_mean_square(&training, &features, &targets);
        let last = training.history.last().expect("rounds")[0].value;
        assert!((last - error).abs() <= 1e-9 * error, "{objective} at {offset}: {last} was measured, {error} is true");
        error
    };
    for objective in ["squared", "absolute", "quantile:0.5", "huber:50"] {
        let want = error(objective, 0.0);
        // The last value is not exact in f32.
        for offset in [1e7, -1e7, 1e12 + 0.5] {
            let got = error(objective, offset);
            assert!((got - want).abs() < 0.02 * want, "{objective}: {got} at {offset}, {want} without");
        }
    }
}

#[test]
fn targets_stay_f64_if_f32_cannot_represent_them() {
    let doubles = vec![1e9 + 1.0, 1e9 + 2.5];
    assert_eq!(Targets::from(doubles.clone()), Targets::F64(doubles));
    assert_eq!(Targets::from(vec![1.5_f64, -2.0]), Targets::F32(vec![1.5, -2.0]));
}

#[test]
fn scores_stay_finite_at_any_learning_rate() {
    let made = Made::new(1500, 5);
    for objective in OBJECTIVES {
        for learning_rate in [2.0, 100.0, 1e6] {
            for growth in [Growth::LeafWise, Growth::Symmetric] {
                let params = Params { n_estimators: 60, learning_rate, min_child_weight: 0.0, growth, ..small() };
                let mut data = crate::dataset(&made.features(), &targets(&made, objective));
                let trainer = Trainer::new(params, by_name(objective).expect("known name"));
                let metric = by_name(objective).expect("known name").metric();
                let training = trainer.metric(metric).train(&mut data);
                let training = training.unwrap_or_else(|error| panic!("{objective} at {learning_rate}: {error}"));
                let predictions = predictions(&training, &made.features());
                assert!(predictions.iter().all(|p| p.is_finite()), "{objective} at {learning_rate}");
                assert!(training.history.iter().flatten().all(|m| !m.value.is_nan()), "{objective} at {learning_rate}");
            }
        }
    }
}
