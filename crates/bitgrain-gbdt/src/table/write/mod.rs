//! Tables into files: CSV and Parquet, whole or not at all.

mod csv;
mod parquet;
mod part_file;

use std::io::Write;
use std::path::Path;

use self::part_file::PartFile;
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
        let write: fn(&Self, &mut PartFile) -> std::io::Result<()> = match extension.as_deref() {
            Some("csv") => |table, out| csv::write(table, b',', out),
            Some("tsv") => |table, out| csv::write(table, b'\t', out),
            Some("parquet" | "pq") => parquet::write,
            _ => return Err(TableError::UnknownOutput { path: path.to_owned() }),
        };
        let mut file = PartFile::create(path).map_err(TableError::io(path))?;
        write(self, &mut file).and_then(|()| file.publish()).map_err(TableError::io(path))
    }

    /// Writes the text of a CSV file.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_csv(&self, out: &mut dyn Write) -> std::io::Result<()> {
        csv::write(self, b',', out)
    }
}
