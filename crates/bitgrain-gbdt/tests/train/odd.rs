//! Unusual but valid data, parameters and calls.

use bitgrain_gbdt::feature::{BinLayout, Features, Quantizer};
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::metric;
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{Dataset, Growth, Params, SampleStrategy, TrainError, Trainer};

use crate::data::{Made, Random};
use crate::{dataset, predictions, rmse, small, trained};

const PRECISIONS: [GradientPrecision; 3] = [GradientPrecision::F32, GradientPrecision::Pair8, GradientPrecision::Pair4];
const GROWTHS: [Growth; 3] = [Growth::LeafWise, Growth::DepthWise, Growth::Symmetric];

#[test]
fn validation_data_may_have_another_layout() {
    // The larger table shares bytes between features, the smaller one does not.
    let (made, other) = (Made::new(25_000, 2), Made::new(3000, 3));
    let mut data = dataset(&made.features(), &made.targets);
    let like = data.like(&other.features(), other.targets.clone(), None).expect("the same features");
    let matrix = data.cuts().quantize(&other.features(), BinLayout::Columns).expect("the same features");
    let names = other.features().names().to_vec();
    let own = Dataset::from_matrix(&matrix, data.cuts(), names, other.targets.clone(), None).expect("valid data");
    let mut history = |valid: &Dataset| {
        let trainer = Trainer::new(small(), by_name("squared").expect("known name"));
        let trainer = trainer.metric(metric::by_name("rmse").expect("known name")).valid(valid);
        trainer.train(&mut data).expect("valid data").history
    };
    assert_eq!(history(&own), history(&like));
}

#[test]
fn leaves_without_rows_have_finite_values() {
    let mut random = Random(77);
    let values: Vec<f32> = (0..3000 * 4).map(|_| random.share()).collect();
    let targets: Vec<f32> =
        values.chunks(4).map(|row| f32::from(row[0] + row[1] * row[2] + random.share() * 0.3 > 0.9)).collect();
    // Two nearly equal columns leave combinations without rows.
    let values: Vec<f32> = values.chunks(4).flat_map(|r| [r[0], r[0] + r[3] * 1e-3, r[1], r[2]]).collect();
    let features = Features::row_major(&values[..], 3000, 4).expect("complete rows");
    for precision in PRECISIONS {
        let params = Params { growth: Growth::Symmetric, max_depth: Some(7), gradient_precision: precision, ..small() };
        let model = trained(params, "binary", &features, &targets).expect("valid data").model;
        let empty = || model.trees.iter().flat_map(|tree| &tree.leaves).filter(|leaf| leaf.count == 0);
        assert!(empty().count() > 10);
        for leaf in empty() {
            assert_eq!((leaf.value, leaf.weight), (0.0, 0.0), "{precision}");
        }
    }
}

#[test]
fn the_value_of_a_leaf_is_that_of_its_rows() {
    // One target is far from all others: f32 sums that include it have no precision left for them.
    let mut random = Random(5);
    let values: Vec<f32> = (0..20_000 * 2).map(|_| random.share()).collect();
    let mut targets: Vec<f32> = values.chunks(2).map(|row| row[0] * 3.0 + row[1]).collect();
    targets[4321] = 3e7;
    let features = Features::row_major(&values[..], 20_000, 2).expect("complete rows");
    for growth in GROWTHS {
        let params =
            Params { n_estimators: 1, num_leaves: 31, learning_rate: 1.0, min_child_samples: 1, growth, ..small() };
        let training = trained(params, "squared", &features, &targets).expect("valid data");
        let leaves = Predictor::new(&training.model).and_then(|p| p.leaves(&features)).expect("a trained model");
        let base = training.model.output.base_scores[0];
        let mut sums = vec![(0.0, 0.0); training.model.trees[0].leaves.len()];
        for (&leaf, &target) in leaves.iter().zip(&targets) {
            let (sum, rows) = &mut sums[leaf as usize];
            *sum += f64::from(target) - base;
            *rows += 1.0;
        }
        for (leaf, (sum, rows)) in training.model.trees[0].leaves.iter().zip(sums) {
            assert_eq!(leaf.count as f64, rows);
            let want = if rows > 0.0 { sum / rows } else { 0.0 };
            assert!((leaf.value - want).abs() < 1e-3 * want.abs().max(1.0), "{growth:?}: {} {want}", leaf.value);
        }
    }
}

