//! Counts kernels and bytes, for `docs/benchmarks/gpu.md`: products with a matrix of 4096 × 4096 weights, then a sentence
//! encoder if its folder is given.
//!
//! `cargo run --release -p bitgrain-gpu --example traffic -- [FOLDER]`

use std::error::Error;

use bitgrain_codec::weight::{QuantizedTensor, WeightFormat};
use bitgrain_gpu::{Device, DeviceMatrix, DeviceNetwork, DeviceOptions, Traffic};
use bitgrain_nn::network::embed::SentenceEncoder;

const SIDE: usize = 4096;
const FORMATS: [&str; 8] = ["float32", "float16", "int8", "q8_0", "q4_k", "int4", "ternary", "binary"];

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open(&DeviceOptions::default())?;
    println!("{}", device.adapter());
    let values: Vec<f32> = (0..SIDE * SIDE).map(|i| ((i % 8191) as f32 / 4096.0 - 1.0) * 0.02).collect();
    for name in FORMATS {
        let tensor = QuantizedTensor::quantize(name.parse::<WeightFormat>()?, &values, SIDE)?;
        let matrix = DeviceMatrix::upload(&device, &tensor)?;
        for rows in [1, 32, 256] {
            let x = vec![0.5; rows * SIDE];
            let before = device.traffic();
            matrix.multiply(&x, rows)?;
            print(&format!("{name}, {} bytes, {rows} rows", matrix.bytes()), device.traffic().since(before));
        }
    }
    let Some(folder) = std::env::args().nth(1) else { return Ok(()) };
    let mut encoder = SentenceEncoder::open(folder)?;
    for name in FORMATS {
        encoder.morph(name.parse::<WeightFormat>()?)?;
        let network = DeviceNetwork::upload(&device, encoder.network())?;
        let sentence = "The committee will publish its report on the new bridge next week.";
        println!("{name}: {} bytes of weights, {} tokens", network.bytes(), encoder.tokens(sentence).len());
        let before = device.traffic();
        encoder.embed_with(&[sentence], |batch| Ok::<_, Box<dyn Error>>(network.forward(batch)?))?;
        print(&format!("{name}, one sentence"), device.traffic().since(before));
    }
    Ok(())
}

fn print(label: &str, work: Traffic) {
    let Traffic { dispatches, submissions, moved, uploaded, downloaded } = work;
    println!(
        "{label}: {dispatches} kernels in {submissions} submissions, {moved} bytes moved, {uploaded} uploaded, {downloaded} downloaded"
    );
}
