//! Training data: a table, its target, and the roles of its columns.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bitgrain::gbdt::metric::{self, Metric};
use bitgrain::gbdt::objective::{self, NameEntry};
use bitgrain::gbdt::table::{Column, ColumnData, ColumnRoles, Numbers, ReadOptions, TableError, TrainingTable};
use bitgrain::gbdt::{Model, Objective, Table};

use super::settings::spellings;
use crate::error::CliError;
use crate::printable::printable;

/// Options that select the training data.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Source {
    /// Training table: .csv or .tsv (optionally gzipped), .parquet, .libsvm or .svm.
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Target column; `label` in libsvm files.
    #[arg(long, value_name = "COL")]
    target: Option<String>,
    #[arg(long, value_name = "NAME", aliases = spellings("objective", "objective"), help = objective_help())]
    objective: Option<String>,
    #[arg(long, value_name = "NAME", value_delimiter = ',', aliases = spellings("metric", "metric"), help = metric_help())]
    metric: Vec<String>,
    /// Column with row weights.
    #[arg(long, value_name = "COL")]
    weight: Option<String>,
    /// Class weights: `balanced` gives all classes the same total weight.
    #[arg(long, value_enum, value_name = "MODE")]
    class_weight: Option<ClassWeight>,
    /// Numeric columns to treat as categorical; string columns always are.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    categorical: Vec<String>,
    /// Columns to ignore.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Treat the first line of a CSV file as data; columns are named f0, f1 and so on.
    #[arg(long)]
    no_header: bool,
}

/// Returns the help of `--objective`, with the names from the engine's list, so that it includes new objectives.
fn objective_help() -> String {
    format!(
        "Loss function: {}, or its LightGBM or XGBoost name. A parameter follows a colon: quantile:0.9 \
         [default: inferred from the target]",
        names(objective::NAMES)
    )
}

/// Returns the help of `--metric`.
fn metric_help() -> String {
    format!(
        "Evaluation metrics, separated by commas: {}. A parameter follows a colon: pinball:0.9 [default: the metric \
         of the objective]",
        names(metric::NAMES)
    )
}

fn names(entries: &[NameEntry]) -> String {
    entries.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// Weighting of classes.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ClassWeight {
    Balanced,
}

/// A table for training or validation.
pub(crate) struct TableFile {
    pub(crate) table: TrainingTable,
    /// Time spent on reading.
    pub(crate) reading: Duration,
}

impl Source {
    /// Reads the table. If training continues from a model, features are matched to that model's.
    pub(crate) fn read(&self, base: Option<&Model>) -> Result<TableFile, CliError> {
        let start = Instant::now();
        let (table, roles) = (self.table(&self.data)?, self.roles());
        let is_feature = |column: &&Column| ![&self.target, &self.weight].contains(&&Some(column.name.clone()));
        table.columns().iter().filter(is_feature).for_each(warn_if_coarse);
        let table = table.into_training(&roles, base).map_err(with_options)?;
        Ok(TableFile { table, reading: start.elapsed() })
    }

    /// Reads a validation table with the columns and classes of the training table.
    pub(crate) fn read_like(&self, path: &Path, learned: &TableFile) -> Result<TableFile, CliError> {
        let start = Instant::now();
        let table = self.table(path)?.into_training_like(&self.roles(), &learned.table).map_err(with_options)?;
        Ok(TableFile { table, reading: start.elapsed() })
    }

    fn table(&self, path: &Path) -> Result<Table, CliError> {
        let options = ReadOptions {
            header: self.no_header.then_some(false),
            skip: self.ignore.clone(),
            // Training rounds to f32 anyway.
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

    /// Returns the evaluation metrics. Early stopping watches the first.
    pub(crate) fn metrics(&self, objective: &dyn Objective) -> Result<Vec<Box<dyn Metric>>, CliError> {
        if self.metric.is_empty() {
            return Ok(vec![metric::default_for(objective)]);
        }
        self.metric.iter().map(|name| Ok(metric::by_name_for(name, objective)?)).collect()
    }
}

impl TableFile {
    /// Prints the objective and the reason if it was inferred.
    pub(crate) fn print_reason(&self) {
        if let Some(reason) = self.table.reason() {
            eprintln!(
                "objective {}: {}; choose another with --objective",
                self.table.objective_name(),
                printable(reason)
            );
        }
    }

    /// Selects rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        Self { table: self.table.select(rows), reading: self.reading }
    }
}

/// Converts an error and names the options that fix it.
fn with_options(error: TableError) -> CliError {
    match error {
        TableError::NoTarget { found } => {
            CliError::NoTarget { columns: found.into_iter().take(20).collect::<Vec<_>>().join(", ") }
        }
        TableError::NoClasses { objective } => CliError::ClassWeight { objective },
        error => error.into(),
    }
}

/// Warns if a column has few distinct values as f32, such as timestamps in milliseconds.
fn warn_if_coarse(column: &Column) {
    let ColumnData::F32(values) = &column.data else { return };
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = finite().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    let largest = least.abs().max(most.abs());
    // f32 represents every integer up to 2^24; above, neighboring integers become equal.
    let steps = (most - least) / (largest.next_up() - largest);
    if largest > 16_777_216.0 && steps < 10_000.0 && most > least {
        let name = printable(&column.name);
        eprintln!(
            "note: column {name} is rounded to f32, which has only {steps:.0} values between {least:e} and {most:e}; \
             subtract a constant from the column to keep its precision"
        );
    }
}
