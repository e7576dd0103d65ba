//! Options for reading files.

use std::path::Path;

use super::TableError;
use crate::model::{Comparison, Input, InputKind, Model};

/// Options for reading a file. By default everything is inferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Format of the file; inferred from its name, then from its first bytes, by default.
    pub format: Option<FileFormat>,
    /// Whether the first CSV record is a header. By default it is one if none of its fields is a number.
    pub header: Option<bool>,
    /// CSV delimiter; by default whichever of comma, semicolon, tab and vertical bar occurs most often in the first line.
    pub delimiter: Option<u8>,
    /// Strings that mark missing values in CSV, in addition to NaN.
    pub missing: Vec<String>,
    /// Columns to read as strings even if they look like numbers, such as `00123`.
    pub text: Vec<String>,
    /// Columns to skip.
    pub skip: Vec<String>,
    /// Columns to read. If the file lacks any of them, all columns are read, so that the error can list them.
    pub only: Option<Vec<String>>,
    /// Storage precision of numbers.
    pub numbers: Numbers,
}

/// File formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Comma-separated values, or another delimiter.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// Sparse rows in text form.
    Libsvm,
}

impl FileFormat {
    /// Infers the format from a file name; `None` if the extension is unknown.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match Path::new(name).extension()?.to_str()? {
            "csv" | "tsv" | "tab" => Some(Self::Csv),
            "parquet" | "pq" => Some(Self::Parquet),
            "libsvm" | "svm" | "svmlight" => Some(Self::Libsvm),
            _ => None,
        }
    }
}

/// Storage precision of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbers {
    /// f32 if it is exact for all numbers of a column, else f64; for models that compare in f64.
    #[default]
    Exact,
    /// Rounded to the nearest f32, as training and our own models do: half the memory.
    F32,
}

/// Markers of missing values in pandas, and the question mark of older datasets.
const MISSING: [&str; 15] =
    ["", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "NaN", "nan", "-nan", "NULL", "null", "None", "none", "?"];

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            header: None,
            delimiter: None,
            missing: MISSING.map(str::to_owned).into(),
            text: Vec::new(),
            skip: Vec::new(),
            only: None,
            numbers: Numbers::default(),
        }
    }
}

impl ReadOptions {
    /// Returns options that read the features of a model: its columns, with the precision in which it compares values,
    /// and categories with labels as strings.
    #[must_use]
    pub fn for_model(model: &Model) -> Self {
        let has_labels =
            |input: &&Input| matches!(&input.kind, InputKind::Categorical { labels, .. } if !labels.is_empty());
        let name = |input: &Input| input.name.clone();
        Self {
            text: model.inputs.iter().filter(has_labels).map(name).collect(),
            only: Some(model.inputs.iter().map(name).collect()),
            numbers: match model.comparison {
                Comparison::F32 => Numbers::F32,
                Comparison::F64 => Numbers::Exact,
            },
            ..Self::default()
        }
    }

    /// Returns which columns of a file are read. The outer name of nested columns (`a.list.element`) skips them all.
    ///
    /// # Errors
    /// Returns [`TableError::MissingColumns`] if a column to skip does not exist.
    pub(super) fn wanted(&self, names: &[String]) -> Result<Vec<bool>, TableError> {
        let is_in = |name: &str, outer: &str| {
            name.strip_prefix(outer).is_some_and(|inner| inner.is_empty() || inner.starts_with('.'))
        };
        let nowhere = |skipped: &&String| !names.iter().any(|name| is_in(name, skipped));
        let missing: Vec<String> = self.skip.iter().filter(nowhere).cloned().collect();
        if !missing.is_empty() {
            return Err(TableError::MissingColumns { missing, found: names.to_vec() });
        }
        let only = self.only.as_ref().filter(|only| only.iter().all(|name| names.contains(name)));
        let skipped = |name: &str| self.skip.iter().any(|skipped| is_in(name, skipped));
        let wanted = |name: &String| !skipped(name) && only.is_none_or(|only| only.contains(name));
        Ok(names.iter().map(wanted).collect())
    }
}
