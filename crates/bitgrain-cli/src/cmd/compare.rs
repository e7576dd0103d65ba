//! `bitgrain compare`: differences between two models, per tensor.

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bitgrain::files::same_file;
use bitgrain::nn::ModelFile;
use bitgrain::nn::model::compare::{ModelComparison, Row, compare, progress_total};
use bitgrain::nn::model::convert::{FormatChoice, Recipe};
use bitgrain::nn::model::plan::{self, Goal, PrecisionPlan};
use bitgrain::nn::model::report::{Report, TradeOff, html};
use bitgrain::nn::network::language::{LanguageModel, Perplexity, PerplexityOptions};

use crate::cmd::language::{perplexity, read_text};
use crate::error::CliError;
use crate::number::{Size, digits};
use crate::output::write_atomic;
use crate::printable::printable;
use crate::progress::{Bar, RoundBar};
use crate::table::Table;
use crate::threads::on_threads;

/// Compare two models: error, cosine and signal-to-noise ratio of every tensor, with theoretical limits.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain compare model.safetensors small.safetensors
  bitgrain compare f16.gguf q4.gguf --sort name
  bitgrain compare f16.gguf q4.gguf --report report.html
  bitgrain compare f16.gguf q4.gguf --text wiki.test.raw --chunks 20 --report report.html
  bitgrain compare a.gguf b.gguf --json | jq .overall.cosine

The exit code is 0 even if the models differ.")]
pub(crate) struct Args {
    /// Reference model: a file, the index of a sharded model, or a folder.
    first: PathBuf,
    /// Model to measure against the reference.
    second: PathBuf,
    /// HTML report to write, with charts; also measures other formats for the first model.
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
    /// Text to run two language models on, UTF-8: adds the perplexity and the KL divergence of the second model's predictions
    /// from those of the first. - reads standard input.
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// Maximum number of chunks of 512 tokens of --text [default: all].
    #[arg(long, value_name = "N", requires = "text")]
    chunks: Option<NonZeroUsize>,
    /// Sort order: largest relative error first, by name, or largest size in the second model first.
    #[arg(long, value_enum, default_value = "error")]
    sort: Sort,
    /// Number of threads [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Sort order of tensors.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Sort {
    Error,
    Name,
    Size,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let (first, second) = (ModelFile::open(&args.first)?, ModelFile::open(&args.second)?);
    if let Some(report) = &args.report {
        check_report(report, &[&first, &second])?;
    }
    let mut comparison = on_threads(args.threads, || compared(&first, &second))??;
    sort(&mut comparison.tensors, args.sort);
    let predictions = match &args.text {
        Some(text) => Some(on_threads(args.threads, || predict(args, text, [&first, &second]))??),
        None => None,
    };
    if let Some(path) = &args.report {
        let rows = predictions.as_ref().map_or_else(Vec::new, perplexity::rows);
        let page = on_threads(args.threads, || page(args, &first, &second, &comparison, &rows))?;
        write_atomic(path, page.as_bytes())?;
    }
    if args.json {
        let mut report = serde_json::to_value(&comparison)?;
        if let Some(found) = &predictions {
            report["predictions"] = perplexity::measures(found);
        }
        return Ok(writeln!(out, "{report:#}")?);
    }
    write_text(&comparison, out)?;
    if let Some(found) = &predictions {
        writeln!(out, "\n{} predictions in {} chunks of the text:\n", found.predictions, found.chunks)?;
        perplexity::write_measures(found, out)?;
    }
    if let Some(path) = &args.report {
        writeln!(out, "\nwrote {}", printable(&path.display().to_string()))?;
    }
    Ok(())
}

fn compared(first: &ModelFile, second: &ModelFile) -> Result<ModelComparison, CliError> {
    let bar = Bar::new(progress_total(first, second), "comparing");
    let comparison = compare(first, second, &bar)?;
    bar.finish();
    if comparison.tensors.is_empty() && comparison.skipped.is_empty() {
        let one_of =
            |names: &[String]| names.first().map_or_else(|| "no tensor".to_owned(), |name| printable(name).into());
        return Err(CliError::NothingInCommon {
            first: first.path().to_owned(),
            first_tensor: one_of(&comparison.only_in_first),
            second: second.path().to_owned(),
            second_tensor: one_of(&comparison.only_in_second),
        });
    }
    Ok(comparison)
}

