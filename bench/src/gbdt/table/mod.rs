//! Tables of the contests: generated ones, and real ones from a folder.

mod generated;
mod real;

use std::io;
use std::path::Path;

use super::array;
use super::job::Objective;
use crate::measure::Pace;

/// Source of a table.
pub(super) enum Source<'a> {
    Generated(&'static generated::Recipe),
    Real(&'static real::Files, &'a Path),
}

impl<'a> Source<'a> {
    /// Returns the generated tables, and the real tables whose files are in the folder.
    pub(super) fn all(folder: Option<&'a Path>) -> Vec<Self> {
        let mut sources: Vec<_> = generated::RECIPES.iter().map(Self::Generated).collect();
        for files in folder.iter().flat_map(|_| &real::FILES) {
            match folder.filter(|folder| folder.join(files.train).is_file()) {
                Some(folder) => sources.push(Self::Real(files, folder)),
                None => eprintln!("continuing without {}: not in the folder", files.train),
            }
        }
        sources
    }

    /// Loads the table.
    pub(super) fn load(&self, pace: Pace) -> io::Result<Table> {
        match self {
            Self::Generated(recipe) => Ok(recipe.make(pace)),
            Self::Real(files, folder) => files.read(folder),
        }
    }
}

/// Training and validation rows.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) objective: Objective,
    pub(super) columns: usize,
    /// Indices of categorical features.
    pub(super) categorical: Vec<usize>,
    pub(super) train: Rows,
    pub(super) held: Rows,
    /// Whether the table is large enough for targets.
    pub(super) judged: bool,
    /// Whether prediction is timed on the training rows, which are more.
    pub(super) predict_training_rows: bool,
}

/// Features in row-major order, and targets.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Rows {
    pub(super) features: Vec<f32>,
    pub(super) targets: Vec<f32>,
}

impl Table {
    /// Formats the size as `1,000,000 × 28`.
    pub(super) fn size(&self) -> String {
        format!("{} × {}", thousands(self.train.targets.len()), self.columns)
    }

    /// Returns the rows on which prediction is timed.
    pub(super) fn predicted(&self) -> usize {
        if self.predict_training_rows { self.train.targets.len() } else { self.held.targets.len() }
    }

    /// Writes the input files of the contenders.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        for (rows, features, targets) in [(&self.train, "x.npy", "y.npy"), (&self.held, "xv.npy", "yv.npy")] {
            array::write(&folder.join(features), &rows.features, Some(self.columns))?;
            array::write(&folder.join(targets), &rows.targets, None)?;
        }
        Ok(())
    }
}

/// Formats a number with thousands separators.
pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_digit_from_the_end_has_a_comma() {
        let numbers = [0, 999, 1000, 45_730, 1_000_000].map(thousands);
        assert_eq!(numbers, ["0", "999", "1,000", "45,730", "1,000,000"]);
    }

    #[test]
    fn without_a_folder_only_generated_tables_are_measured() {
        assert_eq!(Source::all(None).len(), 6);
        assert_eq!(Source::all(Some(Path::new("no-such-folder"))).len(), 6);
    }
}
