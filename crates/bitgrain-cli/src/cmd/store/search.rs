//! `store search`: finds the vectors nearest to a query.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bitgrain::nn::network::embed::SentenceEncoder;
use bitgrain::store::{SearchHit, SearchMetric, SearchOptions};
use serde_json::json;

use super::id::{Id, shown, with_id};
use super::session::open_read_only;
use super::source::Source;
use crate::error::CliError;
use crate::number::digits;
use crate::table::Table;

/// Find the vectors nearest to a query: tensors with as many values, and rows of matrices with as many columns.
///
/// The scan reads the stored codes. Every score has an interval that contains the score of the vector as it was put; an
/// answer is proven if the intervals show that it is among the best of all vectors as they were put.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store search vectors.store --query mean.npy --id mean --id original
  bitgrain store search vectors.store --query mean.npy --prefix tuned --metric cosine -k 3 --json
  bitgrain store search vectors.store --query mean.npy --id mean --approximate
  bitgrain store search notes.store --text 'music' --model all-MiniLM-L6-v2/ -k 5
  printf '1 0 0 2 0 0 0 1' | bitgrain store search vectors.store --query - --id words")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// File with a query, or a matrix with one query per row: .npy, .npz, .safetensors or .csv; - reads numbers from
    /// standard input, one query per line.
    #[arg(long, value_name = "FILE", required_unless_present = "text")]
    query: Option<PathBuf>,
    /// Sentence to embed as the query; may be repeated.
    #[arg(long, value_name = "TEXT", requires = "model", conflicts_with = "query")]
    text: Vec<String>,
    /// Folder of the sentence encoder, as for `bitgrain embed`.
    #[arg(long, value_name = "MODEL", requires = "text")]
    model: Option<PathBuf>,
    /// Number of answers per query.
    #[arg(short, default_value_t = 10, value_name = "K")]
    k: usize,
    /// Measure of similarity: ip (inner product), cosine, or l2 (squared distance).
    #[arg(long, default_value = "ip", value_name = "METRIC")]
    metric: SearchMetric,
    /// Search only names that start with this prefix.
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
    /// Search only this tensor; may be repeated.
    #[arg(long = "id", value_name = "ID")]
    ids: Vec<Id>,
    /// Search only tensors with this user metadata; may be repeated.
    #[arg(long = "where", value_name = "KEY=VALUE", value_parser = pair)]
    pairs: Vec<(String, String)>,
    /// Prove as many answers as the stored data allows, regardless of the time this takes.
    #[arg(long, conflicts_with = "approximate")]
    exact: bool,
    /// Estimate scores from one bit per value and read only the vectors that may be among the best: faster in a large
    /// store, but misses about one answer in a thousand and proves none.
    #[arg(long)]
    approximate: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let queries = queries(args)?;
    let store = open_read_only(&args.path)?;
    let options = SearchOptions {
        metric: args.metric,
        prefix: args.prefix.clone(),
        ids: (!args.ids.is_empty()).then(|| args.ids.iter().map(|id| id.0.clone()).collect()),
        filter: args.pairs.clone(),
        exact: args.exact,
        approximate: args.approximate,
    };
    let slices: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
    let results = store.search(&slices, args.k, &options).map_err(CliError::store(&args.path))?;
    if args.json {
        let results = results.iter().map(|result| {
            let hits: Vec<_> = result.hits.iter().map(to_json).collect();
            json!({"hits": hits, "certified": result.certified, "skipped": result.skipped})
        });
        return Ok(writeln!(out, "{:#}", json!(results.collect::<Vec<_>>()))?);
    }
    for (number, result) in results.iter().enumerate() {
        if results.len() > 1 {
            writeln!(out, "query {number}")?;
        }
        let mut table = Table::new(&["id", "row", args.metric.name(), "low", "high", "proven", "tier"], 1);
        for hit in &result.hits {
            let [score, low, high] = [hit.score, hit.low, hit.high].map(digits);
            let proven = if hit.certified { "yes" } else { "no" };
            table.row([shown(&hit.id), hit.row.to_string(), score, low, high, proven.into(), hit.tier.name().into()]);
        }
        writeln!(out, "{table}")?;
        writeln!(out, "{} of {} answers are proven", result.certified, result.hits.len())?;
        if result.skipped > 0 {
            writeln!(out, "{} tensors were not searched, because their data was evicted", result.skipped)?;
        }
    }
    Ok(())
}

fn to_json(hit: &SearchHit) -> serde_json::Value {
    let about = json!({
        "row": hit.row,
        "score": hit.score,
        "low": hit.low,
        "high": hit.high,
        "certified": hit.certified,
        "tier": hit.tier.name(),
    });
    with_id(&hit.id, about)
}

/// Reads or embeds the queries.
fn queries(args: &Args) -> Result<Vec<Vec<f32>>, CliError> {
    if let Some(model) = &args.model {
        return Ok(SentenceEncoder::open(model)?.embed(&args.text)?);
    }
    let Some(path) = &args.query else { return Ok(Vec::new()) };
    if path == Path::new("-") {
        let mut text = String::new();
        let read = io::stdin().read_to_string(&mut text);
        read.map_err(|source| CliError::File { path: path.clone(), source })?;
        let queries: Vec<Vec<f32>> =
            text.lines().filter(|line| !line.trim().is_empty()).map(numbers).collect::<Result<_, _>>()?;
        if queries.is_empty() {
            return Err(CliError::Options {
                problem: "standard input is empty".to_owned(),
                fix: "write one query per line, as numbers separated by spaces or commas",
            });
        }
        return Ok(queries);
    }
    let tensor = Source::open(path)?.one(path, None)?;
    let columns = tensor.shape.last().copied().unwrap_or(1).max(1);
    Ok(tensor.values.chunks(columns).map(<[f32]>::to_vec).collect())
}

/// Parses numbers separated by spaces or commas.
fn numbers(line: &str) -> Result<Vec<f32>, CliError> {
    let words = line.split([' ', ',', '\t']).filter(|word| !word.is_empty());
    words.map(|word| word.parse().map_err(|_| CliError::NotANumber { word: word.to_owned() })).collect()
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`; write KEY=VALUE"))?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}
