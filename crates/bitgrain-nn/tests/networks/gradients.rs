//! Analytic gradients against finite differences, for all layers: parameters and inputs.

use bitgrain_nn::network::layer::{
    ActivationFunction, Attention, Conv, Layer, Pairs, Pool, Pooling, Positions, Rope, SequenceOutput,
};
use bitgrain_nn::network::{InputBatch, Network};

use crate::{batch, network, numbers};

/// Step of the central differences.
const H: f32 = 1e-2;

/// Returns a weighted sum of all outputs, the scalar that is differentiated.
fn weighed(network: &Network, x: &InputBatch) -> f64 {
    let y = network.forward(x).expect("matching shapes");
    let factors = numbers(y.values().len(), 77);
    y.values().iter().zip(factors).map(|(y, factor)| f64::from(*y) * f64::from(factor)).sum()
}

/// Compares all gradients of the backward pass with finite differences.
fn check(network: &Network, x: &InputBatch, inputs: bool) {
    let found = network.gradients(x, |y| Ok(numbers(y.values().len(), 77))).expect("matching shapes");
    let agree = |what: &str, slope: f32, up: f64, down: f64, scale: f32| {
        let measured = (up - down) / f64::from(2.0 * H);
        let far = (f64::from(slope) - measured).abs();
        assert!(far < 3e-3 * f64::from(scale.max(0.3)), "{what}: {slope}, measured {measured}");
    };
    let size = |all: &[f32]| all.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    for (parameter, slopes) in network.parameters().iter().zip(&found.parameters) {
        let master = parameter.store().master().to_vec();
        assert!(size(slopes) > 0.0, "all gradients of {} are 0", parameter.name());
        for i in 0..master.len() {
            let moved = |by: f32| {
                let mut other = network.clone();
                let mut weights = master.clone();
                weights[i] += by;
                other.set_weights(parameter.name(), weights).expect("matching lengths");
                weighed(&other, x)
            };
            let what = format!("weight {i} of {}", parameter.name());
            agree(&what, slopes[i], moved(H), moved(-H), size(slopes));
        }
    }
    for i in (0..x.values().len()).filter(|_| inputs) {
        let moved = |by: f32| {
            let mut values = x.values().to_vec();
            values[i] += by;
            let mut other = InputBatch::new(values, x.dims()).expect("matching lengths");
            if let Some(mask) = x.mask() {
                other = other.with_mask(mask.to_vec()).expect("matching lengths");
            }
            weighed(network, &other)
        };
        let slopes = found.input.values();
        agree(&format!("input {i}"), slopes[i], moved(H), moved(-H), size(slopes));
    }
}

fn check_layers(input: &[usize], layers: impl Into<Vec<Layer>>) {
    check(&network(input, layers), &batch(input, 3, 9), true);
}

/// Reads this file, because each kind has its own test: a new kind must be mentioned somewhere below.
#[test]
fn every_kind_of_layer_is_checked_here() {
    let source = include_str!("gradients.rs");
    for kind in Layer::KINDS {
        let variant: String = kind.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        let checked = [format!("Layer::{kind}("), format!("Layer::{variant}("), format!("Layer::{variant} {{")]
            .iter()
            .any(|text| source.contains(text));
        assert!(checked, "the gradients of `{kind}` are not tested here");
    }
}

#[test]
fn dense() {
    check_layers(&[5], [Layer::dense(4)]);
    check_layers(&[2, 3, 5], [Layer::dense(4), Layer::activation(ActivationFunction::Tanh), Layer::dense(2)]);
}

#[test]
fn activation_functions() {
    use ActivationFunction::{Gelu, GeluTanh, Sigmoid, Silu, Tanh};
    for function in [Gelu, GeluTanh, Sigmoid, Silu, Tanh] {
        check_layers(&[4], [Layer::dense(4), Layer::activation(function)]);
    }
}

#[test]
fn softmax() {
    check_layers(&[5], [Layer::dense(4), Layer::Softmax {}]);
    check_layers(&[2, 4], [Layer::Softmax {}]);
}

#[test]
fn convolution_over_signals() {
    check_layers(&[2, 7], [Layer::Conv1d(Conv::new(3, [3]))]);
    check_layers(&[2, 7], [Layer::Conv1d(Conv::new(3, [4]).with_stride([2]).with_padding([2]))]);
}

