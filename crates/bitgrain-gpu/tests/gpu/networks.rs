//! Networks on the device against the CPU.
//!
//! The CPU rounds activations of some formats to 8 bits before products, the device does not. To compare arithmetic rather than
//! formats, the CPU runs the decoded weights at f32.

use bitgrain_codec::weight::{DType, WeightFormat};
use bitgrain_gpu::{DeviceNetwork, GpuError};
use bitgrain_nn::network::layer::{
    Activation, ActivationFunction, Attention, Layer, Pairs, Pool, Pooling, Positions, Rope, SequenceOutput,
};
use bitgrain_nn::network::observe::{Observer, observe};
use bitgrain_nn::network::{InputBatch, Network, NetworkError, Shape};

use crate::{device, noise, open};

/// Largest difference from the CPU, relative to the largest output.
const CLOSE: f32 = 3e-5;

/// Returns a network with the decoded weights of the active formats, which the CPU runs at f32.
fn decoded(network: &Network) -> Network {
    let mut plain = network.clone();
    for parameter in network.parameters() {
        let values = parameter.values().expect("finite weights");
        plain.set_weights(parameter.name(), values).expect("the same number of weights");
    }
    plain.morph(DType::Float32).expect("no codes");
    plain
}

fn check(network: &Network, x: &InputBatch, label: &str) {
    let wanted = decoded(network).forward(x).unwrap_or_else(|error| panic!("{label}: {error}"));
    let on_device = DeviceNetwork::upload(device(), network).unwrap_or_else(|error| panic!("{label}: {error}"));
    // The second pass overwrites recycled arrays.
    for _ in 0..2 {
        let found = on_device.forward(x).unwrap_or_else(|error| panic!("{label}: {error}"));
        assert_eq!((found.dims(), found.count()), (wanted.dims(), wanted.count()), "{label}");
        let largest = wanted.values().iter().fold(1e-6_f32, |most, y| most.max(y.abs()));
        for (at, (found, wanted)) in found.values().iter().zip(wanted.values()).enumerate() {
            let off = (found - wanted).abs();
            assert!(off <= CLOSE * largest, "{label}, output {at}: {found}, expected {wanted}, largest {largest}");
        }
    }
}

fn batch(count: usize, dims: &[usize]) -> InputBatch {
    InputBatch::new(noise(count * dims.iter().product::<usize>(), 11), dims).expect("whole samples")
}

const ALL: [ActivationFunction; 7] = [
    ActivationFunction::Relu,
    ActivationFunction::LeakyRelu,
    ActivationFunction::Gelu,
    ActivationFunction::GeluTanh,
    ActivationFunction::Silu,
    ActivationFunction::Tanh,
    ActivationFunction::Sigmoid,
];

#[test]
fn a_dense_network_runs_in_every_format() {
    let layers = vec![
        Layer::dense(96),
        Layer::relu(),
        Layer::dense(32),
        Layer::activation(ActivationFunction::Gelu),
        Layer::dense(10),
        Layer::Softmax {},
    ];
    let mut network = Network::new(Shape::new(&[64]), layers, 3).expect("layers that fit");
    for format in WeightFormat::all() {
        network.morph(format).expect("finite weights");
        for count in [1, 40] {
            check(&network, &batch(count, &[64]), &format!("{format}, {count} samples"));
        }
    }
}

#[test]
fn every_activation_function_has_the_values_of_the_cpu() {
    let values: Vec<f32> =
        noise(500, 2).iter().map(|x| 12.0 * x).chain([0.0, 1e-30, -1e-3, 80.0, -80.0, 200.0, -200.0]).collect();
    for function in ALL {
        let layer = Layer::Activation(Activation { function });
        let network = Network::new(Shape::new(&[1]), vec![layer], 0).expect("one layer");
        let x = InputBatch::new(values.clone(), &[1]).expect("numbers");
        let found = DeviceNetwork::upload(device(), &network).and_then(|network| network.forward(&x));
        for (x, y) in values.iter().zip(found.expect("finite").values()) {
            let wanted = function.value(*x);
            assert!(
                (y - wanted).abs() <= 2e-6 * (1.0 + wanted.abs().max(x.abs())),
                "{function:?} of {x}: {y}, not {wanted}"
            );
        }
    }
}

