//! `CsvReader`: parts of a CSV file, for tables that are read in blocks.

use std::ops::Range;
use std::path::Path;

use super::PART;
use super::cell::Cells;
use super::dialect::Dialect;
use super::part::{self, Guess, Part};
use crate::table::{ColumnData, Numbers, ReadOptions, TableError};

/// Dialect of a file and the columns to read.
#[derive(Debug)]
pub(in crate::table) struct CsvShape {
    dialect: Dialect,
    wanted: Vec<bool>,
}

impl CsvShape {
    pub(in crate::table) fn of(bytes: &[u8], path: &Path, options: &ReadOptions) -> Result<Self, TableError> {
        let dialect = Dialect::of(bytes, path, options)?;
        let wanted = options.wanted(&dialect.names)?;
        Ok(Self { dialect, wanted })
    }

    pub(in crate::table) fn names(&self) -> &[String] {
        &self.dialect.names
    }

    pub(in crate::table) fn wanted(&self) -> &[bool] {
        &self.wanted
    }
}

/// Reader of the parts of a file.
pub(in crate::table) struct CsvReader<'a> {
    pub(in crate::table) path: &'a Path,
    pub(in crate::table) bytes: &'a [u8],
    pub(in crate::table) shape: &'a CsvShape,
    pub(in crate::table) options: &'a ReadOptions,
}

impl CsvReader<'_> {
    fn cells(&self) -> Cells<'_> {
        Cells { path: self.path, data: self.bytes, dialect: &self.shape.dialect, missing: &self.options.missing }
    }

    /// Returns the parts of the file, which can be read in any order.
    pub(in crate::table) fn parts(&self) -> Vec<Range<usize>> {
        self.shape.dialect.parts(self.bytes, PART)
    }

    /// Returns the types of the columns before any cell is read.
    pub(in crate::table) fn first_guesses(&self) -> Vec<Guess> {
        let text = |name: &String| self.options.text.contains(name);
        self.shape.names().iter().map(|name| if text(name) { Guess::Strings } else { Guess::Missing }).collect()
    }

    /// Returns the types of the columns in a part.
    pub(in crate::table) fn guesses(&self, part: Range<usize>) -> Result<Vec<Guess>, TableError> {
        let numeric: Vec<bool> = self.shape.names().iter().map(|name| !self.options.text.contains(name)).collect();
        Ok(Part::numbers(&self.cells(), part, &numeric, Numbers::F32)?.guesses)
    }

    /// Reads some columns of a part, given which columns of the file are strings.
    pub(in crate::table) fn columns(
        &self,
        part: Range<usize>,
        places: &[usize],
        strings: &[bool],
    ) -> Result<Vec<ColumnData>, TableError> {
        let chosen = |wants_strings: bool| -> Vec<bool> {
            (0..strings.len()).map(|at| places.contains(&at) && strings[at] == wants_strings).collect()
        };
        let cells = self.cells();
        let mut numbers = Part::numbers(&cells, part.clone(), &chosen(false), self.options.numbers)?.columns;
        let words = chosen(true);
        let mut words = if words.contains(&true) { part::strings(&cells, part, &words)? } else { Vec::new() };
        let take = |&at: &usize| {
            let columns = if strings[at] { &mut words } else { &mut numbers };
            columns
                .get_mut(at)
                .map_or(ColumnData::F32(Vec::new()), |data| std::mem::replace(data, ColumnData::F32(Vec::new())))
        };
        Ok(places.iter().map(take).collect())
    }
}
