//! `TableFiles`: CSV and Parquet files as blocks of rows.

use std::path::{Path, PathBuf};

use super::csv_file::CsvFile;
use super::{BinnedTableError, BlockColumn, TableBlocks};
#[cfg(feature = "parquet")]
use crate::table::parquet::ParquetFile;
use crate::table::{FileFormat, ReadOptions, Table, TableError, sniff};

/// Files with the same columns, read one after another as one table.
#[derive(Debug)]
pub struct TableFiles {
    files: Vec<OneFile>,
    columns: Vec<BlockColumn>,
    options: ReadOptions,
}

#[derive(Debug)]
enum OneFile {
    Csv(CsvFile),
    #[cfg(feature = "parquet")]
    Parquet(ParquetFile),
}

impl OneFile {
    fn open(path: &Path, options: &ReadOptions) -> Result<Self, BinnedTableError> {
        match options.format.map_or_else(|| sniff::format_of(path), Ok)? {
            FileFormat::Csv => Ok(Self::Csv(CsvFile::open(path, options)?)),
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => Ok(Self::Parquet(ParquetFile::open(path, options)?)),
            #[cfg(not(feature = "parquet"))]
            FileFormat::Parquet => Err(TableError::NoParquet { path: path.to_owned() }.into()),
            FileFormat::Libsvm => Err(BinnedTableError::Sparse { path: path.to_owned() }),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Csv(file) => file.path(),
            #[cfg(feature = "parquet")]
            Self::Parquet(file) => file.path(),
        }
    }

    fn columns(&self) -> Vec<BlockColumn> {
        match self {
            Self::Csv(file) => file.columns(),
            #[cfg(feature = "parquet")]
            Self::Parquet(file) => file.columns(),
        }
    }
}

impl TableFiles {
    /// Opens files and finds the types of their columns. CSV files are read once for that.
    ///
    /// # Errors
    /// Returns a [`BinnedTableError`] if a file cannot be read, or has other columns than the first one.
    pub fn open(paths: &[PathBuf], options: &ReadOptions) -> Result<Self, BinnedTableError> {
        let mut files =
            paths.iter().map(|path| OneFile::open(path, options)).collect::<Result<Vec<_>, BinnedTableError>>()?;
        let Some(first) = files.first() else { return Err(BinnedTableError::NoFiles) };
        let mut columns = first.columns();
        for file in &files[1..] {
            let own = file.columns();
            let differs = |reason: String| BinnedTableError::Columns {
                path: file.path().to_owned(),
                first: first.path().to_owned(),
                reason,
            };
            let missing = columns.iter().find(|column| own.iter().all(|other| other.name != column.name));
            if let Some(column) = missing {
                return Err(differs(format!("column `{}` is missing", column.name)));
            }
            if own.len() != columns.len() {
                return Err(differs(format!("{} columns instead of {}", own.len(), columns.len())));
            }
        }
        // A column is strings if any CSV file has a string in it: the same as if the files were one.
        for column in &mut columns {
            let mut guesses = files.iter().filter_map(|file| match file {
                OneFile::Csv(file) => file.guess(&column.name),
                #[cfg(feature = "parquet")]
                OneFile::Parquet(_) => None,
            });
            let of_csv = guesses.next().map(|first| guesses.fold(first, super::csv_file::Guess::and));
            column.strings |= of_csv.is_some_and(|guess| guess == super::csv_file::Guess::Strings);
        }
        for column in &columns {
            for file in &mut files {
                match file {
                    OneFile::Csv(file) => file.set_strings(&column.name, column.strings),
                    #[cfg(feature = "parquet")]
                    OneFile::Parquet(file) => {
                        if !file.is_strings(&column.name) && column.strings {
                            return Err(BinnedTableError::Columns {
                                path: file.path().to_owned(),
                                first: paths[0].clone(),
                                reason: format!("column `{}` holds numbers, not strings", column.name),
                            });
                        }
                        if file.is_strings(&column.name) && !column.strings {
                            return Err(BinnedTableError::Columns {
                                path: file.path().to_owned(),
                                first: paths[0].clone(),
                                reason: format!("column `{}` holds strings, not numbers", column.name),
                            });
                        }
                    }
                }
            }
        }
        Ok(Self { files, columns, options: options.clone() })
    }

    /// Paths of the files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(OneFile::path)
    }
}

impl TableBlocks for TableFiles {
    fn columns(&self) -> &[BlockColumn] {
        &self.columns
    }

    fn read(
        &mut self,
        wanted: &[usize],
        visit: &mut dyn FnMut(Table) -> Result<(), BinnedTableError>,
    ) -> Result<(), BinnedTableError> {
        let names: Vec<&str> = wanted.iter().map(|&at| self.columns[at].name.as_str()).collect();
        for file in &self.files {
            match file {
                OneFile::Csv(file) => file.read(&names, &self.options, visit)?,
                #[cfg(feature = "parquet")]
                OneFile::Parquet(file) => file.read(&names, &self.options, visit)?,
            }
        }
        Ok(())
    }
}

/// Returns the error of a table whose columns changed since it was opened.
pub(super) fn changed(path: &Path, name: &str) -> TableError {
    let source = std::io::Error::other(format!("column `{name}` disappeared while the file was read"));
    TableError::Io { path: path.to_owned(), source }
}