/// Runs both models on a text.
fn predict(args: &Args, text: &PathBuf, models: [&ModelFile; 2]) -> Result<Perplexity, CliError> {
    let text = read_text(text)?;
    let [reference, model] = models.map(|model| LanguageModel::load(model, None));
    let (reference, model) = (reference?, model?);
    let usual = PerplexityOptions::default();
    let chunk = usual.chunk.min(model.decoder().longest()).min(reference.decoder().longest());
    let options = PerplexityOptions { chunk, chunks: args.chunks.map(NonZeroUsize::get), ..usual };
    let bar = RoundBar::of("predicting", "chunks");
    let found = model.perplexity(&text, Some(&reference), options, |done, all, loss| {
        bar.at(done, all, &format!("perplexity {:.4}", loss.exp()));
    })?;
    bar.finish();
    Ok(found)
}

/// Fails early, before the comparison, if the report cannot be written.
fn check_report(report: &Path, models: &[&ModelFile]) -> Result<(), CliError> {
    let mut inputs = models.iter().flat_map(|model| model.files().into_iter().chain([model.path()]));
    if inputs.any(|input| same_file(report, input)) {
        return Err(CliError::ReportOverModel { path: report.to_owned() });
    }
    // Opening an existing file for appending checks the permission without changing the file.
    let folder = report.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let ready = if report.exists() {
        fs::OpenOptions::new().append(true).open(report).map(drop)
    } else {
        fs::read_dir(folder).map(drop)
    };
    ready.map_err(|source| CliError::File { path: report.to_owned(), source })
}

fn sort(rows: &mut [Row], by: Sort) {
    match by {
        Sort::Error => rows.sort_by(|a, b| b.figures.relative_rmse.total_cmp(&a.figures.relative_rmse)),
        Sort::Name => rows.sort_by(|a, b| a.name.cmp(&b.name)),
        Sort::Size => rows.sort_by_key(|row| std::cmp::Reverse(row.second_bytes)),
    }
}

/// Returns the HTML report, with the trade-off between size and error of the first model in the second's container.
fn page(
    args: &Args,
    first: &ModelFile,
    second: &ModelFile,
    comparison: &ModelComparison,
    predictions: &[[String; 3]],
) -> String {
    let candidates = plan::candidates(second.container());
    let planned = trade_off(first, second, &candidates);
    let curve = match &planned {
        Ok(plan) => TradeOff::Measured { plan, candidates: &candidates },
        Err(reason) => TradeOff::Missing(reason),
    };
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let (mut one, mut other) = (name(&args.first), name(&args.second));
    if one == other {
        (one, other) = (args.first.display().to_string(), args.second.display().to_string());
    }
    html(&Report { first: &one, second: &other, comparison, curve, predictions })
}

/// Measures the trade-off curve of the first model, or returns the reason why it cannot be measured. The report is
/// useful without it, so this is not an error.
fn trade_off(
    first: &ModelFile,
    second: &ModelFile,
    candidates: &[bitgrain::codec::weight::WeightFormat],
) -> Result<PrecisionPlan, String> {
    let quantized =
        first.tensors().iter().find(|tensor| tensor.storage.format().is_some() && !tensor.storage.is_float());
    if let Some(tensor) = quantized {
        let storage = &tensor.storage;
        return Err(format!(
            "the first model is already quantized (`{}` is {storage}), so its original values are unknown",
            tensor.name
        ));
    }
    let recipe = Recipe::new(FormatChoice::Keep);
    let bar = Bar::new(plan::progress_total(first, candidates, &recipe), "measuring");
    plan::plan(first, second.container(), candidates, Goal::Budget(u64::MAX), &recipe, &bar).map_err(|e| e.to_string())
}

