//! Training data: a table, its target, and the roles of its columns.

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bitgrain::gbdt::metric::{self, Metric};
use bitgrain::gbdt::objective::{self, NameEntry, ObjectiveError};
use bitgrain::gbdt::table::{Column, ColumnData, ColumnRoles, Numbers, ReadOptions, TableError, TrainingTable};
use bitgrain::gbdt::{Model, Objective, Schema, Table};

use super::settings::spellings;
use crate::error::CliError;
use crate::printable::printable;

/// Options that select the training data.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Source {
    /// Training table: .csv or .tsv (optionally gzipped), .parquet, .libsvm or .svm; or a table binned by `bitgrain bin`;
    /// - reads standard input.
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) columns: ColumnOptions,
    #[arg(long, value_name = "NAME", value_delimiter = ',', aliases = spellings("metric", "metric"), help = metric_help())]
    metric: Vec<String>,
}

/// Options that give columns their roles.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ColumnOptions {
    /// Target column; `label` in libsvm files.
    #[arg(long, value_name = "COL")]
    target: Option<String>,
    #[arg(long, value_name = "NAME", aliases = spellings("objective", "objective"), help = objective_help())]
    objective: Option<String>,
    /// Column with row weights.
    #[arg(long, value_name = "COL")]
    weight: Option<String>,
    /// Column with the query of each row, for ranking; `qid` in libsvm files.
    #[arg(long, value_name = "COL", aliases = ["group-column", "query", "qid"])]
    group: Option<String>,
    /// Column with the position at which each row was displayed, to correct the bias of clicks (lambdarank).
    #[arg(long, value_name = "COL", requires = "group")]
    position: Option<String>,
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

/// Reads a table from a file, or from standard input if the path is `-`.
pub(crate) fn read_table(path: &Path, options: &ReadOptions) -> Result<Table, CliError> {
    if path != Path::new(STDIN) {
        return Ok(Table::read_with(path, options)?);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(Table::from_bytes(&bytes, Path::new("standard input"), options)?)
}

/// Path that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// Returns the help of `--objective`, with the names from the engine's list, so that it includes new objectives.
fn objective_help() -> String {
    format!(
        "Loss function: {}, or its LightGBM or XGBoost name. A parameter follows a colon: quantile:0.9 \
         [default: inferred from the target]",
        names(objective::NAMES)
    )
}

/// Returns the help of `--metric`.
pub(crate) fn metric_help() -> String {
    format!(
        "Evaluation metrics, separated by commas: {}. A parameter follows a colon or @: pinball:0.9, ndcg@10 \
         [default: the metric of the objective]",
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

/// Training data in a report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Learned<'a> {
    pub(crate) rows: usize,
    pub(crate) schema: &'a Schema,
    /// Size of the values before they were binned; `None` for a binned table.
    pub(crate) bytes: Option<usize>,
    pub(crate) objective: &'a str,
    pub(crate) reason: Option<&'a str>,
    pub(crate) classes: &'a [String],
    /// Time spent on reading.
    pub(crate) reading: Duration,
}

impl Source {
    /// Reads the table. If training continues from a model, features are matched to that model's.
    pub(crate) fn read(&self, base: Option<&Model>) -> Result<TableFile, CliError> {
        let start = Instant::now();
        let ColumnOptions { target, weight, group, position, .. } = &self.columns;
        let (table, roles) = (self.table(&self.data)?, self.columns.roles());
        let others = [target, weight, group, position];
        let is_feature = |column: &&Column| !others.contains(&&Some(column.name.clone()));
        table.columns().iter().filter(is_feature).for_each(warn_if_coarse);
        let table = table.into_training(&roles, base).map_err(with_options)?;
        Ok(TableFile { table, reading: start.elapsed() })
    }

    /// Reads a validation table with the columns and classes of the training table.
    pub(crate) fn read_like(&self, path: &Path, learned: &TableFile) -> Result<TableFile, CliError> {
        let start = Instant::now();
        let table =
            self.table(path)?.into_training_like(&self.columns.roles(), &learned.table).map_err(with_options)?;
        Ok(TableFile { table, reading: start.elapsed() })
    }

    pub(crate) fn table(&self, path: &Path) -> Result<Table, CliError> {
        read_table(path, &self.columns.read_options())
    }

    /// Sets the objective and the metrics of a file with parameters, unless options give them. Returns the number of
    /// threads.
    pub(crate) fn complete(&mut self, others: Vec<(&'static str, String)>) -> Result<Option<NonZeroUsize>, CliError> {
        let mut threads = None;
        for (name, value) in others {
            match name {
                "objective" => drop(self.columns.objective.get_or_insert(value)),
                "metric" if self.metric.is_empty() => {
                    self.metric =
                        value.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
                }
                "n_jobs" => {
                    let parsed: Result<i64, _> = value.parse();
                    let problem = format!("invalid n_jobs: `{value}`");
                    let fix = "use an integer of at least 1, or 0 for all cores";
                    let count = parsed.map_err(|_| CliError::Options { problem, fix })?;
                    threads = usize::try_from(count).ok().and_then(NonZeroUsize::new);
                }
                _ => {}
            }
        }
        Ok(threads)
    }

    /// Returns the evaluation metrics. Early stopping watches the first.
    pub(crate) fn metrics(&self, objective: &dyn Objective) -> Result<Vec<Box<dyn Metric>>, CliError> {
        if self.metric.is_empty() {
            return Ok(vec![metric::default_for(objective)]);
        }
        self.metric.iter().map(|name| Ok(metric::by_name_for(name, objective)?)).collect()
    }
}

impl ColumnOptions {
    /// Returns the options for reading a table.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            header: self.no_header.then_some(false),
            skip: self.ignore.clone(),
            // As strings, which keep all digits of large ids.
            text: self.group.iter().cloned().collect(),
            // Training rounds to f32 anyway.
            numbers: Numbers::F32,
            ..ReadOptions::default()
        }
    }

    /// Returns the options that a binned table determines: only its creation can set them.
    pub(crate) fn fixed_by_bins(&self) -> Option<&'static str> {
        let given = [
            (!self.categorical.is_empty(), "--categorical"),
            (self.class_weight.is_some(), "--class-weight"),
            (self.objective.is_some(), "--objective"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    pub(crate) fn roles(&self) -> ColumnRoles {
        ColumnRoles {
            target: self.target.clone(),
            weight: self.weight.clone(),
            group: self.group.clone(),
            position: self.position.clone(),
            categorical: self.categorical.clone(),
            objective: self.objective.clone(),
            balanced: matches!(self.class_weight, Some(ClassWeight::Balanced)),
        }
    }
}

impl TableFile {
    /// Describes the training data in a report.
    pub(crate) fn learned(&self) -> Learned<'_> {
        let matrix = self.table.matrix();
        Learned {
            rows: matrix.n_rows(),
            schema: matrix.schema(),
            bytes: Some(matrix.bytes()),
            objective: self.table.objective_name(),
            reason: self.table.reason(),
            classes: &self.table.target().labels,
            reading: self.reading,
        }
    }

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
pub(crate) fn with_options(error: TableError) -> CliError {
    match error {
        TableError::NoTarget { found } => {
            CliError::NoTarget { columns: found.into_iter().take(20).collect::<Vec<_>>().join(", ") }
        }
        TableError::Objective(ObjectiveError::NoGroups { objective }) => CliError::NoGroups { objective },
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
