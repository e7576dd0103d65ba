//! Calibration passes, and the gain from importances on a digit classifier.

use std::ops::ControlFlow;

use bitgrain_codec::weight::DType;
use bitgrain_nn::model::convert::FormatChoice;
use bitgrain_nn::network::layer::{Layer, SequenceOutput};
use bitgrain_nn::network::observe::{Observations, Observer, observe, observe_products};
use bitgrain_nn::network::sample::digits;
use bitgrain_nn::network::save::Contents;
use bitgrain_nn::network::train::{LossFunction, TrainConfig, train};
use bitgrain_nn::network::{InputBatch, Network, NetworkError, Shape, compare_networks};

use crate::{batch, network};

#[test]
fn every_multiplied_matrix_is_observed() {
    let layers = [
        Layer::embedding(9, 8),
        Layer::residual([Layer::attention(2)]),
        Layer::lstm(4, SequenceOutput::Last),
        Layer::dense(2),
    ];
    let network = network(&[5], layers);
    let tokens = InputBatch::new(vec![1.0, 0.0, 8.0, 3.0, 3.0], &[5]).expect("whole");
    let seen = observe(&network, &[tokens], Observer::Percentile(99.0)).expect("matching shapes");
    let names: Vec<&str> = seen.activations().iter().map(|one| one.parameter.as_str()).collect();
    let attention = ["query", "key", "value", "output"].map(|part| format!("1.0.{part}.weight"));
    assert_eq!(
        names,
        [&attention.each_ref().map(String::as_str)[..], &["2.weight", "2.state.weight", "3.weight"]].concat()
    );
    assert!(seen.activations().iter().all(|one| one.lo <= one.hi && one.mean_squares.iter().all(|x| x.is_finite())));
}

#[test]
fn observations_are_for_the_network_they_were_made_with() {
    let small = network(&[4], [Layer::dense(2)]);
    let seen = observe(&small, &[batch(&[4], 3, 1)], Observer::MinMax).expect("matching shapes");
    let mut other = network(&[5], [Layer::dense(2)]);
    assert!(matches!(seen.apply(&mut other), Err(NetworkError::Codec { .. })));
    assert!(other.parameters()[0].store().importance().is_none());
    let mut deeper = network(&[4], [Layer::relu(), Layer::dense(2)]);
    assert!(matches!(seen.apply(&mut deeper), Err(NetworkError::NoParameter { .. })));
    assert!(matches!(observe(&small, &[], Observer::MinMax), Err(NetworkError::EmptyBatch)));
    assert!(observe(&small, &[batch(&[4], 3, 1)], Observer::Percentile(0.0)).is_err());
}

#[test]
fn a_non_finite_activation_is_reported_at_its_position() {
    let mut network = network(&[2], [Layer::dense(3), Layer::relu(), Layer::dense(2), Layer::relu(), Layer::dense(1)]);
    // Output 1 of the first layer is 1e38 times input 1, which overflows in the third row only.
    network.set_weights("0.weight", vec![0.0, 0.0, 0.0, 1e38, 0.0, 0.0]).expect("six weights");
    let finite = InputBatch::new(vec![1.0, 1.0], &[2]).expect("one row");
    let overflowing = InputBatch::new(vec![1.0, 1.0, 1.0, 2.0, 1.0, 4.0, 1.0, 3.0], &[2]).expect("four rows");
    let error = observe(&network, &[finite, overflowing], Observer::MinMax).expect_err("an infinite activation");
    let NetworkError::NonFiniteActivation { parameter, row, column } = &error else { panic!("{error}") };
    assert_eq!((&parameter[..], *row, *column), ("2.weight", 2, 1));
    assert_eq!(error.to_string(), "input of `2.weight` is not finite in row 2, column 1 (0-based)");
}

