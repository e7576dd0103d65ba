//! Parquet: a column of floats, doubles or texts for each column, compressed with zstd.

use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::{Type, TypePtr};

use crate::table::{Column, ColumnData, Table, Text};

/// Rows of a group: what others read at once.
const GROUP: usize = 1 << 20;

pub(super) fn write(table: &Table, out: &mut (impl Write + Send)) -> io::Result<()> {
    write_groups(table, out).map_err(|error| match error {
        ParquetError::External(source) => io::Error::other(source),
        other => io::Error::other(other),
    })
}

fn write_groups(table: &Table, out: &mut (impl Write + Send)) -> Result<()> {
    let fields = table.columns().iter().map(field).collect::<Result<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
    for start in (0..table.n_rows()).step_by(GROUP) {
        let rows = start..table.n_rows().min(start + GROUP);
        let mut group = writer.next_row_group()?;
        for column in table.columns() {
            if let Some(mut writer) = group.next_column()? {
                write_column(&mut writer, &column.data, rows.clone())?;
                writer.close()?;
            }
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Missing numbers are NaN; missing texts are null.
fn field(column: &Column) -> Result<TypePtr> {
    let (physical, logical, repetition) = match column.data {
        ColumnData::F32(_) => (Physical::FLOAT, None, Repetition::REQUIRED),
        ColumnData::F64(_) => (Physical::DOUBLE, None, Repetition::REQUIRED),
        ColumnData::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
    };
    let field = Type::primitive_type_builder(&column.name, physical);
    Ok(Arc::new(field.with_logical_type(logical).with_repetition(repetition).build()?))
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    data: &ColumnData,
    rows: std::ops::Range<usize>,
) -> Result<usize> {
    match data {
        ColumnData::F32(values) => writer.typed::<FloatType>().write_batch(&values[rows], None, None),
        ColumnData::F64(values) => writer.typed::<DoubleType>().write_batch(&values[rows], None, None),
        ColumnData::Text(text) => {
            // Each label is kept once; its bytes are shared.
            let labels: Vec<ByteArray> = text.labels.iter().map(|label| label.as_str().into()).collect();
            let codes = &text.codes[rows];
            let values: Vec<ByteArray> = codes.iter().filter_map(|code| labels.get(*code as usize).cloned()).collect();
            let levels: Vec<i16> = codes.iter().map(|code| i16::from(*code != Text::MISSING)).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)
        }
    }
}
