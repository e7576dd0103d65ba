//! A real process with several writers is killed while it writes; every acknowledged write persists.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{env, io, thread};

use bitgrain_store::policy::{AbsentRule, PolicyConfig};
use bitgrain_store::storage::simulated::Dice;
use bitgrain_store::{Clock, CompactOptions, StoreConfig, StoreError, SyncMode, TensorStore};

use crate::execute::execute;
use crate::points::Tally;
use crate::script::write;
use crate::view::View;
use crate::writers::{Progress, WRITERS};

/// Arguments of the child process: folder, seed, mode and the number of the next write of each writer.
const ORDER: &str = "BITGRAIN_CRASH_WRITER";

/// A clock on which an hour takes two seconds.
struct Hasty;

impl Clock for Hasty {
    fn now(&self) -> u64 {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(0).saturating_mul(1800)
    }
}

fn config(sync: SyncMode) -> StoreConfig {
    let policy = PolicyConfig { absent: AbsentRule::Any, ..PolicyConfig::adr019() };
    StoreConfig { sync, segment_bytes: 60_000, clock: Arc::new(Hasty), policy, ..StoreConfig::default() }
}

/// Kills a process `kills` times on the same, aging store.
///
/// # Errors
/// Returns what was lost.
pub(crate) fn explore(seed: u64, kills: usize, tally: &mut Tally) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut dice = Dice::part(seed, 6);
    let mut progress = Progress::new(seed);
    for round in 0..kills {
        let sync = if dice.chance(50) { SyncMode::Always } else { SyncMode::OnSeal };
        let told = |why: String| format!("seed {seed}, kill {round}, {sync:?}: {why}");
        let order = order(folder.path(), seed, sync, progress.next);
        let acknowledged = killed(&order, &mut dice).map_err(told)?;
        let store = TensorStore::open(folder.path(), config(sync)).map_err(|error| told(error.to_string()))?;
        let view = View::of(&store).map_err(|error| told(format!("a read failed: {error}")))?;
        for (writer, count) in acknowledged.into_iter().enumerate() {
            (0..count).for_each(|_| progress.acknowledge(writer));
        }
        progress.settle(&view).map_err(told)?;
        let report = store.verify().map_err(|error| told(error.to_string()))?;
        if !report.damages.is_empty() {
            return Err(told(format!("verify: {:?}", report.damages)));
        }
        tally.count(if sync == SyncMode::Always { "process killed, durable writes" } else { "process killed" });
        if dice.chance(30) {
            store.close().map_err(|error| told(error.to_string()))?;
        }
    }
    let writes: usize = progress.next.iter().sum();
    if writes < kills {
        return Err(format!("only {writes} writes in {kills} rounds: nothing was tested"));
    }
    Ok(())
}

fn order(folder: &Path, seed: u64, sync: SyncMode, next: [usize; WRITERS]) -> String {
    let mut order = format!("{}\n{seed}\n{sync:?}", folder.display());
    next.iter().for_each(|next| write!(order, "\n{next}").expect("a string takes text"));
    order
}

/// Starts a process, kills it, and returns the number of acknowledged writes per writer.
fn killed(order: &str, dice: &mut Dice) -> Result<[usize; WRITERS], String> {
    let mut child = spawn(order).map_err(|error| format!("the writer does not start: {error}"))?;
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let (first, begun) = std::sync::mpsc::channel();
    let reader = thread::spawn(move || {
        let mut lines = Vec::new();
        for line in out.lines().map_while(Result::ok) {
            if line.starts_with("ack ") || line.starts_with("error ") {
                first.send(()).ok();
            }
            lines.push(line);
        }
        lines
    });
    // Wait for the first line, so that the startup time of the process does not count.
    begun.recv_timeout(Duration::from_secs(20)).map_err(|_| "the writer says nothing")?;
    thread::sleep(Duration::from_millis(5 + dice.below(120) as u64));
    child.kill().map_err(|error| error.to_string())?;
    child.wait().map_err(|error| error.to_string())?;
    let lines = reader.join().map_err(|_| "the reader of the pipe panicked")?;
    let mut acknowledged = [0; WRITERS];
    for line in lines {
        if let Some(writer) = line.strip_prefix("ack ") {
            let writer: usize = writer.parse().map_err(|_| format!("`{line}` is no acknowledgement"))?;
            acknowledged[writer] += 1;
        } else if line.starts_with("error ") {
            return Err(line);
        }
    }
    Ok(acknowledged)
}

/// Starts this program again with the test below.
fn spawn(order: &str) -> io::Result<Child> {
    Command::new(env::current_exe()?)
        .args(["--exact", "kill::the_writer_that_is_killed", "--ignored", "--nocapture", "--test-threads=1"])
        .env(ORDER, order)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// The child process of the other tests, not a separate test.
#[test]
#[ignore = "started by the tests that kill it"]
fn the_writer_that_is_killed() {
    let Ok(order) = env::var(ORDER) else { return };
    let mut lines = order.lines();
    let (folder, seed) = (lines.next().expect("a folder"), lines.next().expect("a seed"));
    let seed: u64 = seed.parse().expect("a number");
    let sync = if lines.next() == Some("Always") { SyncMode::Always } else { SyncMode::OnSeal };
    let store = TensorStore::open(folder, config(sync)).unwrap_or_else(|error| {
        say(&format!("\nerror opening: {error}"));
        std::process::exit(1);
    });
    let store = &store;
    say(""); // ends the line that the test harness began
    thread::scope(|scope| {
        for (writer, next) in lines.enumerate() {
            let next: usize = next.parse().expect("a number");
            scope.spawn(move || {
                for number in next.. {
                    match execute(store, &write(seed, writer, number), Hasty.now()) {
                        Ok(()) | Err(StoreError::NotFound { .. }) => say(&format!("ack {writer}")),
                        Err(error) => return say(&format!("error of write {number} of writer {writer}: {error}")),
                    }
                }
            });
        }
        scope.spawn(move || {
            for round in 0_u64.. {
                let options = CompactOptions { all: round % 4 == 0, ..CompactOptions::default() };
                let kept = store.tick(Hasty.now()).and_then(|_| store.compact(options));
                if let Err(error) = kept {
                    return say(&format!("error of maintenance: {error}"));
                }
                thread::sleep(Duration::from_millis(3));
            }
        });
    });
}

/// Writes a line in one call, so that the pipe holds all of it or nothing.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).unwrap_or_else(|_| std::process::exit(1));
}
