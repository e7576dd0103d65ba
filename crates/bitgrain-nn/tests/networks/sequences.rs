//! Random sequences of operations on random small networks, compared with a model that does not cache versions.
//!
//! The model stores master weights, observations and formats, and builds a new network from them for each comparison.
//! Codes outlive their master only through freezing and files of active weights; the model pins their values.
//! `BITGRAIN_SEQUENCES` sets the number of sequences.

use std::ops::ControlFlow;

use bitgrain_codec::random::SplitMix64;
use bitgrain_codec::weight::{DType, WeightFormat};
use bitgrain_nn::model::convert::{FormatChoice, Recipe};
use bitgrain_nn::network::layer::{Conv, Layer, SequenceOutput};
use bitgrain_nn::network::observe::{Observations, Observer, observe, observe_products};
use bitgrain_nn::network::save::Contents;
use bitgrain_nn::network::train::{LossFunction, TrainConfig, TrainingSet, TrainingTargets, train};
use bitgrain_nn::network::{InputBatch, Network, Shape};

use crate::{all_formats, numbers};

struct Random(SplitMix64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.next_u64() % end as u64).expect("below a usize")
    }
}

/// Codes that outlived the master weights they were made from.
#[derive(Clone)]
struct Pin {
    format: WeightFormat,
    values: Vec<f32>,
}

/// Expected state of a network.
struct ModelFile {
    input: Vec<usize>,
    layers: Vec<Layer>,
    masters: Vec<Vec<f32>>,
    importance: Option<Observations>,
    feedback: Option<Observations>,
    formats: Vec<WeightFormat>,
    pins: Vec<Option<Pin>>,
    /// Output right after freezing, valid until something other than a format changes.
    frozen: Option<(Vec<WeightFormat>, InputBatch)>,
}

impl ModelFile {
    fn network(&self) -> Network {
        let mut masters = self.masters.iter();
        let next = |_: &str, _: (usize, usize)| {
            Ok::<_, bitgrain_nn::network::NetworkError>(masters.next().expect("one for each").clone())
        };
        let mut network =
            Network::with_weights(Shape::new(&self.input), self.layers.clone(), next).expect("matching layers");
        if let Some(seen) = &self.importance {
            seen.apply(&mut network).expect("same network");
        }
        if let Some(seen) = &self.feedback {
            seen.apply_feedback(&mut network).expect("same network");
        }
        let names: Vec<String> = network.parameters().iter().map(|p| p.name().to_owned()).collect();
        let rules = names.iter().zip(&self.formats);
        let recipe = rules
            .fold(Recipe::new(FormatChoice::Keep), |all, (name, format)| all.rule(name, FormatChoice::To(*format)));
        network.morph_by(&recipe).expect("finite");
        network
    }

    fn pinned(&self, index: usize) -> Option<&Pin> {
        self.pins[index].as_ref().filter(|pin| pin.format == self.formats[index])
    }

    fn is_pinned(&self) -> bool {
        (0..self.pins.len()).any(|index| self.pinned(index).is_some())
    }

    /// Updates the model as if the active weights had been saved and loaded.
    fn freeze(&mut self, network: &Network, x: &InputBatch) {
        let output = network.forward(x).expect("matching shapes");
        for (index, parameter) in network.parameters().iter().enumerate() {
            let format = self.formats[index];
            let values = parameter.values().expect("valid codes");
            self.masters[index].clone_from(&values);
            self.pins[index] = (format != DType::Float32.into()).then_some(Pin { format, values });
        }
        (self.importance, self.feedback) = (None, None);
        self.frozen = Some((self.formats.clone(), output));
    }

    fn forget(&mut self, network: &Network, seen: Option<&Observations>) {
        self.frozen = None;
        for (pin, parameter) in self.pins.iter_mut().zip(network.parameters()) {
            let concerned =
                |seen: &Observations| seen.activations().iter().any(|one| one.parameter == parameter.name());
            if seen.is_none_or(concerned) {
                *pin = None;
            }
        }
    }

