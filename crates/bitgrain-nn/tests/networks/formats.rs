//! One network in all formats: products on codes match products with the decoded weights.

use bitgrain_codec::weight::{DType, WeightFormat};
use bitgrain_nn::model::convert::{FormatChoice, Recipe};
use bitgrain_nn::network::layer::{Conv, Dense, Layer, Positions, SequenceOutput};
use bitgrain_nn::network::{InputBatch, Network, Shape, compare_networks};

use crate::{all_formats, batch, network, numbers};

/// Largest difference between outputs on codes and outputs on the decoded weights, relative to the largest output:
/// several layers round their inputs to 8 bits. A single product has an exact bound, which is tested below.
const BOUND: f32 = 4e-2;

/// Returns the network with its decoded weights at f32.
fn round_tripped(network: &Network) -> Network {
    let mut other = network.clone();
    for parameter in network.parameters() {
        other.set_weights(parameter.name(), parameter.values().expect("valid codes")).expect("matching lengths");
    }
    other.morph(DType::Float32).expect("finite");
    other
}

fn check_all(mut network: Network, x: &InputBatch) {
    for format in all_formats() {
        network.morph(format).expect("finite");
        let on_codes = network.forward(x).expect("matching shapes");
        let reference = round_tripped(&network).forward(x).expect("matching shapes");
        let most = reference.values().iter().fold(0.0_f32, |most, y| most.max(y.abs()));
        for (a, b) in on_codes.values().iter().zip(reference.values()) {
            assert!((a - b).abs() <= BOUND * most, "{format}: {a} on codes, {b} on decoded weights");
        }
        assert_eq!(
            network.forward(x).expect("matching shapes"),
            on_codes,
            "{format}: a second pass gives the same outputs"
        );
    }
}

#[test]
fn dense_layers_agree_with_their_round_trip() {
    check_all(network(&[256], [Layer::dense(64), Layer::relu(), Layer::dense(10)]), &batch(&[256], 5, 2));
    check_all(network(&[37], [Layer::dense(19)]), &batch(&[37], 1, 2));
}

#[test]
fn one_layer_on_codes_is_within_the_bound_of_its_product() {
    let mut network = network(&[96], [Layer::Dense(Dense { outputs: 40, bias: false })]);
    let x = batch(&[96], 3, 8);
    for format in all_formats() {
        network.morph(format).expect("finite");
        let on_codes = network.forward(&x).expect("matching shapes");
        let reference = round_tripped(&network).forward(&x).expect("matching shapes");
        let active = network.parameters()[0].active().expect("made");
        let Some(version) = active.version() else { continue };
        let mut bound = vec![0.0; 3 * 40];
        version.bound(x.values(), &mut bound).expect("finite");
        for ((a, b), bound) in on_codes.values().iter().zip(reference.values()).zip(bound) {
            // The reference is rounded as well.
            assert!((a - b).abs() <= bound + 1e-4, "{format}: {a} on codes, {b} on decoded weights, bound {bound}");
        }
    }
}

#[test]
fn convolutions_and_states_agree_with_their_round_trip() {
    check_all(
        network(&[3, 6, 6], [Layer::conv2d(8, 3), Layer::relu(), Layer::Flatten {}, Layer::dense(4)]),
        &batch(&[3, 6, 6], 3, 2),
    );
    check_all(network(&[2, 20], [Layer::Conv1d(Conv::new(6, [5]))]), &batch(&[2, 20], 3, 2));
    // With larger random weights the recurrence would be chaotic: any rounding grows from position to position.
    for layer in [Layer::lstm(32, SequenceOutput::Last), Layer::rnn(32, SequenceOutput::Sequence)] {
        let calm = Network::new(Shape::new(&[5, 8]), vec![layer], 1).expect("matching shapes");
        check_all(calm, &batch(&[5, 8], 3, 2));
    }
}

