//! Any bytes as CSV and as libsvm: a typed error, or fields, rows and columns that come from the input.
//!
//! Input: the file, gzipped or not. Spec: `spec/tables.md`.

use bitgrain::formats::csv::Records;
use bitgrain::formats::libsvm::Rows;
use bitgrain::gbdt::table::{ReadOptions, Table};

use crate::folder::Folder;

/// The first bytes of gzip.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let table = if input.starts_with(GZIP) {
        Table::read(Folder::holding("table", input).path().join("table"))
    } else {
        Table::from_csv(input, "table.csv".as_ref(), &ReadOptions::default())
    };
    if let Ok(table) = table {
        assert!(table.columns().iter().all(|column| column.data.len() == table.n_rows()));
    }
    let mut records = Records::new(input, b',');
    let (mut fields, mut before) = (Vec::new(), None);
    while let Ok(Some(start)) = records.next_into(&mut fields) {
        assert!(before < Some(start) && start < records.position() && !fields.is_empty());
        assert!(fields.iter().map(|field| field.bytes.len()).sum::<usize>() <= records.position() - start);
        before = Some(start);
    }
    if let Ok(rows) = Rows::parse(input) {
        assert_eq!(rows.row_ptr.len(), rows.labels.len() + 1);
        assert_eq!(rows.row_ptr.last(), Some(&rows.columns.len()));
        for ends in rows.row_ptr.windows(2) {
            assert!(rows.columns[ends[0]..ends[1]].is_sorted_by(|a, b| a < b));
        }
        assert!(rows.columns.iter().all(|column| (*column as usize) < rows.n_features));
    }
}
