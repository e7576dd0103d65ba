//! What is learned from: a table, its target, and what is said about its columns.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bitgrain::gbdt::metric::{self, Metric};
use bitgrain::gbdt::objective::{self, NameEntry};
use bitgrain::gbdt::table::{Column, ColumnData, ColumnRoles, Numbers, ReadOptions, TableError, TrainingTable};
use bitgrain::gbdt::{Model, Objective, Table};

use super::settings::spellings;
use crate::error::CliError;
use crate::printable::printable;

/// What is learned from.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Source {
    /// The table to learn from: .csv, .tsv (gzipped too), .parquet, .libsvm or .svm.
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// The column to learn; `label` in libsvm files.
    #[arg(long, value_name = "COL")]
    target: Option<String>,
    #[arg(long, value_name = "NAME", aliases = spellings("objective", "objective"), help = objective_help())]
    objective: Option<String>,
    #[arg(long, value_name = "NAME", value_delimiter = ',', aliases = spellings("metric", "metric"), help = metric_help())]
    metric: Vec<String>,
    /// The column with the weights of the rows.
    #[arg(long, value_name = "COL")]
    weight: Option<String>,
    /// `balanced` lets all classes count alike, however many rows they have.
    #[arg(long, value_enum, value_name = "HOW")]
    class_weight: Option<ClassWeight>,
    /// Columns of numbers that are codes of categories; texts always are.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    categorical: Vec<String>,
    /// Columns to leave out.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    ignore: Vec<String>,
    /// The first line of a CSV file holds values, not names: columns are f0, f1 and so on.
    #[arg(long)]
    no_header: bool,
}

/// Help for `--objective`, with the names from the engine's list, so that a new objective appears without an edit.
fn objective_help() -> String {
    format!(
        "Loss to minimize: {}; LightGBM's and XGBoost's names work too. A parameter follows a colon: quantile:0.9 \
         [default: inferred from the target]",
        names(objective::NAMES)
    )
}

/// Help for `--metric`.
fn metric_help() -> String {
    format!(
        "Metrics to report, separated by commas: {}. A parameter follows a colon: pinball:0.9 [default: the metric \
         of the objective]",
        names(metric::NAMES)
    )
}

fn names(entries: &[NameEntry]) -> String {
    entries.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// How classes count.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ClassWeight {
    Balanced,
}

/// A table to train or measure on.
pub(crate) struct TableFile {
    pub(crate) table: TrainingTable,
    /// Time it took to read.
    pub(crate) reading: Duration,
}

impl Source {
    /// Reads the table; with a model to continue from, as that model sees it.
    pub(crate) fn read(&self, base: Option<&Model>) -> Result<TableFile, CliError> {
        let start = Instant::now();
        let (table, roles) = (self.table(&self.data)?, self.roles());
        let is_feature = |column: &&Column| ![&self.target, &self.weight].contains(&&Some(column.name.clone()));
        table.columns().iter().filter(is_feature).for_each(warn_if_coarse);
        let table = table.into_training(&roles, base).map_err(with_options)?;
        Ok(TableFile { table, reading: start.elapsed() })
    }

    /// Reads a table to measure on, as the one to train on was read.
    pub(crate) fn read_like(&self, path: &Path, learned: &TableFile) -> Result<TableFile, CliError> {
        let start = Instant::now();
        let table = self.table(path)?.into_training_like(&self.roles(), &learned.table).map_err(with_options)?;
        Ok(TableFile { table, reading: start.elapsed() })
    }

    fn table(&self, path: &Path) -> Result<Table, CliError> {
        let options = ReadOptions {
            header: self.no_header.then_some(false),
            skip: self.ignore.clone(),
            // What training rounds to anyway.
            numbers: Numbers::F32,
            ..ReadOptions::default()
        };
        Ok(Table::read_with(path, &options)?)
    }

    fn roles(&self) -> ColumnRoles {
        ColumnRoles {
            target: self.target.clone(),
            weight: self.weight.clone(),
            categorical: self.categorical.clone(),
            objective: self.objective.clone(),
            balanced: matches!(self.class_weight, Some(ClassWeight::Balanced)),
        }
    }

    /// What is measured, the first is what early stopping goes by.
    pub(crate) fn metrics(&self, objective: &dyn Objective) -> Result<Vec<Box<dyn Metric>>, CliError> {
        if self.metric.is_empty() {
            return Ok(vec![metric::default_for(objective)]);
        }
        self.metric.iter().map(|name| Ok(metric::by_name_for(name, objective)?)).collect()
    }
}

impl TableFile {
    /// Prints an objective that was inferred, and the reason.
    pub(crate) fn say_why(&self) {
        if let Some(reason) = self.table.reason() {
            eprintln!("objective {}: {}; --objective chooses another", self.table.objective_name(), printable(reason));
        }
    }

    /// Selects rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        Self { table: self.table.select(rows), reading: self.reading }
    }
}

/// Names the options that fix an error.
fn with_options(error: TableError) -> CliError {
    match error {
        TableError::NoTarget { found } => {
            CliError::NoTarget { columns: found.into_iter().take(20).collect::<Vec<_>>().join(", ") }
        }
        TableError::NoClasses { objective } => CliError::ClassWeight { objective },
        error => error.into(),
    }
}

/// Warns if f32 tells few values of a column apart, as it does with times in milliseconds.
fn warn_if_coarse(column: &Column) {
    let ColumnData::F32(values) = &column.data else { return };
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = finite().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    let largest = least.abs().max(most.abs());
    // Beyond 2^24 not even whole numbers are told apart.
    let steps = (most - least) / (largest.next_up() - largest);
    if largest > 16_777_216.0 && steps < 10_000.0 && most > least {
        let name = printable(&column.name);
        eprintln!(
            "note: numbers are f32, which knows {steps:.0} steps between {least:e} and {most:e} in column {name}; \
             subtract a constant from it to keep all digits"
        );
    }
}
