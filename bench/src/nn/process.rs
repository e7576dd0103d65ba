//! A process per number of threads, because candle reads its number of threads once, at startup.

use std::io;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{Options, products, sentences};
use crate::measure::Pace;
use crate::report::Row;
use crate::rival::ggml::{Cpu, Ggml};

/// Numbers of threads, each with a row in the tables.
const THREADS: [usize; 2] = [1, 2];

/// Rows of the sentence table, and rows of the product tables.
type Found = [Vec<Row>; 5];

/// Returns the rows of every table, with the numbers of threads next to each other.
///
/// # Errors
/// Returns an error if a process cannot be started or fails.
pub(super) fn measure(pace: Pace, options: &Options) -> io::Result<Found> {
    let mut found = THREADS.map(|threads| child(pace, options, threads)).into_iter().collect::<io::Result<Vec<_>>>()?;
    Ok(std::array::from_fn(|table| in_turns(found.iter_mut().map(|tables| std::mem::take(&mut tables[table])))))
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
/// Returns an error if the model cannot be opened.
pub(crate) fn contend(pace: Pace, options: &Options, threads: usize) -> io::Result<String> {
    let ggml = Ggml::load().ok();
    let cpu = ggml.as_ref().and_then(|ggml| Cpu::load(ggml).ok());
    let sentences = options.model.as_deref().map(|folder| sentences::rows(pace, folder, threads)).transpose()?;
    let [vectors, batches, own, every] = products::rows(pace, cpu.as_ref(), threads);
    let found: Found = [sentences.unwrap_or_default(), vectors, batches, own, every];
    Ok(json!(found).to_string())
}

fn child(pace: Pace, options: &Options, threads: usize) -> io::Result<Found> {
    let count = threads.to_string();
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["contend-nn", &count]).args((pace == Pace::Quick).then_some("--quick"));
    if let Some(model) = &options.model {
        command.arg("--model").arg(model);
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
