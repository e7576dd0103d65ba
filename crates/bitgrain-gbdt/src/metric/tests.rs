//! Metrics compared with scikit-learn's values, and properties that hold for any data.

use super::*;
use crate::SampleError;

/// Targets, predictions and weights of a regression; one of the last two rows has weight 0.
const REAL: ([f32; 6], [f64; 6], [f32; 6]) =
    ([3.0, -0.5, 2.0, 7.0, 4.25, 1.0], [2.5, 0.0, 2.0, 8.0, 4.0, 1.5], [1.0, 2.0, 0.5, 3.0, 0.0, 1.5]);
const COUNTS: [f32; 6] = [0.0, 2.0, 1.0, 0.0, 5.0, 3.0];
const AMOUNTS: [f32; 6] = [0.5, 2.0, 1.0, 0.25, 5.0, 3.0];
const MEANS: [f64; 6] = [0.5, 1.5, 2.0, 0.1, 4.0, 3.5];
/// Two classes, with a tie between them.
const BINARY: ([f32; 10], [f64; 10], [f32; 10]) = (
    [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0],
    [0.1, 0.9, 0.4, 0.4, 0.8, 0.6, 0.4, 0.55, 0.4, 0.2],
    [1.0, 2.0, 0.5, 3.0, 1.0, 1.5, 2.0, 1.0, 0.25, 4.0],
);
/// Three classes, grouped by class.
const MULTI: ([f32; 5], [f64; 15], [f32; 5]) = (
    [0.0, 1.0, 2.0, 2.0, 1.0],
    [0.7, 0.3, 0.2, 0.1, 0.6, 0.2, 0.4, 0.5, 0.1, 0.3, 0.1, 0.3, 0.3, 0.8, 0.1],
    [1.0, 2.0, 0.5, 3.0, 1.5],
);

fn value(name: &str, targets: &[f32], predictions: &[f64], weights: Option<&[f32]>) -> Result<f64, MetricError> {
    let targets: Vec<f64> = targets.iter().map(|&target| f64::from(target)).collect();
    by_name(name).expect("a metric").evaluate(&MetricInput { targets: &targets, weights, predictions, groups: None })
}

#[test]
fn values_are_scikit_learns() {
    let mut compared = Vec::new();
    let mut close =
        |name: &'static str, (targets, predictions, weights): (&[f32], &[f64], &[f32]), plain: f64, weighted: f64| {
            compared.extend(name.split(':').next());
            for (weights, want) in [(None, plain), (Some(weights), weighted)] {
                let got = value(name, targets, predictions, weights).expect("defined");
                assert!((got - want).abs() <= 1e-13 * want.abs().max(1.0), "{name} {weights:?}: {got} {want}");
            }
        };
    let real: (&[f32], &[f64], &[f32]) = (&REAL.0, &REAL.1, &REAL.2);
    close("mse", real, 0.302_083_333_333_333_3, 0.515_625); // mean_squared_error(y, p, sample_weight=w)
    close("rmse", real, 0.549_621_081_594_704_9, 0.718_070_330_817_253_6); // root_mean_squared_error
    close("mae", real, 0.458_333_333_333_333_3, 0.656_25); // mean_absolute_error
    close("mape", real, 0.311_391_223_155_929_04, 0.418_154_761_904_761_86); // mean_absolute_percentage_error
    close("mape:2", real, 0.144_724_556_489_262_38, 0.183_779_761_904_761_9); // average(|d| / maximum(|y|, 2))
    close("r2", real, 0.947_542_960_506_481_8, 0.947_598_253_275_109_2); // r2_score
    close("pinball:0.9", real, 0.145_833_333_333_333_34, 0.115_625); // mean_pinball_loss(alpha=0.9)
    close("pinball:0.25", real, 0.281_25, 0.460_937_5); // mean_pinball_loss(alpha=0.25)
    close("huber:0.4", real, 0.118_541_666_666_666_67, 0.187_5); // average(where(d <= 0.4, d*d/2, .4*(d-.2)))
    let counts: (&[f32], &[f64], &[f32]) = (&COUNTS, &MEANS, &REAL.2);
    close("poisson_deviance", counts, 0.378_494_227_144_296_6, 0.290_119_160_076_122); // mean_poisson_deviance
    close("tweedie_deviance", counts, 0.808_082_915_992_041_2, 0.895_256_931_302_114); // ..tweedie..(power=1.5)
    close("tweedie_deviance:1.2", counts, 0.459_745_240_191_092_64, 0.408_105_571_504_718_3); // power=1.2
    let amounts: (&[f32], &[f64], &[f32]) = (&AMOUNTS, &MEANS, &REAL.2);
    close("gamma_deviance", amounts, 0.286_885_898_407_749_4, 0.488_986_055_468_946_25); // mean_gamma_deviance
    let binary: (&[f32], &[f64], &[f32]) = (&BINARY.0, &BINARY.1, &BINARY.2);
    close("logloss", binary, 0.502_536_857_785_413_9, 0.408_948_835_067_504_6); // log_loss
    close("auc", binary, 0.8, 0.917_620_137_299_771_1); // roc_auc_score
    close("average_precision", binary, 0.8, 0.851_355_661_881_977_6); // average_precision_score
    close("error", binary, 0.3, 0.138_461_538_461_538_4); // zero_one_loss(y, p > 0.5)
    let multi: (&[f32], &[f64], &[f32]) = (&MULTI.0, &MULTI.1, &MULTI.2);
    close("multi_logloss", multi, 0.780_810_967_155_793_8, 0.658_329_083_785_193); // log_loss
    close("multi_error", multi, 0.4, 0.25); // zero_one_loss(y, p.argmax(1))
    close("auc_mu", multi, 0.916_666_666_666_666_6, 0.972_789_115_646_258_5); // mean of roc_auc_score over pairs
    close("cross_entropy", binary, 0.502_536_857_785_413_9, 0.408_948_835_067_504_6); // log_loss
    close("brier", binary, 0.170_25, 0.125_692_307_692_307_7); // brier_score_loss
    close("balanced_accuracy", binary, 0.7, 0.855_835_240_274_599_5); // balanced_accuracy_score(y, p > 0.5)
    // Pairs counted one by one; the target -0.5 is censored.
    close("concordance", (&REAL.0, &MEANS, &REAL.2), 0.7, 1.0);
    for named in of_rows() {
        assert!(compared.contains(&named.name), "`{}` is not compared with a reference value", named.name);
    }
}

