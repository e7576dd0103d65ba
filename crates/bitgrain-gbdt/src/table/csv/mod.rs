//! CSV reader: infers column types over the whole file and reads parts in parallel.

mod cell;
mod dialect;
mod part;
mod reader;

use std::path::Path;

use rayon::prelude::*;

use self::cell::Cells;
use self::dialect::Dialect;
pub(super) use self::part::Guess;
use self::part::Part;
pub(super) use self::reader::{CsvReader, CsvShape};
use super::piece::{joined, narrowed};
use super::{Column, ColumnData, ReadOptions, Table, TableError};

/// Bytes that a thread reads at a time.
const PART: usize = 4 << 20;

pub(super) fn read(bytes: &[u8], path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    let dialect = Dialect::of(bytes, path, options)?;
    let cells = Cells { path, data: bytes, dialect: &dialect, missing: &options.missing };
    let wanted = options.wanted(&dialect.names)?;
    let asked_text = |name: &String| options.text.contains(name);
    // Read all columns as numbers, each until a cell is not one; then reread those columns as strings.
    let numeric: Vec<bool> =
        dialect.names.iter().zip(&wanted).map(|(name, wanted)| *wanted && !asked_text(name)).collect();
    let parts = dialect.parts(bytes, PART);
    let guesses = parts.par_iter().map(|part| Part::numbers(&cells, part.clone(), &numeric, options.numbers));
    let guesses = in_order(guesses.collect())?;
    let guess_of = |at: usize| guesses.iter().fold(Guess::Missing, |all, part| all.and(part.guesses[at]));
    let strings: Vec<bool> =
        (0..dialect.names.len()).map(|at| wanted[at] && (!numeric[at] || guess_of(at) == Guess::Strings)).collect();
    let words: Vec<Vec<ColumnData>> = if strings.contains(&true) {
        in_order(parts.par_iter().map(|part| part::strings(&cells, part.clone(), &strings)).collect())?
    } else {
        Vec::new()
    };
    let mut numbers = transposed(guesses.into_iter().map(|part| part.columns).collect());
    let mut words = transposed(words);
    let mut columns = Vec::new();
    for (at, name) in dialect.names.iter().enumerate().filter(|(at, _)| wanted[*at]) {
        let pieces = if strings[at] { words.get_mut(at) } else { numbers.get_mut(at) };
        let pieces = pieces.map(std::mem::take).unwrap_or_default();
        let data = if pieces.is_empty() { narrowed(Vec::new(), options.numbers) } else { joined(pieces) };
        columns.push(Column { name: name.clone(), data });
    }
    let mut table = Table::new(columns)?;
    table.named = dialect.named;
    Ok(table)
}

/// Returns all results, or the first error in file order, independently of the threads.
fn in_order<T>(results: Vec<Result<T, TableError>>) -> Result<Vec<T>, TableError> {
    results.into_iter().collect()
}

/// Transposes columns of parts to parts of columns.
fn transposed(parts: Vec<Vec<ColumnData>>) -> Vec<Vec<ColumnData>> {
    let mut columns: Vec<Vec<ColumnData>> = Vec::new();
    for part in parts {
        columns.resize_with(part.len(), Vec::new);
        columns.iter_mut().zip(part).for_each(|(column, piece)| column.push(piece));
    }
    columns
}
