//! Permutation importance.

use std::io::Write;

use bitgrain::gbdt::metric;
use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::predict::{EvaluationData, permutation_importance};
use bitgrain::gbdt::table::{Column, ColumnData, ColumnRoles, StringColumn, Table};
use serde_json::json;

use super::{Args, options};
use crate::boost::data::{metric_help, with_options};
use crate::error::CliError;
use crate::number::digits;

/// Options of permutation importance.
#[derive(Debug, clap::Args)]
pub(super) struct PermutationOptions {
    /// Print how much the metric deteriorates when the values of each column are shuffled: mean and standard deviation.
    #[arg(long, conflicts_with_all = ["interactions", "background"])]
    permutation: bool,
    /// Target column; `label` in libsvm files.
    #[arg(long, value_name = "COL", requires = "permutation")]
    target: Option<String>,
    /// Column with row weights.
    #[arg(long, value_name = "COL", requires = "permutation")]
    weight: Option<String>,
    #[arg(long, value_name = "NAME", requires = "permutation", help = metric_help())]
    metric: Option<String>,
    /// Number of shuffles per column [default: 5].
    #[arg(long, value_name = "N", requires = "permutation")]
    repeats: Option<usize>,
    /// Seed of the shuffles [default: 0].
    #[arg(long, value_name = "N", requires = "permutation")]
    seed: Option<u64>,
}

impl PermutationOptions {
    pub(super) fn is_requested(&self) -> bool {
        self.permutation
    }
}

pub(super) fn run(args: &Args, model: &Model, out: &mut impl Write) -> Result<(), CliError> {
    let PermutationOptions { target, weight, metric, repeats, seed, .. } = &args.permutation;
    let (repeats, seed) = (repeats.unwrap_or(5), seed.unwrap_or(0));
    let metric = metric::for_model(metric.as_deref(), model)?;
    let mut options = options(args, model);
    if let Some(only) = &mut options.only {
        only.extend(target.iter().chain(weight).cloned());
    }
    let roles = ColumnRoles { target: target.clone(), weight: weight.clone(), ..ColumnRoles::default() };
    let table = Table::read_with(&args.data, &options)?;
    if table.n_rows() == 0 {
        return Err(CliError::NoRows { path: args.data.clone() });
    }
    let data = table.into_training(&roles, Some(&labeled(model))).map_err(with_options)?;
    let features = data.matrix().features()?;
    let targets: Vec<f64> = data.target().values.iter().map(|&target| f64::from(target)).collect();
    let evaluated = EvaluationData { features: &features, targets: &targets, weights: data.weights() };
    let report = permutation_importance(model, &evaluated, &*metric, repeats, seed)?;
    let mut order: Vec<usize> = (0..report.features.len()).collect();
    order.sort_by(|&a, &b| report.features[b].mean.total_cmp(&report.features[a].mean));
    let name = |at: usize| model.inputs[at].name.as_str();
    if let Some(path) = &args.output {
        let names = StringColumn::new(order.iter().map(|&at| Some(name(at))));
        let numbers = |pick: fn(&bitgrain::gbdt::predict::PermutationImportance) -> f64| {
            ColumnData::F64(order.iter().map(|&at| pick(&report.features[at])).collect())
        };
        let columns = vec![
            Column { name: "feature".to_owned(), data: ColumnData::Strings(names) },
            Column { name: "mean".to_owned(), data: numbers(|feature| feature.mean) },
            Column { name: "deviation".to_owned(), data: numbers(|feature| feature.deviation) },
        ];
        return Ok(Table::new(columns)?.write(path)?);
    }
    if args.json {
        let feature = |&at: &usize| {
            let found = &report.features[at];
            json!({"name": name(at), "mean": found.mean, "deviation": found.deviation, "losses": found.losses})
        };
        let json = json!({
            "rows": targets.len(),
            "metric": metric.name(),
            "baseline": report.baseline,
            "repeats": repeats,
            "features": order.iter().map(feature).collect::<Vec<_>>(),
        });
        return Ok(writeln!(out, "{json:#}")?);
    }
    let mut shown = crate::table::Table::new(&["feature", "importance", "deviation"], 1);
    for at in order {
        let found = &report.features[at];
        shown.row([name(at).to_owned(), digits(found.mean), digits(found.deviation)]);
    }
    let (rows, baseline) = (targets.len(), digits(report.baseline));
    Ok(writeln!(out, "{shown}\n\n{} {baseline} on {rows} rows, {repeats} shuffles per column", metric.name())?)
}

/// Returns the model with class labels 0, 1 and so on if it has several classes without labels, as models of other
/// libraries do: a table need not contain all of them.
fn labeled(model: &Model) -> Model {
    let mut model = model.clone();
    if model.output.is_classifier() && model.n_outputs() > 1 && model.output.classes.is_empty() {
        model.output.classes = (0..model.n_outputs()).map(|class| class.to_string()).collect();
    }
    model
}