/// Returns the output error of digit classifiers over some seeds, without calibration data and after `prepare`.
fn errors(name: &str, prepare: impl Fn(&Observations, &mut Network)) -> (f64, f64) {
    let (known, unknown) = digits().expect("embedded data").split(1437).expect("enough samples");
    let FormatChoice::To(format) = name.parse().expect("known") else { panic!("a format") };
    let (mut plain, mut prepared) = (0.0, 0.0);
    for seed in 1..=3 {
        let layers = vec![Layer::dense(256), Layer::relu(), Layer::dense(256), Layer::relu(), Layer::dense(10)];
        let mut network = Network::new(Shape::new(&[64]), layers, seed).expect("matching shapes");
        let config = TrainConfig { epochs: 3, seed, ..TrainConfig::adam(2e-3, LossFunction::CrossEntropy) };
        train(&mut network, &known, None, &config, &mut |_| ControlFlow::Continue(())).expect("training succeeds");
        let seen = observe_products(&network, &[known.inputs().clone()], Observer::MinMax).expect("matching shapes");
        let error = |mut quantized: Network| {
            quantized.morph(format).expect("finite");
            let compared = compare_networks(&network, &quantized, Some(unknown.inputs())).expect("the same layers");
            compared.outputs.expect("inputs were given").figures.relative_rmse.powi(2)
        };
        let mut other = network.clone();
        prepare(&seen, &mut other);
        plain += error(network.clone());
        prepared += error(other);
    }
    ((plain / 3.0).sqrt(), (prepared / 3.0).sqrt())
}

#[test]
fn importances_reduce_the_output_error() {
    for name in ["q4_0", "q4_k", "int2@mse", "ternary"] {
        let (plain, weighed) = errors(name, |seen, network| seen.apply(network).expect("same network"));
        assert!(weighed < plain, "{name}: {weighed} with importances, {plain} without");
    }
}

#[test]
fn feedback_reduces_the_output_error_considerably() {
    for (name, share) in
        [("int4", 0.5), ("int4@mse", 0.5), ("fp4", 0.5), ("int2", 0.5), ("ternary", 0.6), ("q4_0", 0.8)]
    {
        let (plain, fed) = errors(name, |seen, network| seen.apply_feedback(network).expect("same network"));
        assert!(fed < share * plain, "{name}: {fed} with feedback, {plain} without");
    }
}

#[test]
fn feedback_needs_products() {
    let mut small = network(&[4], [Layer::dense(2)]);
    let seen = observe(&small, &[batch(&[4], 3, 1)], Observer::MinMax).expect("matching shapes");
    assert!(matches!(seen.apply_feedback(&mut small), Err(NetworkError::Codec { .. })));
}

#[test]
fn feedback_is_the_same_after_saving_and_loading() {
    let mut network = network(&[32], [Layer::dense(16), Layer::relu(), Layer::dense(4)]);
    let x = batch(&[32], 40, 1);
    let plain = network.to_json(Contents::All).expect("finite");
    assert!(plain.contains("\"version\": 1") && !plain.contains("moments"), "files without moments stay at version 1");
    let seen = observe_products(&network, std::slice::from_ref(&x), Observer::MinMax).expect("matching shapes");
    seen.apply_feedback(&mut network).expect("same network");
    let json = network.to_json(Contents::All).expect("finite");
    let loaded = [
        Network::from_json(json.as_bytes()).expect("just written"),
        Network::from_safetensors(&network.to_safetensors(Contents::All).expect("finite")).expect("just written"),
    ];
    for mut loaded in loaded {
        assert_eq!(loaded.to_json(Contents::All).expect("finite"), json);
        for format in [DType::Int2, DType::Int4, DType::Ternary] {
            network.morph(format).expect("finite");
            loaded.morph(format).expect("finite");
            assert_eq!(
                loaded.forward(&x).expect("matching shapes"),
                network.forward(&x).expect("matching shapes"),
                "{format}: versions made after loading are rounded with feedback as well"
            );
        }
    }
}

#[test]
fn moments_of_another_size_or_without_a_diagonal_are_rejected() {
    let mut network = network(&[2], [Layer::dense(1)]);
    let seen = observe_products(&network, &[batch(&[2], 9, 1)], Observer::MinMax).expect("matching shapes");
    seen.apply_feedback(&mut network).expect("same network");
    let json = network.to_json(Contents::All).expect("finite");
    let (body, _) = json.rsplit_once(",\n\"crc32c\"").expect("at the end");
    let (before, moments) = body.split_once("\"moments\": {").expect("written");
    let (_, after) = moments.split_once('}').expect("an object");
    let read = |count: usize, base64: &str| {
        let text = format!("{before}\"moments\": {{\"count\": {count}, \"base64\": \"{base64}\"}}{after}}}");
        Network::from_json(text.as_bytes())
    };
    // 1.0 is 00 00 80 3f.
    read(3, "AACAPwAAgD8AAIA/").expect("a triangle of ones");
    assert!(read(2, "AACAPwAAgD8=").is_err(), "a triangle of two columns has three values");
    assert!(read(3, "AAAAAAAAgD8AAIA/").is_err(), "rounding would divide by 0");
    assert!(read(3, "AADAfwAAgD8AAIA/").is_err(), "a NaN");
}
