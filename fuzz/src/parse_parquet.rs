//! Any bytes as a Parquet file: a typed error, or columns of equal length.
//!
//! Input: the file. Spec: `spec/tables.md`.

use bitgrain::gbdt::table::{FileFormat, ReadOptions, Table};

use crate::folder::Folder;

/// Runs the target on one input; a panic that leaves the reader is a finding.
pub fn run(input: &[u8]) {
    let folder = Folder::holding("table", input);
    let options = ReadOptions { format: Some(FileFormat::Parquet), ..ReadOptions::default() };
    if let Ok(table) = Table::read_with(folder.path().join("table"), &options) {
        assert!(table.columns().iter().all(|column| column.data.len() == table.n_rows()));
    }
}
