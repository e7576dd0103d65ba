//! Trains a network at f32 and runs it on 4-bit weights: `cargo run --release --example network`

use std::error::Error;
use std::ops::ControlFlow;

use bitgrain::codec::weight::DType;
use bitgrain::nn::network::layer::Layer;
use bitgrain::nn::network::sample::digits;
use bitgrain::nn::network::train::{LossFunction, TrainConfig, evaluate, train};
use bitgrain::nn::network::{Network, Shape};

fn main() -> Result<(), Box<dyn Error>> {
    // 1,797 handwritten digits of 8 × 8 pixels; the last 360 are by writers that do not occur among the others.
    let (known, unknown) = digits()?.split(1437)?;
    let layers = vec![Layer::dense(64), Layer::relu(), Layer::dense(10)];
    let mut network = Network::new(Shape::new(&[64]), layers, 1)?;
    let config = TrainConfig { epochs: 8, ..TrainConfig::adam(3e-3, LossFunction::CrossEntropy) };
    train(&mut network, &known, None, &config, &mut |_| ControlFlow::Continue(()))?;

    for dtype in [DType::Float32, DType::Int8, DType::Int4] {
        network.morph(dtype)?;
        let accuracy = evaluate(&network, &unknown, LossFunction::CrossEntropy)?.accuracy.unwrap_or(0.0);
        println!("{dtype:?}: {:.1} % correct, {} bytes of weights", 100.0 * accuracy, network.active_bytes()?);
        assert!(accuracy > 0.85);
    }
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
