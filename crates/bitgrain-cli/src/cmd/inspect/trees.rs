//! Summary of a tree model: features, outputs and feature importances.

use std::io::Write;
use std::path::Path;

use bitgrain::gbdt::model::{Comparison, Importance, Input, InputKind, Link, Model};
use serde_json::json;

use crate::error::CliError;
use crate::number::{Size, digits};
use crate::printable::{printable, shortened};
use crate::table::Table;

/// Maximum number of features shown.
const SHOWN: usize = 20;

/// Length of the longest bar in characters.
const BAR: f64 = 24.0;

pub(super) fn show(path: &Path, model: &Model, json: bool, out: &mut impl Write) -> Result<(), CliError> {
    let gains = model.feature_importance(Importance::Gain);
    let splits = model.feature_importance(Importance::Split);
    let leaves: usize = model.trees.iter().map(|tree| tree.leaves.len()).sum();
    let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
    let output = &model.output;
    if json {
        let feature = |(at, input): (usize, &Input)| json!({"name": input.name, "kind": kind(&input.kind), "gain": gains[at], "splits": splits[at]});
        let report = json!({
            "bytes": bytes,
            "objective": output.objective,
            "link": link(output.link),
            "classes": output.classes,
            "base_scores": output.base_scores,
            "comparison": comparison(model.comparison),
            "trees": model.trees.len(),
            "leaves": leaves,
            "features": model.inputs.iter().enumerate().map(feature).collect::<Vec<_>>(),
        });
        return Ok(writeln!(out, "{report:#}")?);
    }
    writeln!(out, "{}: {} trees with {leaves} leaves, {}\n", path.display(), model.trees.len(), Size(bytes))?;
    writeln!(out, "  objective    {} ({})", printable(&output.objective), link(output.link))?;
    writeln!(out, "  base scores  {}", output.base_scores.iter().map(|s| digits(*s)).collect::<Vec<_>>().join(", "))?;
    if !output.classes.is_empty() {
        writeln!(out, "  classes      {}", shortened(&output.classes.join(", "), 100))?;
    }
    writeln!(out, "  features     {}, compared as {}\n", model.inputs.len(), comparison(model.comparison))?;
    let mut order: Vec<usize> = (0..model.inputs.len()).collect();
    order.sort_by(|a, b| gains[*b].total_cmp(&gains[*a]));
    let most = order.first().map_or(0.0, |at| gains[*at]);
    let mut table = Table::new(&["feature", "kind", "gain, relative", "gain", "splits"], 3);
    for at in order.iter().copied().take(SHOWN) {
        let Input { name, kind: own } = &model.inputs[at];
        table.row([shortened(name, 40), kind(own), bar(gains[at], most), digits(gains[at]), splits[at].to_string()]);
    }
    writeln!(out, "{table}")?;
    if order.len() > SHOWN {
        writeln!(out, "\n{} more features; list all with --json", order.len() - SHOWN)?;
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bar of a few characters")]
fn bar(gain: f64, most: f64) -> String {
    let share = if most > 0.0 && gain > 0.0 { gain / most } else { 0.0 };
    "█".repeat((share * BAR).round() as usize)
}

fn kind(kind: &InputKind) -> String {
    match kind {
        InputKind::Numeric => "numbers".to_owned(),
        InputKind::Categorical { labels, .. } if !labels.is_empty() => format!("{} strings", labels.len()),
        InputKind::Categorical { known: Some(known), .. } => format!("{} categories", known.len()),
        InputKind::Categorical { .. } => "categories".to_owned(),
    }
}

fn link(link: Link) -> &'static str {
    match link {
        Link::Identity => "the score itself",
        Link::Logistic { .. } => "logistic",
        Link::Softmax => "softmax",
        Link::Exponential => "exponential",
        Link::Softplus => "softplus",
        Link::SignedSquare => "signed square",
        Link::Step => "step",
    }
}

fn comparison(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::F32 => "f32",
        Comparison::F64 => "f64",
    }
}
