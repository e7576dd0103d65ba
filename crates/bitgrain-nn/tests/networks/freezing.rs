//! Networks with codes only: frozen, or loaded from files of active weights.

use std::ops::ControlFlow;

use bitgrain_codec::weight::DType;
use bitgrain_nn::network::Network;
use bitgrain_nn::network::layer::Layer;
use bitgrain_nn::network::observe::{Observer, observe_products};
use bitgrain_nn::network::save::Contents;
use bitgrain_nn::network::train::{LossFunction, TrainConfig, TrainingSet, TrainingTargets, train};

use crate::{all_formats, batch, network};

fn bytes(network: &Network) -> usize {
    network.memory().iter().map(|copy| copy.bytes).sum()
}

#[test]
fn a_frozen_or_loaded_network_takes_less_memory_than_its_master() {
    let mut frozen = network(&[256], [Layer::dense(256), Layer::relu(), Layer::dense(64)]);
    let x = batch(&[256], 3, 1);
    let full = bytes(&frozen);
    frozen.morph(DType::Int8).expect("finite");
    frozen.morph(DType::Int4).expect("finite");
    let wanted = frozen.forward(&x).expect("matching shapes");
    assert!(bytes(&frozen) > full, "master weights and codes");
    frozen.freeze().expect("finite");
    let loaded = Network::from_safetensors(&frozen.to_safetensors(Contents::Active).expect("finite"));
    let loaded = loaded.expect("just written");
    for network in [&frozen, &loaded] {
        assert_eq!(network.forward(&x).expect("matching shapes"), wanted);
        // One copy of the codes with a scale per 64 weights, packed for products.
        assert!(bytes(network) < full / 6, "{} of {full}", bytes(network));
        assert!(
            network.memory().iter().all(|copy| copy.parameter.ends_with("bias") || copy.format == DType::Int4.into())
        );
    }
}

#[test]
fn a_frozen_network_keeps_one_copy_of_its_codes() {
    for format in all_formats() {
        let mut network = network(&[512], [Layer::dense(64)]);
        network.morph(format).expect("finite");
        let codes = network.active_bytes().expect("finite");
        let x = batch(&[512], 2, 1);
        let wanted = network.forward(&x).expect("matching shapes");
        network.freeze().expect("finite");
        let loaded = Network::from_safetensors(&network.to_safetensors(Contents::Active).expect("finite"));
        for network in [&network, &loaded.expect("just written")] {
            assert_eq!(network.forward(&x).expect("matching shapes"), wanted, "{format}");
            // Formats whose tensors cannot be restored from packed codes, or are multiplied from f32, keep both.
            let keeps_both = ["q4f32", "tq1_0", "float32"].contains(&format.to_string().as_str());
            let most = if keeps_both { codes * 5 / 2 } else { codes * 3 / 2 + 1024 };
            assert!(bytes(network) <= most, "{format}: {} for {codes}", bytes(network));
        }
    }
}

#[test]
fn freezing_is_saving_and_loading_what_is_active() {
    let x = batch(&[32], 12, 1);
    for format in all_formats() {
        let mut network = network(&[32], [Layer::dense(6), Layer::relu(), Layer::dense(3)]);
        let seen = observe_products(&network, std::slice::from_ref(&x), Observer::MinMax).expect("matching shapes");
        seen.apply_feedback(&mut network).expect("same network");
        network.morph(DType::Binary).expect("finite");
        network.morph(format).expect("finite");
        let file = network.to_safetensors(Contents::Active).expect("finite");
        network.freeze().expect("finite");
        let mut loaded = Network::from_safetensors(&file).expect("just written");
        for contents in [Contents::Active, Contents::All] {
            let [a, b] = [&network, &loaded].map(|one| one.to_safetensors(contents).expect("finite"));
            assert!(a == b, "{format} {contents:?}");
        }
        for other in [DType::Int4, DType::Float32, DType::Uint8] {
            network.morph(other).expect("finite");
            loaded.morph(other).expect("finite");
            let [a, b] = [&network, &loaded].map(|one| one.forward(&x).expect("matching shapes"));
            assert_eq!(a, b, "{format} to {other}");
        }
    }
}

#[test]
fn a_frozen_network_is_trained_from_its_decoded_codes() {
    let mut frozen = network(&[8], [Layer::dense(3)]);
    frozen.morph(DType::Int2).expect("finite");
    frozen.freeze().expect("finite");
    let values: Vec<Vec<f32>> = frozen.parameters().iter().map(|p| p.values().expect("codes")).collect();
    let mut plain = frozen.clone();
    for (name, values) in ["0.weight", "0.bias"].iter().zip(values) {
        plain.set_weights(name, values).expect("matching lengths");
    }
    let data = TrainingSet::new(batch(&[8], 6, 3), TrainingTargets::Classes(vec![0, 1, 2, 0, 1, 2]))
        .expect("matching lengths");
    let config = TrainConfig { epochs: 2, ..TrainConfig::adam(0.01, LossFunction::CrossEntropy) };
    for network in [&mut frozen, &mut plain] {
        train(network, &data, None, &config, &mut |_| ControlFlow::Continue(())).expect("training succeeds");
    }
    let [a, b] = [&frozen, &plain].map(|one| one.to_json(Contents::All).expect("finite"));
    assert_eq!(a, b);
}
