//! A network from training to quantized inference, and the gain of calibration.

use bitgrain_codec::weight::DType;
use bitgrain_nn::network::NetworkError;
use bitgrain_nn::network::observe::{Observer, observe, observe_products};
use bitgrain_nn::network::sample::classifier;
use bitgrain_nn::network::save::NetworkFileError;
use bitgrain_nn::network::train::LossFunction;
use bitgrain_nn::network::trial::{measure_calibration, run_trial};

#[test]
fn a_trial_reports_size_and_errors_of_a_format() {
    let digits = classifier(3).expect("training succeeds");
    let folder = tempfile::tempdir().expect("temporary directory");
    let file = folder.path().join("digits.safetensors");
    let run =
        |dtype: DType| run_trial(&digits.network, dtype.into(), &digits.unknown, LossFunction::CrossEntropy, &file);
    let trials = [DType::Float32, DType::Int8, DType::Int4, DType::Binary].map(|dtype| run(dtype).expect("finite"));
    assert!(trials.iter().all(|trial| trial.same_after_loading && trial.seconds > 0.0 && trial.seconds_alone > 0.0));
    assert!(trials.is_sorted_by(|more, fewer| more.bytes > fewer.bytes && more.file_bytes > fewer.file_bytes));
    assert!(trials.is_sorted_by(|more, fewer| more.weight_cosine > fewer.weight_cosine));
    let [full, int8, _, binary] = &trials;
    assert_eq!((full.output_cosine, full.bits_per_weight, full.optimum), (1.0, 32.0, None));
    assert!(full.accuracy > Some(0.8) && int8.accuracy > full.accuracy.map(|share| share - 0.02), "{int8:?}");
    // A scale per 64 weights fits them better than the optimum, which assumes one scale.
    assert!(binary.optimum.is_some_and(|optimum| (optimum - 0.798).abs() < 1e-3), "{binary:?}");
    assert_eq!(digits.network.parameters()[0].format(), DType::Float32.into(), "the network itself is unchanged");
    let nowhere = folder.path().join("none").join("digits.json");
    let refused = run_trial(&digits.network, DType::Int8.into(), &digits.unknown, LossFunction::CrossEntropy, &nowhere);
    assert!(matches!(refused, Err(NetworkFileError::Io(_))), "{refused:?}");
    assert!(matches!(classifier(0), Err(NetworkError::Training { .. })));
}

#[test]
fn a_gain_is_computed_from_its_own_observations() {
    let digits = classifier(2).expect("training succeeds");
    let inputs = [digits.known.inputs().clone()];
    let seen = observe_products(&digits.network, &inputs, Observer::MinMax).expect("matching shapes");
    let int4 =
        measure_calibration(&digits.network, DType::Int4.into(), &seen, &digits.unknown, LossFunction::CrossEntropy)
            .expect("finite");
    assert_eq!(int4.plain, int4.importance, "absmax scales do not depend on importances");
    assert!(int4.feedback.error < 0.6 * int4.plain.error, "{int4:?}");
    let few = observe(&digits.network, &inputs, Observer::MinMax).expect("matching shapes");
    let refused =
        measure_calibration(&digits.network, DType::Int4.into(), &few, &digits.unknown, LossFunction::CrossEntropy);
    assert!(matches!(refused, Err(NetworkError::Codec { .. })), "{refused:?}");
}
