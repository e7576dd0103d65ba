//! What is learned from: a table, its target, and what is said about its columns.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bitgrain::gbdt::metric::{self, Metric};
use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::objective::{self, ClassWeights, Objective, ObjectiveError};
use bitgrain::gbdt::table::{Column, ColumnData, Matrix, Numbers, ReadOptions, Table, Target, Task, weights};

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
    /// What to minimise: squared, absolute, huber, quantile[:alpha], poisson, gamma, tweedie, binary, multiclass, or
    /// LightGBM's and XGBoost's names for them. Found out from the target if not given.
    #[arg(long, value_name = "NAME")]
    objective: Option<String>,
    /// What to measure: rmse, mae, r2, logloss, auc, error, multi_logloss and others, or several with commas between.
    /// What suits the objective if not given.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
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

/// How classes count.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ClassWeight {
    Balanced,
}

/// A table made ready.
pub(crate) struct Prepared {
    pub(crate) matrix: Matrix,
    pub(crate) targets: Vec<f32>,
    pub(crate) weights: Option<Vec<f32>>,
    /// The text of each class; empty if there are none.
    pub(crate) classes: Vec<String>,
    /// The name that makes the objective.
    pub(crate) objective: String,
    /// Why it is this objective, if nobody asked for it.
    pub(crate) reason: Option<String>,
    pub(crate) reading: Duration,
}

impl Source {
    /// Reads the table; with a model to go on from, as that model sees it.
    pub(crate) fn read(&self, base: Option<&Model>) -> Result<Prepared, CliError> {
        let start = Instant::now();
        let (table, target, weights) = self.split(&self.data)?;
        let (objective, reason) = self.objective_name(&target, base)?;
        let known = base.map(|model| &model.output.classes[..]).unwrap_or_default();
        let target = target_for(&objective, &target, known)?;
        let objective = counted(&objective, target.labels.len())?;
        if self.class_weight.is_some() && target.labels.is_empty() {
            return Err(CliError::ClassWeight { objective });
        }
        table.columns().iter().for_each(say_coarse);
        let matrix = match base {
            Some(model) => table.align(&model.schema())?,
            None => table.into_matrix(&self.categorical)?,
        };
        Ok(Prepared {
            matrix,
            targets: target.values,
            weights,
            classes: target.labels,
            objective,
            reason,
            reading: start.elapsed(),
        })
    }

    /// Reads a table to measure on, as the one that is learned from was read.
    pub(crate) fn read_like(&self, path: &Path, learned: &Prepared) -> Result<Prepared, CliError> {
        let start = Instant::now();
        let (table, target, weights) = self.split(path)?;
        let target = target_for(&learned.objective, &target, &learned.classes)?;
        Ok(Prepared {
            matrix: table.align(learned.matrix.schema())?,
            targets: target.values,
            weights,
            classes: target.labels,
            objective: learned.objective.clone(),
            reason: None,
            reading: start.elapsed(),
        })
    }

    fn split(&self, path: &Path) -> Result<(Table, Column, Option<Vec<f32>>), CliError> {
        let options = ReadOptions {
            header: self.no_header.then_some(false),
            skip: self.ignore.clone(),
            // What training rounds to anyway.
            numbers: Numbers::F32,
            ..ReadOptions::default()
        };
        let mut table = Table::read_with(path, &options)?;
        let name = match (&self.target, table.sparse()) {
            (Some(name), _) => name,
            (None, Some(_)) => "label",
            (None, None) => return Err(CliError::NoTarget { columns: names(&table) }),
        };
        let target = table.take(name)?;
        let weights = match &self.weight {
            Some(name) => Some(weights(&table.take(name)?)?),
            None if table.sparse().is_some() && table.column("weight").is_some() => {
                Some(weights(&table.take("weight")?)?)
            }
            None => None,
        };
        Ok((table, target, weights))
    }

