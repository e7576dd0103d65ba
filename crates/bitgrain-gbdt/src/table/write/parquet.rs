//! Parquet writer: columns of floats, doubles or strings, compressed with zstd.

use std::collections::HashSet;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::{Type, TypePtr};

use bitgrain_files::PartFile;

use crate::table::{Column, ColumnData, StringColumn, Table, TableError};

/// Rows per row group, the unit that other tools read at once.
const GROUP: usize = 1 << 20;

pub(super) fn write(table: &Table, out: &mut (impl Write + Send)) -> io::Result<()> {
    let fields = table.columns().iter().map(field).collect::<Result<Vec<_>>>().map_err(io_error)?;
    write_groups(fields, table.n_rows(), out, |at, rows, writer| {
        write_column(writer, &table.columns()[at].data, rows).map(drop)
    })
    .map_err(io_error)
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
    let written = write_floats(names, n_rows, &mut file, |at, rows| match part(at, rows) {
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

/// Writes columns of floats whose values come from `part`, given a column and a range of rows. `part` keeps its own
/// error and returns `None`; the error returned here is then ignored.
fn write_floats(
    names: &[&str],
    n_rows: usize,
    out: &mut (impl Write + Send),
    mut part: impl FnMut(usize, Range<usize>) -> Option<Vec<f32>>,
) -> io::Result<()> {
    let float = |name: &&str| floats(name, Physical::FLOAT);
    let fields = names.iter().map(float).collect::<Result<Vec<_>>>().map_err(io_error)?;
    write_groups(fields, n_rows, out, |at, rows, writer| {
        let values = part(at, rows).ok_or_else(|| ParquetError::General("no values".into()))?;
        writer.typed::<FloatType>().write_batch(&values, None, None).map(drop)
    })
    .map_err(io_error)
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => io::Error::other(source),
        other => io::Error::other(other),
    }
}

/// Writes row groups; `column` writes each column of a group.
fn write_groups(
    fields: Vec<TypePtr>,
    n_rows: usize,
    out: &mut (impl Write + Send),
    mut column: impl FnMut(usize, Range<usize>, &mut SerializedColumnWriter<'_>) -> Result<()>,
) -> Result<()> {
    let columns = fields.len();
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
    for start in (0..n_rows).step_by(GROUP) {
        let rows = start..n_rows.min(start + GROUP);
        let mut group = writer.next_row_group()?;
        for at in 0..columns {
            if let Some(mut writer) = group.next_column()? {
                column(at, rows.clone(), &mut writer)?;
                writer.close()?;
            }
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Returns the schema of a column. Missing numbers are NaN; missing strings are null.
fn field(column: &Column) -> Result<TypePtr> {
    match column.data {
        ColumnData::F32(_) => floats(&column.name, Physical::FLOAT),
        ColumnData::F64(_) => floats(&column.name, Physical::DOUBLE),
        ColumnData::Strings(_) => {
            let field = Type::primitive_type_builder(&column.name, Physical::BYTE_ARRAY);
            let field = field.with_logical_type(Some(LogicalType::String)).with_repetition(Repetition::OPTIONAL);
            Ok(Arc::new(field.build()?))
        }
    }
}

fn floats(name: &str, physical: Physical) -> Result<TypePtr> {
    Ok(Arc::new(Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED).build()?))
}

fn write_column(writer: &mut SerializedColumnWriter<'_>, data: &ColumnData, rows: Range<usize>) -> Result<usize> {
    match data {
        ColumnData::F32(values) => writer.typed::<FloatType>().write_batch(&values[rows], None, None),
        ColumnData::F64(values) => writer.typed::<DoubleType>().write_batch(&values[rows], None, None),
        ColumnData::Strings(text) => {
            // Each label is stored once; its bytes are shared.
            let labels: Vec<ByteArray> = text.labels.iter().map(|label| label.as_str().into()).collect();
            let codes = &text.codes[rows];
            let values: Vec<ByteArray> = codes.iter().filter_map(|code| labels.get(*code as usize).cloned()).collect();
            let levels: Vec<i16> = codes.iter().map(|code| i16::from(*code != StringColumn::MISSING)).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)
        }
    }
}
