//! Any bytes as CSV and as libsvm: a typed error, or fields and rows that come from the input.
//!
//! Input: the file. Spec: `spec/tables.md`.
#![no_main]

use bitgrain::formats::csv::Records;
use bitgrain::formats::libsvm::Rows;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
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
});