#[test]
fn every_layer_with_a_kernel_equals_the_cpu() {
    let rope = |pairs| {
        Layer::Attention(Attention { heads: 3, causal: true, bias: true, rope: Some(Rope { base: 100.0, pairs }) })
    };
    let layers = [
        vec![Layer::layer_norm()],
        vec![Layer::rms_norm()],
        vec![Layer::swiglu(50)],
        vec![Layer::attention(4)],
        vec![Layer::causal_attention(2)],
        vec![rope(Pairs::Halves), rope(Pairs::Neighbors)],
        vec![Layer::Positions(Positions { length: 80, types: 3 })],
        vec![Layer::mean_pool()],
        vec![Layer::Pool(Pool { pooling: Pooling::First })],
        vec![Layer::Flatten {}],
        vec![Layer::residual([
            Layer::dense(24),
            Layer::residual([]),
            Layer::Sequential { layers: vec![Layer::relu()] },
        ])],
        vec![Layer::residual([]), Layer::residual([Layer::residual([Layer::rms_norm()]), Layer::attention(1)])],
        vec![Layer::Flatten {}, Layer::dense(7)],
        vec![Layer::Softmax {}],
    ];
    for layers in layers {
        let label = format!("{layers:?}");
        // Sequences shorter and longer than a chunk of keys, one position, and positions that no other may see.
        for (count, length) in [(1, 1), (3, 7), (2, 70)] {
            let network = Network::new(Shape::new(&[length, 24]), layers.clone(), 5).expect("layers that fit");
            let x = batch(count, &[length, 24]);
            check(&network, &x, &label);
            let mask = (0..count * length).map(|at| at >= length && at % 3 != 1).collect();
            let types = (0..count * length).map(|at| at % 3).collect();
            let x = x.with_mask(mask).and_then(|x| x.with_types(types)).expect("one per position");
            check(&network, &x, &format!("{label} with a mask"));
        }
    }
}

#[test]
fn a_language_model_of_layers_runs_from_tokens_to_probabilities() {
    let block = || {
        [
            Layer::residual([Layer::rms_norm(), Layer::causal_attention(4)]),
            Layer::residual([Layer::rms_norm(), Layer::swiglu(48)]),
        ]
    };
    let layers: Vec<Layer> = [Layer::embedding(50, 32)]
        .into_iter()
        .chain(block())
        .chain(block())
        .chain([Layer::dense(50), Layer::Softmax {}])
        .collect();
    let mut network = Network::new(Shape::sequence(&[]), layers, 9).expect("layers that fit");
    let tokens: Vec<f32> = (0..36_u8).map(|i| f32::from(i * 7 % 50)).collect();
    let x = InputBatch::new(tokens, &[12]).expect("three sequences");
    for format in [DType::Float32.into(), DType::Int8.into(), DType::Int4.into(), WeightFormat::Q4F32] {
        network.morph(format).expect("finite weights");
        check(&network, &x, &format.to_string());
    }
    let on_device = DeviceNetwork::upload(device(), &network).expect("known layers");
    let wrong = InputBatch::new(vec![1.0, 50.0], &[2]).expect("two tokens");
    let error = on_device.forward(&wrong).expect_err("a token out of range");
    assert!(matches!(error, GpuError::Network(NetworkError::Token { place: 1, rows: 50, .. })), "{error}");
}