    /// Compares a network with the model.
    fn check(&self, network: &Network, x: &InputBatch, history: &[String]) {
        let expected = self.network();
        for (index, (found, wanted)) in network.parameters().iter().zip(expected.parameters()).enumerate() {
            let place = format!("`{}` after {history:?}", found.name());
            assert_eq!(found.format(), self.formats[index], "{place}");
            let values = found.values().expect("valid codes");
            match self.pinned(index) {
                Some(pin) => assert_eq!(values, pin.values, "{place}"),
                None => assert_eq!(values, wanted.values().expect("valid codes"), "{place}"),
            }
            for version in found.store().versions() {
                if self.pins[index].as_ref().is_some_and(|pin| pin.format == version.format()) {
                    continue;
                }
                let fresh = wanted.store().get_or_create(version.format()).expect("finite");
                let fresh = fresh.version().expect("not float32");
                assert!(version.tensor() == fresh.tensor(), "stale {} of {place}", version.format());
            }
        }
        let output = network.forward(x).expect("matching shapes");
        match &self.frozen {
            Some((formats, wanted)) if *formats == self.formats => assert_eq!(output, *wanted, "{history:?}"),
            _ if !self.is_pinned() => assert_eq!(output, expected.forward(x).expect("matching shapes"), "{history:?}"),
            _ => {}
        }
        // Last, because reading the master of a frozen store decodes and keeps it.
        for (found, master) in network.clone().parameters().iter().zip(&self.masters) {
            assert_eq!(found.store().master(), master, "master of `{}` after {history:?}", found.name());
        }
    }
}

/// Returns a small network, its input shape and a batch for it.
fn start(random: &mut Random) -> (Vec<usize>, Vec<Layer>, InputBatch) {
    let width = [3, 8, 32, 33, 64][random.below(5)];
    let inner = [2, 5, 32][random.below(3)];
    let (input, layers): (Vec<usize>, Vec<Layer>) = match random.below(5) {
        0 => (vec![width], vec![Layer::dense(inner), Layer::relu(), Layer::dense(3)]),
        // Feedback is cubic in the number of columns: keep them few after the convolution.
        1 => (vec![2, 12], vec![Layer::Conv1d(Conv::new(inner.min(8), [3])), Layer::Flatten {}, Layer::dense(3)]),
        2 => (vec![4], vec![Layer::embedding(9, width), Layer::mean_pool(), Layer::dense(3)]),
        3 => (vec![3, width], vec![Layer::lstm(inner, SequenceOutput::Last), Layer::dense(3)]),
        _ => (vec![width], vec![Layer::layer_norm(), Layer::residual([Layer::dense(width)]), Layer::dense(3)]),
    };
    let count = 4 * input.iter().product::<usize>();
    let values = match layers[0].kind() {
        "embedding" => (0..count).map(|_| f32::from(u8::try_from(random.below(9)).expect("small"))).collect(),
        _ => numbers(count, random.0.next_u64()),
    };
    let x = InputBatch::new(values, &input).expect("whole samples");
    (input, layers, x)
}

fn formats() -> Vec<WeightFormat> {
    let searched = ["int4@mse", "int2/32@mse", "int8@hqq", "uint4@percentile=99", "int4/channel"];
    let searched = searched.map(|name| match name.parse() {
        Ok(FormatChoice::To(format)) => format,
        _ => panic!("`{name}` is not a format"),
    });
    all_formats().into_iter().chain(searched).collect()
}

/// Trains a little. With a validation set, the network returns to its best epoch, at a learning rate that overshoots.
fn step(network: &mut Network, x: &InputBatch, held_back: bool) {
    let data = TrainingSet::new(x.clone(), TrainingTargets::Classes(vec![0, 1, 2, 1])).expect("matching lengths");
    let rate = if held_back { 0.3 } else { 0.01 };
    let config = TrainConfig { epochs: 3, batch: 2, ..TrainConfig::adam(rate, LossFunction::CrossEntropy) };
    let held_back = held_back.then_some(&data);
    train(network, &data, held_back, &config, &mut |_| ControlFlow::Continue(())).expect("training succeeds");
}

