//! Reading of a column chunk: one column of one row group.

use std::sync::Arc;

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::serialized_reader::SerializedPageReader;

use super::Kind;
use super::pages::CheckedPages;
use super::source::Source;
use super::thrift::check_pages;
use crate::table::piece::narrowed;
use crate::table::words::Words;
use crate::table::{ColumnData, Numbers};

/// Rows decoded at a time; they fit in cache.
const BATCH: usize = 8192;

pub(super) fn read_chunk(
    source: &Source<'_>,
    metadata: &ParquetMetaData,
    group: usize,
    leaf: usize,
    kind: Kind,
    numbers: Numbers,
) -> Result<ColumnData> {
    let mut chunk = ChunkReader::open(source, metadata, group, leaf, kind)?;
    let data = chunk.next(usize::MAX, numbers)?;
    match data.len() {
        len if len == chunk.rows => Ok(data),
        len => Err(ParquetError::General(format!("{len} values for {} rows", chunk.rows))),
    }
}

/// Reader of a column chunk, some rows at a time.
pub(super) struct ChunkReader {
    reader: ColumnReader,
    kind: Kind,
    nullable: i16,
    /// Number of rows of the row group.
    rows: usize,
}

impl ChunkReader {
    pub(super) fn open(
        source: &Source<'_>,
        metadata: &ParquetMetaData,
        group: usize,
        leaf: usize,
        kind: Kind,
    ) -> Result<Self> {
        let group = metadata.row_group(group);
        let chunk = group.column(leaf);
        let rows =
            usize::try_from(group.num_rows()).map_err(|_| ParquetError::General("negative number of rows".into()))?;
        let file = source.open()?;
        let (start, len) = chunk.byte_range();
        check_pages(&file, start..start.saturating_add(len), chunk.compression())?;
        let pages = SerializedPageReader::new(Arc::new(file), chunk, rows, None)?;
        let nullable = chunk.column_descr().max_def_level();
        let pages = CheckedPages::new(pages, nullable);
        let reader = get_column_reader(chunk.column_descr_ptr(), Box::new(pages));
        Ok(Self { reader, kind, nullable, rows })
    }

    /// Reads the next rows, at most `limit`; fewer at the end.
    pub(super) fn next(&mut self, limit: usize, numbers: Numbers) -> Result<ColumnData> {
        let Self { reader, kind, nullable, .. } = self;
        let nullable = *nullable;
        Ok(match reader {
            ColumnReader::FloatColumnReader(reader) => {
                let mut values = Vec::new();
                each(reader, nullable, limit, |value| {
                    values.push(value.copied().unwrap_or(f32::NAN));
                    Ok(())
                })?;
                ColumnData::F32(values)
            }
            ColumnReader::ByteArrayColumnReader(reader) if *kind == Kind::Text => {
                let mut words = Words::default();
                each(reader, nullable, limit, |value| {
                    words.push(value.map(|text| text.as_utf8()).transpose()?);
                    Ok(())
                })?;
                ColumnData::Strings(words.finish())
            }
            other => narrowed(wide_numbers(other, *kind, nullable, limit)?, numbers),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "integers that are not exact in f64 are rounded: spec/tables.md")]
#[expect(clippy::cast_sign_loss, reason = "Parquet stores unsigned integers as signed ones")]
fn wide_numbers(reader: &mut ColumnReader, kind: Kind, nullable: i16, limit: usize) -> Result<Vec<f64>> {
    let mut out = Vec::new();
    let mut push = |value: Option<f64>| {
        out.push(value.unwrap_or(f64::NAN));
        Ok(())
    };
    let scale = match kind {
        Kind::Decimal { scale } => scale,
        _ => 0,
    };
    let unsigned = kind == Kind::Unsigned;
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            each(reader, nullable, limit, |value| push(value.map(|value| f64::from(u8::from(*value)))))
        }
        ColumnReader::Int32ColumnReader(reader) if unsigned => {
            each(reader, nullable, limit, |value| push(value.map(|value| f64::from(*value as u32))))
        }
        ColumnReader::Int32ColumnReader(reader) => {
            each(reader, nullable, limit, |value| push(value.map(|value| decimal((*value).into(), scale))))
        }
        ColumnReader::Int64ColumnReader(reader) if unsigned => {
            each(reader, nullable, limit, |value| push(value.map(|value| *value as u64 as f64)))
        }
        ColumnReader::Int64ColumnReader(reader) => {
            each(reader, nullable, limit, |value| push(value.map(|value| decimal((*value).into(), scale))))
        }
        ColumnReader::Int96ColumnReader(reader) => {
            each(reader, nullable, limit, |value| push(value.map(|value| value.to_nanos() as f64)))
        }
        ColumnReader::DoubleColumnReader(reader) => each(reader, nullable, limit, |value| push(value.copied())),
        ColumnReader::FixedLenByteArrayColumnReader(reader) if kind == Kind::Float16 => {
            each(reader, nullable, limit, |value| push(value.map(|value| float16(value.data()))))
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            each(reader, nullable, limit, |value| push(value.map(|value| big_endian(value.data(), scale))))
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            each(reader, nullable, limit, |value| push(value.map(|value| big_endian(value.data(), scale))))
        }
        ColumnReader::FloatColumnReader(reader) => {
            each(reader, nullable, limit, |value| push(value.map(|value| f64::from(*value))))
        }
    }?;
    Ok(out)
}

