//! Time until the first tensor of a store of a million tensors is read, and memory used.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::keeper::{FLOOR_OF_GET, Keeper, OURS, fill, keepers};
use super::progress;
use super::tensors::{Tensors, thousands};
use crate::measure::Pace;
use crate::report::{Figure, Finding, Sheet, Verdict};
use crate::rival::store::Plan;
use crate::scratch::Scratch;

/// Small shape, so that a million tensors fit; the cost of opening does not depend on the shape.
const TINY: [usize; 2] = [2, 8];
/// Number of tensors that the targets apply to.
const MILLION: f64 = 1e6;
/// Tensors per commit while the stores are filled.
const BATCH: usize = 10_000;
/// Makes malloc return large allocations to the system immediately, so that resident memory is memory in use.
const GIVE_BACK: [(&str, &str); 2] = [("MALLOC_MMAP_THRESHOLD_", "65536"), ("MALLOC_TRIM_THRESHOLD_", "65536")];

/// Measurements of a separate process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Seen {
    /// Seconds until the store was open.
    open: f64,
    /// Seconds until the first tensor was read.
    first: f64,
    /// Growth of resident memory in bytes.
    resident: Option<u64>,
}

/// Medians of a contender.
struct Entry {
    keeper: &'static str,
    runs: usize,
    seen: Seen,
}

/// Fills the stores and opens each of them in separate processes.
pub(super) fn sheet(pace: Pace, scratch: &Scratch) -> io::Result<(Sheet, Vec<Verdict>)> {
    let (count, runs) = if pace == Pace::Full { (1_000_000, 5) } else { (100_000, 2) };
    let tensors = Tensors::new(TINY);
    let mut entries = Vec::new();
    // A million files would measure the file system, and the lower bound does not open anything.
    let left_out = [FLOOR_OF_GET, "safetensors"];
    for keeper in keepers(FLOOR_OF_GET).iter().filter(|k| k.durable && !left_out.contains(&k.name)) {
        progress(&format!("opening of {} tensors: {}", thousands(count), keeper.name));
        let folder = scratch.file("open");
        let plan = Plan { folder: super::keeper::empty(&folder), shape: TINY, synced: false };
        let mut shelf = keeper.open(&plan);
        fill(&mut *shelf, &tensors, count, BATCH);
        // Check a sample of the tensors.
        keeper.check(&mut *shelf, &tensors, 1000);
        drop(shelf);
        let seen: Vec<Seen> = (0..runs).map(|_| child(keeper, &folder)).collect::<io::Result<_>>()?;
        entries.push(Entry { keeper: keeper.name, runs, seen: median(&seen) });
        super::keeper::empty(&folder);
    }
    let note = format!(
        "{} tensors of 16 floats with numeric ids, written in batches and closed, then opened by separate processes \
         ({runs} per row, medians). Ours reads the indexes of all segments into memory and needs no lookup in the \
         file later; databases keep their indexes in the file and open faster. Memory is the growth of the resident \
         set by opening, with an allocator that returns large allocations immediately (`{}`).",
        thousands(count),
        GIVE_BACK.map(|(name, value)| format!("{name}={value}")).join(" "),
    );
    let verdicts = judge(&entries, count);
    let sheet = Sheet { title: "Open".into(), note, cells: cells(&entries, count), value: value(&entries, count) };
    Ok((sheet, verdicts))
}

/// Opens a contender's store and returns the measurements. Runs in a separate process.
pub(crate) fn contend(name: &str, folder: &Path) -> String {
    let all = keepers(FLOOR_OF_GET);
    let keeper = all.iter().find(|keeper| keeper.name == name).expect("the name of a keeper");
    let tensors = Tensors::new(TINY);
    let before = resident();
    let start = Instant::now();
    let mut shelf = keeper.open(&Plan { folder, shape: TINY, synced: false });
    let open = start.elapsed().as_secs_f64();
    let after = resident();
    let start = Instant::now();
    keeper.check(&mut *shelf, &tensors, 1);
    let first = open + start.elapsed().as_secs_f64();
    let grown = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    json!(Seen { open, first, resident: grown }).to_string()
}

