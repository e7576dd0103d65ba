//! Quality of the predictions: the figures and charts that apply to the kind of output.

use maud::{Markup, html};

use super::rows::Rows;
use super::{ReportError, binary, classes, regression};
use crate::metric::{self, MetricInput};
use crate::model::Model;
use crate::objective::{self, ObjectiveKind};
use crate::predict::Predictor;

/// Kind of output, which decides the charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Regression,
    /// Probabilities of a second class, with targets 0 and 1.
    Binary,
    Multiclass,
    /// Scores that are not comparable with the targets, such as those of rankings.
    Other,
}

/// Predictions of the evaluated rows.
pub(super) struct Evaluated<'a> {
    pub(super) model: &'a Model,
    pub(super) rows: &'a Rows,
    pub(super) task: Task,
    /// Predictions, output-major: all rows of the first class, then all rows of the second.
    pub(super) predictions: Vec<f64>,
    figures: Vec<(String, f64)>,
}

impl<'a> Evaluated<'a> {
    pub(super) fn new(model: &'a Model, predictor: &Predictor, rows: &'a Rows) -> Result<Self, ReportError> {
        let by_row = predictor.predict(&rows.features()?)?;
        let n_outputs = predictor.n_outputs();
        let predictions: Vec<f64> =
            (0..n_outputs).flat_map(|output| by_row.iter().skip(output).step_by(n_outputs)).copied().collect();
        let task = task(model, rows);
        let names: &[&str] = match task {
            Task::Regression => &["rmse", "mae", "r2"],
            Task::Binary => &["auc", "logloss", "error", "average_precision"],
            Task::Multiclass => &["multi_logloss", "multi_error"],
            Task::Other => &[],
        };
        let weights = rows.weights.as_deref();
        let input = MetricInput { targets: &rows.targets, weights, predictions: &predictions, groups: None };
        // The default metric first. Some may be undefined: AUC with a single class, log loss of probabilities as targets.
        let default = metric::for_model(None, model)?;
        let mut metrics = Vec::new();
        for name in names.iter().filter(|name| **name != default.name()) {
            metrics.push(metric::by_name(name)?);
        }
        metrics.insert(0, default);
        let mut figures = Vec::new();
        for metric in metrics.iter().filter(|_| task != Task::Other) {
            figures.extend(metric.evaluate(&input).ok().map(|value| (metric.name(), value)));
        }
        Ok(Self { model, rows, task, predictions, figures })
    }

    /// Names and values of the metrics.
    pub(super) fn figures(&self) -> &[(String, f64)] {
        &self.figures
    }

    /// Value of a metric, if it is defined.
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Label of a class. A model of one score predicts the second of two classes.
    pub(super) fn label(&self, class: usize) -> String {
        super::number::clean(&self.model.output.class_label(class))
    }
}

fn task(model: &Model, rows: &Rows) -> Task {
    let n_outputs = model.n_outputs();
    let are_classes =
        |count: usize| rows.targets.iter().all(|&target| (0..count).any(|class| target == super::number::float(class)));
    if model.output.is_classifier() && n_outputs > 1 {
        return if are_classes(n_outputs) { Task::Multiclass } else { Task::Other };
    }
    if model.output.has_probabilities() {
        // Targets between 0 and 1 are probabilities, which have no confusion matrix.
        return if are_classes(2) { Task::Binary } else { Task::Regression };
    }
    match objective::kind_of(&model.output.objective) {
        Ok(ObjectiveKind::Regression) | Err(_) if n_outputs == 1 => Task::Regression,
        _ => Task::Other,
    }
}

pub(super) fn section(evaluated: &Evaluated<'_>, held_out: bool) -> Markup {
    let (title, content) = match evaluated.task {
        Task::Regression => ("Residuals and calibration", regression::charts(evaluated)),
        Task::Binary => ("Classification quality", binary::charts(evaluated)),
        Task::Multiclass => ("Classification quality", classes::charts(evaluated)),
        Task::Other => return html! {},
    };
    html! {
        section {
            h2 { (title) }
            p class="note" { "Measured on the " (if held_out { "validation" } else { "training" }) " rows." }
            (content)
        }
    }
}
