//! Damaged files.

use bitgrain_gbdt::Quantizer;
use bitgrain_gbdt::table::BinnedTable;

use crate::{create, files, options, rows};

/// Opens the content of a file and reads all of it.
fn read(bytes: &[u8]) -> Result<(), String> {
    let table = BinnedTable::from_bytes("t.bins".as_ref(), bytes.to_vec()).map_err(|error| error.to_string())?;
    let mapped = table.dataset_mapped(None).map(drop).map_err(|error| error.to_string());
    let memory = table.dataset().map(drop).map_err(|error| error.to_string());
    assert_eq!(mapped.is_ok(), memory.is_ok());
    table.verify().map_err(|error| error.to_string())?;
    mapped
}

fn file() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.bins");
    let part = rows(60, 8);
    let options = options("y", Some("w"), &["kind"]);
    create(&path, &files(folder.path(), &[&part]), &options, Quantizer::default()).expect("binned");
    std::fs::read(path).expect("written")
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = file();
    read(&bytes).expect("undamaged");
    for len in 0..bytes.len() {
        assert!(read(&bytes[..len]).is_err(), "{len} bytes of {}", bytes.len());
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(read(&longer).expect_err("one byte more").contains("length mismatch"));
}

#[test]
fn every_flipped_bit_is_an_error() {
    let mut bytes = file();
    for bit in 0..8 * bytes.len() {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&bytes).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn other_files_are_not_binned_tables() {
    let error =
        read(b"GGUF, but long enough to hold a header of sixty-four bytes, or some more.").expect_err("foreign");
    assert!(error.contains("not a binned table"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "a,b\n1,2\n").expect("space");
    assert!(!BinnedTable::detect(&path) && !BinnedTable::detect(folder.path()));
}