/// Metrics of rows; those of queries have their own tests in `queries_tests.rs`.
fn of_rows() -> impl Iterator<Item = &'static NameEntry> {
    NAMES.iter().filter(|named| !by_name(named.name).expect("a metric").needs_groups())
}

/// Name of each metric, valid targets and predictions, and number of predictions per row.
fn everything() -> Vec<(&'static str, Vec<f32>, Vec<f64>, usize)> {
    let real = |name| (name, REAL.0.to_vec(), REAL.1.to_vec(), 1);
    let amounts = |name| (name, AMOUNTS.to_vec(), MEANS.to_vec(), 1);
    let binary = |name| (name, BINARY.0.to_vec(), BINARY.1.to_vec(), 1);
    let multi = |name| (name, MULTI.0.to_vec(), MULTI.1.to_vec(), 3);
    of_rows()
        .map(|named| match named.name {
            name @ ("poisson_deviance" | "gamma_deviance" | "tweedie_deviance") => amounts(name),
            name @ ("logloss" | "error" | "auc" | "average_precision" | "cross_entropy" | "brier") => binary(name),
            name @ "balanced_accuracy" => binary(name),
            name @ ("multi_logloss" | "multi_error" | "auc_mu") => multi(name),
            name => real(name),
        })
        .collect()
}

#[test]
fn weight_two_repeats_a_row_and_weight_zero_removes_it() {
    for (name, targets, predictions, outputs) in everything() {
        let rows = targets.len();
        let times: Vec<usize> = (0..rows).map(|row| [1, 2, 1, 0, 2][row % 5]).collect();
        let weights: Vec<f32> = times.iter().map(|&times| [0.0, 1.0, 2.0][times]).collect();
        let repeated: Vec<usize> = (0..rows).flat_map(|row| vec![row; times[row]]).collect();
        let repeated_targets: Vec<f32> = repeated.iter().map(|&row| targets[row]).collect();
        let repeated_predictions: Vec<f64> = (0..outputs)
            .flat_map(|output| repeated.iter().map(|&row| predictions[output * rows + row]).collect::<Vec<_>>())
            .collect();
        let weighted = value(name, &targets, &predictions, Some(&weights)).expect("defined");
        let twice = value(name, &repeated_targets, &repeated_predictions, None).expect("defined");
        assert!((weighted - twice).abs() < 1e-13, "{name}: {weighted} {twice}");
    }
}