#[test]
fn convolution_over_images() {
    check_layers(&[2, 5, 4], [Layer::conv2d(3, 3)]);
    check_layers(
        &[2, 5, 6],
        [Layer::Conv2d(Conv::new(2, [3, 2]).with_stride([2, 3]).with_padding([1, 0])), Layer::Flatten {}],
    );
}

#[test]
fn convolution_over_volumes() {
    check_layers(
        &[2, 3, 4, 3],
        [Layer::Conv3d(Conv::new(2, [2, 3, 2]).with_stride([1, 2, 1]).with_padding([1, 1, 0]))],
    );
}

#[test]
fn recurrence() {
    for output in [SequenceOutput::Sequence, SequenceOutput::Last] {
        check_layers(&[4, 3], [Layer::rnn(5, output)]);
        check_layers(&[4, 3], [Layer::lstm(3, output)]);
    }
}

#[test]
fn recurrence_with_masked_positions() {
    let mask = vec![true, true, false, false, true, false, true, true, true, true, true, false];
    let x = batch(&[4, 3], 3, 9).with_mask(mask).expect("matching lengths");
    for output in [SequenceOutput::Sequence, SequenceOutput::Last] {
        check(&network(&[4, 3], [Layer::rnn(4, output)]), &x, true);
        check(&network(&[4, 3], [Layer::lstm(3, output)]), &x, true);
    }
}

#[test]
fn embedding_and_positions() {
    let tokens = InputBatch::new(vec![0.0, 2.0, 1.0, 2.0, 2.0, 0.0], &[3]).expect("whole samples");
    check(&network(&[3], [Layer::embedding(3, 4)]), &tokens, false);
    let positions = Layer::Positions(Positions { length: 3, types: 2 });
    let typed = tokens.with_types(vec![0, 0, 1, 1, 0, 1]).expect("matching lengths");
    check(&network(&[3], [Layer::embedding(3, 4), positions, Layer::dense(2)]), &typed, false);
}

#[test]
fn attention() {
    check_layers(&[4, 6], [Layer::attention(2)]);
    check_layers(&[4, 6], [Layer::attention(3)]);
}

#[test]
fn causal_attention() {
    check_layers(&[4, 8], [Layer::causal_attention(2)]);
    let rope = Some(Rope { base: 100.0, pairs: Pairs::Halves });
    check_layers(&[3, 8], [Layer::Attention(Attention { heads: 2, causal: true, bias: true, rope })]);
}

#[test]
fn attention_with_masked_positions() {
    let mask = vec![true, true, true, false, true, false, true, true, true, false, false, false];
    let x = batch(&[4, 6], 3, 9).with_mask(mask).expect("matching lengths");
    check(&network(&[4, 6], [Layer::attention(2)]), &x, true);
    check(&network(&[4, 6], [Layer::attention(2), Layer::mean_pool(), Layer::dense(2)]), &x, true);
}

#[test]
fn norms() {
    check_layers(&[3, 6], [Layer::layer_norm()]);
    check_layers(&[3, 6], [Layer::rms_norm()]);
}

#[test]
fn gated_block() {
    check_layers(&[2, 4], [Layer::swiglu(6)]);
}

#[test]
fn pools() {
    check_layers(&[4, 3], [Layer::mean_pool(), Layer::dense(2)]);
    check_layers(&[4, 3], [Layer::Pool(Pool { pooling: Pooling::First }), Layer::dense(2)]);
}

#[test]
fn nested_residual_branches() {
    let inner = Layer::residual([Layer::layer_norm(), Layer::dense(4)]);
    let sequential = Layer::Sequential { layers: vec![Layer::dense(4), Layer::activation(ActivationFunction::Gelu)] };
    check_layers(&[4], [Layer::residual([inner, sequential]), Layer::dense(3)]);
}

#[test]
fn a_whole_transformer_block() {
    let block = [
        Layer::residual([Layer::rms_norm(), Layer::causal_attention(2)]),
        Layer::residual([Layer::rms_norm(), Layer::swiglu(6)]),
    ];
    check_layers(&[3, 4], block);
}
