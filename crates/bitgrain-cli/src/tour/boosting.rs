//! Chapter "boosting": trains trees on a small table at each gradient precision, then saves, loads, runs and explains the
//! model.

use std::io;
use std::time::Instant;

use bitgrain::gbdt::explain::Explainer;
use bitgrain::gbdt::feature::Quantizer;
use bitgrain::gbdt::gradient::GradientPrecision;
use bitgrain::gbdt::metric;
use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::objective;
use bitgrain::gbdt::predict::Predictor;
use bitgrain::gbdt::table::{Column, ColumnData, ColumnRoles, Fold, Matrix, StringColumn, Table as Data};
use bitgrain::gbdt::train::{Dataset, Params, Trainer, Training};
use serde::Serialize;
use serde_json::Value;

use super::block::Block;
use super::{Chapter, Report};
use crate::boost::outcome::precision;
use crate::error::CliError;
use crate::table::Table;

pub(crate) const CHAPTER: Chapter =
    Chapter { name: "boosting", title: "Boosting: trees on a small table, at each gradient precision", run };

const ROWS: usize = 20_000;

/// Fraction of the rows held out for validation.
const HELD_BACK: f64 = 0.25;

/// Number of held-out rows that are explained.
const EXPLAINED: usize = 1000;

const CITIES: [&str; 6] = ["Bergen", "Oslo", "Paris", "Rome", "Turin", "Vienna"];

#[derive(Debug, Serialize)]
struct Boosting {
    rows: usize,
    features: usize,
    missing: usize,
    f32_bytes_per_row: usize,
    bytes_per_row: usize,
    precisions: Vec<Row>,
    model_bytes: u64,
    trees: usize,
    /// Whether the loaded model makes bit-identical predictions.
    same_after_loading: bool,
    predictions_per_second: f64,
    /// Features by descending mean magnitude of their SHAP values.
    contributions: Vec<Contribution>,
}

#[derive(Debug, Serialize)]
struct Contribution {
    feature: String,
    mean_absolute: f64,
}

#[derive(Debug, Serialize)]
struct Row {
    precision: &'static str,
    /// Size of a row's gradient and hessian in bytes.
    gradient_bytes: f64,
    auc: f64,
    logloss: f64,
    seconds: f64,
}

fn run() -> Result<Box<dyn Report>, CliError> {
    let (table, missing) = generate()?;
    let table = table.into_training(&ColumnRoles::target("bought"), None)?;
    let fold = Fold::hold_out(ROWS, table.strata(), HELD_BACK, 1);
    let (learned, held) = (table.select(&fold.train), table.select(&fold.valid));
    let mut data = learned.dataset(&Quantizer::default(), None)?;
    let valid = held.dataset_like(&data, None)?;
    let (matrix, held) = (table.matrix(), held.matrix());
    let mut precisions = Vec::new();
    let mut last = None;
    for (kept, gradient_bytes) in
        [(GradientPrecision::F32, 8.0), (GradientPrecision::Pair8, 2.0), (GradientPrecision::Pair4, 1.0)]
    {
        let start = Instant::now();
        let training = train(&mut data, &valid, kept)?;
        let seconds = start.elapsed().as_secs_f64();
        let value =
            |at: usize| training.history.last().and_then(|metrics| metrics.get(at)).map_or(f64::NAN, |m| m.value);
        precisions.push(Row { precision: precision(kept), gradient_bytes, auc: value(0), logloss: value(1), seconds });
        last = Some(training.model);
    }
    let model = last.ok_or_else(|| io::Error::other("no model was trained"))?;
    let (loaded, model_bytes) = saved_and_loaded(&model)?;
    let before = Predictor::new(&model)?.predict(&held.features()?)?;
    let start = Instant::now();
    let after = Predictor::new(&loaded)?.predict(&held.features()?)?;
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate to show")]
    let predictions_per_second = after.len() as f64 / seconds;
    Ok(Box::new(Boosting {
        rows: ROWS,
        features: matrix.schema().n_features(),
        missing,
        f32_bytes_per_row: matrix.bytes() / ROWS,
        bytes_per_row: data.bytes_per_row(),
        precisions,
        model_bytes,
        trees: model.trees.len(),
        same_after_loading: before.iter().map(|p| p.to_bits()).eq(after.iter().map(|p| p.to_bits())),
        predictions_per_second,
        contributions: explain(&loaded, held)?,
    }))
}

/// Returns the mean magnitude of the SHAP values of each feature, for the first held-out rows.
fn explain(model: &Model, held: &Matrix) -> Result<Vec<Contribution>, CliError> {
    let rows = held.select(&(0..held.n_rows().min(EXPLAINED)).collect::<Vec<_>>());
    let explainer = Explainer::new(model)?;
    let values = explainer.contributions(&rows.features()?)?;
    #[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
    let count = rows.n_rows() as f64;
    let mean =
        |at: usize| values.iter().skip(at).step_by(explainer.n_values()).map(|value| value.abs()).sum::<f64>() / count;
    let inputs = model.inputs.iter().enumerate();
    let mut all: Vec<Contribution> =
        inputs.map(|(at, input)| Contribution { feature: input.name.clone(), mean_absolute: mean(at) }).collect();
    all.sort_by(|a, b| b.mean_absolute.total_cmp(&a.mean_absolute));
    Ok(all)
}

