//! Training: it learns, is deterministic and reports errors.

use std::ops::ControlFlow;

use bitgrain_codec::weight::DType;
use bitgrain_nn::network::layer::{Layer, SequenceOutput};
use bitgrain_nn::network::sample::digits;
use bitgrain_nn::network::train::{
    History, LossFunction, Optimizer, Schedule, TrainConfig, TrainingSet, TrainingTargets, evaluate, train, train_with,
};
use bitgrain_nn::network::{InputBatch, Network, NetworkError, Shape};

use crate::{batch, numbers};

fn classifier() -> Network {
    Network::new(Shape::new(&[64]), vec![Layer::dense(32), Layer::relu(), Layer::dense(10)], 1)
        .expect("matching shapes")
}

fn fit(network: &mut Network, data: &TrainingSet, config: &TrainConfig) -> Result<History, NetworkError> {
    train(network, data, None, config, &mut |_| ControlFlow::Continue(()))
}

fn masters(network: &Network) -> Vec<Vec<f32>> {
    network.parameters().iter().map(|parameter| parameter.store().master().to_vec()).collect()
}

#[test]
fn digits_are_learned_and_accuracy_holds_at_eight_bits() {
    let (known, unknown) = digits().expect("embedded data").split(1437).expect("enough samples");
    let mut network = classifier();
    let config = TrainConfig { epochs: 12, ..TrainConfig::adam(3e-3, LossFunction::CrossEntropy) };
    let history = fit(&mut network, &known, &config).expect("training succeeds");
    assert!(history.epochs.windows(2).all(|pair| pair[1].loss < pair[0].loss * 1.2), "{history:?}");
    let accuracy = |network: &Network| {
        evaluate(network, &unknown, LossFunction::CrossEntropy).expect("matching shapes").accuracy.expect("classes")
    };
    let full = accuracy(&network);
    assert!(full > 0.88, "{full}");
    network.morph(DType::Int8).expect("finite");
    assert!((accuracy(&network) - full).abs() < 0.01);
}

#[test]
fn training_can_stop_between_batches_and_keeps_its_steps() {
    let data = digits().expect("embedded data").split(320).expect("enough samples").0;
    let config = TrainConfig { epochs: 3, ..TrainConfig::adam(3e-3, LossFunction::CrossEntropy) };
    let until = |batches: usize, held_back: Option<&TrainingSet>| {
        let (mut network, mut asked) = (classifier(), 0);
        let mut between = || {
            asked += 1;
            if asked == batches { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        let history =
            train_with(&mut network, &data, held_back, &config, go_on, &mut between).expect("training succeeds");
        (masters(&network), history)
    };
    let (begun, after) = (masters(&classifier()), |epochs: usize| {
        let mut network = classifier();
        fit(&mut network, &data, &TrainConfig { epochs, ..config }).expect("training succeeds");
        masters(&network)
    });
    // Ten batches per epoch.
    let (weights, history) = until(4, None);
    assert!(weights != begun && weights != after(1));
    assert_eq!((history.epochs.len(), history.chosen), (0, 0));
    let (weights, history) = until(14, None);
    assert!(weights != after(1));
    assert_eq!((history.epochs.len(), history.chosen), (1, 1));
    // The best epoch on the validation set wins over the unfinished next one.
    let (weights, history) = until(14, Some(&data));
    assert_eq!((weights, history.chosen), (after(1), 1));
    assert_eq!(until(usize::MAX, None).0, after(3));
}

#[test]
fn the_same_seed_gives_the_same_weights_on_any_number_of_threads() {
    let data = digits().expect("embedded data").split(300).expect("enough samples").0;
    let config =
        TrainConfig { epochs: 2, seed: 7, clip: Some(1.0), ..TrainConfig::adam(3e-3, LossFunction::CrossEntropy) };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut network = classifier();
            fit(&mut network, &data, &config).expect("training succeeds");
            masters(&network)
        })
    };
    let one = on(1);
    assert!(on(2) == one && on(5) == one);
    let mut other = classifier();
    fit(&mut other, &data, &TrainConfig { seed: 8, ..config }).expect("training succeeds");
    assert!(masters(&other) != one);
}

#[test]
fn sequences_are_learned_by_state_and_by_attention() {
    // The class tells whether the largest value of a sequence is in its first half.
    let count = 240;
    let values = numbers(count * 6, 5);
    let largest = |row: &[f32]| (0..6).max_by(|a, b| row[*a].total_cmp(&row[*b])).expect("six");
    let classes = values.chunks(6).map(|row| usize::from(largest(row) < 3)).collect();
    let data = TrainingSet::new(InputBatch::new(values, &[6, 1]).expect("whole"), TrainingTargets::Classes(classes))
        .expect("matching lengths");
    let state = vec![Layer::lstm(16, SequenceOutput::Last), Layer::dense(2)];
    let simple = vec![Layer::rnn(24, SequenceOutput::Last), Layer::dense(2)];
    let attention = vec![
        Layer::dense(16),
        Layer::residual([Layer::rms_norm(), Layer::causal_attention(2)]),
        Layer::residual([Layer::rms_norm(), Layer::swiglu(32)]),
        Layer::mean_pool(),
        Layer::dense(2),
    ];
    for (name, layers) in [("lstm", state), ("rnn", simple), ("attention", attention)] {
        let mut network = Network::new(Shape::sequence(&[1]), layers, 2).expect("matching shapes");
        let config = TrainConfig {
            epochs: 40,
            schedule: Schedule::Cosine,
            ..TrainConfig::adam(0.02, LossFunction::CrossEntropy)
        };
        fit(&mut network, &data, &config).expect("training succeeds");
        let accuracy =
            evaluate(&network, &data, LossFunction::CrossEntropy).expect("matching shapes").accuracy.expect("classes");
        assert!(accuracy > 0.85, "{name}: {accuracy}");
    }
}

