//! Summary of a table: type, range and missing values of each column.

use std::io::Write;
use std::path::Path;

use bitgrain::gbdt::table::{Column, Summary, Table};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::number::digits;
use crate::printable::{printable, shortened};

/// Maximum number of distinct strings shown per column.
const STRINGS: usize = 5;

pub(super) fn show(path: &Path, table: &Table, json: bool, out: &mut impl Write) -> Result<(), CliError> {
    if json {
        return Ok(writeln!(out, "{:#}", as_json(table))?);
    }
    let sparse = table.sparse();
    let features = sparse.map_or(table.columns().len(), |sparse| sparse.n_features);
    let kind = if sparse.is_some() { "sparse features" } else { "columns" };
    writeln!(out, "{}: {} rows, {features} {kind}\n", path.display(), table.n_rows())?;
    let mut shown = crate::table::Table::new(&["column", "type", "range or strings", "mean", "missing"], 3);
    for column in table.columns() {
        shown.row(row(column, table.n_rows()));
    }
    writeln!(out, "{shown}")?;
    if let Some(sparse) = sparse {
        let (entries, cells) = (sparse.values.len() as u64, table.n_rows() as u64 * sparse.n_features as u64);
        #[expect(clippy::cast_precision_loss, reason = "a share to show")]
        let share = 100.0 * entries as f64 / cells.max(1) as f64;
        writeln!(out, "\n{entries} entries, {share:.3} % of all values")?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a mean to show")]
fn row(column: &Column, rows: usize) -> [String; 5] {
    let name = shortened(&column.name, 40);
    match column.summary() {
        Summary::Numbers { missing, range, sum, integer, bytes } => {
            let kind = if integer { "integers".to_owned() } else { format!("numbers (f{})", 8 * bytes) };
            let range = range.map_or("-".to_owned(), |(low, high)| format!("{} to {}", digits(low), digits(high)));
            let mean = if missing < rows { digits(sum / (rows - missing) as f64) } else { "-".to_owned() };
            [name, kind, range, mean, missing.to_string()]
        }
        Summary::Strings { missing, counts } => {
            let kind = format!("{} strings", counts.len());
            let mut strings: Vec<String> =
                counts.iter().take(STRINGS).map(|(text, count)| format!("{} ({count})", shortened(text, 20))).collect();
            if counts.len() > STRINGS {
                strings.push("…".to_owned());
            }
            [name, kind, strings.join(", "), "-".to_owned(), missing.to_string()]
        }
    }
}

fn as_json(table: &Table) -> Value {
    let column = |column: &Column| match column.summary() {
        Summary::Numbers { missing, range, sum, integer, bytes } => json!({
            "name": printable(&column.name),
            "kind": if bytes == 4 { "f32" } else { "f64" },
            "missing": missing,
            "min": range.map(|range| range.0),
            "max": range.map(|range| range.1),
            "sum": sum,
            "integer": integer,
        }),
        Summary::Strings { missing, counts } => json!({
            "name": printable(&column.name),
            "kind": "string",
            "missing": missing,
            "strings": counts.into_iter().map(|(text, count)| (text, json!(count))).collect::<serde_json::Map<_, _>>(),
        }),
    };
    json!({
        "rows": table.n_rows(),
        "columns": table.columns().iter().map(column).collect::<Vec<_>>(),
        "sparse": table.sparse().map(|sparse| json!({
            "features": sparse.n_features,
            "entries": sparse.values.len(),
            "sum": sparse.values.iter().map(|value| f64::from(*value)).sum::<f64>(),
        })),
    })
}
