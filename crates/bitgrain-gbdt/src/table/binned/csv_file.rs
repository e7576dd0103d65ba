//! `CsvFile`: a CSV file as blocks of rows.

use std::path::{Path, PathBuf};

use bitgrain_files::{FileWindow, MappedFile};
use rayon::prelude::*;

use super::files::changed;
use super::{BinnedTableError, BlockColumn};
pub(super) use crate::table::csv::Guess;
use crate::table::csv::{CsvReader, CsvShape};
use crate::table::{Column, ReadOptions, Table, TableError, sniff};

/// Parts of the file read at a time: the threads of the pool share them.
const PARTS: usize = 8;

/// A CSV file whose column types are known.
#[derive(Debug)]
pub(super) struct CsvFile {
    path: PathBuf,
    content: Content,
    shape: CsvShape,
    guesses: Vec<Guess>,
}

#[derive(Debug)]
enum Content {
    Mapped(FileWindow),
    /// A gzipped file, which is decompressed as a whole.
    Unzipped(Vec<u8>),
}

impl Content {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(window) => window,
            Self::Unzipped(bytes) => bytes,
        }
    }

    /// Releases the pages read so far.
    fn release(&self) {
        if let Self::Mapped(window) = self {
            window.release();
        }
    }
}

impl CsvFile {
    pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Self, BinnedTableError> {
        let mapped = MappedFile::open(path).and_then(|file| file.map_all()).map_err(TableError::io(path))?;
        let content = if sniff::is_gzipped(&mapped) {
            Content::Unzipped(sniff::bytes_of(path)?)
        } else {
            Content::Mapped(mapped)
        };
        let shape = CsvShape::of(content.bytes(), path, options)?;
        let reader = CsvReader { path, bytes: content.bytes(), shape: &shape, options };
        let mut guesses = reader.first_guesses();
        for parts in reader.parts().chunks(PARTS) {
            let found: Vec<Result<Vec<Guess>, TableError>> =
                parts.par_iter().map(|part| reader.guesses(part.clone())).collect();
            for found in found {
                guesses.iter_mut().zip(found?).for_each(|(guess, own)| *guess = guess.and(own));
            }
            content.release();
        }
        Ok(Self { path: path.to_owned(), content, shape, guesses })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Columns that are not skipped.
    pub(super) fn columns(&self) -> Vec<BlockColumn> {
        let wanted = self.shape.names().iter().zip(&self.guesses).zip(self.shape.wanted());
        let column =
            |(name, guess): (&String, &Guess)| BlockColumn { name: name.clone(), strings: *guess == Guess::Strings };
        wanted.filter(|(_, wanted)| **wanted).map(|(parts, _)| column(parts)).collect()
    }

    pub(super) fn guess(&self, name: &str) -> Option<Guess> {
        self.place(name).map(|at| self.guesses[at])
    }

    /// Sets the type of a column, which other files may determine.
    pub(super) fn set_strings(&mut self, name: &str, strings: bool) {
        if let Some(at) = self.place(name) {
            self.guesses[at] = if strings { Guess::Strings } else { Guess::Numbers };
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.shape.names().iter().position(|own| own == name)
    }

    pub(super) fn read(
        &self,
        names: &[&str],
        options: &ReadOptions,
        visit: &mut dyn FnMut(Table) -> Result<(), BinnedTableError>,
    ) -> Result<(), BinnedTableError> {
        let places: Vec<usize> = names
            .iter()
            .map(|name| self.place(name).ok_or_else(|| changed(&self.path, name)))
            .collect::<Result<_, _>>()?;
        let reader = CsvReader { path: &self.path, bytes: self.content.bytes(), shape: &self.shape, options };
        let strings: Vec<bool> = self.guesses.iter().map(|guess| *guess == Guess::Strings).collect();
        for parts in reader.parts().chunks(PARTS) {
            let blocks: Vec<Result<_, TableError>> =
                parts.par_iter().map(|part| reader.columns(part.clone(), &places, &strings)).collect();
            for block in blocks {
                let columns = names.iter().zip(block?).map(|(name, data)| Column { name: (*name).to_owned(), data });
                visit(Table::new(columns.collect())?)?;
            }
            self.content.release();
        }
        Ok(())
    }
}
