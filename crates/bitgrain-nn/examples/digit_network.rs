//! Trains the digit network of the playground: `cargo run --release -p bitgrain-nn --example digit_network -- FILE`
//!
//! Writes the classifier of `bitgrain_nn::network::sample` at f32 to a .safetensors or .json file. Training is
//! deterministic, so the bytes are too.

use std::error::Error;

use bitgrain_nn::network::sample::classifier;
use bitgrain_nn::network::save::Contents;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("missing output file; name a .safetensors or .json file")?;
    classifier(20)?.network.save(path, Contents::Active)?;
    Ok(())
}
