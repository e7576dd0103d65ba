//! `ParquetFile`: a Parquet file as blocks of rows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ::parquet::file::metadata::ParquetMetaData;
use rayon::prelude::*;

use super::chunk::ChunkReader;
use super::source::Source;
use super::{Chosen, Kind, as_strings, check_compression, chosen, read_footer, round_if_requested};
use crate::table::binned::{BinnedTableError, BlockColumn};
use crate::table::{Column, ColumnData, Numbers, ReadOptions, Table, TableError};

/// Values of a block of rows: their memory does not depend on the size of the row groups.
const BLOCK_VALUES: usize = 1 << 22;

/// Most rows of a block.
const BLOCK_ROWS: usize = 1 << 16;

/// A Parquet file whose footer was checked.
#[derive(Debug)]
pub(in crate::table) struct ParquetFile {
    path: PathBuf,
    metadata: ParquetMetaData,
    columns: Vec<Chosen>,
    text: Vec<String>,
}

impl ParquetFile {
    pub(in crate::table) fn open(path: &Path, options: &ReadOptions) -> Result<Self, TableError> {
        let open = || {
            let metadata = read_footer(&Source::File(path), path)?;
            let columns = chosen(path, &metadata, options)?;
            check_compression(path, &metadata, &columns)?;
            Ok(Self { path: path.to_owned(), metadata, columns, text: options.text.clone() })
        };
        catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|_| Err(corrupt(path)))
    }

    pub(in crate::table) fn path(&self) -> &Path {
        &self.path
    }

    pub(in crate::table) fn columns(&self) -> Vec<BlockColumn> {
        let column = |Chosen { name, .. }: &Chosen| BlockColumn { name: name.clone(), strings: self.is_strings(name) };
        self.columns.iter().map(column).collect()
    }

    pub(in crate::table) fn is_strings(&self, name: &str) -> bool {
        let is_text = |column: &Chosen| column.name == name && column.kind == Kind::Text;
        self.text.iter().any(|text| text == name) || self.columns.iter().any(is_text)
    }

    /// Passes the columns `names` to `visit`, some rows at a time.
    pub(in crate::table) fn read(
        &self,
        names: &[&str],
        options: &ReadOptions,
        visit: &mut dyn FnMut(Table) -> Result<(), BinnedTableError>,
    ) -> Result<(), BinnedTableError> {
        let find = |name: &&str| self.columns.iter().find(|column| column.name == *name);
        let columns: Vec<&Chosen> = names.iter().filter_map(find).collect();
        let limit = (BLOCK_VALUES / columns.len().max(1)).clamp(1024, BLOCK_ROWS);
        for group in 0..self.metadata.num_row_groups() {
            let rows = usize::try_from(self.metadata.row_group(group).num_rows()).unwrap_or(0);
            let open = |column: &&Chosen| {
                let source = Source::File(&self.path);
                let opened = ChunkReader::open(&source, &self.metadata, group, column.leaf, column.kind);
                opened.map_err(TableError::parquet(&self.path, Some(&column.name)))
            };
            let mut readers = self.guarded(|| columns.iter().map(open).collect::<Result<Vec<_>, _>>())?;
            let mut left = rows;
            while left > 0 {
                let next = |(reader, column): (&mut ChunkReader, &&Chosen)| {
                    let text = options.text.contains(&column.name);
                    // Numbers that are read as strings, such as ids, keep all digits.
                    let numbers = if text { Numbers::Exact } else { options.numbers };
                    let data = reader.next(limit.min(left), numbers);
                    let data = data.map_err(TableError::parquet(&self.path, Some(&column.name)))?;
                    Ok(if text { as_strings(data) } else { round_if_requested(data, options.numbers) })
                };
                let mut read =
                    || readers.par_iter_mut().zip(&columns).map(next).collect::<Vec<Result<ColumnData, _>>>();
                let blocks = self.guarded(|| read().into_iter().collect::<Result<Vec<_>, TableError>>())?;
                let expected = limit.min(left);
                let mut block = Vec::with_capacity(blocks.len());
                for (column, data) in columns.iter().zip(blocks) {
                    if data.len() != expected {
                        let reason = format!("{} values for {expected} rows", data.len());
                        return Err(TableError::parquet(&self.path, Some(&column.name))(reason).into());
                    }
                    block.push(Column { name: column.name.clone(), data });
                }
                left -= expected;
                visit(Table::new(block)?)?;
            }
        }
        Ok(())
    }

    /// Runs the reader of the `parquet` crate, which asserts conditions that a corrupt file can violate.
    fn guarded<T>(&self, work: impl FnOnce() -> Result<T, TableError>) -> Result<T, TableError> {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(corrupt(&self.path)))
    }
}

fn corrupt(path: &Path) -> TableError {
    TableError::parquet(path, None)("the file is corrupt")
}
