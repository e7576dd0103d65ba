//! Summary of a binned table: bins of each feature.

use std::io::Write;

use bitgrain::gbdt::feature::FeatureKind;
use bitgrain::gbdt::table::BinnedTable;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::number::Size;
use crate::printable::{printable, shortened};

pub(super) fn show(table: &BinnedTable, verify: bool, json: bool, out: &mut impl Write) -> Result<(), CliError> {
    if verify {
        table.verify()?;
    }
    if json {
        return Ok(writeln!(out, "{:#}", as_json(table, verify))?);
    }
    let (metadata, map) = (table.metadata(), table.cuts().map());
    writeln!(
        out,
        "{}: {} rows, {} features, {} bytes of codes per row, {}",
        table.path().display(),
        table.n_rows(),
        map.n_features(),
        table.bytes_per_row(),
        Size(table.file_bytes())
    )?;
    writeln!(out, "target {}, objective {}\n", printable(&metadata.target), printable(&metadata.objective))?;
    let mut shown = crate::table::Table::new(&["feature", "type", "bins", "missing values"], 2);
    for (feature, name) in table.schema().names().iter().enumerate() {
        let missing = map.missing_bin(feature).is_some();
        shown.row([
            shortened(name, 40),
            kind(table, feature).to_owned(),
            map.n_bins(feature).to_string(),
            if missing { "own bin" } else { "none" }.to_owned(),
        ]);
    }
    writeln!(out, "{shown}")?;
    if verify {
        writeln!(out, "\nall checksums match")?;
    }
    Ok(())
}

fn kind(table: &BinnedTable, feature: usize) -> &'static str {
    match table.cuts().kind(feature) {
        FeatureKind::Numeric => "number",
        FeatureKind::Categorical => "category",
    }
}

fn as_json(table: &BinnedTable, verified: bool) -> Value {
    let (metadata, map) = (table.metadata(), table.cuts().map());
    let feature = |(feature, name): (usize, &String)| {
        json!({
            "name": name,
            "type": kind(table, feature),
            "bins": map.n_bins(feature),
            "missing": map.missing_bin(feature).is_some(),
        })
    };
    json!({
        "rows": table.n_rows(),
        "bytes": table.file_bytes(),
        "bytes_per_row": table.bytes_per_row(),
        "target": metadata.target,
        "objective": metadata.objective,
        "classes": metadata.classes,
        "weights": metadata.weighted,
        "queries": metadata.n_groups,
        "max_bin": metadata.max_bin,
        "sample_rows": metadata.sample_rows,
        "seed": metadata.seed,
        "verified": verified,
        "features": table.schema().names().iter().enumerate().map(feature).collect::<Vec<_>>(),
    })
}
