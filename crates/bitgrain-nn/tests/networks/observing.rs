//! Calibration passes, and the gain from importances on a digit classifier.

use std::ops::ControlFlow;

use bitgrain_codec::weight::{DType, WeightFormat};
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
fn inputs_of_quantized_matrices_are_clamped_to_the_observed_range() {
    let mut network = network(&[64], [Layer::dense(16)]);
    let seen = observe(&network, &[batch(&[64], 40, 1)], Observer::MinMax).expect("matching shapes");
    let (lo, hi) = (seen.activations()[0].lo, seen.activations()[0].hi);
    let mut outlier = batch(&[64], 1, 2).values().to_vec();
    (outlier[3], outlier[40]) = (1000.0, -1000.0);
    let within: Vec<f32> = outlier.iter().map(|x| x.clamp(lo, hi)).collect();
    assert_ne!(outlier, within);
    let [outlier, within] = [outlier, within].map(|x| InputBatch::new(x, &[64]).expect("64 inputs"));
    seen.apply_ranges(&mut network).expect("same network");
    assert_eq!(network.parameters()[0].input_range(), Some((lo, hi)));
    let run = |network: &Network, x| network.forward(x).expect("matching shapes");
    assert_ne!(run(&network, &outlier), run(&network, &within), "f32 does not clamp");
    network.morph(DType::Int8).expect("finite");
    let clamped = run(&network, &outlier);
    assert_eq!(clamped, run(&network, &within));
    // What was observed survives freezing and both files.
    network.freeze().expect("finite");
    for contents in [Contents::All, Contents::Active] {
        let json = network.to_json(contents).expect("finite");
        assert!(json.contains("\"version\": 3") && json.contains("input_range"));
        let tensors = network.to_safetensors(contents).expect("finite");
        for loaded in [Network::from_json(json.as_bytes()), Network::from_safetensors(&tensors)] {
            assert_eq!(run(&loaded.expect("just written"), &outlier), clamped);
        }
        for wrong in ["[2.0, 1.0]", "[1.0]", "[null, 1.0]"] {
            let (body, _) = json.rsplit_once(",\n\"crc32c\"").expect("at the end");
            let (before, range) = body.split_once("\"input_range\": [").expect("written");
            let (_, after) = range.split_once(']').expect("a list");
            let text = format!("{before}\"input_range\": {wrong}{after}}}");
            assert!(Network::from_json(text.as_bytes()).is_err(), "{wrong}");
        }
    }
    // A NaN is still an error, not a clamped value.
    let mut odd = within.values().to_vec();
    odd[7] = f32::NAN;
    assert!(network.forward(&InputBatch::new(odd, &[64]).expect("64 inputs")).is_err());
    let mut other = Network::new(Shape::new(&[2]), vec![Layer::relu()], 1).expect("matching shapes");
    assert!(matches!(seen.apply_ranges(&mut other), Err(NetworkError::NoParameter { .. })));
}

#[test]
fn a_clipped_range_reduces_the_error_that_outliers_cause() {
    let mut network = network(&[64], [Layer::dense(16)]);
    let x = batch(&[64], 200, 1);
    let seen = observe(&network, std::slice::from_ref(&x), Observer::Percentile(100.0)).expect("matching shapes");
    network.morph(DType::Int8).expect("finite");
    let wanted = network.forward(&x).expect("matching shapes");
    // One broken input in each row makes the steps of its block coarse.
    let mut broken = x.values().to_vec();
    broken.chunks_mut(64).for_each(|row| row[5] = 300.0 * row[5].signum());
    let broken = InputBatch::new(broken, &[64]).expect("64 inputs");
    let mut clipped = network.clone();
    seen.apply_ranges(&mut clipped).expect("same network");
    let off = |network: &Network| -> f64 {
        let got = network.forward(&broken).expect("matching shapes");
        got.values().iter().zip(wanted.values()).map(|(a, b)| f64::from(a - b).powi(2)).sum()
    };
    assert!(off(&clipped) < 0.01 * off(&network), "{} of {}", off(&clipped), off(&network));
}

#[test]
fn scales_are_chosen_before_morphing() {
    let mut network = network(&[64], [Layer::dense(16)]);
    let plain = network.clone();
    let scales: Vec<f32> = (0..16).map(|row| 0.001 * (1.0 + row as f32)).collect();
    network.set_scales("0.weight", DType::Int8, &scales).expect("one per row");
    network.morph(DType::Int8).expect("finite");
    let store = network.parameters()[0].store();
    assert_eq!(store.scales(DType::Int8.into()), Some(scales.clone()));
    let values = store.morph_to_f32(DType::Int8.into()).expect("valid codes");
    for (at, (value, weight)) in values.iter().zip(plain.parameters()[0].store().master()).enumerate() {
        let scale = scales[at / 64];
        let wanted = (weight / scale).round_ties_even().clamp(-127.0, 127.0) * scale;
        assert_eq!(*value, wanted, "weight {at}");
    }
    // Both files and freezing keep the codes.
    let x = batch(&[64], 3, 1);
    let wanted = network.forward(&x).expect("matching shapes");
    let loaded = Network::from_json(network.to_json(Contents::All).expect("finite").as_bytes()).expect("just written");
    network.freeze().expect("finite");
    for network in [&network, &loaded] {
        assert_eq!(network.forward(&x).expect("matching shapes"), wanted);
    }
    // A frozen parameter can get other scales; those of its codes are gone.
    network.set_scales("0.weight", DType::Int8, &[0.5; 16]).expect("one per row");
    assert_eq!(network.parameters()[0].store().scales(DType::Int8.into()), Some(vec![0.5; 16]));
    let group: WeightFormat = "int4/32".parse().expect("known");
    network.set_scales("0.weight", group, &[0.25; 32]).expect("two per row");
    assert_eq!(network.parameters()[0].store().scales(group), Some(vec![0.25; 32]));
}

#[test]
fn scales_that_do_not_fit_are_refused() {
    let mut network = network(&[64], [Layer::dense(16)]);
    let before = network.clone();
    for format in ["q4_0", "float16", "uint8"] {
        let format: WeightFormat = format.parse().expect("known");
        let error = network.set_scales("0.weight", format, &[0.1; 16]).expect_err("no scales");
        assert!(matches!(error, NetworkError::NoScales { .. }), "{format}: {error}");
    }
    for scales in [&[0.1; 15][..], &[0.0; 16], &[f32::NAN; 16], &[f32::INFINITY; 16], &[-0.1; 16], &[]] {
        let error = network.set_scales("0.weight", DType::Int8, scales).expect_err("not sixteen scales above 0");
        assert!(matches!(error, NetworkError::Codec { .. }), "{error}");
    }
    assert!(matches!(network.set_scales("w", DType::Int8, &[0.1; 16]), Err(NetworkError::NoParameter { .. })));
    assert_eq!(network.memory(), before.memory(), "the network is unchanged");
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