/// Calls `take` with the values of the next rows, at most `limit`; `None` for null.
fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    nullable: i16,
    limit: usize,
    mut take: impl FnMut(Option<&T::T>) -> Result<()>,
) -> Result<()> {
    let (mut values, mut levels) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    let mut left = limit;
    while left > 0 {
        values.clear();
        levels.clear();
        let (records, _, _) = reader.read_records(BATCH.min(left), Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
        left = left.saturating_sub(records);
        if nullable == 0 {
            values.iter().try_for_each(|value| take(Some(value)))?;
            continue;
        }
        let mut present = values.iter();
        for level in &levels {
            take(if *level == nullable { present.next() } else { None })?;
        }
    }
    Ok(())
}

/// Returns an integer divided by a power of ten, rounded once.
#[expect(clippy::cast_precision_loss, reason = "exact, or intentionally rounded")]
fn decimal(value: i128, scale: i32) -> f64 {
    // Both operands are exact in f64, so only the division rounds.
    let exact = value.unsigned_abs() <= 1 << 53 && (0..=22).contains(&scale);
    match scale {
        0 => value as f64,
        _ if exact => value as f64 / 10_f64.powi(scale),
        _ => format!("{value}e{}", -i64::from(scale)).parse().unwrap_or(f64::NAN),
    }
}

/// Converts a big-endian two's-complement decimal; rounded once if it has at most 16 bytes.
#[expect(clippy::cast_precision_loss, reason = "decimals that are not exact in f64 are rounded: spec/tables.md")]
fn big_endian(bytes: &[u8], scale: i32) -> f64 {
    let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    let (head, tail) = bytes.split_at(bytes.len().saturating_sub(16));
    if head.is_empty() {
        return decimal(tail.iter().fold(sign, |value: i128, byte| value << 8 | i128::from(*byte)), scale);
    }
    // The last 16 bytes are unsigned; the sign is in the bytes before them.
    let low = tail.iter().fold(0, |value: u128, byte| value << 8 | u128::from(*byte)) as f64;
    (big_endian(head, 0) * 2_f64.powi(128) + low) / 10_f64.powi(scale)
}

/// Converts a little-endian IEEE half-precision float.
fn float16(bytes: &[u8]) -> f64 {
    let &[low, high] = bytes else { return f64::NAN };
    let bits = u16::from_le_bytes([low, high]);
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    }
}
