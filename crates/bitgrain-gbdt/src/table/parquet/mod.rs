//! Parquet reader: reads columns and row groups in parallel, directly into numbers and codes.

mod chunk;
mod fields;
mod kind;
mod pages;
mod thrift;

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use rayon::prelude::*;

use self::chunk::read_chunk;
use self::kind::Kind;
use super::piece::{joined, narrowed};
use super::{Column, ColumnData, Numbers, ReadOptions, StringColumn, Table, TableError};

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    // The page reader of the `parquet` crate asserts conditions that a corrupt file can violate.
    let table = catch_unwind(AssertUnwindSafe(|| read_columns(path, options)));
    table.unwrap_or_else(|_| Err(TableError::parquet(path, None)("the file is corrupt")))
}

fn read_columns(path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    let file = File::open(path).map_err(TableError::io(path))?;
    let bytes = file.metadata().map_err(TableError::io(path))?.len();
    if bytes == 0 {
        return Err(TableError::Empty { path: path.to_owned() });
    }
    thrift::check_footer(&file, bytes).map_err(TableError::parquet(path, None))?;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).map_err(TableError::parquet(path, None))?;
    check_offsets(path, &metadata, bytes)?;
    let columns = chosen(path, &metadata, options)?;
    let groups = metadata.num_row_groups();
    let chunks: Vec<(usize, usize)> =
        (0..columns.len()).flat_map(|at| (0..groups).map(move |group| (at, group))).collect();
    let read = |(at, group): (usize, usize)| {
        let Chosen { leaf, kind, name } = &columns[at];
        let piece = read_chunk(path, &metadata, group, *leaf, *kind, options.numbers);
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

/// Column to read.
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
