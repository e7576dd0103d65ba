//! Suite `store`: stored tensors, compared with databases, files and a lower bound.

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

/// Rows and columns of a tensor of 1,000 floats.
const SMALL: [usize; 2] = [10, 100];
/// Rows and columns of a tensor of 1,000,000 floats.
const LARGE: [usize; 2] = [1000, 1000];

/// Runs the suite.
///
/// # Errors
/// Returns an error if the temporary folder cannot be used.
pub(crate) fn run(pace: Pace) -> io::Result<Report> {
    let scratch = Scratch::new("store")?;
    let (arrays, missing) = arrays::measure(pace, &scratch);
    missing.iter().for_each(|missing| eprintln!("continuing without {missing}"));
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

/// Formats the versions of libraries that are not crates; those of crates are in `Cargo.lock`.
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

/// Creates a thread pool, to limit work that would use all cores.
fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread or two")
}

/// Prints the current measurement, because a full run takes minutes.
fn progress(what: &str) {
    eprintln!("measuring {what}");
}
