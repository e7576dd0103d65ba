//! Trains boosted trees on a table and predicts new rows: `cargo run --release --example train`

use std::error::Error;
use std::path::Path;

use bitgrain::gbdt::table::{ColumnRoles, ReadOptions, Table};
use bitgrain::gbdt::{Params, Predictor, Quantizer, Trainer};

fn main() -> Result<(), Box<dyn Error>> {
    // Apartment prices by size and floor. `Table::read` takes the path of a CSV, Parquet or libsvm file instead.
    let rows: Vec<_> = (0..2000).map(|i| (20 + i % 100, i / 100 % 5)).collect();
    let lines = rows.iter().map(|(size, floor)| format!("{size},{floor},{}\n", 3 * size + 10 * floor));
    let csv = format!("size,floor,price\n{}", lines.collect::<String>());
    let options = ReadOptions::default();
    let table = Table::from_csv(csv.as_bytes(), Path::new("flats.csv"), &options)?;

    // The objective is inferred: more than ten distinct integers make a regression target.
    let table = table.into_training(&ColumnRoles::target("price"), None)?;
    let mut data = table.dataset(&Quantizer::default(), None)?;
    let model = Trainer::new(Params::default(), table.objective()?).train(&mut data)?.model;

    // Columns are matched by name, in any order.
    let flat = Table::from_csv(b"floor,size\n2,90\n", Path::new("new.csv"), &options)?;
    let price = Predictor::new(&model)?.predict(&flat.align(&model.schema())?.features()?)?[0];
    println!("{} trees; a flat of 90 m² on floor 2 costs {price:.0} (290 by the rule)", model.trees.len());
    assert!((price - 290.0).abs() < 10.0);
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