#[test]
fn weights_matter_only_in_relation_to_each_other() {
    for (name, targets, predictions, _) in everything() {
        let weights: Vec<f32> = (0..targets.len()).map(|row| [1.0, 3.0, 0.5][row % 3]).collect();
        let larger: Vec<f32> = weights.iter().map(|weight| weight * 64.0).collect();
        let same = |weights: &[f32]| value(name, &targets, &predictions, Some(weights)).expect("defined");
        assert!((same(&weights) - same(&larger)).abs() < 1e-14, "{name}");
        let ones = vec![1.0; targets.len()];
        assert!((same(&ones) - value(name, &targets, &predictions, None).expect("defined")).abs() < 1e-15, "{name}");
    }
}

#[test]
fn every_metric_rejects_invalid_rows_and_weights() {
    for (name, targets, predictions, outputs) in everything() {
        let rows = targets.len();
        let mut odd = predictions.clone();
        // With three classes, use the class of row 3's label: the log loss reads no other.
        odd[if outputs == 3 { 2 * rows + 3 } else { 3 }] = f64::NAN;
        let error = value(name, &targets, &odd, None).expect_err("NaN");
        assert!(matches!(&error, MetricError::Row { row: 3, .. }), "{name}: {error}");
        assert!(error.to_string().contains(&format!("`{name}")), "{error}");
        let refused = |weights: &[f32]| value(name, &targets, &predictions, Some(weights)).expect_err("bad weights");
        assert_eq!(refused(&vec![0.0; rows]), SampleError::NoWeight.into(), "{name}");
        assert_eq!(refused(&[1.0]), SampleError::WeightCount { weights: 1, rows }.into(), "{name}");
        for bad in [-1.0, f32::INFINITY, f32::NAN] {
            let mut weights = vec![1.0; rows];
            weights[2] = bad;
            assert!(
                matches!(refused(&weights), MetricError::Sample(SampleError::InvalidWeight { row: 2, .. })),
                "{name} {bad}"
            );
        }
        let mut missing = targets.clone();
        missing[1] = f32::NAN;
        let error = value(name, &missing, &predictions, None).expect_err("a missing target");
        assert_eq!(error, SampleError::MissingTarget { row: 1 }.into(), "{name}");
        assert_eq!(value(name, &[], &[], None), Err(MetricError::Empty), "{name}");
        let short = value(name, &targets, &predictions[1..], None).expect_err("one is missing");
        assert!(matches!(short, MetricError::PredictionCount { .. }), "{name} {outputs}: {short}");
    }
}

#[test]
fn targets_outside_the_domain_are_named() {
    for name in ["logloss", "error", "auc", "average_precision"] {
        let error = value(name, &[0.0, 2.0], &[0.5, 0.5], None).expect_err("a third class");
        assert!(
            error.to_string().starts_with("target 2 and prediction 0.5 of row 1 (0-based) are invalid; "),
            "{error}"
        );
    }
    let error = value("multi_error", &[0.0, 3.0], &[0.5; 6], None).expect_err("a fourth class");
    assert_eq!(error, MetricError::Label { row: 1, label: 3.0, classes: 3 });
    for (name, target) in [("poisson_deviance", -1.0), ("gamma_deviance", 0.0), ("tweedie_deviance", -1.0)] {
        assert!(matches!(value(name, &[1.0, target], &[1.0, 1.0], None), Err(MetricError::Row { row: 1, .. })));
        assert!(matches!(value(name, &[1.0, 1.0], &[-1.0, 1.0], None), Err(MetricError::Row { row: 0, .. })));
        assert!(value(name, &[1.0], &[0.0], None).is_ok(), "{name}");
    }
}

#[test]
fn auc_of_a_single_class_is_rejected() {
    let one = |name: &str, target: f32| value(name, &[target; 3], &[0.1, 0.2, 0.3], None);
    assert_eq!(one("auc", 1.0), Err(MetricError::OneClass { metric: "auc", missing: 0 }));
    assert_eq!(one("auc", 0.0), Err(MetricError::OneClass { metric: "auc", missing: 1 }));
    assert_eq!(one("average_precision", 1.0), Ok(1.0));
    assert!(one("average_precision", 0.0).is_err());
    // The other class has rows, but only of weight 0.
    let weightless = value("auc", &[0.0, 1.0], &[0.1, 0.2], Some(&[0.0, 1.0]));
    assert_eq!(weightless, Err(MetricError::OneClass { metric: "auc", missing: 0 }));
}

