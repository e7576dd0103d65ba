//! How a file is read.

use std::path::Path;

use super::TableError;

/// How a file is read. The defaults find out by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// What the file is; by its name, and then by its first bytes, if not given.
    pub format: Option<FileFormat>,
    /// Whether the first record of a CSV file names the columns. Not given, it does if none of its fields is a number.
    pub header: Option<bool>,
    /// Between the fields of a CSV file: a comma, semicolon, tab or bar, whichever the first line has most of, if not
    /// given.
    pub delimiter: Option<u8>,
    /// What stands for a missing value in a CSV file, besides NaN.
    pub missing: Vec<String>,
    /// Columns that are texts, whatever they look like: `00123`.
    pub text: Vec<String>,
    /// Columns to pass over.
    pub skip: Vec<String>,
    /// Columns to read, if the file has them all; otherwise all are read, so that what is missing can be told.
    pub only: Option<Vec<String>>,
    /// How numbers are kept.
    pub numbers: Numbers,
}

/// Kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Records of fields, as text.
    Csv,
    /// Columns in pages.
    Parquet,
    /// Sparse rows, as text.
    Libsvm,
}

impl FileFormat {
    /// What a file is by its name; `None` if that says nothing.
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

/// How numbers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbers {
    /// In f32 if that holds every number of a column exactly, else in f64: for models that compare in f64.
    #[default]
    Exact,
    /// Rounded to the nearest f32, which is what training and our own models do with them: half the memory.
    F32,
}

/// What pandas takes for missing, and the question mark of older collections.
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
    /// Which of the columns of a file are read. Of nested ones (`a.list.element`), the outer name skips all.
    ///
    /// # Errors
    /// [`TableError::MissingColumns`] if one that is to be skipped is not there.
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
