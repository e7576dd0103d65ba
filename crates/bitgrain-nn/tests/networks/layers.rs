//! Outputs of layers against their definitions, on values that can be checked by hand.

use bitgrain_codec::weight::WeightFormat;
use bitgrain_nn::network::layer::{ActivationFunction, Conv, Layer, Positions, SequenceOutput};
use bitgrain_nn::network::{InputBatch, Network, Shape};

use crate::{batch, network};

fn near(found: &[f32], wanted: &[f32]) {
    assert_eq!(found.len(), wanted.len());
    assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?}, not {wanted:?}");
}

fn with_weights(input: &[usize], layer: Layer, weights: &[(&str, &[f32])]) -> Network {
    let mut network = Network::new(Shape::new(input), vec![layer], 1).expect("matching shapes");
    for (name, values) in weights {
        network.set_weights(name, values.to_vec()).expect("matching lengths");
    }
    network
}

fn run(network: &Network, x: &[f32], dims: &[usize]) -> Vec<f32> {
    network.forward(&InputBatch::new(x.to_vec(), dims).expect("whole samples")).expect("matching shapes").into_values()
}

#[test]
fn a_convolution_is_a_sum_over_its_window() {
    let conv = Layer::Conv1d(Conv::new(1, [3]).with_padding([1]));
    let network = with_weights(&[1, 4], conv, &[("0.weight", &[1.0, 0.0, -1.0]), ("0.bias", &[0.5])]);
    near(&run(&network, &[1.0, 2.0, 4.0, 8.0], &[1, 4]), &[-1.5, -2.5, -5.5, 4.5]);
    let conv = Layer::Conv2d(Conv::new(1, [2, 2]));
    let network = with_weights(&[1, 2, 3], conv, &[("0.weight", &[1.0, 10.0, 100.0, 1000.0])]);
    near(&run(&network, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1, 2, 3]), &[5421.0, 6532.0]);
}

#[test]
fn channels_of_a_convolution_add_up() {
    let conv = Layer::Conv1d(Conv::new(2, [1]));
    let network = with_weights(&[2, 2], conv, &[("0.weight", &[1.0, 10.0, 2.0, 0.0])]);
    near(&run(&network, &[1.0, 2.0, 3.0, 4.0], &[2, 2]), &[31.0, 42.0, 2.0, 4.0]);
}

#[test]
fn a_recurrent_state_is_passed_along_the_sequence() {
    let weights: &[(&str, &[f32])] = &[("0.weight", &[1.0]), ("0.state.weight", &[0.5]), ("0.bias", &[0.25])];
    let network = with_weights(&[2, 1], Layer::rnn(1, SequenceOutput::Sequence), weights);
    let first = (1.0_f32 + 0.25).tanh();
    near(&run(&network, &[1.0, -1.0], &[2, 1]), &[first, (-1.0 + 0.5 * first + 0.25).tanh()]);
}

#[test]
fn lstm_gates_are_input_forget_cell_output() {
    // The cell gate sees 1; the biases hold all other gates fully open or shut.
    let weights: &[(&str, &[f32])] =
        &[("0.weight", &[0.0, 0.0, 1.0, 0.0]), ("0.state.weight", &[0.0; 4]), ("0.bias", &[50.0, -50.0, 0.0, 50.0])];
    let network = with_weights(&[2, 1], Layer::lstm(1, SequenceOutput::Sequence), weights);
    let state = |x: f32| x.tanh().tanh();
    near(&run(&network, &[1.0, 2.0], &[2, 1]), &[state(1.0), state(2.0)]);
}

#[test]
fn attention_with_equal_scores_returns_means() {
    let eye = [1.0, 0.0, 0.0, 1.0];
    let weights: &[(&str, &[f32])] =
        &[("0.query.weight", &[0.0; 4]), ("0.key.weight", &eye), ("0.value.weight", &eye), ("0.output.weight", &eye)];
    let network = with_weights(&[3, 2], Layer::attention(1), weights);
    let x = [3.0, 0.0, 0.0, 6.0, 6.0, 3.0];
    near(&run(&network, &x, &[3, 2]), &[3.0, 3.0, 3.0, 3.0, 3.0, 3.0]);
    let masked = InputBatch::new(x.to_vec(), &[3, 2])
        .expect("whole")
        .with_mask(vec![true, true, false])
        .expect("matching lengths");
    near(network.forward(&masked).expect("matching shapes").values(), &[1.5, 3.0, 1.5, 3.0, 1.5, 3.0]);
}