#[test]
fn a_transformer_agrees_with_its_round_trip() {
    let layers = [
        Layer::embedding(20, 32),
        Layer::Positions(Positions { length: 6, types: 0 }),
        Layer::layer_norm(),
        Layer::residual([Layer::attention(4)]),
        Layer::residual([Layer::rms_norm(), Layer::swiglu(64)]),
        Layer::mean_pool(),
    ];
    let tokens = InputBatch::new((0..18).map(|i| (i * 7 % 20) as f32).collect(), &[6]).expect("whole samples");
    check_all(network(&[6], layers), &tokens);
}

#[test]
fn an_embedding_returns_exactly_the_decoded_rows() {
    let mut network = network(&[4], [Layer::embedding(9, 64)]);
    let tokens = InputBatch::new(vec![8.0, 0.0, 3.0, 3.0], &[4]).expect("whole samples");
    for format in all_formats() {
        network.morph(format).expect("finite");
        let rows = network.parameters()[0].values().expect("valid codes");
        let wanted: Vec<f32> = [8, 0, 3, 3].iter().flat_map(|row| &rows[row * 64..][..64]).copied().collect();
        assert_eq!(network.forward(&tokens).expect("matching shapes").values(), wanted, "{format}");
    }
}

#[test]
fn a_recipe_chooses_by_name() {
    let mut network = network(&[64], [Layer::dense(32), Layer::relu(), Layer::dense(10)]);
    let recipe = Recipe::new(FormatChoice::To(DType::Int8.into()))
        .rule("2.weight", FormatChoice::To("q4_0".parse().expect("known")))
        .rule("2.b*", FormatChoice::To(DType::Float16.into()));
    network.morph_by(&recipe).expect("finite");
    let formats: Vec<String> = network.parameters().iter().map(|p| p.format().to_string()).collect();
    assert_eq!(formats, ["int8", "float32", "q4_0", "float16"]);
    assert_eq!(network.active_bytes().expect("made"), (32 * 64 + 32 * 4) + 32 * 4 + 10 * 18 + 10 * 2);
}

#[test]
fn fewer_bits_take_fewer_bytes_and_have_a_larger_error() {
    let mut small = network(&[128], [Layer::dense(64)]);
    let full = small.clone();
    let x = batch(&[128], 8, 3);
    let cosines: Vec<f64> = ["int16", "int8", "int4", "ternary", "binary"]
        .iter()
        .map(|name| {
            small.morph(name.parse::<WeightFormat>().expect("known")).expect("finite");
            let comparison = compare_networks(&full, &small, Some(&x)).expect("the same layers");
            assert_eq!(comparison.parameters[1].figures.max_error, 0.0, "biases stay at f32");
            let outputs = comparison.outputs.expect("inputs were given");
            assert!((outputs.figures.cosine - comparison.overall.cosine).abs() < 0.08, "{name}: {outputs:?}");
            comparison.parameters[0].figures.cosine
        })
        .collect();
    assert!(cosines.is_sorted_by(|a, b| a > b) && cosines[0] > 0.999_999 && cosines[4] > 0.7, "{cosines:?}");
}

#[test]
fn networks_with_different_layers_cannot_be_compared() {
    let (a, b) = (network(&[8], [Layer::dense(4)]), network(&[8], [Layer::dense(4), Layer::dense(4)]));
    let error = compare_networks(&a, &b, None).expect_err("other layers");
    assert_eq!(error.to_string(), "the networks differ in `1.weight`: nothing and `1.weight` (4, 4)");
}

#[test]
fn the_master_is_unchanged_after_morphing_back() {
    let mut network = network(&[16], [Layer::dense(8)]);
    let x = InputBatch::new(numbers(32, 4), &[16]).expect("whole samples");
    let before = network.forward(&x).expect("matching shapes");
    network.morph(DType::Binary).expect("finite");
    assert_ne!(network.forward(&x).expect("matching shapes"), before);
    network.morph(DType::Float32).expect("finite");
    assert_eq!(network.forward(&x).expect("matching shapes"), before);
    let free = Network::new(Shape::sequence(&[3]), vec![Layer::dense(2)], 1).expect("matching shapes");
    for length in [1, 5] {
        assert_eq!(free.forward(&batch(&[length, 3], 2, 1)).expect("any length").dims(), [length, 2]);
    }
}
