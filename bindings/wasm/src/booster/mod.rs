//! Boosted trees: tables, training, prediction.

mod settings;
mod table;
mod train;

use bitgrain::gbdt::explain::Explainer;
use bitgrain::gbdt::feature::Features;
use bitgrain::gbdt::model::{Importance, Model};
use bitgrain::gbdt::predict::Predictor;
use bitgrain::gbdt::table::{ReadOptions, Table as Rows};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};
use crate::options;
use table::Table;

/// A model of boosted trees.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Booster {
    model: Model,
    predictor: Predictor,
    history: Vec<RoundReport>,
}

/// Metrics after a round.
#[derive(Debug, Serialize)]
struct RoundReport {
    /// 0-based index of the round.
    index: usize,
    total: usize,
    metrics: Vec<MetricReport>,
}

#[derive(Debug, Serialize)]
struct MetricReport {
    data: String,
    name: String,
    value: f64,
}

#[wasm_bindgen]
impl Booster {
    /// Reads a model file of Bitgrain, LightGBM (text) or XGBoost (JSON, UBJSON).
    pub fn load(bytes: &[u8]) -> Result<Self> {
        Self::new(Model::import(bytes).map_err(js)?)
    }

    /// Encodes the model as a file, which `load`, the command line and the Python package read.
    pub fn save(&self) -> Result<Vec<u8>> {
        self.model.to_bytes().map_err(js)
    }

    /// Returns the predictions for `rows` rows of features, row-major: one value per row, the probability of the second
    /// class for two classes, or one probability per class.
    pub fn predict(&self, features: &[f32], rows: u32) -> Result<Vec<f64>> {
        self.predictor.predict(&self.features(features, rows)?).map_err(js)
    }

    /// Returns the raw scores before the link function, row-major.
    pub fn raw(&self, features: &[f32], rows: u32) -> Result<Vec<f64>> {
        self.predictor.raw(&self.features(features, rows)?).map_err(js)
    }

    /// Returns the SHAP values of rows: per row and output, the contribution of each feature to the raw score, and then the
    /// expected score. They add up to the raw score.
    pub fn contributions(&self, features: &[f32], rows: u32) -> Result<Vec<f64>> {
        self.explain(&self.features(features, rows)?)
    }

    /// Returns the SHAP values of one row of a table, which is counted from 0.
    #[wasm_bindgen(js_name = contributionsOf)]
    pub fn contributions_of(&self, table: &Table, row: u32) -> Result<Vec<f64>> {
        let matrix = table.read(&ReadOptions::for_model(&self.model))?.align(&self.model.schema()).map_err(js)?;
        if row as usize >= matrix.n_rows() {
            return Err(js(format!("unknown row {row}; the table has {} rows, counted from 0", matrix.n_rows())));
        }
        self.explain(&matrix.select(&[row as usize]).features().map_err(js)?)
    }

    /// Returns the index of the most likely class of each row.
    #[wasm_bindgen(js_name = classIndices)]
    pub fn class_indices(&self, features: &[f32], rows: u32) -> Result<Vec<u32>> {
        self.predictor.class_indices(&self.features(features, rows)?).map_err(js)
    }

    /// Returns the predictions for the rows of a table, whose columns are matched by name.
    #[wasm_bindgen(js_name = predictTable)]
    pub fn predict_table(&self, table: &Table) -> Result<Vec<f64>> {
        let matrix = table.read(&ReadOptions::for_model(&self.model))?.align(&self.model.schema()).map_err(js)?;
        if matrix.n_rows() == 0 {
            return Ok(Vec::new());
        }
        self.predictor.predict(&matrix.features().map_err(js)?).map_err(js)
    }

    /// Returns the predictions for the rows of a table as CSV, as `bitgrain predict` writes it.
    #[wasm_bindgen(js_name = predictCsv)]
    pub fn predict_csv(&self, table: &Table) -> Result<String> {
        let names = self.model.output.column_names("prediction", "probability");
        let mut text = Vec::new();
        Rows::from_rows(&self.predict_table(table)?, names).map_err(js)?.write_csv(&mut text).map_err(js)?;
        String::from_utf8(text).map_err(js)
    }

    /// Returns the importance of each feature: the total gain of its splits, or their number for `split`.
    pub fn importances(&self, kind: Option<String>) -> Result<Vec<f64>> {
        let kind = match kind.as_deref() {
            None | Some("gain") => Importance::Gain,
            Some("split") => Importance::Split,
            Some(other) => return Err(js(format!("unknown importance `{other}`; use `gain` or `split`"))),
        };
        Ok(self.model.feature_importance(kind))
    }

    /// Names of the features, in the order of a row.
    #[wasm_bindgen(getter, js_name = featureNames)]
    #[must_use]
    pub fn feature_names(&self) -> Vec<String> {
        self.model.inputs.iter().map(|input| input.name.clone()).collect()
    }

    /// Labels of the classes; empty for regression.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn classes(&self) -> Vec<String> {
        self.model.output.classes.clone()
    }

    /// Name of the objective, with its parameter.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn objective(&self) -> String {
        self.model.output.objective.clone()
    }

    /// Number of predictions per row.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.model.n_outputs()
    }

    /// Number of training rounds.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.model.n_rounds()
    }

    /// Metrics after each round of the training; empty for a loaded model.
    #[wasm_bindgen(getter, unchecked_return_type = "Round[]")]
    pub fn history(&self) -> Result<JsValue> {
        options::write(&self.history)
    }

    /// One-line summary.
    #[wasm_bindgen(js_name = toString)]
    #[must_use]
    pub fn summary(&self) -> String {
        self.model.to_string()
    }
}

impl Booster {
    fn new(model: Model) -> Result<Self> {
        let predictor = Predictor::new(&model).map_err(js)?;
        Ok(Self { model, predictor, history: Vec::new() })
    }

    fn explain(&self, features: &Features<'_>) -> Result<Vec<f64>> {
        Explainer::new(&self.model).and_then(|explainer| explainer.contributions(features)).map_err(js)
    }

    fn features<'a>(&self, values: &'a [f32], rows: u32) -> Result<Features<'a>> {
        Features::row_major(values, rows as usize, self.model.n_inputs()).map_err(js)
    }
}
