//! Reading of a part of a file, as numbers or as strings.

use std::ops::Range;

use super::cell::{Cell, Cells};
use crate::table::piece::narrowed;
use crate::table::words::Words;
use crate::table::{ColumnData, Numbers, TableError};

/// Inferred type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::table) enum Guess {
    /// All cells are missing.
    Missing,
    Numbers,
    /// `true` and `false`.
    Flags,
    Strings,
}

impl Guess {
    /// Combines two guesses. A mix of booleans and numbers is read as strings, because its meaning is ambiguous.
    pub(in crate::table) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Missing, other) => other,
            (one, Self::Missing) => one,
            (one, other) if one == other => one,
            _ => Self::Strings,
        }
    }
}

/// Part of a file read as numbers.
pub(super) struct Part {
    /// Inferred type of each column of the file.
    pub(super) guesses: Vec<Guess>,
    /// Values of each column of the file; empty if it is skipped or not numeric.
    pub(super) columns: Vec<ColumnData>,
}

impl Part {
    /// Reads the columns marked in `numeric`, each until a cell is not a number.
    pub(super) fn numbers(
        cells: &Cells<'_>,
        part: Range<usize>,
        numeric: &[bool],
        numbers: Numbers,
    ) -> Result<Self, TableError> {
        let mut guesses: Vec<Guess> =
            numeric.iter().map(|numeric| if *numeric { Guess::Missing } else { Guess::Strings }).collect();
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); numeric.len()];
        cells.for_each_record(part, |fields, _| {
            for ((field, guess), values) in fields.iter().zip(&mut guesses).zip(&mut values) {
                if *guess == Guess::Strings {
                    continue;
                }
                let (value, kind) = match cells.cell(field) {
                    Cell::Missing => (f64::NAN, Guess::Missing),
                    Cell::Number(value) => (value, Guess::Numbers),
                    Cell::Flag(flag) => (f64::from(u8::from(flag)), Guess::Flags),
                    Cell::Text => (f64::NAN, Guess::Strings),
                };
                *guess = guess.and(kind);
                if *guess == Guess::Strings {
                    *values = Vec::new();
                } else {
                    values.push(value);
                }
            }
            Ok(())
        })?;
        let columns = values.into_iter().map(|values| narrowed(values, numbers)).collect();
        Ok(Self { guesses, columns })
    }
}

/// Reads the columns marked in `wanted` as strings; the others are empty.
pub(super) fn strings(cells: &Cells<'_>, part: Range<usize>, wanted: &[bool]) -> Result<Vec<ColumnData>, TableError> {
    let mut words: Vec<Words> = wanted.iter().map(|_| Words::default()).collect();
    cells.for_each_record(part, |fields, start| {
        for ((at, field), words) in fields.iter().enumerate().zip(&mut words).filter(|((at, _), _)| wanted[*at]) {
            words.push(cells.text(field, at, start)?);
        }
        Ok(())
    })?;
    Ok(words.into_iter().map(|words| ColumnData::Strings(words.finish())).collect())
}
