//! Atomic writing of CSV and Parquet files.

mod csv;
#[cfg(feature = "table")]
mod parquet;

#[cfg(feature = "table")]
use std::collections::HashSet;
use std::io::{BufWriter, IntoInnerError, Write};
#[cfg(feature = "table")]
use std::ops::Range;
use std::path::Path;

use bitgrain_files::PartFile;

use super::{Table, TableError};

pub(super) use csv::number;

impl Table {
    /// Writes a file: `.csv`, `.tsv` or `.parquet`. The file gets its name once it is complete.
    ///
    /// # Errors
    /// Returns [`TableError::UnknownOutput`], [`TableError::Sparse`], or [`TableError::Io`] if the file cannot be
    /// written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TableError> {
        let path = path.as_ref();
        if self.sparse.is_some() {
            return Err(TableError::Sparse);
        }
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let write: fn(&Self, &mut BufWriter<PartFile>) -> std::io::Result<()> = match extension.as_deref() {
            Some("csv") => |table, out| csv::write(table, b',', out),
            Some("tsv") => |table, out| csv::write(table, b'\t', out),
            #[cfg(feature = "table")]
            Some("parquet" | "pq") => parquet::write,
            _ => return Err(TableError::UnknownOutput { path: path.to_owned() }),
        };
        let mut file = BufWriter::new(PartFile::create(path).map_err(TableError::io(path))?);
        write(self, &mut file)
            .and_then(|()| file.into_inner().map_err(IntoInnerError::into_error)?.publish())
            .map_err(TableError::io(path))
    }

    /// Writes the table as CSV.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write_csv(&self, out: &mut dyn Write) -> std::io::Result<()> {
        csv::write(self, b',', out)
    }
}

/// Streams columns of f32 to a Parquet file: `part` returns the values of a column, by its index in `names`, for a
/// range of the `n_rows` rows. The file gets its name once it is complete.
///
/// ```
/// use bitgrain_gbdt::table::{Table, TableError, write_parquet};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("waves.parquet");
/// let wave = |at: usize, row: usize| (row as f32 * 0.1 + at as f32).sin();
/// write_parquet(&path, &["sine", "later"], 100, |at, rows| {
///     Ok::<_, TableError>(rows.map(|row| wave(at, row)).collect())
/// })?;
/// let table = Table::read(&path)?;
/// assert_eq!((table.n_rows(), &*table.columns()[1].name), (100, "later"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`TableError::DuplicateColumn`], [`TableError::Io`] if the file cannot be written, and the errors of `part`.
#[cfg(feature = "table")]
pub fn write_parquet<E: From<TableError>>(
    path: &Path,
    names: &[&str],
    n_rows: usize,
    mut part: impl FnMut(usize, Range<usize>) -> Result<Vec<f32>, E>,
) -> Result<(), E> {
    let mut seen = HashSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(**name)) {
        return Err(TableError::DuplicateColumn { name: (*name).to_owned() }.into());
    }
    let mut file = BufWriter::new(PartFile::create(path).map_err(TableError::io(path))?);
    let mut failed = None;
    let written = parquet::write_floats(names, n_rows, &mut file, |at, rows| match part(at, rows) {
        Ok(values) => Some(values),
        Err(error) => {
            failed = Some(error);
            None
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    Ok(written
        .and_then(|()| file.into_inner().map_err(IntoInnerError::into_error)?.publish())
        .map_err(TableError::io(path))?)
}
