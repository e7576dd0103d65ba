//! `bitgrain bin`: bins tables of any size into a file for training.

use std::io::Write;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bitgrain::gbdt::Quantizer;
use bitgrain::gbdt::table::{BinOptions, BinPass, BinProgress, BinnedTable, BinnedTableError, TableFiles};
use serde_json::json;

use crate::boost::data::{ColumnOptions, with_options};
use crate::boost::outcome::seconds;
use crate::error::CliError;
use crate::interrupt;
use crate::number::Size;
use crate::printable::printable;
use crate::progress::RoundBar;
use crate::threads::on_threads;

/// Bin CSV and Parquet tables of any size into one file, on which `bitgrain train` trains the same model as on the
/// tables.
///
/// The rows are read in blocks. Memory holds the targets, weights and queries of all rows and the sample from which
/// quantiles are computed, but not the features of all rows. Gzipped CSV files and CSV files with quotes are read into
/// memory one at a time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain bin clicks.parquet --target clicked -o clicks.bins
  bitgrain bin 'part-*.parquet' --target price -o prices.bins
  bitgrain bin may.parquet --target price --append -o prices.bins   add rows, using the cuts of the file
  bitgrain train prices.bins --model m.bitgrain --memory 2GB")]
pub(crate) struct Args {
    /// Tables with the same columns: .csv or .tsv (optionally gzipped) or .parquet. File names may contain * and ?.
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Output file.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    columns: ColumnOptions,
    /// Append the rows to the existing output file, using its cuts and categories.
    #[arg(long, conflicts_with_all = ["max_bin", "sample_rows", "seed"])]
    append: bool,
    /// Maximum number of bins per feature, including the bin of missing values [default: 256].
    #[arg(long, value_name = "N")]
    max_bin: Option<u32>,
    /// Number of rows from which quantiles are computed [default: 200000].
    #[arg(long, value_name = "N")]
    sample_rows: Option<usize>,
    /// Seed of the row sample [default: 0].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Number of threads [default: all cores]; the file does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let start = Instant::now();
    super::predict::check_output_path(&args.output)?;
    let paths = expanded(&args.data)?;
    super::predict::ensure_not_input(&args.output, paths.iter())?;
    interrupt::install();
    let table = on_threads(args.threads, || binned(args, &paths))??;
    let time = start.elapsed().as_secs_f64();
    let (rows, features) = (table.n_rows(), table.schema().n_features());
    if args.json {
        let report = json!({
            "files": paths.len(),
            "rows": rows,
            "features": features,
            "bytes_per_row": table.bytes_per_row(),
            "objective": table.metadata().objective,
            "reason": table.metadata().reason,
            "seconds": time,
            "output": args.output.display().to_string(),
            "bytes": table.file_bytes(),
        });
        return Ok(writeln!(out, "{report:#}")?);
    }
    let size = Size(table.file_bytes());
    writeln!(out, "{rows} rows, {features} features, {} bytes per row, {}", table.bytes_per_row(), seconds(time))?;
    Ok(writeln!(out, "wrote {} ({size})", printable(&args.output.display().to_string()))?)
}

fn binned(args: &Args, paths: &[PathBuf]) -> Result<BinnedTable, CliError> {
    let bar = RoundBar::of("reading targets", "rows");
    let mut show = |progress: &BinProgress| {
        let verb = match progress.pass {
            BinPass::Roles => "reading targets",
            BinPass::Cuts => "computing cuts",
            BinPass::Codes => "writing codes",
        };
        bar.named(verb).at(progress.rows, progress.n_rows.unwrap_or(progress.rows), "");
        if interrupt::is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut files = TableFiles::open(paths, &args.columns.read_options())?;
    let roles = args.columns.roles();
    let table = if args.append {
        let table = BinnedTable::open(&args.output)?;
        table.append(&mut files, &roles, &mut show)
    } else {
        let options = BinOptions { roles, quantizer: quantizer(args)? };
        BinnedTable::create(&args.output, &mut files, &options, &mut show)
    };
    table.map_err(|error| match error {
        BinnedTableError::Table(error) => with_options(error),
        error => error.into(),
    })
}

fn quantizer(args: &Args) -> Result<Quantizer, CliError> {
    let mut quantizer = Quantizer::default();
    if let Some(max_bin) = args.max_bin {
        quantizer = quantizer.with_max_bin(max_bin)?;
    }
    if let Some(sample_rows) = args.sample_rows {
        quantizer = quantizer.with_sample_rows(sample_rows)?;
    }
    Ok(args.seed.map_or(quantizer, |seed| quantizer.with_seed(seed)))
}

/// Replaces file names with wildcards by the files that match, in ascending order.
fn expanded(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut all = Vec::new();
    for path in paths {
        let pattern = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.exists() || !pattern.contains(['*', '?']) {
            all.push(path.clone());
            continue;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let failed = |source| CliError::File { path: folder.to_owned(), source };
        let mut found = Vec::new();
        for entry in folder.read_dir().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if matches(pattern.as_bytes(), entry.file_name().to_string_lossy().as_bytes()) {
                found.push(entry.path());
            }
        }
        if found.is_empty() {
            let problem = format!("no file matches `{}`", path.display());
            return Err(CliError::Options { problem, fix: "check the folder and the pattern" });
        }
        found.sort();
        all.append(&mut found);
    }
    Ok(all)
}

/// Returns whether a name matches a pattern with `*` for any characters and `?` for one byte.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
        ([b'?', rest @ ..], [_, left @ ..]) => matches(rest, left),
        ([one, rest @ ..], [other, left @ ..]) => one == other && matches(rest, left),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn wildcards_match_names() {
        for (pattern, name, fits) in [
            ("part-*.csv", "part-1.csv", true),
            ("part-*.csv", "part-.csv", true),
            ("part-*.csv", "part-1.csv.gz", false),
            ("*", "a", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b", "xxaxxab", true),
            ("a", "b", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        }
    }
}
