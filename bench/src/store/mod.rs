//! Suite `store`: tensors at rest through `bitgrain::store`, beside databases, files and the floor.

mod arrays;
mod commit;
mod disk;
mod floor;
mod get;
mod keeper;
mod open;
mod ours;
mod put;
mod readers;
mod tensors;

use std::io;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::machine::Machine;
use crate::measure::Pace;
use crate::report::Report;
use crate::rival;
use crate::scratch::Scratch;
use arrays::Arrays;

pub(crate) use open::contend;

/// A tensor of 1,000 floats, as rows and columns.
const SMALL: [usize; 2] = [10, 100];
/// One of 1,000,000.
const LARGE: [usize; 2] = [1000, 1000];

/// Measures everything.
///
/// # Errors
/// What the folder of the run brings.
pub(crate) fn run(pace: Pace) -> io::Result<Report> {
    let scratch = Scratch::new("store")?;
    let (arrays, missing) = arrays::measure(pace, &scratch);
    missing.iter().for_each(|missing| eprintln!("going on without {missing}"));
    let put = put::table(pace, &scratch, &arrays);
    let [get, rows] = get::tables(pace, &scratch, &arrays);
    let readers = readers::table(pace, &scratch);
    let commit = commit::table(pace, &rival::folder()?);
    let (disk, bytes) = disk::sheet(pace, &scratch, &arrays)?;
    let (open, opened) = open::sheet(pace, &scratch)?;
    Ok(Report {
        suite: "store",
        title: "Store benchmarks",
        intro: intro(&missing),
        pace,
        options: Vec::new(),
        machine: Machine::read(),
        facts: vec![("Competitors", versions(&arrays))],
        tables: vec![get, put, rows, readers, commit],
        sheets: vec![disk, open],
        judged: bytes.into_iter().chain(opened).collect(),
    })
}

fn intro(missing: &[String]) -> String {
    let mut intro = "Writes to and reads from `bitgrain-store` at its hot tier (8 bits, blocks of 128), compared \
        with databases that store raw f32, with files, and with the crate \
        `ruvector-temporal-tensor`, on whose design the store is based and which keeps 8 bits in memory. Files are in memory (`/dev/shm`, unless `TMPDIR` is set), so only \
        the group commit measures a disk. Tables without a number of threads use one. The implementations of a row \
        run alternately in one process; Python libraries are measured separately. Results are checked before timing. \
        Values are approximately normal f32 from a seeded generator; ids are numbers. Ratios are ratios of medians; \
        above 1, the first is faster."
        .to_owned();
    if !cfg!(feature = "stores") {
        intro += " redb, LMDB and safetensors are not in this run (`cargo xtask bench store` builds them).";
    }
    missing.iter().for_each(|missing| intro += &format!(" Not in this run: {missing}."));
    intro
}

/// Those that are not crates; the versions of crates are in `Cargo.lock`.
fn versions(arrays: &[Arrays]) -> String {
    let mut found = vec!["crates as in `Cargo.lock`".to_owned()];
    for arrays in arrays {
        let version = format!("{} {}", arrays.name, arrays.version);
        if !found.contains(&version) {
            found.push(version);
        }
    }
    found.join(", ")
}

/// A pool, so that what may use every core uses as many as a row says.
fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread or two")
}

/// Says on the terminal what is being measured: a full run takes minutes.
fn progress(what: &str) {
    eprintln!("measuring {what}");
}
