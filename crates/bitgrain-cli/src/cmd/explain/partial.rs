//! Partial dependence and individual conditional expectations.

use std::io::Write;

use bitgrain::gbdt::explain::{PartialDependence, PartialGrid, PartialOptions, feature_index, partial_dependence};
use bitgrain::gbdt::model::{InputKind, Model};
use bitgrain::gbdt::table::{Column, ColumnData, StringColumn, Table};
use serde_json::{Value, json};

use super::{Args, read};
use crate::error::CliError;
use crate::number::digits;

/// Options of partial dependence.
#[derive(Debug, clap::Args)]
pub(super) struct PartialArgs {
    /// Print the mean prediction when a column, or two columns separated by a comma, are set to each of several values.
    #[arg(
        long,
        value_name = "COL",
        value_delimiter = ',',
        num_args = 1,
        conflicts_with_all = ["permutation", "interactions", "background"]
    )]
    partial: Vec<String>,
    /// Maximum number of grid values per column; a column with more values gets quantiles from 5 % to 95 % of the rows,
    /// or its most frequent categories [default: 50].
    #[arg(long, value_name = "N", requires = "partial")]
    grid: Option<usize>,
    /// Write the predictions of every row (individual conditional expectations) instead of their mean.
    #[arg(long, requires_all = ["partial", "output"])]
    ice: bool,
    /// Subtract the prediction at the first value, so that all curves start at 0.
    #[arg(long, requires = "partial")]
    centered: bool,
    /// Average raw scores instead of predictions.
    #[arg(long, requires = "partial")]
    raw: bool,
}

impl PartialArgs {
    pub(super) fn is_requested(&self) -> bool {
        !self.partial.is_empty()
    }
}

pub(super) fn run(args: &Args, model: &Model, out: &mut impl Write) -> Result<(), CliError> {
    let PartialArgs { partial, grid, ice, centered, raw } = &args.partial;
    let of = partial.iter().map(|name| feature_index(model, name)).collect::<Result<Vec<_>, _>>()?;
    let matrix = read(args, &args.data, model)?;
    let default = PartialGrid::default();
    let grid = PartialGrid { size: grid.unwrap_or(default.size), ..default };
    let options = PartialOptions { grid, values: None, raw: *raw, individual: *ice };
    let mut found = partial_dependence(model, &matrix.features()?, &of, &options)?;
    if *centered {
        found.center();
    }
    if let Some(path) = &args.output {
        return Ok(table(args, model, &found)?.write(path)?);
    }
    if args.json {
        return Ok(writeln!(out, "{:#}", to_json(model, &found))?);
    }
    let names = column_names(args, model, "mean_");
    let header: Vec<&str> = partial.iter().chain(&names).map(String::as_str).collect();
    let mut shown = crate::table::Table::new(&header, of.len());
    let n_points = found.n_points();
    for point in 0..n_points {
        let values = (0..of.len()).map(|at| label(model, &found, at, point));
        let means = (0..found.n_outputs).map(|output| digits(found.mean[output * n_points + point]));
        shown.cells(values.chain(means).collect());
    }
    Ok(writeln!(out, "{shown}\n\n{} rows, {} trees", found.n_rows, model.trees.len())?)
}

/// Names of the columns of predictions.
fn column_names(args: &Args, model: &Model, prefix: &str) -> Vec<String> {
    let (one, each) = if args.partial.raw { ("score", "score") } else { ("prediction", "probability") };
    model.output.column_names(&format!("{prefix}{one}"), &format!("{prefix}{each}"))
}

/// Index into the grid of feature `at` at a point.
fn place(found: &PartialDependence, at: usize, point: usize) -> usize {
    let below: usize = found.grids[at + 1..].iter().map(Vec::len).product();
    point / below % found.grids[at].len()
}

/// Category labels of a feature; empty if its values are numbers.
fn labels(model: &Model, feature: usize) -> &[String] {
    match &model.inputs[feature].kind {
        InputKind::Categorical { labels, .. } => labels,
        InputKind::Numeric => &[],
    }
}

fn named(labels: &[String], value: f64) -> Option<&str> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "category codes are small integers")]
    let code = value as usize;
    labels.get(code).map(String::as_str)
}

fn label(model: &Model, found: &PartialDependence, at: usize, point: usize) -> String {
    let value = found.grids[at][place(found, at, point)];
    named(labels(model, found.features[at]), value).map_or_else(|| digits(value), str::to_owned)
}

/// Returns one line per point, or per row and point.
fn table(args: &Args, model: &Model, found: &PartialDependence) -> Result<Table, CliError> {
    let (n_points, ice) = (found.n_points(), args.partial.ice);
    let n_rows = if ice { found.n_rows } else { 1 };
    let lines = || (0..n_rows).flat_map(|row| (0..n_points).map(move |point| (row, point)));
    let mut columns = Vec::new();
    if ice {
        #[expect(clippy::cast_precision_loss, reason = "row indices are far below 2^53")]
        let data = ColumnData::F64(lines().map(|(row, _)| row as f64).collect());
        columns.push(Column { name: "row_index".to_owned(), data });
    }
    for (at, &feature) in found.features.iter().enumerate() {
        let labels = labels(model, feature);
        let values = || lines().map(|(_, point)| found.grids[at][place(found, at, point)]);
        let data = if labels.is_empty() {
            ColumnData::F64(values().collect())
        } else {
            ColumnData::Strings(StringColumn::new(values().map(|value| named(labels, value))))
        };
        columns.push(Column { name: model.inputs[feature].name.clone(), data });
    }
    let values = if ice { &found.individual } else { &found.mean };
    let names = column_names(args, model, if ice { "" } else { "mean_" });
    for (name, of_output) in names.into_iter().zip(values.chunks_exact(n_rows * n_points)) {
        columns.push(Column { name, data: ColumnData::F64(of_output.to_vec()) });
    }
    Ok(Table::new(columns)?)
}

fn to_json(model: &Model, found: &PartialDependence) -> Value {
    let grid = |(&feature, values): (&usize, &Vec<f64>)| {
        let labels = labels(model, feature);
        let value = |value: &f64| named(labels, *value).map_or_else(|| json!(value), |label| json!(label));
        json!({"name": model.inputs[feature].name, "values": values.iter().map(value).collect::<Vec<_>>()})
    };
    let n_outputs = found.n_outputs;
    let class = |output: usize| (n_outputs > 1).then(|| model.output.class_label(output).into_owned());
    let means = found.mean.chunks_exact(found.n_points().max(1)).enumerate();
    json!({
        "rows": found.n_rows,
        "features": found.features.iter().zip(&found.grids).map(grid).collect::<Vec<_>>(),
        "outputs": means.map(|(output, mean)| json!({"class": class(output), "mean": mean})).collect::<Vec<_>>(),
    })
}
