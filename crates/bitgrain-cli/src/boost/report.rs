//! HTML report of a training run.

use std::path::Path;

use bitgrain::files::PartFile;
use bitgrain::gbdt::feature::Features;
use bitgrain::gbdt::predict::EvaluationData;
use bitgrain::gbdt::report::{TrainingReport, curves};

use super::data::TableFile;
use super::outcome::{precision, seconds};
use super::training::{TrainingData, TrainingRun};
use crate::error::CliError;
use crate::output::write_atomic;

/// Fails early, before the training, if the report cannot be created.
pub(crate) fn check_writable(path: &Path) -> Result<(), CliError> {
    // Dropping the file removes it.
    PartFile::create(path).map(drop).map_err(|source| CliError::File { path: path.to_owned(), source })
}

/// Writes the report of a training run on the table `source`.
pub(crate) fn write(path: &Path, source: &Path, data: &TrainingData<'_>, run: &TrainingRun) -> Result<(), CliError> {
    let training = &run.training;
    let (train, valid) = (Held::new(data.learned)?, data.valid.map(Held::new).transpose()?);
    let name = source.file_name().unwrap_or(source.as_os_str()).to_string_lossy();
    let facts = [
        ("gradients".to_owned(), precision(training.precision).to_owned()),
        ("reading".to_owned(), seconds(data.learned.reading.as_secs_f64())),
        ("binning".to_owned(), seconds(run.binning.as_secs_f64())),
        ("training".to_owned(), seconds(run.growing.as_secs_f64())),
    ];
    let report = TrainingReport {
        title: &name,
        model: &training.model,
        curves: &curves(&training.history),
        best_round: training.best_round,
        train: train.data(),
        valid: valid.as_ref().map(Held::data),
        facts: &facts,
    };
    write_atomic(path, report.html()?.as_bytes())
}

/// Rows of a table with targets in f64.
struct Held<'a> {
    features: Features<'a>,
    targets: Vec<f64>,
    weights: Option<&'a [f32]>,
}

impl<'a> Held<'a> {
    fn new(file: &'a TableFile) -> Result<Self, CliError> {
        let table = &file.table;
        let targets = table.target().values.iter().map(|&target| f64::from(target)).collect();
        Ok(Self { features: table.matrix().features()?, targets, weights: table.weights() })
    }

    fn data(&self) -> EvaluationData<'_> {
        EvaluationData { features: &self.features, targets: &self.targets, weights: self.weights }
    }
}
