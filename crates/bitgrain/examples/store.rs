//! Keeps tensors in a folder, each with a guaranteed error bound: `cargo run --release --example store`

use std::error::Error;

use bitgrain::store::{PutOptions, StoreConfig, TensorStore};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = TensorStore::open(folder.path(), StoreConfig::default())?;

    let values: Vec<f32> = (0..6400_u16).map(|i| (f32::from(i) * 0.01).sin()).collect();
    let cost = store.put("waves", &[100, 64], &values)?;
    println!("waves: {} bits, error {:.5}, at most {:.5}", cost.bits, cost.measured, cost.bound);

    // An error limit also holds for later re-encodings.
    let careful = PutOptions { max_error: Some(0.01), ..PutOptions::default() };
    store.put_with("careful", &[6400], &values, &careful)?;

    // Acknowledged writes survive a crash: open the folder again and decode two rows.
    store.close()?;
    let store = TensorStore::open(folder.path(), StoreConfig::default())?;
    let rows = store.get_rows("waves", 10..12)?;
    println!("rows 10 and 11 of waves have shape {:?}", rows.shape);
    assert_eq!(rows.shape, [2, 64]);
    store.close()?;
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
