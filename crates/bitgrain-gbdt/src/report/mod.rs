//! A training as a self-contained HTML page: learning curves, importances, SHAP values, quality, trees and columns.
//!
//! The page loads no other file and needs no script, follows the reader's light or dark color scheme, and fits the width
//! of a phone. For tables with many rows, it uses evenly spaced rows and says so.
//!
//! ```
//! use bitgrain_gbdt::predict::EvaluationData;
//! use bitgrain_gbdt::report::{TrainingReport, curves};
//! use bitgrain_gbdt::{Dataset, Features, Params, Quantizer, Trainer, metric, objective};
//! let values: Vec<f32> = (0..200).map(|row| row as f32).collect();
//! let features = Features::column_major(&values[..], 200, 1)?;
//! let targets: Vec<f64> = values.iter().map(|&value| f64::from(value).sqrt()).collect();
//! let mut data = Dataset::new(&features, targets.clone(), None, &Quantizer::default())?;
//! let trainer = Trainer::new(Params::default(), objective::by_name("squared")?).metric(metric::by_name("rmse")?);
//! let training = trainer.train(&mut data)?;
//! let report = TrainingReport {
//!     title: "square roots",
//!     model: &training.model,
//!     curves: &curves(&training.history),
//!     best_round: training.best_round,
//!     train: EvaluationData { features: &features, targets: &targets, weights: None },
//!     valid: None,
//!     facts: &[],
//! };
//! let page = report.html()?;
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Learning curves"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beeswarm;
mod binary;
mod chart;
mod classes;
mod columns;
mod error;
mod headline;
mod importance;
mod learning;
mod number;
mod parameters;
mod quality;
mod regression;
mod rows;
mod shap;
mod target;
mod trees;

use maud::{DOCTYPE, PreEscaped, html};

use crate::model::Model;
use crate::predict::{EvaluationData, Predictor};

pub use error::ReportError;
pub use learning::{Curve, curves};

use quality::Evaluated;
use rows::Rows;
use shap::Shap;

/// Content of a page.
#[derive(Debug, Clone, Copy)]
pub struct TrainingReport<'a> {
    /// Title of the page, such as the name of the table.
    pub title: &'a str,
    /// The trained model.
    pub model: &'a Model,
    /// Metrics after each round.
    pub curves: &'a [Curve],
    /// Index of the best round.
    pub best_round: Option<usize>,
    /// Training data.
    pub train: EvaluationData<'a>,
    /// Held-out data. The quality of the model is measured on it, or on the training data without it.
    pub valid: Option<EvaluationData<'a>>,
    /// Additional facts to list: names and values.
    pub facts: &'a [(String, String)],
}

impl TrainingReport<'_> {
    /// Renders the page.
    ///
    /// # Errors
    /// Returns a [`ReportError`] if the data does not match the model, or targets or weights are invalid.
    pub fn html(&self) -> Result<String, ReportError> {
        let predictor = Predictor::new(self.model)?;
        let train = Rows::sample(self.model, &self.train)?;
        let valid = self.valid.as_ref().map(|valid| Rows::sample(self.model, valid)).transpose()?;
        let rows = valid.as_ref().unwrap_or(&train);
        let evaluated = Evaluated::new(self.model, &predictor, rows)?;
        let shap = Shap::new(self.model, rows);
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    style { (PreEscaped(include_str!("page.css"))) }
                }
                body {
                    main {
                        (headline::section(self, &train, valid.as_ref(), &evaluated))
                        (learning::section(self.curves, self.best_round))
                        (quality::section(&evaluated, valid.is_some()))
                        (importance::section(self.model, &shap))
                        (shap::section(self.model, &shap, rows))
                        (target::section(self.model, &train))
                        (columns::section(self.model, &train))
                        (trees::section(self.model))
                        (parameters::section(self))
                    }
                }
            }
        };
        Ok(page.into_string())
    }
}
