//! Calibration passes, and what importances gain on a network that learned to read digits.

use std::ops::ControlFlow;

use bitgrain_nn::convert::Choice;
use bitgrain_nn::layer::{Layer, Output};
use bitgrain_nn::network::{Network, NetworkError, Shape, compare_networks};
use bitgrain_nn::observe::{Observer, observe};
use bitgrain_nn::sample::digits;
use bitgrain_nn::train::{Loss, TrainConfig, train};

use crate::{batch, network};

#[test]
fn every_matrix_that_is_multiplied_with_is_watched() {
    let layers =
        [Layer::embedding(9, 8), Layer::residual([Layer::attention(2)]), Layer::lstm(4, Output::Last), Layer::dense(2)];
    let network = network(&[5], layers);
    let tokens = bitgrain_nn::network::Batch::new(vec![1.0, 0.0, 8.0, 3.0, 3.0], &[5]).expect("whole");
    let seen = observe(&network, &[tokens], Observer::Percentile(99.0)).expect("it fits");
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
    let seen = observe(&small, &[batch(&[4], 3, 1)], Observer::MinMax).expect("it fits");
    let mut other = network(&[5], [Layer::dense(2)]);
    assert!(matches!(seen.apply(&mut other), Err(NetworkError::Codec { .. })));
    assert!(other.parameters()[0].store().importance().is_none());
    let mut deeper = network(&[4], [Layer::relu(), Layer::dense(2)]);
    assert!(matches!(seen.apply(&mut deeper), Err(NetworkError::NoParameter { .. })));
    assert!(matches!(observe(&small, &[], Observer::MinMax), Err(NetworkError::EmptyBatch)));
    assert!(observe(&small, &[batch(&[4], 3, 1)], Observer::Percentile(0.0)).is_err());
}

#[test]
fn importances_bring_outputs_nearer_at_four_and_three_bits() {
    let (known, unknown) = digits().expect("the data of this crate").split(1437).expect("more than that");
    let layers = vec![Layer::dense(256), Layer::relu(), Layer::dense(256), Layer::relu(), Layer::dense(10)];
    let mut network = Network::new(Shape::new(&[64]), layers, 1).expect("it fits");
    let config = TrainConfig { epochs: 5, ..TrainConfig::adam(2e-3, Loss::CrossEntropy) };
    train(&mut network, &known, None, &config, &mut |_| ControlFlow::Continue(())).expect("it trains");
    let mut weighed = network.clone();
    observe(&network, &[known.inputs().clone()], Observer::MinMax)
        .expect("it fits")
        .apply(&mut weighed)
        .expect("its own");
    for name in ["int4@mse", "q4_0", "q3_k"] {
        let Choice::To(format) = name.parse().expect("known") else { panic!("a format") };
        let error = |quantized: &Network| {
            let mut quantized = quantized.clone();
            quantized.morph(format).expect("finite");
            let compared = compare_networks(&network, &quantized, Some(unknown.inputs())).expect("the same layers");
            compared.outputs.expect("inputs were given").figures.relative_rmse
        };
        let (plain, with) = (error(&network), error(&weighed));
        println!("{name}: {plain:.4} without, {with:.4} with");
        assert!(with < plain, "{name}: {plain} without, {with} with");
    }
}

#[test]
fn experiment() {
    let (known, unknown) = digits().expect("the data of this crate").split(1437).expect("more than that");
    let names = ["int4", "int4@mse", "q4_0", "q4_k", "q3_k", "int2@mse", "ternary"];
    let mut sums = [[0.0_f64; 4]; 7];
    for seed in 1..=6 {
        let layers = vec![Layer::dense(256), Layer::relu(), Layer::dense(256), Layer::relu(), Layer::dense(10)];
        let mut network = Network::new(Shape::new(&[64]), layers, seed).expect("it fits");
        let config = TrainConfig { epochs: 6, seed, ..TrainConfig::adam(2e-3, Loss::CrossEntropy) };
        train(&mut network, &known, None, &config, &mut |_| ControlFlow::Continue(())).expect("it trains");
        let mut weighed = network.clone();
        observe(&network, &[known.inputs().clone()], Observer::MinMax)
            .expect("it fits")
            .apply(&mut weighed)
            .expect("its own");
        for (i, name) in names.into_iter().enumerate() {
            let Choice::To(format) = name.parse().expect("known") else { panic!("a format") };
            for (j, (base, x)) in [(&network, &known), (&weighed, &known), (&network, &unknown), (&weighed, &unknown)]
                .into_iter()
                .enumerate()
            {
                let mut quantized = base.clone();
                quantized.morph(format).expect("finite");
                let compared = compare_networks(&network, &quantized, Some(x.inputs())).expect("the same layers");
                sums[i][j] += compared.outputs.expect("inputs").figures.relative_rmse.powi(2);
            }
        }
    }
    for (name, sums) in names.iter().zip(sums) {
        println!("{name}: {:?}", sums.map(|x| (x / 6.0).sqrt()));
    }
}
