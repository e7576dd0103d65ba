//! Edge cases of training data.

use bitgrain_gbdt::SampleError;
use bitgrain_gbdt::feature::{FeatureError, Features, Quantizer};
use bitgrain_gbdt::objective::{ObjectiveError, by_name};
use bitgrain_gbdt::train::{Dataset, Growth, Params, TrainError, Trainer};

use crate::{predictions, small, trained};

fn column(values: &[f32]) -> Features<'_> {
    Features::row_major(values, values.len(), 1).expect("a column")
}

#[test]
fn unsplittable_data_gets_the_best_constant() {
    let targets = [1.0, 2.0, 6.0];
    for values in [[f32::NAN; 3], [7.0; 3]] {
        for growth in [Growth::LeafWise, Growth::Symmetric] {
            let params = Params { growth, min_child_samples: 1, ..small() };
            let training = trained(params, "squared", &column(&values), &targets).expect("valid data");
            assert!(training.model.trees.iter().all(|tree| tree.splits.is_empty()));
            assert!(predictions(&training, &column(&values)).iter().all(|p| (p - 3.0).abs() < 1e-6));
        }
    }
}

#[test]
fn a_single_row_is_fitted_exactly() {
    let training = trained(small(), "squared", &column(&[5.0]), &[42.0]).expect("a row");
    assert!((predictions(&training, &column(&[-1.0]))[0] - 42.0).abs() < 1e-6);
}

#[test]
fn constant_targets_are_predicted_exactly() {
    let values: Vec<f32> = (0..100).map(|i| i as f32).collect();
    for (objective, target) in
        [("squared", 3.5), ("binary", 0.0), ("binary", 1.0), ("poisson", 2.0), ("absolute", -1.0)]
    {
        let training = trained(small(), objective, &column(&values), &vec![target; 100]).expect("constant");
        let got = predictions(&training, &column(&values));
        assert!(got.iter().all(|p| (p - f64::from(target)).abs() < 1e-3), "{objective}: {got:?}");
    }
}

#[test]
fn more_bins_than_rows_and_infinite_values() {
    let values = [f32::NEG_INFINITY, -1.0, 0.0, 1.0, f32::INFINITY, f32::NAN];
    let targets = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let params = Params { n_estimators: 300, min_child_samples: 1, learning_rate: 0.3, ..small() };
    let training = trained(params, "squared", &column(&values), &targets).expect("six rows");
    let got = predictions(&training, &column(&values));
    assert!(got.iter().zip(targets).all(|(p, t)| (p - f64::from(t)).abs() < 1e-2), "{got:?}");
}

#[test]
fn targets_that_cannot_be_learned_are_rejected_by_row() {
    let values = [1.0, 2.0, 3.0];
    let refused = |objective: &str, targets: &[f32]| match trained(small(), objective, &column(&values), targets) {
        Err(TrainError::Objective(ObjectiveError::Target { row, .. } | ObjectiveError::Label { row, .. })) => row,
        other => panic!("{objective} took {targets:?}: {other:?}"),
    };
    assert_eq!(refused("squared", &[1.0, f32::INFINITY, 2.0]), 1);
    for objective in ["squared", "binary", "multiclass:3", "poisson"] {
        let error = trained(small(), objective, &column(&values), &[1.0, f32::NAN, 0.0]).expect_err("a missing target");
        assert_eq!(error, ObjectiveError::from(SampleError::MissingTarget { row: 1 }).into(), "{objective}");
    }
    assert_eq!(refused("binary", &[1.0, 0.0, 2.0]), 2);
    assert_eq!(refused("multiclass:3", &[1.0, 0.0, 3.0]), 2);
    assert_eq!(refused("poisson", &[-1.0, 0.0, 3.0]), 0);
}

#[test]
fn all_zero_targets_are_rejected_by_log_links() {
    let values = [1.0, 2.0, 3.0];
    for objective in ["poisson", "tweedie:1.3"] {
        let all_zero = |weights: Option<Vec<f32>>, targets: [f32; 3]| {
            let data = Dataset::new(&column(&values), targets.to_vec(), weights, &Quantizer::default());
            let trained =
                Trainer::new(small(), by_name(objective).expect("known name")).train(&mut data.expect("valid data"));
            matches!(trained, Err(TrainError::Objective(ObjectiveError::AllZero { .. })))
        };
        assert!(all_zero(None, [0.0; 3]) && all_zero(Some(vec![1.0, 0.0, 1.0]), [0.0, 9.0, 0.0]), "{objective}");
        assert!(!all_zero(None, [0.0, 0.0, 1.0]), "{objective}");
    }
    // All targets of a validation set may be 0.
    let mut data =
        Dataset::new(&column(&values), vec![0.0, 1.0, 2.0], None, &Quantizer::default()).expect("valid data");
    let valid = data.like(&column(&values), vec![0.0; 3], None).expect("the same features");
    let poisson = by_name("poisson").expect("known name");
    let metric = poisson.metric();
    assert!(Trainer::new(small(), poisson).metric(metric).valid(&valid).train(&mut data).is_ok());
}

#[test]
fn wide_features_take_two_bytes_up_to_65536_bins() {
    for (rows, bytes) in [(300, 2), (65_536, 2), (65_537, 4)] {
        let values: Vec<f32> = (0..rows).map(|row| ((row * 7919) % rows) as f32).collect();
        let targets: Vec<f32> = values.iter().map(|value| f32::from(*value > 0.7 * rows as f32)).collect();
        let quantizer = Quantizer::default().with_max_bin(100_000).expect("in range");
        let mut data = Dataset::new(&column(&values), targets.clone(), None, &quantizer).expect("valid data");
        assert_eq!(data.bytes_per_row(), bytes, "{rows} bins");
        let params = Params { n_estimators: 1, num_leaves: 2, learning_rate: 1.0, ..small() };
        let training =
            Trainer::new(params, by_name("squared").expect("known name")).train(&mut data).expect("valid data");
        let got = predictions(&training, &column(&values));
        assert!(got.iter().zip(&targets).all(|(p, t)| (p - f64::from(*t)).abs() < 1e-5), "{rows} bins");
    }
}

#[test]
fn lengths_and_weights_are_checked() {
    let (values, quantizer) = ([1.0, 2.0, 3.0], Quantizer::default());
    let new = |targets: &[f32], weights: Option<&[f32]>| {
        Dataset::new(&column(&values), targets.to_vec(), weights.map(<[f32]>::to_vec), &quantizer).expect_err("bad")
    };
    assert_eq!(new(&[1.0], None), TrainError::TargetCount { targets: 1, rows: 3 });
    let weights = |weights: &[f32]| new(&[1.0; 3], Some(weights));
    assert_eq!(weights(&[1.0]), FeatureError::from(SampleError::WeightCount { weights: 1, rows: 3 }).into());
    assert_eq!(
        weights(&[1.0, -1.0, 1.0]),
        FeatureError::from(SampleError::InvalidWeight { row: 1, weight: -1.0 }).into()
    );
    assert_eq!(weights(&[0.0; 3]), FeatureError::from(SampleError::NoWeight).into());
}
