//! Parquet reader: reads columns and row groups in parallel, directly into numbers and codes.

mod chunk;
mod fields;
mod file;
mod kind;
mod pages;
mod source;
mod thrift;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ::parquet::basic::Compression;
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use bytes::Bytes;
use rayon::prelude::*;

use self::chunk::read_chunk;
pub(super) use self::file::ParquetFile;
use self::kind::Kind;
use self::source::Source;
use super::piece::{joined, narrowed};
use super::{Column, ColumnData, Numbers, ReadOptions, StringColumn, Table, TableError};

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    read_source(&Source::File(path), path, options)
}

/// Reads a file in memory; `path` is only a name.
pub(super) fn from_bytes(bytes: Vec<u8>, path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    read_source(&Source::Memory(Bytes::from(bytes)), path, options)
}

fn read_source(source: &Source<'_>, path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    // The page reader of the `parquet` crate asserts conditions that a corrupt file can violate.
    let table = catch_unwind(AssertUnwindSafe(|| read_columns(source, path, options)));
    table.unwrap_or_else(|_| Err(TableError::parquet(path, None)("the file is corrupt")))
}

fn read_columns(source: &Source<'_>, path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    let metadata = read_footer(source, path)?;
    let columns = chosen(path, &metadata, options)?;
    check_compression(path, &metadata, &columns)?;
    let groups = metadata.num_row_groups();
    let chunks: Vec<(usize, usize)> =
        (0..columns.len()).flat_map(|at| (0..groups).map(move |group| (at, group))).collect();
    let read = |(at, group): (usize, usize)| {
        let Chosen { leaf, kind, name } = &columns[at];
        // Numbers that are read as strings, such as ids, keep all digits.
        let numbers = if options.text.contains(name) { Numbers::Exact } else { options.numbers };
        let piece = read_chunk(source, &metadata, group, *leaf, *kind, numbers);
        piece.map_err(TableError::parquet(path, Some(name)))
    };
    // Report the first error in file order, independently of the threads.
    let pieces: Vec<Result<ColumnData, TableError>> = chunks.into_par_iter().map(read).collect();
    let mut pieces = pieces.into_iter().collect::<Result<Vec<ColumnData>, _>>()?.into_iter();
    let mut data = Vec::with_capacity(columns.len());
    for Chosen { name, kind, .. } in columns {
        let own: Vec<ColumnData> = pieces.by_ref().take(groups).collect();
        let values = match own.is_empty() {
            false => joined(own),
            true if kind == Kind::Text => ColumnData::Strings(StringColumn::default()),
            true => ColumnData::F32(Vec::new()),
        };
        let text = options.text.contains(&name);
        data.push(Column {
            name,
            data: if text { as_strings(values) } else { round_if_requested(values, options.numbers) },
        });
    }
    Table::new(data)
}

/// Reads and checks the footer of a file.
fn read_footer(source: &Source<'_>, path: &Path) -> Result<ParquetMetaData, TableError> {
    let file = source.open().map_err(TableError::io(path))?;
    let bytes = file.size().map_err(TableError::io(path))?;
    if bytes == 0 {
        return Err(TableError::Empty { path: path.to_owned() });
    }
    thrift::check_footer(&file, bytes).map_err(TableError::parquet(path, None))?;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).map_err(TableError::parquet(path, None))?;
    check_offsets(path, &metadata, bytes)?;
    Ok(metadata)
}

/// Column to read.
#[derive(Debug, Clone)]
struct Chosen {
    leaf: usize,
    kind: Kind,
    name: String,
}

fn chosen(path: &Path, metadata: &ParquetMetaData, options: &ReadOptions) -> Result<Vec<Chosen>, TableError> {
    let schema = metadata.file_metadata().schema_descr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().parts().join(".")).collect();
    let mut columns = Vec::new();
    for (leaf, wanted) in options.wanted(&names)?.into_iter().enumerate() {
        let name = names[leaf].clone();
        if !wanted || is_pandas_index(&name) {
            continue;
        }
        let kind = Kind::of(schema.columns()[leaf].as_ref()).map_err(|kind| TableError::Unsupported {
            path: path.to_owned(),
            column: name.clone(),
            kind,
        })?;
        columns.push(Chosen { leaf, kind, name });
    }
    Ok(columns)
}

/// Returns whether a column is an unnamed pandas index, which is not data.
fn is_pandas_index(name: &str) -> bool {
    name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__")).is_some()
}

/// Checks that every column chunk lies within the file, which the page reader assumes.
fn check_offsets(path: &Path, metadata: &ParquetMetaData, bytes: u64) -> Result<(), TableError> {
    for chunk in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let end = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
        if end.and_then(|(start, len)| start.checked_add(len)).is_none_or(|end| end > bytes) {
            let name = chunk.column_path().string();
            let reason =
                format!("{} bytes at offset {start} exceed the file size of {bytes} bytes", chunk.compressed_size());
            return Err(TableError::parquet(path, Some(&name))(reason));
        }
    }
    Ok(())
}

/// Rejects columns whose pages this build cannot decompress.
fn check_compression(path: &Path, metadata: &ParquetMetaData, columns: &[Chosen]) -> Result<(), TableError> {
    if cfg!(feature = "table") {
        return Ok(());
    }
    for Chosen { leaf, name, .. } in columns {
        let mut chunks = metadata.row_groups().iter().map(|group| group.column(*leaf));
        if chunks.any(|chunk| matches!(chunk.compression(), Compression::ZSTD(_))) {
            let reason = "this build does not include zstd; compress the file with snappy, gzip or LZ4";
            return Err(TableError::parquet(path, Some(name))(reason));
        }
    }
    Ok(())
}

fn round_if_requested(data: ColumnData, numbers: Numbers) -> ColumnData {
    match data {
        ColumnData::F64(values) if numbers == Numbers::F32 => narrowed(values, numbers),
        data => data,
    }
}

/// Formats numbers as strings.
fn as_strings(data: ColumnData) -> ColumnData {
    let Some(numbers) = data.numbers() else { return data };
    let strings: Vec<Option<String>> =
        numbers.map(|value| (!value.is_nan()).then(|| super::write::number(value))).collect();
    ColumnData::Strings(StringColumn::new(strings.iter().map(Option::as_deref)))
}
