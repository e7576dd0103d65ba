//! Parquet files: round trips and corruption. Files of other writers: `oracles/test_tables.py`.

use bitgrain_gbdt::table::{Column, ColumnData, Numbers, ReadOptions, StringColumn, Table};

use super::{message, shown};

fn column(name: &str, data: ColumnData) -> Column {
    Column { name: name.to_owned(), data }
}

fn sample() -> Table {
    Table::new(vec![
        column("short", ColumnData::F32(vec![1.5, f32::NAN, -3.0])),
        column("long", ColumnData::F64(vec![0.1, 1e300, f64::NAN])),
        column("word", ColumnData::Strings(StringColumn::new([Some("b"), None, Some("a")]))),
    ])
    .expect("a table")
}

#[test]
fn a_table_round_trips() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["t.parquet", "t.csv", "t.tsv"] {
        let path = folder.path().join(name);
        sample().write(&path).expect("written");
        let back = Table::read(&path).expect("read");
        assert_eq!(back.n_rows(), 3, "{name}");
        for column in sample().columns() {
            assert_eq!(shown(&back, &column.name), shown(&sample(), &column.name), "{name}");
            let of = |table: &Table| std::mem::discriminant(&table.column(&column.name).expect("a column").data);
            assert_eq!(of(&back), of(&sample()), "{name}: {}", column.name);
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 3, "no temporary file stays");
}

#[test]
fn bytes_in_memory_are_read_like_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    sample().write(&path).expect("written");
    let bytes = std::fs::read(&path).expect("read");
    let read = |bytes: &[u8]| Table::from_bytes(bytes, "t.parquet".as_ref(), &ReadOptions::default());
    let back = read(&bytes).expect("a table");
    assert_eq!(back.n_rows(), 3);
    for column in sample().columns() {
        assert_eq!(shown(&back, &column.name), shown(&sample(), &column.name));
    }
    for len in 0..bytes.len() {
        let error = read(&bytes[..len]).expect_err("truncated").to_string();
        assert!(error.contains("t.parquet"), "{len} bytes: {error}");
    }
}

#[test]
fn many_row_groups_are_one_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    let rows = (1 << 20) + 5;
    let words: Vec<String> = (0..rows).map(|row| format!("w{}", (row * 7 + 3) % 11)).collect();
    let table = Table::new(vec![
        column("n", ColumnData::F32((0..rows).map(|row| row as f32).collect())),
        column("w", ColumnData::Strings(StringColumn::new(words.iter().map(|word| Some(word.as_str()))))),
    ])
    .expect("a table");
    table.write(&path).expect("written");
    assert_eq!(Table::read(&path).expect("read"), table);
}

#[test]
fn f64_is_rounded_and_columns_are_ignored_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    sample().write(&path).expect("written");
    let options = ReadOptions { numbers: Numbers::F32, skip: vec!["word".into()], ..ReadOptions::default() };
    let table = Table::read_with(&path, &options).expect("read");
    assert_eq!(table.columns().len(), 2);
    assert!(matches!(&table.columns()[1].data, ColumnData::F32(values) if values[0] == 0.1 && values[1].is_infinite()));
    let options = ReadOptions { text: vec!["short".into()], ..ReadOptions::default() };
    assert_eq!(shown(&Table::read_with(&path, &options).expect("read"), "short"), "'1.5' - '-3'");
}

#[test]
fn a_table_without_rows_keeps_its_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    let empty = Table::new(vec![column("a", ColumnData::F32(Vec::new()))]).expect("a table");
    empty.write(&path).expect("written");
    assert_eq!(Table::read(&path).expect("read"), empty);
}

#[test]
fn every_truncation_and_many_flipped_bytes_are_a_table_or_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    sample().write(&path).expect("written");
    let bytes = std::fs::read(&path).expect("read");
    // Some of these make the page reader panic, which is caught; the panic messages are its own.
    for len in 0..bytes.len() {
        std::fs::write(&path, &bytes[..len]).expect("written");
        assert!(Table::read(&path).is_err(), "cut to {len} bytes");
    }
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bad = bytes.clone();
            bad[at] ^= flip;
            std::fs::write(&path, &bad).expect("written");
            if let Ok(table) = Table::read(&path) {
                assert!(table.columns().iter().all(|column| column.data.len() == table.n_rows()));
            }
        }
    }
}

#[test]
fn files_other_than_parquet_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, "a,b\n1,2\n").expect("written");
    let said = message(Table::read(&path));
    assert!(said.contains("t.parquet cannot be read as Parquet: "), "{said}");
    std::fs::write(&path, "").expect("written");
    assert!(message(Table::read(&path)).ends_with("t.parquet: the file is empty"));
}

/// An unknown footer field with 2³¹ - 1 booleans, which take no bytes: skipping them would take seconds.
#[test]
fn a_footer_with_a_list_of_booleans_is_rejected() {
    const FIELD: [u8; 9] = [0x09, 0xc8, 0x01, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    sample().write(&path).expect("written");
    let mut bytes = std::fs::read(&path).expect("readable");
    let end = bytes.len() - 8;
    let size = u32::from_le_bytes(*bytes[end..].first_chunk().expect("the size of the footer"));
    bytes[end..end + 4].copy_from_slice(&(size + 9).to_le_bytes());
    bytes.splice(end - 1..end - 1, FIELD); // before the byte that ends the footer
    std::fs::write(&path, bytes).expect("written");
    let message = message(Table::read(&path));
    assert!(message.contains("corrupt footer") && message.contains("list of booleans"), "{message}");
}