#[test]
fn models_of_huge_targets_can_be_saved() {
    let made = Made::new(500, 6);
    for factor in [1e-30, 1e20, 1e30] {
        let targets: Vec<f32> = made.targets.iter().map(|target| target * factor).collect();
        for growth in GROWTHS {
            for precision in PRECISIONS {
                let params = Params { growth, gradient_precision: precision, ..small() };
                let model = trained(params, "squared", &made.features(), &targets).expect("finite").model;
                assert_eq!(model.check(), Ok(()), "{growth:?}, {precision}, {factor}");
            }
        }
    }
}

#[test]
fn gains_below_the_range_of_f32_stay_finite() {
    let made = Made::new(500, 6);
    let targets: Vec<f32> = made.targets.iter().map(|target| target * 1e24).collect();
    // Symmetric growth splits every node of a level, whether or not it gains.
    let growth = Growth::Symmetric;
    let params = Params { growth, max_depth: Some(6), reg_lambda: 5.0, min_child_samples: 0, ..small() };
    let model = trained(params, "squared", &made.features(), &targets).expect("finite").model;
    let gains = model.trees.iter().flat_map(|tree| &tree.splits).map(|split| split.gain);
    assert!(gains.fold(0.0, f32::min) == f32::MIN, "some splits have a large loss");
    assert_eq!(model.check(), Ok(()));
}

