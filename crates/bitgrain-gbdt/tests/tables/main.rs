//! Reading and writing tables.
#![cfg(feature = "table")]

mod csv;
mod features;
mod files;
mod models;
mod parquet;
mod ranking;

use bitgrain_gbdt::table::{ColumnData, ReadOptions, Table, TableError};

/// Reads a table from CSV text; the file name in errors is `t.csv`.
fn from_text(text: &str) -> Result<Table, TableError> {
    Table::from_csv(text.as_bytes(), "t.csv".as_ref(), &ReadOptions::default())
}

/// Returns the values of a column as strings; `-` if missing.
fn shown(table: &Table, name: &str) -> String {
    let column = table.column(name).unwrap_or_else(|| panic!("no column {name}"));
    let cells: Vec<String> = match &column.data {
        ColumnData::Strings(text) => {
            (0..text.codes.len()).map(|row| text.get(row).map_or("-".to_owned(), |text| format!("'{text}'"))).collect()
        }
        data => {
            let number = |value: f64| if value.is_nan() { "-".to_owned() } else { value.to_string() };
            data.numbers().expect("numbers").map(number).collect()
        }
    };
    cells.join(" ")
}

fn message<T: std::fmt::Debug>(result: Result<T, TableError>) -> String {
    result.expect_err("bad input").to_string()
}
