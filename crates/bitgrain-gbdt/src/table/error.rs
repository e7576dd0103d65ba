//! Errors of tables and their files.

use std::io;
use std::path::{Path, PathBuf};

use bitgrain_formats::csv::CsvError;
use bitgrain_formats::libsvm::LibsvmError;

use crate::objective::ObjectiveError;
use crate::{GroupError, SampleError};

/// Reason why a table cannot be read, used or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// An empty file.
    #[error("{}: the file is empty", path.display())]
    Empty {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file name without a known extension.
    #[error("{}: unknown file extension; use .csv, .tsv or .parquet", path.display())]
    UnknownOutput {
        /// Path of the file.
        path: PathBuf,
    },
    /// A Parquet file in a build without the feature `parquet`, or Parquet output without the feature `table`.
    #[error(
        "{}: this build does not support Parquet; build bitgrain-cli with `--features full`, or the crate bitgrain with \
         the feature `table`, or use CSV",
        path.display()
    )]
    NoParquet {
        /// Path of the file.
        path: PathBuf,
    },
    /// Invalid CSV.
    #[error("{}, {source}", path.display())]
    Csv {
        /// Path of the file.
        path: PathBuf,
        /// The error, with its line.
        source: CsvError,
    },
    /// A record with another number of fields than the first one.
    #[error("{}, line {line}: expected {expected} fields as in the first line, found {found}", path.display())]
    Ragged {
        /// Path of the file.
        path: PathBuf,
        /// 1-based line of the record.
        line: usize,
        /// Number of fields.
        found: usize,
        /// Expected number of fields.
        expected: usize,
    },
    /// A string that is not UTF-8.
    #[error("{}, line {line}: column `{column}` is not valid UTF-8; convert the file first", path.display())]
    NotUtf8 {
        /// Path of the file.
        path: PathBuf,
        /// 1-based line of the record.
        line: usize,
        /// Name of the column.
        column: String,
    },
    /// Invalid libsvm.
    #[error("{}, {source}", path.display())]
    Libsvm {
        /// Path of the file.
        path: PathBuf,
        /// The error, with its line.
        source: LibsvmError,
    },
    /// Invalid Parquet.
    #[error("{} cannot be read as Parquet{}: {reason}", path.display(), place(column.as_deref()))]
    Parquet {
        /// Path of the file.
        path: PathBuf,
        /// Column concerned, if any.
        column: Option<String>,
        /// Message of the Parquet reader.
        reason: String,
    },
    /// A column type without a number or string per row.
    #[error(
        "{}: column `{column}` has unsupported type {kind}; skip it, or store it as numbers or strings",
        path.display()
    )]
    Unsupported {
        /// Path of the file.
        path: PathBuf,
        /// Name of the column.
        column: String,
        /// Description of the type.
        kind: String,
    },
    /// Two columns with the same name.
    #[error("two columns are named `{name}`; rename one of them")]
    DuplicateColumn {
        /// The duplicate name.
        name: String,
    },
    /// Columns of different lengths.
    #[error("column `{name}` has {found} rows, expected {expected}")]
    RowCount {
        /// Name of the column.
        name: String,
        /// Number of rows of the column.
        found: usize,
        /// Number of rows of the table.
        expected: usize,
    },
    /// Missing columns.
    #[error("missing column{}: {}; the table has {}", if missing.len() == 1 { "" } else { "s" }, quoted(missing), quoted(found))]
    MissingColumns {
        /// Requested names.
        missing: Vec<String>,
        /// Names of the table's columns.
        found: Vec<String>,
    },
    /// Strings in a column that must be numeric.
    #[error("column `{column}` holds strings, such as `{example}`; expected numbers")]
    NotNumeric {
        /// Name of the column.
        column: String,
        /// One of the strings.
        example: String,
    },
    /// Queries that are missing or not adjacent.
    #[error("column `{column}`: {source}")]
    Group {
        /// Name of the column.
        column: String,
        /// The error, with its row.
        source: GroupError,
    },
    /// A position that is not an integer.
    #[error("column `{column}`: position {value} of row {row} (0-based) is invalid; expected an integer of at least 0")]
    Position {
        /// Name of the column.
        column: String,
        /// Index of the first such row.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A target or weight that is missing or invalid.
    #[error("column `{column}`: {source}")]
    Sample {
        /// Name of the column.
        column: String,
        /// The error, with its row.
        source: SampleError,
    },
    /// A target that is not finite in f32.
    #[error(
        "column `{column}`: target {value:?} of row {row} (0-based) is not a finite f32; drop or rescale such rows"
    )]
    TargetRange {
        /// Name of the column.
        column: String,
        /// Index of the first such row.
        row: usize,
        /// Target of that row.
        value: f64,
    },
    /// A value of a categorical column that is not a category code.
    #[error(
        "column `{column}`: value {value:?} of row {row} (0-based) is not a category code; codes are integers \
         from 0 to 16777215"
    )]
    Category {
        /// Name of the column.
        column: String,
        /// Index of the first such row.
        row: usize,
        /// Value of that row.
        value: f64,
    },
    /// A class that does not occur in the training data.
    #[error(
        "column `{column}`: unknown class `{value}` in row {row} (0-based); the training data has {classes} classes"
    )]
    UnknownClass {
        /// Name of the column.
        column: String,
        /// Index of the first such row.
        row: usize,
        /// The unknown class.
        value: String,
        /// Number of classes.
        classes: usize,
    },
    /// A target with a single class.
    #[error("column `{column}` has only one class, `{class}`; a classifier needs at least two")]
    OneClass {
        /// Name of the target column.
        column: String,
        /// The only class.
        class: String,
    },
    /// A table without a target.
    #[error("missing target: name the column to predict; the table has {}", quoted(found))]
    NoTarget {
        /// Names of the table's columns.
        found: Vec<String>,
    },
    /// Balanced class weights without classes.
    #[error("balanced class weights need classes, but `{objective}` predicts numbers")]
    NoClasses {
        /// Name of the objective.
        objective: String,
    },
    /// An objective that is unknown or does not match the target.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// An operation on columns of a libsvm table.
    #[error("the sparse features of a libsvm file cannot be accessed as columns")]
    Sparse,
}

impl TableError {
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }

    #[cfg(feature = "parquet")]
    pub(super) fn parquet<'a, E: ToString>(path: &'a Path, column: Option<&'a str>) -> impl Fn(E) -> Self + 'a {
        move |error| Self::Parquet {
            path: path.to_owned(),
            column: column.map(str::to_owned),
            reason: error.to_string(),
        }
    }
}

fn place(column: Option<&str>) -> String {
    column.map_or_else(String::new, |column| format!(" (column `{column}`)"))
}

/// Formats the first few names in backticks for an error message.
fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut list: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        list.push(format!("{} more", names.len() - SHOWN));
    }
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}