fn write_text(comparison: &ModelComparison, out: &mut impl Write) -> Result<(), CliError> {
    let mut table = Table::new(
        &["tensor", "stored as", "bytes", "max error", "RMSE", "relative", "cosine", "SNR dB", "optimum", "limit"],
        2,
    );
    for row in &comparison.tensors {
        let figures = &row.figures;
        let stored =
            if row.first == row.second { row.second.clone() } else { format!("{} > {}", row.first, row.second) };
        table.row([
            printable(&row.name).into_owned(),
            stored,
            format!("{} > {}", Size(row.first_bytes), Size(row.second_bytes)),
            digits(figures.max_error),
            digits(figures.rmse),
            digits(figures.relative_rmse),
            format!("{:.6}", figures.cosine),
            decibels(figures.snr_db),
            theory(row.optimum_db),
            // The limit of plain floats, 192 dB, is meaningless, so it is not shown.
            theory(row.optimum_db.map(|_| row.limit_db)),
        ]);
    }
    if !comparison.tensors.is_empty() {
        writeln!(out, "{table}\n")?;
        writeln!(out, "relative  RMSE divided by the RMS of the first model's values")?;
        writeln!(out, "optimum   SNR of the best quantizer with as many levels and one scale, for normal weights")?;
        writeln!(out, "limit     highest possible SNR at as many bits per weight, for normal weights\n")?;
    }
    write_skipped(comparison, out)?;
    let (all, equal) = (comparison.tensors.len(), comparison.tensors.iter().filter(|row| row.is_equal()).count());
    let ModelComparison { overall, first_bytes, second_bytes, .. } = comparison;
    let (ratio, change) = comparison.size_change();
    writeln!(out, "tensors   {all} compared, {equal} of them identical")?;
    writeln!(out, "size      {} > {}, {ratio:.2} times {change}", Size(*first_bytes), Size(*second_bytes))?;
    writeln!(out, "cosine    {:.6}", overall.cosine)?;
    let unit = if overall.snr_db.is_some() { " dB" } else { "" };
    writeln!(out, "SNR       {}{unit}, relative RMSE {}", decibels(overall.snr_db), digits(overall.relative_rmse))?;
    writeln!(out, "errors    RMSE {}, largest {}", digits(overall.rmse), digits(overall.max_error))?;
    if overall.non_finite > 0 {
        writeln!(out, "skipped   {} values that are NaN or infinite in the first model", overall.non_finite)?;
    }
    if overall.non_finite_in_second > 0 {
        let count = overall.non_finite_in_second;
        writeln!(out, "infinite  {count} errors: values that are NaN or infinite only in the second model")?;
    }
    Ok(())
}

/// Lists the tensors that were not compared, or whose errors are infinite.
fn write_skipped(comparison: &ModelComparison, out: &mut impl Write) -> Result<(), CliError> {
    for (title, names) in [("first", &comparison.only_in_first), ("second", &comparison.only_in_second)] {
        for name in names {
            writeln!(out, "only in the {title} model: {}", printable(name))?;
        }
    }
    for (name, reason) in &comparison.skipped {
        writeln!(out, "not comparable: {}: {}", printable(name), printable(reason))?;
    }
    let broken = || comparison.tensors.iter().filter(|row| row.figures.non_finite_in_second > 0);
    for row in broken() {
        let count = row.figures.non_finite_in_second;
        writeln!(out, "not finite: {}: {count} values only in the second model", printable(&row.name))?;
    }
    let any = comparison.skipped.len() + comparison.only_in_first.len() + comparison.only_in_second.len() > 0;
    if any || broken().next().is_some() {
        writeln!(out)?;
    }
    Ok(())
}

/// Formats a signal-to-noise ratio; `None` means that the values are equal.
fn decibels(snr: Option<f64>) -> String {
    snr.map_or_else(|| "exact".to_owned(), |snr| format!("{snr:.2}"))
}

fn theory(db: Option<f64>) -> String {
    db.map_or_else(|| "-".to_owned(), |db| format!("{db:.1}"))
}