    fn objective_name(&self, target: &Column, base: Option<&Model>) -> Result<(String, Option<String>), CliError> {
        if let Some(name) = &self.objective {
            return Ok((name.clone(), None));
        }
        if let Some(model) = base {
            return Ok((model.output.objective.clone(), Some("that of the model it goes on from".to_owned())));
        }
        let inferred = Task::infer(target);
        let name = match inferred.task {
            Task::Regression => "squared",
            Task::Binary => "binary",
            Task::Multiclass { .. } => "multiclass",
        };
        Ok((name.to_owned(), Some(inferred.reason)))
    }

    /// What is measured, the first is what early stopping goes by.
    pub(crate) fn metrics(&self, objective: &dyn Objective) -> Result<Vec<Box<dyn Metric>>, CliError> {
        if self.metric.is_empty() {
            return Ok(vec![metric::default_for(objective)]);
        }
        self.metric.iter().map(|name| Ok(metric::by_name_for(name, objective)?)).collect()
    }

    /// The weights of rows that are trained on: their own, times those of their classes if these are to be balanced.
    pub(crate) fn training_weights(
        &self,
        targets: &[f32],
        own: Option<Vec<f32>>,
    ) -> Result<Option<Vec<f32>>, CliError> {
        let Some(ClassWeight::Balanced) = self.class_weight else { return Ok(own) };
        let mut all = objective::class_weights(targets, &ClassWeights::Balanced)?;
        if let Some(own) = own {
            all.iter_mut().zip(own).for_each(|(weight, own)| *weight *= own);
        }
        Ok(Some(all))
    }
}

impl Prepared {
    /// Says what is learned if nobody asked for it, and why.
    pub(crate) fn say_why(&self) {
        if let Some(reason) = &self.reason {
            eprintln!("objective {}: {}; --objective chooses another", self.objective, printable(reason));
        }
    }

    /// Whether the targets are classes, which are then held back in equal shares.
    pub(crate) fn strata(&self) -> Option<&[f32]> {
        (!self.classes.is_empty()).then_some(&self.targets[..])
    }

    /// Some of the rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let chosen = |values: &[f32]| rows.iter().map(|row| values[*row]).collect::<Vec<f32>>();
        Self {
            matrix: self.matrix.select(rows),
            targets: chosen(&self.targets),
            weights: self.weights.as_deref().map(chosen),
            classes: self.classes.clone(),
            objective: self.objective.clone(),
            reason: self.reason.clone(),
            reading: self.reading,
        }
    }
}

/// Says so if f32 tells few values of a column apart, as it does with times in milliseconds.
fn say_coarse(column: &Column) {
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

/// Classes for classifiers, numbers for the others. With a binary objective, numbers between 0 and 1 are shares.
fn target_for(objective: &str, column: &Column, known: &[String]) -> Result<Target, CliError> {
    let name = match objective::by_name(objective) {
        Err(ObjectiveError::MissingParameter { objective, .. }) => objective.to_owned(),
        other => other?.name(),
    };
    let shares = || column.data.numbers().is_some() && Task::infer(column).task == Task::Regression;
    match name.split(':').next() {
        Some("binary") if known.is_empty() && shares() => Ok(Target::numbers(column)?),
        Some("binary" | "multiclass") if known.is_empty() => Ok(Target::classes(column)?),
        Some("binary" | "multiclass") => Ok(Target::classes_like(column, known)?),
        _ => Ok(Target::numbers(column)?),
    }
}

/// The name with the number of classes, if it needs one and lacks it.
fn counted(name: &str, classes: usize) -> Result<String, CliError> {
    match objective::by_name(name) {
        Err(ObjectiveError::MissingParameter { .. }) => Ok(objective::by_name(&format!("{name}:{classes}"))?.name()),
        other => Ok(other?.name()),
    }
}

fn names(table: &Table) -> String {
    table.columns().iter().take(20).map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}