fn child(keeper: &Keeper, folder: &Path) -> io::Result<Seen> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["contend-open", keeper.name]).arg(folder).envs(GIVE_BACK).stdin(Stdio::null());
    let done = command.stderr(Stdio::inherit()).output()?;
    serde_json::from_slice(&done.stdout).map_err(io::Error::other)
}

/// Returns the resident memory of this process in bytes; `None` if the system does not report it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?;
    Some(kilobytes.parse::<u64>().ok()? * 1024)
}

fn median(seen: &[Seen]) -> Seen {
    let middle = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let mut resident: Vec<u64> = seen.iter().filter_map(|seen| seen.resident).collect();
    resident.sort_unstable();
    Seen {
        open: middle(seen.iter().map(|seen| seen.open).collect()),
        first: middle(seen.iter().map(|seen| seen.first).collect()),
        resident: resident.get(resident.len() / 2).copied(),
    }
}

/// Checks the targets: one second to open a million tensors, and 200 bytes of memory per tensor.
fn judge(entries: &[Entry], count: usize) -> Vec<Verdict> {
    let Some(ours) = entries.iter().find(|entry| entry.keeper == OURS) else { return Vec::new() };
    let row = format!("{} tensors", thousands(count));
    let second = MILLION / count as f64 * ours.seen.open;
    let opening = Figure::ratio("1 s", "opening a million").at_least(1.0);
    let memory = Figure::ratio("200 bytes", "memory per tensor").at_least(1.0);
    let bytes = ours.seen.resident.map(|bytes| Finding::new(row.clone(), 200.0 * count as f64 / bytes as f64));
    let opening = Verdict::new("Open", opening, vec![Finding::new(row, 1.0 / second)]);
    opening.into_iter().chain(Verdict::new("Open", memory, bytes.into_iter().collect())).collect()
}

fn cells(entries: &[Entry], count: usize) -> Vec<Vec<String>> {
    let header = ["store", "runs", "open, ms", "open and first get, ms", "memory per tensor, bytes"];
    let row = |entry: &Entry| {
        let Seen { open, first, resident } = entry.seen;
        let memory = resident.map_or_else(|| "–".to_owned(), |bytes| format!("{:.1}", bytes as f64 / count as f64));
        let milliseconds = |seconds: f64| format!("{:.2}", seconds * 1e3);
        let name = if entry.keeper == OURS { format!("**{OURS}**") } else { entry.keeper.to_owned() };
        vec![name, entry.runs.to_string(), milliseconds(open), milliseconds(first), memory]
    };
    std::iter::once(header.map(str::to_owned).to_vec()).chain(entries.iter().map(row)).collect()
}

fn value(entries: &[Entry], count: usize) -> serde_json::Value {
    let entry = |e: &Entry| json!({"keeper": e.keeper, "runs": e.runs, "seen": e.seen});
    json!({"title": "Open", "tensors": count, "entries": entries.iter().map(entry).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_scaled_to_a_million_tensors() {
        let seen = Seen { open: 0.05, first: 0.06, resident: Some(25_000_000) };
        let verdicts = judge(&[Entry { keeper: OURS, runs: 1, seen }], 100_000);
        let found: Vec<_> = verdicts.iter().map(|verdict| (verdict.met, verdict.finding())).collect();
        assert_eq!(found[0], (true, "worst 2.00× (100,000 tensors)".into()));
        assert_eq!(found[1], (false, "1 of 1 rows below: 0.80× (100,000 tensors)".into()));
    }

    #[test]
    fn the_median_is_of_each_number_by_itself() {
        let seen = [(3.0, 1), (1.0, 3), (2.0, 2)].map(|(open, mb)| Seen { open, first: open, resident: Some(mb) });
        let median = median(&seen);
        assert_eq!((median.open, median.resident), (2.0, Some(2)));
    }
}