#[test]
fn inputs_of_another_shape_and_layers_without_a_kernel_are_errors() {
    let network = Network::new(Shape::new(&[4]), vec![Layer::dense(2)], 1).expect("layers that fit");
    let on_device = DeviceNetwork::upload(device(), &network).expect("known layers");
    let error = on_device.forward(&batch(1, &[5])).expect_err("five inputs");
    assert!(matches!(error, GpuError::Network(NetworkError::Input { .. })), "{error}");
    let nan = InputBatch::new(vec![0.0, 1.0, 2.0, 3.0, 0.0, f32::NAN, 0.0, 0.0], &[4]).expect("two samples");
    let error = on_device.forward(&nan).expect_err("NaN");
    assert!(matches!(error, GpuError::Network(NetworkError::NonFiniteInput { sample: 1, index: 1 })), "{error}");
    for (shape, layer, kind) in [
        (Shape::new(&[1, 8, 8]), Layer::conv2d(2, 3), "conv2d"),
        (Shape::new(&[5, 8]), Layer::lstm(4, SequenceOutput::Last), "lstm"),
        (Shape::new(&[5, 600]), Layer::attention(2), "attention"),
    ] {
        let network = Network::new(shape, vec![layer], 1).expect("layers that fit");
        let error = DeviceNetwork::upload(device(), &network).expect_err("no kernel");
        assert!(matches!(&error, GpuError::UnsupportedLayer { kind: found, .. } if *found == kind), "{error}");
    }
    let huge = InputBatch::new(vec![3e38; 4], &[4]).expect("one sample");
    let doubled = Network::with_weights(Shape::new(&[4]), vec![Layer::dense(1)], |_, (rows, cols)| {
        Ok::<_, NetworkError>(vec![2.0; rows * cols])
    });
    let error = DeviceNetwork::upload(device(), &doubled.expect("finite"))
        .and_then(|n| n.forward(&huge))
        .expect_err("overflow");
    assert!(matches!(error, GpuError::Overflow { index: 0 }), "{error}");
}

#[test]
fn weights_stay_packed_on_the_device() {
    let device = open(None);
    let mut network =
        Network::new(Shape::new(&[256]), vec![Layer::dense(256), Layer::dense(256)], 1).expect("layers that fit");
    network.morph(DType::Int4).expect("finite weights");
    let on_device = DeviceNetwork::upload(&device, &network).expect("known layers");
    // Two matrices of four bits per weight with a scale per 64, and two biases.
    let bytes = 2 * (256 * 256 / 2 + 4 * 256 * 4) + 2 * 4 * 256;
    assert_eq!((on_device.bytes(), device.traffic().uploaded), (bytes, bytes as u64));
    let before = device.traffic();
    on_device.forward(&batch(1, &[256])).expect("finite");
    let pass = device.traffic().since(before);
    assert_eq!((pass.dispatches, pass.submissions, pass.uploaded, pass.downloaded), (2, 1, 1024, 1024));
}

#[test]
fn a_batch_beyond_the_largest_array_is_an_error_that_names_both_sizes() {
    let device = open(Some(4096));
    let network = Network::new(Shape::new(&[8]), vec![Layer::dense(100)], 1).expect("layers that fit");
    let on_device = DeviceNetwork::upload(&device, &network).expect("3,200 bytes");
    assert!(on_device.forward(&batch(10, &[8])).is_ok());
    let error = on_device.forward(&batch(11, &[8])).expect_err("4,400 bytes of outputs");
    assert!(matches!(error, GpuError::TooLarge { bytes: 4400, limit: 4096, .. }), "{error}");
}

#[test]
fn observed_ranges_clamp_the_inputs_of_quantized_weights() {
    let mut network =
        Network::new(Shape::new(&[16]), vec![Layer::dense(40), Layer::dense(8)], 1).expect("layers that fit");
    // The CPU does not round activations for this format.
    network.morph(DType::Int16).expect("finite weights");
    let usual = batch(20, &[16]);
    let large = InputBatch::new(usual.values().iter().map(|x| 5.0 * x).collect(), &[16]).expect("whole samples");
    let free = network.forward(&large).expect("finite");
    let seen = observe(&network, &[usual], Observer::MinMax).expect("one batch");
    seen.apply_ranges(&mut network).expect("the same network");
    let wanted = network.forward(&large).expect("finite");
    assert!(wanted != free, "the ranges clamp inputs");
    let found = DeviceNetwork::upload(device(), &network).and_then(|network| network.forward(&large)).expect("finite");
    for (found, wanted) in found.values().iter().zip(wanted.values()) {
        assert!((found - wanted).abs() < 1e-5, "{found}, expected {wanted}");
    }
}
