//! Tests of binned tables: the model of a file is that of its table in memory, bit for bit, and damaged files are
//! refused.
#![cfg(feature = "csv")]

mod append;
mod damage;
mod refused;
mod same;

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use bitgrain_gbdt::table::{BinOptions, BinnedTable, BinnedTableError, ColumnRoles, ReadOptions, Table, TableFiles};
use bitgrain_gbdt::train::{Dataset, Params, Training};
use bitgrain_gbdt::{Objective, Quantizer, Trainer};

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: u64) -> u64 {
        (self.next() >> 20) % count
    }
}

/// Header of the tables: numbers, a column with missing values, strings, columns with few values, a target, weights,
/// classes.
const HEADER: &str = "a,b,city,flag,three,id,y,w,kind";

/// Returns rows as CSV. Columns with few values share a byte from 20,000 rows on.
fn rows(count: usize, seed: u64) -> String {
    let mut random = Random(seed | 1);
    let mut csv = String::new();
    for row in 0..count {
        let (a, b) = (random.below(5000), random.below(300));
        let (city, flag, three) = (random.below(9), random.below(2), random.below(3));
        let missing = random.below(5) == 0;
        let y = a as f64 / 1000.0 + if missing { 2.0 } else { b as f64 / 100.0 } + flag as f64 * three as f64
            - (city % 4) as f64
            + random.below(100) as f64 / 500.0;
        let b = if missing { String::new() } else { format!("{}", b as f64 / 4.0) };
        let city = if city == 8 { String::new() } else { format!("city {city}") };
        let kind = ["low", "mid", "high"][if y < 2.0 {
            0
        } else if y < 4.0 {
            1
        } else {
            2
        }];
        let weight = [0.0, 0.5, 1.0, 2.5].into_iter().cycle().nth((row * 5 + row / 3) % 4).unwrap_or(1.0);
        writeln!(csv, "{a},{b},{city},{flag},{three},{},{y},{weight},{kind}", (row * 7) % 60_000).expect("a string");
    }
    csv
}

/// Writes rows to several files in a folder.
fn files(folder: &Path, parts: &[&str]) -> Vec<PathBuf> {
    let write = |(part, rows): (usize, &&str)| {
        let path = folder.join(format!("part-{part}.csv"));
        std::fs::write(&path, format!("{HEADER}\n{rows}")).expect("space");
        path
    };
    parts.iter().enumerate().map(write).collect()
}

/// Roles of the columns, of which some are skipped.
fn options(target: &str, weight: Option<&str>, skip: &[&str]) -> (ReadOptions, ColumnRoles) {
    let read = ReadOptions { skip: skip.iter().map(|name| (*name).to_owned()).collect(), ..BinOptions::read_options() };
    (read, ColumnRoles { weight: weight.map(str::to_owned), ..ColumnRoles::target(target) })
}

fn create(
    path: &Path,
    paths: &[PathBuf],
    (read, roles): &(ReadOptions, ColumnRoles),
    quantizer: Quantizer,
) -> Result<BinnedTable, BinnedTableError> {
    let options = BinOptions { roles: roles.clone(), quantizer };
    BinnedTable::create(path, &mut TableFiles::open(paths, read)?, &options, &mut |_| ControlFlow::Continue(()))
}

/// Returns the dataset and the objective of rows in memory.
fn in_memory(
    csv: &str,
    (read, roles): &(ReadOptions, ColumnRoles),
    quantizer: &Quantizer,
) -> (Dataset, Box<dyn Objective>) {
    let table = Table::from_csv(csv.as_bytes(), "all.csv".as_ref(), read).expect("a table");
    let table = table.into_training(roles, None).expect("a target");
    (table.dataset(quantizer, None).expect("features"), table.objective().expect("a known name"))
}

fn small() -> Params {
    Params { n_estimators: 8, num_leaves: 15, min_child_samples: 5, ..Params::default() }
}

fn train(params: &Params, objective: Box<dyn Objective>, data: &mut Dataset) -> Training {
    Trainer::new(params.clone(), objective).train(data).expect("valid data")
}