#[test]
fn r2_of_a_constant_target_is_one_or_zero() {
    assert_eq!(value("r2", &[0.1; 3], &[f64::from(0.1_f32); 3], None), Ok(1.0));
    assert_eq!(value("r2", &[0.1; 3], &[0.1, 0.1, 0.2], None), Ok(0.0));
}

#[test]
fn a_confident_wrong_prediction_has_a_large_but_finite_loss() {
    let worst = value("logloss", &[1.0, 0.0], &[0.0, 1.0], None).expect("defined");
    assert!((worst - 34.5).abs() < 0.1, "{worst}");
    assert!(value("logloss", &[1.0, 0.0], &[1.0, 0.0], None).expect("defined") < 1e-14);
    let multi = value("multi_logloss", &[0.0], &[0.0, 1.0], None).expect("defined");
    assert!((multi - 34.5).abs() < 0.1, "{multi}");
}

/// Reproducible targets, predictions in steps of 1/1000 (so that ties occur) and weights.
fn many(rows: usize) -> (Vec<f32>, Vec<f64>, Vec<f32>) {
    let mut state = 7_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let predictions: Vec<f64> = (0..rows).map(|_| (next() * 1000.0).floor() / 1000.0).collect();
    let targets = predictions.iter().map(|&p| f32::from(u8::from(next() < p))).collect();
    let weights = predictions
        .iter()
        .map(|_| [0.1, 0.7, 1.9, 3.3][usize::from(next() < 0.5) + 2 * usize::from(next() < 0.5)])
        .collect();
    (targets, predictions, weights)
}

#[test]
fn auc_is_the_fraction_of_ordered_pairs() {
    let (targets, predictions, weights) = many(500);
    let (mut pairs, mut total) = (0.0, 0.0);
    for (i, j) in (0..500).flat_map(|i| (0..500).map(move |j| (i, j))) {
        if targets[i] == 1.0 && targets[j] == 0.0 {
            let weight = f64::from(weights[i]) * f64::from(weights[j]);
            let above = f64::from(u8::from(predictions[i] > predictions[j]));
            pairs += weight * (above + 0.5 * f64::from(u8::from(predictions[i] == predictions[j])));
            total += weight;
        }
    }
    let got = value("auc", &targets, &predictions, Some(&weights)).expect("defined");
    assert!((got - pairs / total).abs() < 1e-12, "{got} {}", pairs / total);
}

#[test]
fn auc_depends_only_on_the_order() {
    let (targets, predictions, weights) = many(2000);
    let maps: [fn(f64) -> f64; 3] = [|p| (p / (1.001 - p)).ln().max(-1e9), |p| p * 1e6 - 5e5, |p| -1.0 / (p + 1.0)];
    for name in ["auc", "average_precision"] {
        for map in maps {
            let mapped: Vec<f64> = predictions.iter().map(|&p| map(p)).collect();
            for weights in [None, Some(&weights[..])] {
                assert_eq!(value(name, &targets, &mapped, weights), value(name, &targets, &predictions, weights));
            }
        }
    }
    // Reversed ranking.
    let turned: Vec<f64> = predictions.iter().map(|p| -p).collect();
    let auc = |predictions: &[f64]| value("auc", &targets, predictions, None).expect("defined");
    assert!((auc(&turned) + auc(&predictions) - 1.0).abs() < 1e-14);
    assert!(auc(&predictions) > 0.8);
}

#[test]
fn results_are_bit_identical_for_any_threads_and_ranks_for_any_order() {
    let (targets, predictions, weights) = many(50_021);
    let at = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            ["rmse", "r2", "logloss", "auc", "average_precision", "poisson_deviance"]
                .map(|name| value(name, &targets, &predictions, Some(&weights)).expect("defined").to_bits())
        })
    };
    assert_eq!(at(1), at(2));
    assert_eq!(at(1), at(5));
    let backwards = |values: &[f32]| values.iter().rev().copied().collect::<Vec<_>>();
    let turned: Vec<f64> = predictions.iter().rev().copied().collect();
    let auc = value("auc", &backwards(&targets), &turned, Some(&backwards(&weights))).expect("defined");
    assert_eq!(auc.to_bits(), at(1)[3]);
}
