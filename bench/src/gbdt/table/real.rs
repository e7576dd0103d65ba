//! Real tables as text files. Strings become category codes.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::{Objective, Rows, Table};

/// Files of a table and their format.
pub(crate) struct Files {
    name: &'static str,
    about: &'static str,
    /// Path in the folder; `.gz` files are decompressed.
    pub(crate) train: &'static str,
    /// `None` holds out every fifth row.
    held: Option<&'static str>,
    separator: char,
    has_header: bool,
    target: usize,
    objective: Objective,
    /// String of the class 1, if the target has two strings.
    positive: Option<&'static str>,
}

/// Real tables, used if their files exist.
pub(crate) static FILES: [Files; 5] = [
    Files {
        name: "LightGBM's binary example",
        about: "Subset of the Higgs dataset.",
        train: "lightgbm_examples/binary.train",
        held: Some("lightgbm_examples/binary.test"),
        separator: '\t',
        has_header: false,
        target: 0,
        objective: Objective::Binary,
        positive: None,
    },
    Files {
        name: "LightGBM's regression example",
        about: "Same features as the binary example.",
        train: "lightgbm_examples/regression.train",
        held: Some("lightgbm_examples/regression.test"),
        separator: '\t',
        has_header: false,
        target: 0,
        objective: Objective::Squared,
        positive: None,
    },
    Files {
        name: "Adult",
        about: "UCI; eight features are categorical.",
        train: "adult/adult.data",
        held: None,
        separator: ',',
        has_header: false,
        target: 14,
        objective: Objective::Binary,
        positive: Some(">50K"),
    },
    Files {
        name: "California housing",
        about: "One feature is categorical.",
        train: "regression/california_housing.csv",
        held: None,
        separator: ',',
        has_header: true,
        target: 8,
        objective: Objective::Squared,
        positive: None,
    },
    Files {
        name: "Protein",
        about: "UCI, standardized.",
        train: "regression/protein.csv.gz",
        held: None,
        separator: ',',
        has_header: false,
        target: 9,
        objective: Objective::Squared,
        positive: None,
    },
];

impl Files {
    /// Loads the table from a folder.
    pub(crate) fn read(&self, folder: &Path) -> io::Result<Table> {
        let train = text(&folder.join(self.train))?;
        let held = self.held.map(|held| text(&folder.join(held))).transpose()?;
        self.parse(&train, held.as_deref()).ok_or_else(|| {
            let message = format!("{}: not a table with a target in column {}", self.train, self.target);
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
    }

    fn parse(&self, train: &str, held: Option<&str>) -> Option<Table> {
        let mut rows = self.cells(train);
        let is_held: Vec<bool> = match held {
            None => (0..rows.len()).map(|row| row % 5 == 4).collect(),
            Some(held) => {
                let first = rows.len();
                rows.extend(self.cells(held));
                (0..rows.len()).map(|row| row >= first).collect()
            }
        };
        let width = rows.first()?.len();
        if rows.iter().any(|row| row.len() != width) || self.target >= width {
            return None;
        }
        let columns: Vec<usize> = (0..width).filter(|&column| column != self.target).collect();
        let words: Vec<Option<Vec<&str>>> = columns.iter().map(|&column| words(&rows, column)).collect();
        let (mut parts, mut categorical) = ([Rows::default(), Rows::default()], Vec::new());
        categorical.extend((0..columns.len()).filter(|&feature| words[feature].is_some()));
        for (row, &held) in rows.iter().zip(&is_held) {
            let part = &mut parts[usize::from(held)];
            let value = |(&column, words): (&usize, &Option<Vec<&str>>)| value(row[column], words.as_deref());
            part.features.extend(columns.iter().zip(&words).map(value));
            let target = row[self.target];
            let one_of_two = self.positive.map(|word| f32::from(u8::from(word == target)));
            part.targets.push(one_of_two.or_else(|| target.parse().ok())?);
        }
        let [train, held] = parts;
        let (name, about, objective) = (self.name, self.about, self.objective);
        let columns = columns.len();
        let (judged, predict_training_rows) = (false, false);
        Some(Table { name, about, objective, columns, categorical, train, held, judged, predict_training_rows })
    }

    fn cells<'a>(&self, text: &'a str) -> Vec<Vec<&'a str>> {
        let lines = text.lines().skip(usize::from(self.has_header)).filter(|line| !line.trim().is_empty());
        lines.map(|line| line.split(self.separator).map(str::trim).collect()).collect()
    }
}

fn text(path: &Path) -> io::Result<String> {
    let failed = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let bytes = std::fs::read(path).map_err(failed)?;
    let mut text = String::new();
    if path.extension().is_some_and(|ending| ending == "gz") {
        MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).map_err(failed)?;
    } else {
        (&bytes[..]).read_to_string(&mut text).map_err(failed)?;
    }
    Ok(text)
}

fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "?" | "NA")
}

/// Returns the sorted distinct strings of a column, unless all of its cells are numbers.
fn words<'a>(rows: &[Vec<&'a str>], column: usize) -> Option<Vec<&'a str>> {
    let cells = || rows.iter().map(|row| row[column]).filter(|cell| !is_missing(cell));
    let is_word = |cell: &str| cell.parse::<f32>().is_err();
    cells().any(is_word).then(|| cells().collect::<BTreeSet<_>>().into_iter().collect())
}

fn value(cell: &str, words: Option<&[&str]>) -> f32 {
    match words {
        _ if is_missing(cell) => f32::NAN,
        Some(words) => words.binary_search(&cell).map_or(f32::NAN, |code| code as f32),
        None => cell.parse().unwrap_or(f32::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADULT: &Files = &FILES[2];

    #[test]
    fn strings_become_ordered_codes_and_question_marks_are_missing() {
        let text =
            "39, b, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, x, <=50K\n50, a, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?, >50K\n";
        let table = ADULT.parse(text, None).expect("a table");
        assert_eq!(
            (table.columns, &table.categorical[..], &table.train.targets[..]),
            (14, &[1, 13][..], &[0.0, 1.0][..])
        );
        let row = &table.train.features[14..];
        assert_eq!((row[0], row[1]), (50.0, 0.0));
        assert!(row[2].is_nan() && row[13].is_nan());
        assert_eq!(table.train.features[1], 1.0);
    }

    #[test]
    fn every_fifth_row_is_held_out_unless_there_is_a_validation_file() {
        let line = |target: usize| format!("{target}\t1\t2\n");
        let text: String = (0..10).map(line).collect();
        let files = &FILES[0];
        let table = files.parse(&text, Some(&line(7))).expect("a table");
        assert_eq!((table.train.targets.len(), &table.held.targets[..]), (10, &[7.0][..]));
        let alone = Files { held: None, ..*files }.parse(&text, None).expect("a table");
        assert_eq!(alone.held.targets, [4.0, 9.0]);
        assert_eq!(alone.held.features, [1.0, 2.0, 1.0, 2.0]);
    }

    #[test]
    fn rows_of_unequal_length_are_rejected() {
        assert!(FILES[0].parse("1\t2\n1\n", None).is_none());
        assert!(FILES[0].parse("word\t2\n", None).is_none(), "the target is not a number");
        assert!(FILES[0].parse("", None).is_none());
    }
}
