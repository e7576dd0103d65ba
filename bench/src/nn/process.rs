//! A process per backend and number of threads, because candle reads its number of threads once, at startup, and
//! because a limited backend stays limited.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use bitgrain::kernels::Backend;
use serde_json::json;

use super::{Options, products, sentences};
use crate::measure::Pace;
use crate::report::Row;
use crate::rival::ggml::{Cpu, Ggml};

/// Numbers of threads, each with a row in the tables.
const THREADS: [usize; 2] = [1, 2];

/// Rows of the sentence table, and rows of the product tables.
pub(super) struct Found {
    pub(super) sentences: Vec<Row>,
    pub(super) products: products::Rows,
}

/// Returns the rows of every table on a backend, with the numbers of threads next to each other.
///
/// # Errors
/// Returns an error if a process cannot be started or fails, or if a result cannot be kept.
pub(super) fn measure(pace: Pace, options: &Options, backend: Backend) -> io::Result<Found> {
    let mut found: Vec<Tables> =
        THREADS.iter().map(|&threads| kept(pace, options, backend, threads)).collect::<io::Result<_>>()?;
    let mut table = |at: usize| in_turns(found.iter_mut().map(|tables| std::mem::take(&mut tables[at])));
    Ok(Found { sentences: table(0), products: std::array::from_fn(|at| table(1 + at)) })
}

/// Tables of a process: sentences, then products.
type Tables = [Vec<Row>; 1 + products::TABLES];

/// Returns the result of a process of an earlier run, if it was kept, or that of a new process.
fn kept(pace: Pace, options: &Options, backend: Backend, threads: usize) -> io::Result<Tables> {
    let Some(folder) = &options.resume else { return child(pace, options, backend, threads) };
    let path = folder.join(format!("nn-{backend}-{threads}-{pace:?}.json"));
    if path.is_file() {
        eprintln!("the results on {backend} are kept in {}", path.display());
        return serde_json::from_slice(&std::fs::read(path)?).map_err(io::Error::other);
    }
    let found = child(pace, options, backend, threads)?;
    keep(&path, &found)?;
    Ok(found)
}

fn keep(path: &Path, found: &Tables) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, json!(found).to_string())
}

/// Interleaves the lists: the first row of each list, then the second of each.
fn in_turns(lists: impl Iterator<Item = Vec<Row>>) -> Vec<Row> {
    let mut lists: Vec<_> = lists.map(Vec::into_iter).collect();
    let longest = lists.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    (0..longest).flat_map(|_| lists.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>()).collect()
}

/// Measures everything with this number of threads. Runs in a separate process.
///
/// # Errors
/// Returns an error if the CPU does not have the backend or the model cannot be opened.
pub(crate) fn contend(pace: Pace, options: &Options, backend: &str, threads: usize) -> io::Result<String> {
    let found = Backend::available().iter().find(|found| found.name() == backend);
    let backend = *found.ok_or_else(|| io::Error::other(format!("this CPU does not have the backend `{backend}`")))?;
    let is_best = backend == Backend::best();
    backend.limit();
    let ggml = Ggml::load().ok();
    let cpu = ggml.as_ref().and_then(|ggml| Cpu::load(ggml, backend).ok());
    let model = options.model.as_deref().filter(|_| is_best);
    let sentences = model.map(|folder| sentences::rows(pace, folder, threads)).transpose()?;
    let mut tables: Tables = std::array::from_fn(|_| Vec::new());
    tables[0] = sentences.unwrap_or_default();
    for (table, rows) in
        tables[1..].iter_mut().zip(products::rows(pace, cpu.as_ref(), threads, is_best, &options.formats))
    {
        *table = rows;
    }
    Ok(json!(tables).to_string())
}

fn child(pace: Pace, options: &Options, backend: Backend, threads: usize) -> io::Result<Tables> {
    let count = threads.to_string();
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["contend-nn", backend.name(), &count]).args((pace == Pace::Quick).then_some("--quick"));
    if let Some(model) = &options.model {
        command.arg("--model").arg(model);
    }
    for format in &options.formats {
        command.arg(format!("--formats={format}"));
    }
    command.envs(["CANDLE_NUM_THREADS", "RAYON_NUM_THREADS"].map(|name| (name, &count)));
    let done = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !done.status.success() {
        return Err(io::Error::other(format!("the process with {threads} threads ended with {}", done.status)));
    }
    serde_json::from_slice(&done.stdout).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_thread_counts_are_interleaved() {
        let rows = |labels: &[&str]| labels.iter().map(|&label| Row::judged(label, Vec::new())).collect();
        let all = in_turns([rows(&["a1", "b1", "c1"]), rows(&["a2", "b2"])].into_iter());
        assert_eq!(all.iter().map(|row| &*row.label).collect::<Vec<_>>(), ["a1", "a2", "b1", "b2", "c1"]);
    }
}
