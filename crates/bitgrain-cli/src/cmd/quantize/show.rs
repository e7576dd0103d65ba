//! Output of `bitgrain quantize`.

use std::collections::BTreeMap;
use std::io::Write;

use bitgrain::nn::model::convert::Conversion;
use bitgrain::nn::model::plan::{Point, PrecisionPlan};

use super::study::Findings;
use super::{Args, Covered, Done};
use crate::cmd::language::perplexity::write_measures;
use crate::error::CliError;
use crate::number::{Size, digits};
use crate::printable::printable;
use crate::table::Table;

/// Prints the trade-off curve of a plan, a row per tensor, remarks, and totals.
pub(super) fn show(args: &Args, done: &Done, out: &mut impl Write) -> Result<(), CliError> {
    if args.json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(done)?)?);
    }
    let conversion = &done.conversion;
    if let Some(plan) = &done.plan {
        write_curve(plan, out)?;
    }
    let mut table = Table::new(&["tensor", "from", "to", "before", "after", "rel. RMSE", "max error", "cosine"], 3);
    for row in &conversion.tensors {
        let lost = |text: fn(&bitgrain::nn::model::compare::ErrorStats) -> String| {
            row.figures.as_ref().map_or("-".into(), text)
        };
        table.row([
            printable(&row.name).into_owned(),
            row.from.clone(),
            row.to.clone(),
            Size(row.bytes_before).to_string(),
            Size(row.bytes_after).to_string(),
            lost(|f| digits(f.relative_rmse)),
            lost(|f| digits(f.max_error)),
            lost(|f| format!("{:.6}", f.cosine)),
        ]);
    }
    writeln!(out, "{table}\n")?;
    write_remarks(conversion, out)?;
    for row in conversion.tensors.iter().filter(|row| row.figures.is_some_and(|f| f.relative_rmse > 0.9)) {
        let name = printable(&row.name);
        writeln!(out, "{name}: most of the signal is lost in {}; choose another format for it", row.to)?;
    }
    if let Some(Covered { used, all }) = done.importance {
        writeln!(out, "importance matrix: used {used} of its {all} tensors")?;
    }
    let (before, after) = (conversion.bytes_before, conversion.bytes_after);
    writeln!(out, "{} -> {}{}", Size(before), Size(after), size_change(before, after))?;
    let figures = || conversion.tensors.iter().filter_map(|row| Some((row, row.figures?)));
    if let Some((row, worst)) = figures().max_by(|a, b| a.1.relative_rmse.total_cmp(&b.1.relative_rmse)) {
        let count = figures().count();
        #[expect(clippy::cast_precision_loss, reason = "a handful of tensors")]
        let mean = figures().map(|(_, f)| f.relative_rmse).sum::<f64>() / count as f64;
        writeln!(
            out,
            "worst relative RMSE {:.5} ({}), mean {mean:.5} over {count} tensors",
            worst.relative_rmse,
            printable(&row.name)
        )?;
        writeln!(
            out,
            "all quantized weights: relative RMSE {:.5} (each tensor relative to itself), cosine {:.6}, largest error {:.3e}",
            conversion.tensor_rmse, conversion.overall.cosine, conversion.overall.max_error
        )?;
    }
    if let Some(findings) = &done.text {
        write_findings(findings, done.plan.as_ref(), out)?;
    }
    // A split GGUF model has no file of the requested name.
    let split = match &conversion.files[..] {
        [first, rest @ ..] if !rest.is_empty() && !conversion.files.contains(&args.output) => Some((first, rest.len())),
        _ => None,
    };
    let size = Size(conversion.file_bytes);
    match split.filter(|_| !args.output.is_dir()) {
        Some((first, more)) => writeln!(out, "wrote {} and {more} more files ({size})", first.display())?,
        None => writeln!(out, "wrote {} ({size})", args.output.display())?,
    }
    Ok(())
}

/// Prints the measures of the result on the held-out part of the text.
fn write_findings(findings: &Findings, plan: Option<&PrecisionPlan>, out: &mut impl Write) -> Result<(), CliError> {
    let Some(result) = &findings.result else { return Ok(()) };
    let (used, held_out) = (findings.tokens_used, findings.tokens_held_out);
    writeln!(
        out,
        "\npredictions for the last {held_out} tokens of the text, after calibration on the first {used}:\n"
    )?;
    write_measures(result, out)?;
    if let Some(expected) = plan.and_then(|plan| plan.expected_divergence) {
        writeln!(out, "\nthe plan expected a KL divergence of {expected:.5}")?;
    }
    Ok(writeln!(out)?)
}

/// Prints the tensors that were not converted as requested, grouped by reason.
fn write_remarks(conversion: &Conversion, out: &mut impl Write) -> Result<(), CliError> {
    let mut remarks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &conversion.tensors {
        if let Some(remark) = &row.remark {
            remarks.entry(remark).or_default().push(&row.name);
        }
    }
    for (remark, names) in remarks {
        match names[..] {
            [only] => writeln!(out, "{}: {remark}", printable(only))?,
            _ => writeln!(out, "{} tensors, such as {}: {remark}", names.len(), printable(names[0]))?,
        }
    }
    Ok(())
}

/// Formats the change in size as ` (7.05x smaller)`; empty if one of the sizes is 0.
#[expect(clippy::cast_precision_loss, reason = "a ratio to show")]
fn size_change(before: u64, after: u64) -> String {
    match (before, after) {
        (0, _) | (_, 0) => String::new(),
        _ if after > before => format!(" ({:.2}x larger)", after as f64 / before as f64),
        _ => format!(" ({:.2}x smaller)", before as f64 / after as f64),
    }
}

/// Prints the trade-off curve as bars, at most `LINES` of them, and marks the chosen point.
fn write_curve(plan: &PrecisionPlan, out: &mut impl Write) -> Result<(), CliError> {
    const LINES: usize = 16;
    let what = if plan.expected_divergence.is_some() { "expected KL divergence" } else { "relative RMS error" };
    writeln!(out, "size and {what} of {} measured trade-offs:\n", plan.curve.len())?;
    let worst = plan.curve.first().map_or(1.0, cost).max(f64::MIN_POSITIVE);
    let step = plan.curve.len().div_ceil(LINES).max(1);
    let PrecisionPlan { bytes, relative_rmse, expected_divergence, .. } = *plan;
    let chosen = Point { bytes, relative_rmse, expected_divergence };
    let (mut waiting, last) = (true, plan.curve.len().saturating_sub(1));
    for (i, point) in plan.curve.iter().enumerate() {
        if waiting && point.bytes >= chosen.bytes {
            write_point(&chosen, worst, " <- chosen", out)?;
            waiting = false;
        }
        if (i % step == 0 || i == last) && *point != chosen {
            write_point(point, worst, "", out)?;
        }
    }
    if waiting {
        write_point(&chosen, worst, " <- chosen", out)?;
    }
    Ok(writeln!(out)?)
}

/// Returns the quantity that the plan minimizes.
fn cost(point: &Point) -> f64 {
    point.expected_divergence.unwrap_or(point.relative_rmse)
}

fn write_point(point: &Point, worst: f64, mark: &str, out: &mut impl Write) -> Result<(), CliError> {
    const WIDTH: f64 = 40.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the length of a bar")]
    let bar = (cost(point) / worst * WIDTH).round().min(WIDTH) as usize;
    let size = Size(point.bytes).to_string();
    Ok(writeln!(out, "{size:>10}  {:.5}  {}{mark}", cost(point), "#".repeat(bar))?)
}
