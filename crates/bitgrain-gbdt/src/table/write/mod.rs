//! Atomic writing of CSV and Parquet files.

mod csv;
#[cfg(feature = "table")]
mod parquet;

use std::io::{BufWriter, IntoInnerError, Write};
#[cfg(not(feature = "table"))]
use std::ops::Range;
use std::path::Path;

use bitgrain_files::PartFile;

use super::{Table, TableError};

pub(super) use csv::number;
#[cfg(feature = "table")]
pub use parquet::write_parquet;

impl Table {
    /// Writes a file: `.csv`, `.tsv` or `.parquet`. The file gets its name once it is complete.
    ///
    /// # Errors
    /// Returns [`TableError::UnknownOutput`], [`TableError::Sparse`], [`TableError::NoParquet`] for a Parquet file without the
    /// feature `table`, or [`TableError::Io`] if the file cannot be written.
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
            #[cfg(not(feature = "table"))]
            Some("parquet" | "pq") => return Err(TableError::NoParquet { path: path.to_owned() }),
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

/// Parquet output, which needs the feature `table`.
///
/// # Errors
/// Returns [`TableError::NoParquet`].
#[cfg(not(feature = "table"))]
pub fn write_parquet<E: From<TableError>>(
    path: &Path,
    _names: &[&str],
    _n_rows: usize,
    _part: impl FnMut(usize, Range<usize>) -> Result<Vec<f32>, E>,
) -> Result<(), E> {
    Err(TableError::NoParquet { path: path.to_owned() }.into())
}
