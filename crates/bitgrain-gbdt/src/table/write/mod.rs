//! Tables into files: CSV and Parquet, whole or not at all.

mod csv;
mod parquet;

use std::collections::HashSet;
use std::io::{BufWriter, IntoInnerError, Write};
use std::ops::Range;
use std::path::Path;

use bitgrain_files::PartFile;

use super::{Table, TableError};

pub(super) use csv::number;

impl Table {
    /// Writes a file: `.csv`, `.tsv` or `.parquet`. It takes its name when it is whole.
    ///
    /// # Errors
    /// [`TableError::UnknownOutput`], [`TableError::Sparse`], or what the file system says.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TableError> {
        let path = path.as_ref();
        if self.sparse.is_some() {
            return Err(TableError::Sparse);
        }
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let write: fn(&Self, &mut BufWriter<PartFile>) -> std::io::Result<()> = match extension.as_deref() {
            Some("csv") => |table, out| csv::write(table, b',', out),
            Some("tsv") => |table, out| csv::write(table, b'\t', out),
            Some("parquet" | "pq") => parquet::write,
            _ => return Err(TableError::UnknownOutput { path: path.to_owned() }),
        };
        let mut file = BufWriter::new(PartFile::create(path).map_err(TableError::io(path))?);
        write(self, &mut file)
            .and_then(|()| file.into_inner().map_err(IntoInnerError::into_error)?.publish())
            .map_err(TableError::io(path))
    }

    /// Writes the text of a CSV file.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_csv(&self, out: &mut dyn Write) -> std::io::Result<()> {
        csv::write(self, b',', out)
    }
}

/// Writes columns of f32 to a Parquet file while holding a part of one: `part` gives the values of a column, by its place
/// among `names`, for some of the `n_rows` rows. The file takes its name when it is whole.
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
/// [`TableError::DuplicateColumn`], what the file system says, and what `part` returns.
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