/// Returns a synthetic table of visitors of a shop, some of whom buy something, and the number of its missing values.
fn generate() -> Result<(Data, usize), CliError> {
    let mut random = fastrand::Rng::with_seed(5);
    let mut missing = 0;
    let (mut numbers, mut cities, mut bought) = (vec![Vec::new(); 8], Vec::new(), Vec::new());
    for _ in 0..ROWS {
        let row: Vec<f32> = (0..8).map(|_| (0..4).map(|_| random.f32() - 0.5).sum::<f32>() * 1.7).collect();
        let city = random.usize(..CITIES.len());
        let taste = [0.9, -0.4, 0.2, -1.1, 0.6, 0.0][city];
        let score = row[0] - 0.8 * row[1] * row[2] + (2.0 * row[3]).sin() + taste + 0.5 * row[4].abs() - 0.6;
        bought.push(Some(if score + 0.8 * (random.f32() - 0.5) > 0.0 { "yes" } else { "no" }));
        for (column, value) in numbers.iter_mut().zip(row) {
            let known = random.f32() > 0.05;
            missing += usize::from(!known);
            column.push(if known { value } else { f32::NAN });
        }
        let known = random.f32() > 0.05;
        missing += usize::from(!known);
        cities.push(known.then_some(CITIES[city]));
    }
    let names = ["age", "visits", "minutes", "hour", "basket", "clicks", "noise_a", "noise_b"];
    let column = |name: &str, data| Column { name: name.to_owned(), data };
    let mut columns: Vec<Column> =
        names.iter().zip(numbers).map(|(name, values)| column(name, ColumnData::F32(values))).collect();
    columns.push(column("city", ColumnData::Strings(StringColumn::new(cities))));
    columns.push(column("bought", ColumnData::Strings(StringColumn::new(bought))));
    Ok((Data::new(columns)?, missing))
}

fn train(data: &mut Dataset, valid: &Dataset, precision: GradientPrecision) -> Result<Training, CliError> {
    let params = Params { gradient_precision: precision, ..Params::default() };
    let trainer = Trainer::new(params, objective::by_name("binary")?);
    let trainer = trainer.metric(metric::by_name("auc")?).metric(metric::by_name("logloss")?).valid(valid);
    Ok(trainer.train(data)?)
}

fn saved_and_loaded(model: &Model) -> Result<(Model, u64), CliError> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shop.bitgrain");
    model.save(&path)?;
    Ok((Model::load(&path)?, std::fs::metadata(&path)?.len()))
}

impl Report for Boosting {
    fn blocks(&self) -> Vec<Block> {
        let mut table = Table::new(&["gradients", "bytes per row", "AUC", "log loss", "seconds"], 1);
        for row in &self.precisions {
            table.row([
                row.precision.to_owned(),
                row.gradient_bytes.to_string(),
                format!("{:.4}", row.auc),
                format!("{:.4}", row.logloss),
                format!("{:.2}", row.seconds),
            ]);
        }
        let same = if self.same_after_loading { "bit-identical" } else { "different" };
        vec![
            Block::text(format!(
                "{} synthetic rows with {} features, one of them categorical, and {} missing values; a quarter of the rows is held\n\
                 out for validation. A row takes {} bytes as f32 and {} bytes binned.",
                self.rows, self.features, self.missing, self.f32_bytes_per_row, self.bytes_per_row
            )),
            Block::Table(table),
            Block::chart("AUC", &self.precisions, |row| (row.precision.to_owned(), row.auc, format!("{:.4}", row.auc))),
            Block::chart("Training time", &self.precisions, |row| {
                (row.precision.to_owned(), row.seconds, format!("{:.2} s", row.seconds))
            }),
            Block::Terms(vec![
                ("AUC, log loss", "on the validation rows; the best possible AUC is 1, the best log loss 0".to_owned()),
                ("seconds", format!("training time of {} trees with 31 leaves, including evaluation", self.trees)),
            ]),
            Block::text(format!(
                "The saved model has {} bytes; after loading, its predictions are {same}, at {:.0} rows per second.",
                self.model_bytes, self.predictions_per_second
            )),
            Block::chart("Mean magnitude of SHAP values", &self.contributions, |each| {
                (each.feature.clone(), each.mean_absolute, format!("{:.3}", each.mean_absolute))
            }),
            Block::text(
                "To train on your own table: bitgrain train data.csv --target COLUMN --model out.bitgrain --report report.html",
            ),
        ]
    }

    fn to_json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}
