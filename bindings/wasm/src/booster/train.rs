//! Training.

use std::ops::ControlFlow;

use bitgrain::gbdt::feature::{Features, Schema};
use bitgrain::gbdt::objective::{ObjectiveKind, kind_of};
use bitgrain::gbdt::table::Fold;
use bitgrain::gbdt::train::{Dataset, MetricValue, Round};
use bitgrain::gbdt::{Objective, Trainer};
use js_sys::Function;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::settings::Settings;
use super::{Booster, MetricReport, RoundReport, Table};
use crate::error::{Result, js};
use crate::{callback, options};

#[wasm_bindgen]
impl Booster {
    /// Trains a model on `rows` rows of features, row-major. `NaN` is a missing value. The objective is `squared` unless
    /// the options name another; class labels are integers from 0.
    pub fn train(
        features: &[f32],
        rows: u32,
        targets: Vec<f32>,
        #[wasm_bindgen(unchecked_optional_param_type = "TrainOptions")] options: JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "OnRound")] on_round: Option<Function>,
    ) -> Result<Self> {
        let settings: Settings = options::read(&options)?;
        let parameters = settings.parameters()?;
        let features = described(features, rows, &settings)?;
        let mut data = Dataset::new(&features, targets, None, &parameters.quantizer().map_err(js)?).map_err(js)?;
        let objective = data.objective(settings.objective()).map_err(js)?;
        let mut held = None;
        if let Some(share) = settings.valid_share()? {
            let targets = data.targets().into_owned();
            let is_regression = kind_of(&objective.name()).map_err(js)? == ObjectiveKind::Regression;
            let classes = (!is_regression).then_some(&targets[..]);
            let fold = Fold::hold_out(data.n_rows(), classes, share, parameters.params().map_err(js)?.seed);
            held = Some(data.rows(&fold.valid));
            data = data.rows(&fold.train);
        }
        fit(&settings, data, held.as_ref(), objective, on_round)
    }

    /// Trains a model on a table, as `bitgrain train` does. Columns of strings are categories.
    #[wasm_bindgen(js_name = trainTable)]
    pub fn train_table(
        table: &Table,
        #[wasm_bindgen(unchecked_param_type = "TableOptions")] options: JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "OnRound")] on_round: Option<Function>,
    ) -> Result<Self> {
        let settings: Settings = options::read(&options)?;
        let parameters = settings.parameters()?;
        let mut all = table.without(&settings.ignore)?.into_training(&settings.roles()?, None).map_err(js)?;
        let mut valid = None;
        if let Some(share) = settings.valid_share()? {
            let seed = parameters.params().map_err(js)?.seed;
            let fold = match all.groups() {
                Some(groups) => Fold::hold_out_groups(groups, share, seed),
                None => Fold::hold_out(all.matrix().n_rows(), all.strata(), share, seed),
            };
            valid = Some(all.select(&fold.valid));
            all = all.select(&fold.train);
        }
        let data = all.dataset(&parameters.quantizer().map_err(js)?, None).map_err(js)?;
        let held = valid.map(|valid| valid.dataset_like(&data, None)).transpose().map_err(js)?;
        let objective = all.objective().map_err(js)?;
        fit(&settings, data, held.as_ref(), objective, on_round)
    }
}

/// Returns features with the names and categories of the settings.
fn described<'a>(values: &'a [f32], rows: u32, settings: &Settings) -> Result<Features<'a>> {
    let rows = rows as usize;
    let columns = values.len().checked_div(rows).unwrap_or(0);
    let features = Features::row_major(values, rows, columns).map_err(js)?;
    let mut schema = Schema::unnamed(columns);
    if let Some(names) = &settings.names {
        schema = schema.with_names(names.clone()).map_err(js)?;
    }
    let index = |value: &Value| {
        let named = value.as_str().and_then(|name| schema.names().iter().position(|known| known == name));
        let index = named.or(value.as_u64().and_then(|index| usize::try_from(index).ok()));
        index.ok_or_else(|| js(format!("unknown feature {value} in `categorical`; use an index or a name of `names`")))
    };
    let categorical = settings.categorical.iter().map(index).collect::<Result<Vec<_>>>()?;
    let schema = schema.with_categorical(&categorical).map_err(js)?;
    features.with_schema(schema.into()).map_err(js)
}

fn fit(
    settings: &Settings,
    mut data: Dataset,
    held: Option<&Dataset>,
    objective: Box<dyn Objective>,
    on_round: Option<Function>,
) -> Result<Booster> {
    let params = settings.parameters()?;
    params.check_objective(&objective.name()).map_err(js)?;
    let metrics = settings.metrics(&*objective)?;
    let trainer = Trainer::new(params.params().map_err(js)?, objective);
    let mut trainer = metrics.into_iter().fold(trainer, Trainer::metric);
    if let Some(held) = held {
        trainer = trainer.valid(held).watch_train();
    }
    let training = callback::with(on_round, || trainer.on_round(tell).train(&mut data).map_err(js))?;
    let mut booster = Booster::new(training.model)?;
    let total = training.history.len();
    let rounds = training.history.iter().enumerate();
    booster.history = rounds.map(|(index, metrics)| report(index, total, metrics)).collect();
    Ok(booster)
}

fn tell(round: &Round<'_>) -> ControlFlow<()> {
    let goes_on = callback::call(|| options::write(&report(round.index, round.total, round.metrics)));
    if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

fn report(index: usize, total: usize, metrics: &[MetricValue]) -> RoundReport {
    let metric = |metric: &MetricValue| MetricReport {
        data: metric.data.to_string(),
        name: metric.name.clone(),
        value: metric.value,
    };
    RoundReport { index, total, metrics: metrics.iter().map(metric).collect() }
}