#[test]
fn causal_attention_ignores_later_positions() {
    let network = network(&[5, 8], [Layer::causal_attention(2)]);
    let x = batch(&[5, 8], 1, 3);
    let mut changed = x.values().to_vec();
    changed[3 * 8..].fill(2.0);
    let (a, b) = (run(&network, x.values(), &[5, 8]), run(&network, &changed, &[5, 8]));
    assert_eq!(a[..3 * 8], b[..3 * 8]);
    assert_ne!(a[3 * 8..], b[3 * 8..]);
}

#[test]
fn norms_scale_vectors_to_unit_size() {
    let network = Network::new(Shape::new(&[4]), vec![Layer::layer_norm()], 1).expect("matching shapes");
    let size = (5.0_f32 / 4.0 + 1e-5).sqrt();
    near(&run(&network, &[1.0, 2.0, 3.0, 4.0], &[4]), &[-1.5 / size, -0.5 / size, 0.5 / size, 1.5 / size]);
    let network = Network::new(Shape::new(&[2]), vec![Layer::rms_norm()], 1).expect("matching shapes");
    near(&run(&network, &[3.0, 4.0], &[2]), &[3.0 / 12.5_f32.sqrt(), 4.0 / 12.5_f32.sqrt()]);
}

#[test]
fn masked_positions_do_not_affect_the_output() {
    let layers = [Layer::residual([Layer::layer_norm(), Layer::attention(2)]), Layer::mean_pool(), Layer::dense(3)];
    let mut network = Network::new(Shape::sequence(&[4]), layers.to_vec(), 8).expect("matching shapes");
    network.morph(bitgrain_codec::weight::DType::Int8).expect("finite");
    let short = batch(&[2, 4], 1, 4);
    let mut padded = short.values().to_vec();
    padded.extend([9.0; 8]);
    let padded = InputBatch::new(padded, &[4, 4])
        .expect("whole")
        .with_mask(vec![true, true, false, false])
        .expect("matching lengths");
    near(
        network.forward(&short).expect("matching shapes").values(),
        network.forward(&padded).expect("matching shapes").values(),
    );
}

#[test]
fn samples_of_a_batch_are_independent() {
    let layers = [Layer::conv2d(4, 3), Layer::relu(), Layer::Flatten {}, Layer::dense(3), Layer::Softmax {}];
    let network = network(&[2, 5, 5], layers);
    let all = batch(&[2, 5, 5], 7, 6);
    let together = network.forward(&all).expect("matching shapes");
    for sample in 0..7 {
        let alone = network.forward(&all.select(&[sample]).expect("there")).expect("matching shapes");
        assert_eq!(alone.values(), &together.values()[sample * 3..][..3]);
    }
}

#[test]
fn a_sentence_encoder_accepts_any_length_and_padding() {
    let block = |hidden| {
        let feed_forward = vec![Layer::dense(hidden), Layer::activation(ActivationFunction::Gelu), Layer::dense(16)];
        [
            Layer::residual([Layer::attention(4)]),
            Layer::layer_norm(),
            Layer::Residual { layers: feed_forward },
            Layer::layer_norm(),
        ]
    };
    let mut layers =
        vec![Layer::embedding(30, 16), Layer::Positions(Positions { length: 12, types: 2 }), Layer::layer_norm()];
    layers.extend(block(64));
    layers.extend(block(64));
    layers.push(Layer::mean_pool());
    let mut network = Network::new(Shape::sequence(&[]), layers, 3).expect("matching shapes");
    assert_eq!(network.output().to_string(), "[16]");
    for format in ["float32", "q8_0", "int4"] {
        network.morph(format.parse::<WeightFormat>().expect("known")).expect("finite");
        let alone =
            network.forward(&InputBatch::new(vec![7.0, 29.0, 3.0], &[3]).expect("whole")).expect("matching shapes");
        let padded = InputBatch::new(vec![7.0, 29.0, 3.0, 0.0, 0.0, 5.0, 5.0, 5.0, 5.0, 5.0], &[5]).expect("whole");
        let mask = [true, true, true, false, false, true, true, true, true, true].to_vec();
        let padded = network.forward(&padded.with_mask(mask).expect("matching lengths")).expect("matching shapes");
        near(&padded.values()[..16], alone.values());
    }
}
