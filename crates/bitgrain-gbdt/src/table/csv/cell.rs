//! Interpretation of fields.

use std::ops::Range;
use std::path::Path;

use bitgrain_formats::csv::{CsvError, Field, Records, line_at};

use super::dialect::Dialect;
use crate::table::TableError;

/// Options and context for reading the cells of a file.
pub(super) struct Cells<'a> {
    pub(super) path: &'a Path,
    pub(super) data: &'a [u8],
    pub(super) dialect: &'a Dialect,
    pub(super) missing: &'a [String],
}

/// Cell parsed as a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    Missing,
    Number(f64),
    Flag(bool),
    Text,
}

impl<'a> Cells<'a> {
    /// Calls `each` with the records of a part of the file and their offsets.
    pub(super) fn for_each_record(
        &self,
        part: Range<usize>,
        mut each: impl FnMut(&[Field<'a>], usize) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let expected = self.dialect.names.len();
        let mut records = Records::new(self.data, self.dialect.delimiter).within(part);
        let mut fields = Vec::with_capacity(expected);
        while let Some(start) = records.next_into(&mut fields).map_err(|source| self.malformed(source))? {
            if fields.len() != expected {
                let (path, line) = (self.path.to_owned(), line_at(self.data, start));
                return Err(TableError::Ragged { path, line, found: fields.len(), expected });
            }
            each(&fields, start)?;
        }
        Ok(())
    }

    pub(super) fn is_missing(&self, field: &Field<'_>) -> bool {
        self.missing.iter().any(|marker| *marker.as_bytes() == *field.bytes)
    }

    pub(super) fn cell(&self, field: &Field<'_>) -> Cell {
        match number(&field.bytes) {
            Some(value) => Cell::Number(value),
            None if self.is_missing(field) => Cell::Missing,
            None => flag(&field.bytes).map_or(Cell::Text, Cell::Flag),
        }
    }

    /// Returns a field as a string; `start` is the offset of its record.
    pub(super) fn text<'f>(
        &self,
        field: &'f Field<'_>,
        column: usize,
        start: usize,
    ) -> Result<Option<&'f str>, TableError> {
        if self.is_missing(field) {
            return Ok(None);
        }
        std::str::from_utf8(&field.bytes).map(Some).map_err(|_| TableError::NotUtf8 {
            path: self.path.to_owned(),
            line: line_at(self.data, start),
            column: self.dialect.names[column].clone(),
        })
    }

    fn malformed(&self, source: CsvError) -> TableError {
        TableError::Csv { path: self.path.to_owned(), source }
    }
}

/// Parses a decimal number, an infinity or NaN, in Rust's syntax.
pub(super) fn number(bytes: &[u8]) -> Option<f64> {
    std::str::from_utf8(bytes.trim_ascii()).ok()?.parse().ok()
}

pub(super) fn flag(bytes: &[u8]) -> Option<bool> {
    match bytes {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}
