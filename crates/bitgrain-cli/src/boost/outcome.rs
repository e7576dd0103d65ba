//! Report of a training run, as a table and as JSON.

use std::io::Write;
use std::path::Path;

use bitgrain::gbdt::gradient::GradientPrecision;
use bitgrain::gbdt::train::MetricValue;
use serde_json::{Value, json};

use super::data::Learned;
use super::training::TrainingRun;
use crate::error::CliError;
use crate::number::{Size, digits};
use crate::table::Table;

/// Results of a training run.
pub(crate) struct Outcome<'a> {
    pub(crate) learned: Learned<'a>,
    pub(crate) valid_rows: usize,
    pub(crate) trained: &'a TrainingRun,
    pub(crate) path: &'a Path,
    pub(crate) file_bytes: u64,
}

impl Outcome<'_> {
    pub(crate) fn write_text(&self, out: &mut impl Write) -> Result<(), CliError> {
        let Self { learned, trained, .. } = self;
        let model = &trained.training.model;
        let mut table = Table::new(&["property", "value"], 1);
        let mut line = |what: &str, value: String| table.row([what.to_owned(), value]);
        line("training rows", learned.rows.to_string());
        if self.valid_rows > 0 {
            line("validation rows", self.valid_rows.to_string());
        }
        line("features", learned.schema.n_features().to_string());
        line("categorical features", learned.schema.categorical().count().to_string());
        line("bins", trained.bins.to_string());
        if let Some(bytes) = learned.bytes {
            line("bytes per row", (bytes / learned.rows.max(1)).to_string());
        }
        line("bytes per row, binned", trained.bytes_per_row.to_string());
        line("objective", learned.objective.to_owned());
        line("gradients", precision(trained.training.precision).to_owned());
        line("rounds", trained.training.history.len().to_string());
        if let Some(best) = trained.training.best_round {
            line("best round", (best + 1).to_string());
        }
        line("trees", model.trees.len().to_string());
        for MetricValue { data, name, value } in trained.metrics() {
            line(&format!("{data} {name}"), digits(*value));
        }
        line("reading", seconds(learned.reading.as_secs_f64()));
        line("binning", seconds(trained.binning.as_secs_f64()));
        line("training", seconds(trained.growing.as_secs_f64()));
        line("model file", Size(self.file_bytes).to_string());
        writeln!(out, "{table}\n\nwrote {}", self.path.display())?;
        Ok(())
    }

    pub(crate) fn to_json(&self) -> Value {
        let Self { learned, trained, .. } = self;
        let metric =
            |metric: &MetricValue| json!({"data": metric.data.to_string(), "name": metric.name, "value": metric.value});
        let training = &trained.training;
        json!({
            "rows": learned.rows,
            "valid_rows": self.valid_rows,
            "features": learned.schema.n_features(),
            "categorical": learned.schema.categorical().map(|at| &learned.schema.names()[at]).collect::<Vec<_>>(),
            "bins": trained.bins,
            "bytes_per_row": trained.bytes_per_row,
            "objective": learned.objective,
            "reason": learned.reason,
            "classes": learned.classes,
            "precision": precision(training.precision),
            "settings": training.model.metadata,
            "rounds": training.history.len(),
            "best_round": training.best_round.map(|round| round + 1),
            "trees": training.model.trees.len(),
            "metrics": trained.metrics().iter().map(metric).collect::<Vec<_>>(),
            "history": training.history.iter().map(|round| round.iter().map(metric).collect()).collect::<Vec<Vec<_>>>(),
            "seconds": {
                "reading": learned.reading.as_secs_f64(),
                "binning": trained.binning.as_secs_f64(),
                "training": trained.growing.as_secs_f64(),
            },
            "model": self.path.display().to_string(),
            "model_bytes": self.file_bytes,
        })
    }
}

pub(crate) fn precision(precision: GradientPrecision) -> &'static str {
    match precision {
        GradientPrecision::F32 => "f32",
        GradientPrecision::Pair8 => "pair8",
        GradientPrecision::Pair4 => "pair4",
        GradientPrecision::Auto => "auto",
    }
}

pub(crate) fn seconds(time: f64) -> String {
    format!("{time:.2} s")
}
