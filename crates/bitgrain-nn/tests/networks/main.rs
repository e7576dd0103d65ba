//! Networks: layers against finite differences and definitions, formats against decoded weights, files, training.

mod building;
mod files;
mod formats;
mod freezing;
mod gradients;
mod layers;
mod observing;
mod sequences;
mod spec;
mod training;
mod trials;

use bitgrain_codec::weight::{DType, WeightFormat};
use bitgrain_nn::network::layer::Layer;
use bitgrain_nn::network::{InputBatch, Network, Shape};

/// Returns deterministic values around 0 with a standard deviation of about 0.6.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from(u16::try_from(state >> 48).expect("16 bits")) / 65536.0 - 0.5
    };
    (0..count).map(|_| (0..4).map(|_| uniform()).sum()).collect()
}

fn network(input: &[usize], layers: impl Into<Vec<Layer>>) -> Network {
    let mut network = Network::new(Shape::new(input), layers.into(), 5).expect("matching layers");
    // Constant biases and scale factors would hide mistakes.
    let names: Vec<(String, usize)> =
        network.parameters().iter().map(|p| (p.name().to_owned(), p.store().master().len())).collect();
    for (i, (name, len)) in names.into_iter().enumerate() {
        network.set_weights(&name, numbers(len, i as u64 + 100)).expect("matching lengths");
    }
    network
}

fn batch(dims: &[usize], count: usize, seed: u64) -> InputBatch {
    InputBatch::new(numbers(count * dims.iter().product::<usize>(), seed), dims).expect("whole samples")
}

/// Returns the 21 dtypes and llama.cpp's blocks.
fn all_formats() -> Vec<WeightFormat> {
    let blocks = ["q4_0", "q8_0", "q4_1", "q5_0", "q4_k", "q6_k", "q3_k", "q4f32", "int8/tensor", "int4/32"];
    DType::ALL.into_iter().map(WeightFormat::from).chain(blocks.map(|name| name.parse().expect("known"))).collect()
}
