//! The same model from a file as from memory.

use std::fmt::Write;

use bitgrain_gbdt::Quantizer;
use bitgrain_gbdt::gradient::GradientPrecision::{F32, Pair4, Pair8};
use bitgrain_gbdt::train::{Growth, Params, SampleStrategy};

use crate::{HEADER, create, files, in_memory, options, rows, small, train};

/// Compares training from memory, from a file read into memory, and from a file in place, with and without a limit.
fn assert_same(parts: &[&str], columns: (&str, Option<&str>, &[&str]), quantizer: Quantizer, all_params: &[Params]) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = options(columns.0, columns.1, columns.2);
    let table = create(&folder.path().join("t.bins"), &files(folder.path(), parts), &options, quantizer);
    let table = table.expect("binned");
    table.verify().expect("undamaged");
    let (mut memory, objective) = in_memory(&format!("{HEADER}\n{}", parts.concat()), &options, &quantizer);
    assert_eq!(table.cuts(), memory.cuts());
    assert_eq!(table.schema(), memory.schema());
    assert_eq!(table.bytes_per_row(), memory.bytes_per_row());
    assert_eq!(table.objective().expect("known").name(), objective.name());
    let mut data = [
        table.dataset().expect("undamaged"),
        table.dataset_mapped(None).expect("undamaged"),
        table.dataset_mapped(Some(300 << 20)).expect("undamaged"),
    ];
    assert!(!data[0].is_mapped() && data[1].is_mapped());
    for params in all_params {
        let wanted = train(params, table.objective().expect("known"), &mut memory).model;
        assert!(wanted.trees.iter().any(|tree| tree.splits.len() > 3), "{params:?}");
        for data in &mut data {
            let found = train(params, table.objective().expect("known"), data).model;
            assert!(found == wanted, "mapped {}: {params:?}", data.is_mapped());
        }
    }
}

#[test]
fn every_precision_growth_and_sample_gives_the_model_of_memory() {
    let (first, second) = (rows(17_000, 3), rows(9000, 4));
    let of = |gradient_precision, growth| Params { gradient_precision, growth, ..small() };
    let mut all = vec![
        of(F32, Growth::LeafWise),
        of(F32, Growth::DepthWise),
        of(F32, Growth::Symmetric),
        of(Pair8, Growth::LeafWise),
        of(Pair8, Growth::DepthWise),
        of(Pair4, Growth::LeafWise),
    ];
    all.push(Params { subsample: 0.5, subsample_freq: 1, colsample_bytree: 0.7, ..of(Pair8, Growth::LeafWise) });
    all.push(Params { subsample: 0.3, subsample_freq: 2, ..of(F32, Growth::LeafWise) });
    all.push(Params { data_sample_strategy: SampleStrategy::Goss, learning_rate: 0.5, ..of(F32, Growth::LeafWise) });
    assert_same(&[&first, &second], ("y", None, &["kind", "w"]), Quantizer::default(), &all);
}

#[test]
fn weights_samples_and_wide_features_give_the_model_of_memory() {
    let rows = rows(30_000, 5);
    let quantizer = Quantizer::default().with_sample_rows(2000).expect("positive").with_seed(9);
    assert_same(&[&rows], ("y", Some("w"), &["kind"]), quantizer, &[small()]);
    let wide = Quantizer::default().with_max_bin(1500).expect("in range");
    let pair8 = Params { gradient_precision: Pair8, ..small() };
    assert_same(&[&rows], ("y", Some("w"), &["kind"]), wide, &[small(), pair8]);
}

#[test]
fn classes_give_the_model_of_memory() {
    let (first, second) = (rows(3000, 6), rows(1, 7));
    assert_same(&[&first, &second], ("kind", None, &["y", "w"]), Quantizer::default(), &[small()]);
}

/// One-hot columns share a byte. Two of them have a value in the same row once, which only the last pass finds.
#[test]
fn bundles_with_a_late_conflict_give_the_model_of_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..40).map(|at| format!("c{at}")).collect();
    let mut csv = format!("{},y\n", names.join(","));
    for row in 0..60_000 {
        let set = row * 7 % 40;
        let is_set = |at: usize| at == set || row == 31_777 && at == (set + 1) % 40;
        let cells: Vec<&str> = (0..40).map(|at| if is_set(at) { "1" } else { "0" }).collect();
        writeln!(csv, "{},{}", cells.join(","), set % 5 * (row % 3)).expect("a string");
    }
    let path = folder.path().join("hot.csv");
    std::fs::write(&path, &csv).expect("space");
    let options = options("y", None, &[]);
    let table = create(&folder.path().join("hot.bins"), &[path], &options, Quantizer::default()).expect("binned");
    let (mut memory, _) = in_memory(&csv, &options, &Quantizer::default());
    assert!(table.bytes_per_row() < 10, "{} bytes per row", table.bytes_per_row());
    assert_eq!(table.bytes_per_row(), memory.bytes_per_row());
    let wanted = train(&small(), table.objective().expect("known"), &mut memory).model;
    let mut data = table.dataset_mapped(None).expect("undamaged");
    assert!(train(&small(), table.objective().expect("known"), &mut data).model == wanted);
    let some = data.rows(&[5, 3, 59_999]);
    assert!(!some.is_mapped() && some.n_rows() == 3);
    assert_eq!(some.targets()[..], [5, 3, 59_999].map(|row| memory.targets()[row]));
}

#[test]
#[cfg(feature = "table")]
fn parquet_files_give_the_model_of_csv() {
    use bitgrain_gbdt::table::{TableError, write_parquet};
    let folder = tempfile::tempdir().expect("a folder");
    let value = |at: usize, row: usize| {
        let value = (row * [7919, 104_729, 31][at] % 977) as f32;
        if at == 1 && row.is_multiple_of(9) { f32::NAN } else { value }
    };
    let path = folder.path().join("t.parquet");
    let part = |at: usize, rows: std::ops::Range<usize>| Ok::<_, TableError>(rows.map(|row| value(at, row)).collect());
    write_parquet(&path, &["a", "b", "t"], 70_000, part).expect("written");
    let mut csv = String::from("a,b,t\n");
    for row in 0..70_000 {
        writeln!(csv, "{},{},{}", value(0, row), value(1, row), value(2, row)).expect("a string");
    }
    let options = options("t", None, &[]);
    let table = create(&folder.path().join("t.bins"), &[path], &options, Quantizer::default()).expect("binned");
    let (mut memory, objective) = in_memory(&csv, &options, &Quantizer::default());
    let wanted = train(&small(), objective, &mut memory).model;
    let mut data = table.dataset_mapped(None).expect("undamaged");
    assert!(train(&small(), table.objective().expect("known"), &mut data).model == wanted);
}
