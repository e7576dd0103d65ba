//! `Table`: a CSV or libsvm file in memory.

use std::path::Path;

use bitgrain::gbdt::table::{ColumnData, Numbers, ReadOptions, Table as Rows, Task};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};
use crate::options;

/// A table read from a CSV or libsvm file, also gzipped.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Table {
    /// Read again for prediction, with the types and the precision that a model needs.
    bytes: Vec<u8>,
    name: String,
    rows: Rows,
}

/// A column, for display.
#[derive(Serialize)]
struct ColumnReport<'a> {
    name: &'a str,
    kind: &'static str,
    /// Task that is inferred if this column is the target.
    task: &'static str,
    reason: String,
}

#[wasm_bindgen]
impl Table {
    /// Reads the bytes of a file. The format is recognized from the name, then from the first bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: Vec<u8>, name: Option<String>) -> Result<Self> {
        let name = name.unwrap_or_else(|| "table".to_owned());
        // Training rounds to f32 anyway.
        let options = ReadOptions { numbers: Numbers::F32, ..ReadOptions::default() };
        let rows = Rows::from_bytes(&bytes, Path::new(&name), &options).map_err(js)?;
        Ok(Self { bytes, name, rows })
    }

    /// Number of rows.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// Columns with their kind, and the task that would be inferred with each as the target.
    #[wasm_bindgen(getter, unchecked_return_type = "TableColumn[]")]
    pub fn columns(&self) -> Result<JsValue> {
        let report = |column| {
            let inferred = Task::infer(column);
            ColumnReport {
                name: &column.name,
                kind: if matches!(column.data, ColumnData::Strings(_)) { "string" } else { "number" },
                task: match inferred.task {
                    Task::Regression => "regression",
                    Task::Binary => "binary",
                    Task::Multiclass { .. } => "multiclass",
                },
                reason: inferred.reason,
            }
        };
        options::write(&self.rows.columns().iter().map(report).collect::<Vec<_>>())
    }
}

impl Table {
    /// Reads the table with other options.
    pub(super) fn read(&self, options: &ReadOptions) -> Result<Rows> {
        Rows::from_bytes(&self.bytes, Path::new(&self.name), options).map_err(js)
    }

    /// Returns the table for training, without some columns.
    pub(super) fn without(&self, ignored: &[String]) -> Result<Rows> {
        let mut rows = self.rows.clone();
        for name in ignored {
            rows.take(name).map_err(js)?;
        }
        Ok(rows)
    }
}
