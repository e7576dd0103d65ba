//! Quantizes weights and prints the error of each format: `cargo run --release --example quantize`

use std::error::Error;

use bitgrain::codec::weight::{Calibration, DType, QuantizedTensor, ScaledFormat, WeightFormat};

fn main() -> Result<(), Box<dyn Error>> {
    // 64 rows of 256 weights.
    let weights: Vec<f32> = (0..64 * 256_u16).map(|i| (f32::from(i) * 0.37).sin() * 0.1).collect();
    let calibrated = ScaledFormat::new(DType::Int4).with_calibration(Calibration::MeanSquaredError);
    let formats: [WeightFormat; 4] = ["int8".parse()?, "q4_k".parse()?, "int4".parse()?, calibrated.into()];
    println!("format, bits per weight, relative RMSE");
    for format in formats {
        let tensor = QuantizedTensor::quantize(format, &weights, 256)?;
        let bits = 8.0 * tensor.bytes() as f64 / weights.len() as f64;
        let error = tensor.error(&weights)?.relative_rmse;
        println!("{format}, {bits:.2}, {error:.4}");
        assert!(error < 0.1);
    }
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
