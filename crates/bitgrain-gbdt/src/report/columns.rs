//! Columns of the training table: kind, missing values, distinct values, quantiles.

use maud::{Markup, html};

use super::number::{clean, float, grouped, percent, short};
use super::rows::Rows;
use crate::explain::quantile;
use crate::model::{Input, InputKind, Model};

/// Number of columns shown at once; the others are collapsed.
const OPEN: usize = 40;

/// Maximum number of columns in the table.
const MOST: usize = 300;

/// Number of categories listed per column.
const CATEGORIES: usize = 3;

pub(super) fn section(model: &Model, train: &Rows) -> Markup {
    let columns: Vec<Column> =
        (0..model.n_inputs().min(MOST)).map(|at| Column::new(&model.inputs[at], train.column(at))).collect();
    let list = |is: fn(&Column) -> bool| {
        columns.iter().filter(|column| is(column)).map(|column| column.name.as_str()).collect::<Vec<_>>()
    };
    let (empty, constant) = (list(|column| column.distinct == 0), list(|column| column.distinct == 1));
    let (open, rest) = columns.split_at(columns.len().min(OPEN));
    html! {
        section {
            h2 { "Columns" }
            @if !empty.is_empty() { p class="note warn" { "Only missing values: " (empty.join(", ")) "." } }
            @if !constant.is_empty() { p class="note warn" { "Constant: " (constant.join(", ")) "." } }
            (table(open))
            @if !rest.is_empty() {
                details {
                    summary { (rest.len()) " more columns" }
                    (table(rest))
                }
            }
            @if model.n_inputs() > MOST { p class="note" { (model.n_inputs() - MOST) " more columns are left out." } }
        }
    }
}

fn table(columns: &[Column]) -> Markup {
    html! {
        div class="scroll" tabindex="0" {
            table {
                thead {
                    tr {
                        th scope="col" { "column" }
                        th scope="col" { "kind" }
                        @for name in ["missing", "distinct", "min", "25 %", "median", "75 %", "max"] { th class="n" scope="col" { (name) } }
                    }
                }
                tbody { @for column in columns { (column.row()) } }
            }
        }
    }
}

struct Column {
    name: String,
    is_category: bool,
    /// Share of missing values.
    missing: f64,
    distinct: usize,
    quantiles: [f64; 5],
    /// Most frequent categories with their shares.
    frequent: Vec<(String, f64)>,
}

impl Column {
    fn new(input: &Input, values: &[f64]) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut runs: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
        let distinct = runs.len();
        let mut frequent = Vec::new();
        if let InputKind::Categorical { labels, .. } = &input.kind {
            // The sort is stable: of equally frequent categories, those with smaller codes come first.
            runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
            for run in runs.iter().take(CATEGORIES) {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "codes are small integers")]
                let code = run[0] as usize;
                let label = labels.get(code).map_or_else(|| code.to_string(), |label| clean(label));
                frequent.push((label, float(run.len()) / float(values.len())));
            }
        }
        Self {
            name: clean(&input.name),
            is_category: matches!(input.kind, InputKind::Categorical { .. }),
            missing: 1.0 - float(sorted.len()) / float(values.len().max(1)),
            distinct,
            quantiles: [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&sorted, share)),
            frequent,
        }
    }

    fn row(&self) -> Markup {
        let listed =
            self.frequent.iter().map(|(label, share)| format!("{label} {}", percent(*share))).collect::<Vec<_>>();
        let number = |value: f64| if value.is_nan() { "–".to_owned() } else { short(value) };
        html! {
            tr {
                th scope="row" { (self.name) }
                td { (if self.is_category { "category" } else { "number" }) }
                td class="n" { (percent(self.missing)) }
                td class="n" { (grouped(self.distinct)) }
                @if self.is_category { td class="wrap" colspan="5" { (listed.join(", ")) } }
                @else { @for value in self.quantiles { td class="n" { (number(value)) } } }
            }
        }
    }
}