#[test]
fn any_learning_rate_gives_a_model_or_an_error() {
    let made = Made::new(500, 6);
    for learning_rate in [1e-300, 1e9, 1e300, f64::MAX] {
        for objective in ["squared", "binary", "multiclass:3", "absolute"] {
            let targets = if objective == "binary" { made.classes() } else { made.three_classes() };
            let params = Params { n_estimators: 1, learning_rate, ..small() };
            match trained(params, objective, &made.features(), &targets) {
                Ok(training) => assert_eq!(training.model.check(), Ok(()), "{objective}, {learning_rate}"),
                Err(error) => assert!(matches!(error, TrainError::Gradient { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn a_leaf_minimum_above_the_row_count_prevents_splits() {
    let made = Made::new(500, 8);
    for growth in GROWTHS {
        let params = Params { min_child_samples: usize::MAX, growth, ..small() };
        let model = trained(params, "squared", &made.features(), &made.targets).expect("valid data").model;
        assert!(model.trees.iter().all(|tree| tree.splits.is_empty()));
    }
}

#[test]
fn without_limits_trees_grow_until_the_data_is_fitted() {
    let mut random = Random(99);
    let values: Vec<f32> = (0..4000 * 3).map(|_| random.share()).collect();
    let targets: Vec<f32> = (0..4000).map(|_| f32::from(random.share() < 0.5)).collect();
    let features = Features::row_major(&values[..], 4000, 3).expect("complete rows");
    for growth in [Growth::LeafWise, Growth::DepthWise] {
        for precision in PRECISIONS {
            let free = |min_child_samples| {
                let params = Params {
                    n_estimators: 5,
                    num_leaves: 4000,
                    learning_rate: 0.5,
                    min_child_samples,
                    min_child_weight: 0.0,
                    growth,
                    gradient_precision: precision,
                    ..small()
                };
                let training = trained(params, "binary", &features, &targets).expect("valid data");
                rmse(&predictions(&training, &features), &targets)
            };
            let (none, one) = (free(0), free(1));
            assert!(none < one * 1.1, "{growth:?}, {precision}: {none} {one}");
        }
    }
}

#[test]
fn empty_categories_do_not_crowd_out_others() {
    // Eighty categories occur only where the other feature is low, eighty only where it is high.
    let mut random = Random(3);
    let rows: Vec<(f32, u64)> = (0..8000)
        .map(|_| {
            let high = random.next() >> 30 & 1;
            (high as f32, (random.next() >> 30) % 80 + 80 * high)
        })
        .collect();
    let values: Vec<f32> = rows.iter().flat_map(|&(high, code)| [high, code as f32]).collect();
    let targets: Vec<f32> = rows.iter().map(|&(high, code)| high * 100.0 + f32::from(code % 8 < 2)).collect();
    let features = Features::row_major(&values[..], 8000, 2).and_then(|f| f.with_categorical(&[1])).expect("rows");
    let params = Params { n_estimators: 1, num_leaves: 4, learning_rate: 1.0, cat_smooth: 0.0, cat_l2: 0.0, ..small() };
    let training = trained(params, "squared", &features, &targets).expect("valid data");
    let error = rmse(&predictions(&training, &features), &targets);
    assert!(error < 0.05, "{error}");
}

#[test]
fn constant_features_are_not_sampled() {
    let (made, constants) = (Made::new(1000, 9), 60);
    let values: Vec<f32> =
        made.values.chunks(6).flat_map(|row| row.iter().copied().chain((0..constants).map(|_| 1.0))).collect();
    let features = Features::row_major(&values[..], 1000, 6 + constants).expect("complete rows");
    for growth in GROWTHS {
        let params = Params { colsample_bytree: 0.05, growth, ..small() };
        let model = trained(params, "squared", &features, &made.targets).expect("valid data").model;
        let split = model.trees.iter().filter(|tree| !tree.splits.is_empty()).count();
        assert!(split > 15, "{growth:?}: {split} of 20 trees");
        let nothing = Features::row_major(&[1.0_f32; 3000][..], 1000, 3).expect("complete rows");
        let params = Params { colsample_bytree: 0.05, colsample_bynode: 0.5, growth, ..small() };
        let model = trained(params, "squared", &nothing, &made.targets).expect("valid data").model;
        assert!(model.trees.iter().all(|tree| tree.splits.is_empty()));
    }
}

#[test]
fn unusual_settings_cause_no_panic() {
    let made = Made::new(300, 13);
    let features = made.categorical();
    let quantizer = Quantizer::default().with_max_bin(70_000).expect("in range");
    let base = || Params { n_estimators: 3, min_child_samples: 0, min_child_weight: 0.0, ..small() };
    let goss = |top_rate, other_rate| {
        let data_sample_strategy = SampleStrategy::Goss;
        Params { data_sample_strategy, top_rate, other_rate, learning_rate: 1.0, ..base() }
    };
    let settings = [
        Params { num_leaves: 2, ..base() },
        Params { max_depth: Some(1), ..base() },
        Params { subsample: 1e-9, ..base() },
        Params { subsample: 1.0 - 1e-9, ..base() },
        goss(1e-9, 1e-9),
        goss(0.5, 0.4),
        Params { reg_alpha: 1e300, ..base() },
        Params { reg_lambda: 1e308, ..base() },
        Params { cat_smooth: 0.0, cat_l2: 0.0, max_cat_to_onehot: 0, ..base() },
        Params { max_cat_threshold: 0, ..base() },
        Params { colsample_bytree: 1e-9, colsample_bynode: 1e-9, ..base() },
    ];
    let weights: Vec<f32> = made.values.chunks(6).map(|row| f32::from(row[0] > 0.5)).collect();
    for params in settings {
        for (growth, precision) in GROWTHS.into_iter().zip(PRECISIONS).chain(GROWTHS.into_iter().rev().zip(PRECISIONS))
        {
            for (objective, targets) in [
                ("squared", made.targets.clone()),
                ("multiclass:3", made.three_classes()),
                ("absolute", made.classes()),
            ] {
                for weights in [None, Some(weights.clone())] {
                    let mut data = Dataset::new(&features, targets.clone(), weights, &quantizer).expect("valid data");
                    let params = Params { growth, gradient_precision: precision, ..params.clone() };
                    let trainer = Trainer::new(params.clone(), by_name(objective).expect("known name"));
                    let training = trainer.train(&mut data).expect("legal");
                    assert_eq!(training.model.check(), Ok(()), "{objective} {params:?}");
                    assert!(predictions(&training, &features).iter().all(|p| p.is_finite()), "{objective} {params:?}");
                }
            }
        }
    }
}

#[test]
fn trees_without_splits_do_not_accumulate_rounding_errors() {
    let made = Made::new(500, 4);
    let params = Params { min_child_samples: 1000, n_estimators: 100, ..small() };
    let model = trained(params, "multiclass:3", &made.features(), &made.three_classes()).expect("valid data").model;
    // The base scores are already optimal to the precision of training scores.
    assert!(model.trees.iter().all(|tree| tree.leaves.len() == 1 && tree.leaves[0].value == 0.0));
}
