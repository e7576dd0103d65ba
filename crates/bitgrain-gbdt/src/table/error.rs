//! What can be wrong with tables and their files.

use std::io;
use std::path::{Path, PathBuf};

use bitgrain_formats::csv::CsvError;
use bitgrain_formats::libsvm::LibsvmError;

use crate::SampleError;
use crate::objective::ObjectiveError;

/// Why a table could not be read, used or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Nothing in it.
    #[error("{} holds nothing", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A name from which no format follows.
    #[error("{}: write to a file that ends in .csv, .tsv or .parquet", path.display())]
    UnknownOutput {
        /// The file.
        path: PathBuf,
    },
    /// Not CSV.
    #[error("{}, {source}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// What is wrong, and in which line.
        source: CsvError,
    },
    /// A record with more or fewer fields than there are columns.
    #[error("{}, line {line}: {found} fields, not {expected} as in the first line", path.display())]
    Ragged {
        /// The file.
        path: PathBuf,
        /// Where it begins, counted from 1.
        line: usize,
        /// Fields it has.
        found: usize,
        /// Fields it should have.
        expected: usize,
    },
    /// A text that is not UTF-8.
    #[error("{}, line {line}: column {column} holds text that is not UTF-8; convert the file first", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Where the record begins, counted from 1.
        line: usize,
        /// The column.
        column: String,
    },
    /// Not libsvm.
    #[error("{}, {source}", path.display())]
    Libsvm {
        /// The file.
        path: PathBuf,
        /// What is wrong, and in which line.
        source: LibsvmError,
    },
    /// Not Parquet, or damaged.
    #[error("{} cannot be read as Parquet{}: {reason}", path.display(), place(column.as_deref()))]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The column, if it is about one.
        column: Option<String>,
        /// What its reader says.
        reason: String,
    },
    /// A column of a kind that has no number or text in each row.
    #[error("{}: column {column} holds {kind}; leave it out, or store it as numbers or texts", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// What it holds.
        kind: String,
    },
    /// Two columns of one name.
    #[error("two columns are named {name}; rename one of them")]
    DuplicateColumn {
        /// The name.
        name: String,
    },
    /// Columns of different lengths.
    #[error("column {name} has {found} rows, not {expected}")]
    RowCount {
        /// The column.
        name: String,
        /// Rows it has.
        found: usize,
        /// Rows of the table.
        expected: usize,
    },
    /// Columns that are not there.
    #[error("the table has no column {}; it has {}", quoted(missing), quoted(found))]
    MissingColumns {
        /// What was asked for.
        missing: Vec<String>,
        /// What there is.
        found: Vec<String>,
    },
    /// Texts where numbers are needed.
    #[error("column {column} holds texts (such as `{example}`), numbers are needed")]
    NotNumeric {
        /// The column.
        column: String,
        /// One of them.
        example: String,
    },
    /// A target or weight that is missing or invalid.
    #[error("column `{column}`: {source}")]
    Sample {
        /// The column.
        column: String,
        /// The row, and what is wrong with it.
        source: SampleError,
    },
    /// A target that is not finite as f32.
    #[error(
        "column `{column}`: target {value:?} of row {row} (0-based) is not a finite f32; drop or rescale such rows"
    )]
    TargetRange {
        /// The column.
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
        /// The column.
        column: String,
        /// Index of the first such row.
        row: usize,
        /// Value of that row.
        value: f64,
    },
    /// A class that training did not know.
    #[error("column {column}, row {row}: {value} is none of the {classes} classes of the training data")]
    UnknownClass {
        /// The column.
        column: String,
        /// The first such row.
        row: usize,
        /// What it holds.
        value: String,
        /// Classes there are.
        classes: usize,
    },
    /// A target that is the same everywhere.
    #[error("column {column} holds only one class, {class}: there is nothing to tell apart")]
    OneClass {
        /// The target.
        column: String,
        /// Its only class.
        class: String,
    },
    /// A table without a target.
    #[error("missing target: name the column to predict; the table has {}", quoted(found))]
    NoTarget {
        /// Columns of the table.
        found: Vec<String>,
    },
    /// Balanced classes where the target has none.
    #[error("balanced class weights need classes, but `{objective}` predicts numbers")]
    NoClasses {
        /// The objective.
        objective: String,
    },
    /// An objective that is unknown or does not fit the target.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// A sparse part among columns.
    #[error("the features of a libsvm file have no columns of their own")]
    Sparse,
}

impl TableError {
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }

    pub(super) fn parquet<'a, E: ToString>(path: &'a Path, column: Option<&'a str>) -> impl Fn(E) -> Self + 'a {
        move |error| Self::Parquet {
            path: path.to_owned(),
            column: column.map(str::to_owned),
            reason: error.to_string(),
        }
    }
}

fn place(column: Option<&str>) -> String {
    column.map_or_else(String::new, |column| format!(" (column {column})"))
}

/// Names in quotes, as many as a person reads.
fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut list: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        list.push(format!("{} more", names.len() - SHOWN));
    }
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}
