//! Layers that do not fit together and batches of the wrong shape: errors name the layer.

use bitgrain_codec::weight::DType;
use bitgrain_nn::network::layer::{Attention, Conv, Layer, LayerNorm, Pairs, Positions, Rope, SequenceOutput};
use bitgrain_nn::network::{InputBatch, Network, NetworkError, Shape};

use crate::{batch, network};

fn refused(input: Shape, layers: Vec<Layer>) -> NetworkError {
    Network::new(input, layers, 1).expect_err("layers that do not fit")
}

#[test]
fn layers_of_the_wrong_shape_are_reported_by_name() {
    let deep = vec![Layer::dense(4), Layer::residual([Layer::relu(), Layer::attention(2)])];
    let error = refused(Shape::new(&[3]), deep);
    assert_eq!(error.to_string(), "layer 1.1 (attention): expected sequences of vectors as input, found shape [4]");
    let error = refused(Shape::new(&[8, 4]), vec![Layer::residual([Layer::dense(5)])]);
    assert_eq!(error.to_string(), "layer 0 (residual): the branch maps [8, 4] to [8, 5], but must preserve the shape");
    let error = refused(Shape::new(&[3, 4]), vec![Layer::conv2d(2, 3)]);
    assert!(matches!(error, NetworkError::Shape { kind: "conv2d", .. }), "{error}");
    let error = refused(Shape::sequence(&[4]), vec![Layer::Flatten {}]);
    assert!(error.to_string().contains("[any, 4]"), "{error}");
}

#[test]
fn nonsensical_settings_are_reported_by_name() {
    let cases = [
        (vec![4], Layer::dense(0)),
        (vec![4, 6], Layer::attention(4)),
        (vec![4, 6], Layer::attention(0)),
        (vec![4, 6], Layer::LayerNorm(LayerNorm { epsilon: 0.0 })),
        (vec![4, 6], Layer::rnn(0, SequenceOutput::Last)),
        (vec![4, 6], Layer::lstm(usize::MAX / 2, SequenceOutput::Last)),
        (vec![4], Layer::embedding(0, 3)),
        (vec![4], Layer::embedding(1 << 25, 3)),
        (vec![4, 6], Layer::Conv1d(Conv::new(2, [9]))),
        (vec![4, 6], Layer::Conv1d(Conv::new(2, [3]).with_stride([0]))),
        (vec![4, 6], Layer::Conv1d(Conv::new(2, [3]).with_padding([usize::MAX]))),
        (vec![4, 6], Layer::Conv1d(Conv::new(2, [3]).with_padding([3]))),
        (vec![4, 6], Layer::Conv1d(Conv::new(2, [3]).with_stride([7]).with_padding([1 << 40]))),
        (vec![1, 1, 1, 1], Layer::Conv3d(Conv::new(1, [1; 3]).with_padding([1 << 30; 3]))),
        (vec![1 << 40], Layer::embedding(1 << 24, 1 << 30)),
    ];
    for (input, layer) in cases {
        let error = refused(Shape::new(&input), vec![layer.clone()]);
        assert!(matches!(error, NetworkError::Setting { .. }), "{layer:?}: {error}");
    }
    let odd = Attention { heads: 2, causal: true, bias: false, rope: Some(Rope { base: 1e4, pairs: Pairs::Halves }) };
    assert!(matches!(refused(Shape::new(&[4, 6]), vec![Layer::Attention(odd)]), NetworkError::Setting { .. }));
    let short = Layer::Positions(Positions { length: 3, types: 0 });
    assert!(matches!(refused(Shape::new(&[4, 6]), vec![short]), NetworkError::TooLong { length: 4, .. }));
    assert!(matches!(refused(Shape::new(&[4]), vec![]), NetworkError::Nothing { .. }));
    assert!(matches!(refused(Shape::new(&[]), vec![Layer::relu()]), NetworkError::Nothing { .. }));
    assert!(matches!(refused(Shape::new(&[4, 0]), vec![Layer::relu()]), NetworkError::Nothing { .. }));
    let huge = refused(Shape::new(&[1 << 40]), vec![Layer::dense(1 << 40)]);
    assert!(matches!(huge, NetworkError::TooLarge { .. }), "{huge}");
}

#[test]
fn batches_of_the_wrong_shape_are_rejected() {
    let network = network(&[3], [Layer::dense(2)]);
    assert_eq!(InputBatch::new(vec![], &[3]), Err(NetworkError::EmptyBatch));
    assert_eq!(InputBatch::new(vec![1.0; 4], &[3]), Err(NetworkError::Ragged { values: 4, sample: 3 }));
    let dims = vec![usize::MAX, 2];
    assert_eq!(InputBatch::new(vec![1.0; 4], &dims), Err(NetworkError::SampleSize { dims }));
    let other = network.forward(&batch(&[4], 2, 1)).expect_err("another shape");
    assert_eq!(other.to_string(), "the network expects samples of shape [3], found [4]");
    let odd = InputBatch::new(vec![0.0, 1.0, 2.0, 3.0, f32::NAN, 5.0], &[3]).expect("whole samples");
    assert_eq!(network.forward(&odd).expect_err("a NaN"), NetworkError::NonFiniteInput { sample: 1, index: 1 });
    assert!(batch(&[4, 2], 2, 1).with_mask(vec![true; 7]).is_err());
}

#[test]
fn token_ids_out_of_range_are_rejected() {
    let mut network = network(&[2], [Layer::embedding(3, 4)]);
    for format in [DType::Float32, DType::Int4] {
        network.morph(format).expect("finite");
        for odd in [3.0, -1.0, 0.5, 1e20] {
            let tokens = InputBatch::new(vec![0.0, odd], &[2]).expect("whole samples");
            let error = network.forward(&tokens).expect_err("no row");
            assert!(matches!(error, NetworkError::Token { place: 1, rows: 3, .. }), "{error}");
        }
    }
}

#[test]
fn non_finite_weights_and_wrong_counts_are_rejected() {
    let mut network = network(&[3], [Layer::dense(2)]);
    let error = network.set_weights("0.weight", vec![f32::INFINITY; 6]).expect_err("infinite");
    assert_eq!(error, NetworkError::NonFiniteWeight { parameter: "0.weight".into(), index: 0 });
    let error = network.set_weights("0.weight", vec![1.0; 5]).expect_err("too few");
    assert_eq!(error, NetworkError::Count { parameter: "0.weight".into(), wanted: 6, found: 5 });
    let error = network.set_weights("weight", vec![]).expect_err("unknown");
    assert_eq!(error.to_string(), "unknown parameter `weight`; the network has 2: `0.weight`, `0.bias`");
    network.set_weights("0.weight", vec![1e30; 6]).expect("finite");
    let error = network.morph(DType::Float16).expect_err("beyond 65504");
    assert_eq!(error, NetworkError::Overflow { parameter: "0.weight".into(), format: "float16".into() });
    assert_eq!(network.parameters()[0].format(), DType::Float32.into(), "the network is unchanged");
}