fn run(seed: u64) {
    let mut random = Random(SplitMix64::new(seed));
    let (input, layers, x) = start(&mut random);
    let mut network = Network::new(Shape::new(&input), layers.clone(), seed).expect("matching layers");
    let masters: Vec<Vec<f32>> = network.parameters().iter().map(|p| p.store().master().to_vec()).collect();
    let count = masters.len();
    let (formats, pins) = (vec![DType::Float32.into(); count], vec![None; count]);
    let mut model = ModelFile { input, layers, masters, importance: None, feedback: None, formats, pins, frozen: None };
    let all = self::formats();
    let mut history = vec![format!("seed {seed}")];
    for _ in 0..random.below(10) + 4 {
        match random.below(11) {
            0..=2 => {
                let format = all[random.below(all.len())];
                history.push(format!("morph {format}"));
                network.morph(format).expect("finite");
                for (own, parameter) in model.formats.iter_mut().zip(network.parameters()) {
                    *own = if parameter.is_vector() { DType::Float32.into() } else { format };
                }
            }
            3 => {
                history.push("morph by recipe".to_owned());
                let (some, others) = (all[random.below(all.len())], all[random.below(all.len())]);
                let recipe = Recipe::new(FormatChoice::To(others))
                    .rule("0.*", FormatChoice::To(some))
                    .rule("*.bias", FormatChoice::Keep);
                network.morph_by(&recipe).expect("finite");
                for (own, parameter) in model.formats.iter_mut().zip(network.parameters()) {
                    let kept = parameter.is_vector() && (!parameter.name().starts_with("0."));
                    let first = parameter.name().starts_with("0.");
                    *own = if kept {
                        DType::Float32.into()
                    } else if first {
                        some
                    } else {
                        others
                    };
                }
            }
            4 => {
                history.push("observe, apply".to_owned());
                let seen = observe(&network, std::slice::from_ref(&x), Observer::MinMax).expect("matching shapes");
                if !model.is_pinned() {
                    let wanted = observe(&model.network(), std::slice::from_ref(&x), Observer::MinMax);
                    assert_eq!(Ok(&seen), wanted.as_ref(), "{history:?}");
                }
                seen.apply(&mut network).expect("same network");
                model.forget(&network, Some(&seen));
                model.importance = Some(seen);
            }
            5 => {
                history.push("observe products, apply feedback".to_owned());
                let seen =
                    observe_products(&network, std::slice::from_ref(&x), Observer::MinMax).expect("matching shapes");
                seen.apply_feedback(&mut network).expect("same network");
                model.forget(&network, Some(&seen));
                model.feedback = Some(seen);
            }
            6 => {
                // Codes that outlived their master would score differently from the model's weights.
                let held_back = random.below(2) == 0 && !model.is_pinned();
                history.push(format!("train, validation: {held_back}"));
                let mut other = model.network();
                step(&mut network, &x, held_back);
                step(&mut other, &x, held_back);
                model.forget(&network, None);
                model.masters = other.parameters().iter().map(|p| p.store().master().to_vec()).collect();
            }
            7 => {
                let contents = [Contents::All, Contents::Active][random.below(2)];
                history.push(format!("save {contents:?}, load"));
                if contents == Contents::Active {
                    model.freeze(&network, &x);
                }
                let loaded = if random.below(2) == 0 {
                    Network::from_json(network.to_json(contents).expect("finite").as_bytes())
                } else {
                    Network::from_safetensors(&network.to_safetensors(contents).expect("finite"))
                };
                let loaded = loaded.expect("just written");
                let [before, after] = [&network, &loaded].map(|one| one.to_json(contents).expect("finite"));
                assert_eq!(before, after, "{history:?}");
                network = loaded;
            }
            8 => {
                history.push("freeze".to_owned());
                model.freeze(&network, &x);
                network.freeze().expect("finite");
            }
            9 => {
                let index = random.below(count);
                let name = network.parameters()[index].name().to_owned();
                history.push(format!("set weights of {name}"));
                let weights = numbers(model.masters[index].len(), random.0.next_u64());
                network.set_weights(&name, weights.clone()).expect("matching lengths");
                model.masters[index] = weights;
                (model.pins[index], model.frozen) = (None, None);
            }
            _ => {
                let index = random.below(count);
                let parameter = &network.parameters()[index];
                history.push(format!("clear {} of {}", parameter.format(), parameter.name()));
                parameter.store().clear(parameter.format());
                if model.pinned(index).is_some() {
                    (model.pins[index], model.frozen) = (None, None);
                }
                network = network.clone();
            }
        }
        model.check(&network, &x, &history);
    }
}

#[test]
fn sequences_of_operations_agree_with_a_network_built_afresh() {
    let sequences = std::env::var("BITGRAIN_SEQUENCES").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    (0..sequences).for_each(run);
}
