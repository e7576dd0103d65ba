//! Reading and writing tables: Parquet, CSV, libsvm. Spec: `spec/tables.md`.
//!
//! A [`Table`] holds columns of numbers or strings. For training, [`Table::into_training`] splits it into features,
//! targets and weights; for prediction, [`Table::align`] picks the columns that a model was trained on.
//!
//! ```
//! use bitgrain_gbdt::table::{ColumnRoles, ReadOptions, Table};
//! let csv = b"age,city,bought\n31,Rome,yes\n27,,no\n,Oslo,no\n";
//! let table = Table::from_csv(csv, "shop.csv".as_ref(), &ReadOptions::default())?;
//! let table = table.into_training(&ColumnRoles::target("bought"), None)?;
//! assert_eq!(table.objective_name(), "binary");
//! assert_eq!((&table.target().values[..], &table.target().labels[1][..]), (&[1.0, 0.0, 0.0][..], "yes"));
//! assert_eq!(table.matrix().schema().names(), ["age", "city"]);
//! assert_eq!(table.matrix().schema().labels(1), ["Oslo", "Rome"]); // strings are categories: Oslo is 0, Rome is 1
//! # Ok::<(), bitgrain_gbdt::table::TableError>(())
//! ```

mod align;
mod binned;
mod column;
mod csv;
mod error;
mod fold;
mod groups;
mod libsvm;
mod matrix;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod piece;
mod sniff;
mod sparse;
mod summary;
mod target;
mod task;
mod training;
mod words;
mod write;

use std::collections::HashSet;
use std::path::Path;

pub use binned::{
    BinOptions, BinPass, BinProgress, BinnedTable, BinnedTableError, BlockColumn, TableBlocks, TableFiles,
};
pub use column::{Column, ColumnData, StringColumn};
pub use error::TableError;
pub use fold::Fold;
pub use groups::groups;
pub use matrix::Matrix;
pub use options::{FileFormat, Numbers, ReadOptions};
pub use sparse::Sparse;
pub use summary::Summary;
pub use target::{Target, weights};
pub use task::{InferredTask, Task};
pub use training::{ColumnRoles, TrainingTable};
pub use write::write_parquet;

/// Columns of equal length, or a libsvm file: sparse features with the columns `label`, `weight` and `qid`.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    sparse: Option<Sparse>,
    n_rows: usize,
    /// Whether the names come from the file rather than being `f0`, `f1` and so on.
    named: bool,
}

impl Table {
    /// Creates a table from columns.
    ///
    /// # Errors
    /// Returns [`TableError::DuplicateColumn`] or [`TableError::RowCount`].
    pub fn new(columns: Vec<Column>) -> Result<Self, TableError> {
        let n_rows = columns.first().map_or(0, |column| column.data.len());
        let mut seen = HashSet::new();
        for column in &columns {
            if !seen.insert(column.name.as_str()) {
                return Err(TableError::DuplicateColumn { name: column.name.clone() });
            }
            if column.data.len() != n_rows {
                let (name, found) = (column.name.clone(), column.data.len());
                return Err(TableError::RowCount { name, found, expected: n_rows });
            }
        }
        Ok(Self { columns, sparse: None, n_rows, named: true })
    }

    /// Creates a table from row-major values, with one column per name.
    ///
    /// ```
    /// use bitgrain_gbdt::table::Table;
    /// let table = Table::from_rows(&[1.0, 2.0, 3.0, 4.0], vec!["x".into(), "y".into()])?;
    /// assert_eq!(table.n_rows(), 2);
    /// # Ok::<(), bitgrain_gbdt::table::TableError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub fn from_rows(values: &[f64], names: Vec<String>) -> Result<Self, TableError> {
        let count = names.len();
        let column = |at: usize| ColumnData::F64(values.iter().skip(at).step_by(count).copied().collect());
        Self::new(names.into_iter().enumerate().map(|(at, name)| Column { name, data: column(at) }).collect())
    }

    /// Reads a file by its extension: `.csv`, `.tsv` (also gzipped: `.csv.gz`), `.parquet`, `.libsvm`, `.svm`; other
    /// files are recognized by their first bytes.
    ///
    /// # Errors
    /// Returns a [`TableError`] with the path, and with the line for text formats.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TableError> {
        Self::read_with(path, &ReadOptions::default())
    }

    /// Reads a file with options.
    ///
    /// # Errors
    /// Returns a [`TableError`] with the path, and with the line for text formats.
    pub fn read_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, TableError> {
        let path = path.as_ref();
        let format = match options.format {
            Some(format) => format,
            None => sniff::format_of(path)?,
        };
        match format {
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => parquet::read(path, options),
            #[cfg(not(feature = "parquet"))]
            FileFormat::Parquet => Err(TableError::NoParquet { path: path.to_owned() }),
            FileFormat::Csv => Self::from_csv(&sniff::bytes_of(path)?, path, options),
            FileFormat::Libsvm => libsvm::read(&sniff::bytes_of(path)?, path),
        }
    }

    /// Reads a file from memory; CSV and libsvm are decompressed if they are gzipped. The format is recognized as in
    /// [`read`](Self::read); `path` is only a name.
    ///
    /// ```
    /// use bitgrain_gbdt::table::{ReadOptions, Table};
    /// let table = Table::from_bytes(b"a;b\n1;2\n", "points.csv".as_ref(), &ReadOptions::default())?;
    /// assert_eq!(table.columns()[1].name, "b");
    /// # Ok::<(), bitgrain_gbdt::table::TableError>(())
    /// ```
    ///
    /// # Errors
    /// Returns a [`TableError`] with the line, or [`TableError::NoParquet`] for a Parquet file without the feature `parquet`.
    pub fn from_bytes(bytes: &[u8], path: &Path, options: &ReadOptions) -> Result<Self, TableError> {
        let bytes = sniff::unzipped(bytes).map_err(TableError::io(path))?;
        match options.format.or_else(|| FileFormat::of_name(path)).unwrap_or_else(|| sniff::format_in(&bytes)) {
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => parquet::from_bytes(bytes.into_owned(), path, options),
            #[cfg(not(feature = "parquet"))]
            FileFormat::Parquet => Err(TableError::NoParquet { path: path.to_owned() }),
            FileFormat::Csv => Self::from_csv(&bytes, path, options),
            FileFormat::Libsvm => libsvm::read(&bytes, path),
        }
    }

    /// Reads CSV from memory; `path` is used in error messages.
    ///
    /// # Errors
    /// Returns a [`TableError`] with the line.
    pub fn from_csv(bytes: &[u8], path: &Path, options: &ReadOptions) -> Result<Self, TableError> {
        csv::read(bytes, path, options)
    }

    /// Columns of the table. A libsvm file has `label` and, if its lines have them, `weight` and `qid`.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Sparse features of a libsvm file.
    #[must_use]
    pub fn sparse(&self) -> Option<&Sparse> {
        self.sparse.as_ref()
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Returns a column by name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    pub(crate) fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Removes a column from the table: the target, the weights, or any other column that is not a feature.
    ///
    /// # Errors
    /// Returns [`TableError::MissingColumns`].
    pub fn take(&mut self, name: &str) -> Result<Column, TableError> {
        match self.columns.iter().position(|column| column.name == name) {
            Some(at) => Ok(self.columns.remove(at)),
            None => Err(TableError::MissingColumns { missing: vec![name.to_owned()], found: self.names() }),
        }
    }

    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }
}
