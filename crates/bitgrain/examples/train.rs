//! Train boosted trees on a table and predict new rows: `cargo run --release --example train`

use std::error::Error;
use std::path::Path;

use bitgrain::gbdt::feature::Quantizer;
use bitgrain::gbdt::objective;
use bitgrain::gbdt::predict::Predictor;
use bitgrain::gbdt::table::{ReadOptions, Table, Target};
use bitgrain::gbdt::train::{Dataset, Params, Trainer};

fn main() -> Result<(), Box<dyn Error>> {
    // Prices of flats: size and floor. `Table::read` takes the path of a CSV, Parquet or libsvm file instead.
    let rows: Vec<_> = (0..2000).map(|i| (20 + i % 100, i / 100 % 5)).collect();
    let lines = rows.iter().map(|(size, floor)| format!("{size},{floor},{}\n", 3 * size + 10 * floor));
    let csv = format!("size,floor,price\n{}", lines.collect::<String>());
    let options = ReadOptions::default();
    let mut table = Table::from_csv(csv.as_bytes(), Path::new("flats.csv"), &options)?;

    let target = Target::numbers(&table.take("price")?)?;
    let matrix = table.into_matrix(&[])?;
    let mut data = Dataset::new(&matrix.features()?, target.values, None, &Quantizer::default())?;
    let trainer = Trainer::new(Params::default(), objective::by_name("squared")?);
    let model = trainer.train(&mut data)?.model;

    // Columns are found by name, in any order.
    let flat = Table::from_csv(b"floor,size\n2,90\n", Path::new("new.csv"), &options)?;
    let price = Predictor::new(&model)?.predict(&flat.align(&model.inputs)?.features()?)?[0];
    println!("{} trees; a flat of 90 m² on floor 2 costs {price:.0} (290 by the rule)", model.trees.len());
    assert!((price - 290.0).abs() < 10.0);
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