#[test]
fn sgd_fits_a_linear_function() {
    let inputs = batch(&[3], 64, 1);
    let targets = inputs.values().chunks(3).map(|x| 2.0 * x[0] - x[1] + 0.5).collect();
    let data = TrainingSet::new(inputs, TrainingTargets::Values(targets)).expect("matching lengths");
    let mut network = Network::new(Shape::new(&[3]), vec![Layer::dense(1)], 1).expect("matching shapes");
    let config = TrainConfig { epochs: 60, batch: 16, ..TrainConfig::sgd(0.05, 0.9, LossFunction::MeanSquare) };
    let history = fit(&mut network, &data, &config).expect("training succeeds");
    assert!(history.epochs[59].loss < 1e-8, "{:?}", history.epochs[59]);
    let near = |name: &str, wanted: &[f32]| {
        let weights = network.parameter(name).expect("there").store().master().to_vec();
        assert!(weights.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-3), "{weights:?}");
    };
    near("0.weight", &[2.0, -1.0, 0.0]);
    near("0.bias", &[0.5]);
}

#[test]
fn training_stops_without_improvement_and_keeps_the_best_round() {
    let (known, unknown) = digits().expect("embedded data").split(60).expect("enough samples");
    let unknown = unknown.split(200).expect("enough samples").0;
    let mut network = classifier();
    let config = TrainConfig { epochs: 400, patience: Some(3), ..TrainConfig::adam(0.03, LossFunction::CrossEntropy) };
    let history = train(&mut network, &known, Some(&unknown), &config, &mut |_| ControlFlow::Continue(()))
        .expect("training succeeds");
    assert!(history.stopped_early && history.epochs.len() == history.chosen + 3, "{history:?}");
    let best = history.epochs[history.chosen - 1].held_back.expect("held back").loss;
    assert_eq!(evaluate(&network, &unknown, LossFunction::CrossEntropy).expect("matching shapes").loss, best);
}

#[test]
fn the_progress_callback_can_stop_training() {
    let data = digits().expect("embedded data").split(64).expect("enough samples").0;
    let config = TrainConfig::adam(1e-3, LossFunction::CrossEntropy);
    let mut seen = 0;
    let mut watch = |epoch: &bitgrain_nn::network::train::Epoch| {
        seen = epoch.number;
        if epoch.number == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let history = train(&mut classifier(), &data, None, &config, &mut watch).expect("training succeeds");
    assert_eq!((seen, history.epochs.len(), history.stopped_early), (3, 3, false));
}

#[test]
fn a_trained_network_has_no_stale_versions() {
    let data = digits().expect("embedded data").split(64).expect("enough samples").0;
    let mut network = classifier();
    network.morph(DType::Int4).expect("finite");
    let before = network.forward(data.inputs()).expect("matching shapes");
    let config = TrainConfig { epochs: 1, ..TrainConfig::adam(1e-2, LossFunction::CrossEntropy) };
    fit(&mut network, &data, &config).expect("training succeeds");
    assert!(network.parameters().iter().all(|parameter| parameter.store().versions().is_empty()));
    let after = network.forward(data.inputs()).expect("matching shapes");
    let mut fresh = network.clone();
    fresh.morph(DType::Float32).expect("finite");
    fresh.morph(DType::Int4).expect("finite");
    assert!(after != before && after == fresh.forward(data.inputs()).expect("matching shapes"));
}

#[test]
fn invalid_training_settings_are_rejected() {
    let data = digits().expect("embedded data").split(64).expect("enough samples").0;
    let base = TrainConfig::adam(1e-3, LossFunction::CrossEntropy);
    let sgd = |rate, momentum| TrainConfig { optimizer: Optimizer::Sgd { rate, momentum }, ..base };
    let odd = [
        TrainConfig { epochs: 0, ..base },
        TrainConfig { batch: 0, ..base },
        TrainConfig { clip: Some(0.0), ..base },
        sgd(f32::NAN, 0.0),
        sgd(0.1, 1.0),
    ];
    for config in odd {
        assert!(matches!(fit(&mut classifier(), &data, &config), Err(NetworkError::Training { .. })), "{config:?}");
    }
    let squares = TrainConfig { loss: LossFunction::MeanSquare, ..base };
    assert!(matches!(fit(&mut classifier(), &data, &squares), Err(NetworkError::Targets { .. })));
    let beyond = TrainingSet::new(batch(&[64], 2, 1), TrainingTargets::Classes(vec![1, 10])).expect("matching lengths");
    let error = fit(&mut classifier(), &beyond, &base).expect_err("ten outputs");
    assert!(matches!(error, NetworkError::Targets { wanted: 10, found: 10, .. }), "{error}");
    assert!(TrainingSet::new(batch(&[64], 2, 1), TrainingTargets::Classes(vec![1, 2, 3])).is_err());
    assert!(TrainingSet::new(batch(&[64], 2, 1), TrainingTargets::Values(vec![1.0, f32::NAN])).is_err());
    let wild = sgd(1e30, 0.0);
    assert!(matches!(fit(&mut classifier(), &data, &wild), Err(NetworkError::Diverged { epoch: 1, .. })));
}
