//! The team of threads: beside other trainings and rayon, under CPU limits, idle, and its memory.

use std::process::Command;
use std::thread;
use std::time::Duration;

use bitgrain_gbdt::feature::{Features, Quantizer};
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::train::{Dataset, Params, Phase, SampleStrategy, Trainer, Training};
use rayon::prelude::*;

use super::on_threads;

const ROWS: usize = 20_000;
const FEATURES: usize = 8;

/// Set in the process that a test starts; names the work of that process.
const ROLE: &str = "BITGRAIN_TEAM_ROLE";

fn values(rows: usize) -> Vec<f32> {
    let mut state = 7_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 1e6
    };
    (0..rows * FEATURES).map(|_| random()).collect()
}

fn data(rows: usize, classes: f32, weighted: bool) -> Dataset {
    let values = values(rows);
    let target = |row: &[f32]| ((row[0] * row[1] + row[2]).abs() * 7.0).floor() % classes;
    let targets: Vec<f32> = values.chunks(FEATURES).map(target).collect();
    let weights = weighted.then(|| values.chunks(FEATURES).map(|row| 0.5 + row[3].abs()).collect());
    let features = Features::row_major(&values[..], rows, FEATURES).expect("a matrix");
    Dataset::new(&features, targets, weights, &Quantizer::default()).expect("valid data")
}

fn train(data: &mut Dataset, objective: &str, params: &Params) -> Training {
    Trainer::new(params.clone(), by_name(objective).expect("a name")).train(data).expect("trained")
}

fn params() -> Params {
    Params { n_estimators: 12, num_leaves: 31, ..Params::default() }
}

#[test]
fn samples_and_several_outputs_do_not_depend_on_the_threads() {
    let goss = Params { data_sample_strategy: SampleStrategy::Goss, learning_rate: 0.5, ..params() };
    let bagging = Params { subsample: 0.4, subsample_freq: 2, ..params() };
    for (objective, classes, params) in [
        ("binary", 2.0, &goss),
        ("binary", 2.0, &bagging),
        ("multiclass:3", 3.0, &params()),
        ("multiclass:3", 3.0, &goss),
        ("multiclass:3", 3.0, &bagging),
    ] {
        let models = [1, 2, 8]
            .map(|threads| on_threads(threads, || train(&mut data(ROWS, classes, true), objective, params).model));
        assert!(models[0].trees.iter().any(|tree| tree.leaves.len() > 10), "{objective}: the trees are too small");
        assert!(models.iter().all(|model| *model == models[0]), "{objective}, {params:?}");
    }
}

#[test]
fn a_dataset_is_the_same_after_a_training() {
    for (objective, classes, weighted) in [("binary", 2.0, true), ("binary", 2.0, false), ("multiclass:3", 3.0, true)] {
        let mut data = data(ROWS, classes, weighted);
        let targets = data.targets().into_owned();
        let params = Params { subsample: 0.7, subsample_freq: 1, ..params() };
        let first = train(&mut data, objective, &params).model;
        assert_eq!(data.targets(), targets, "{objective}");
        assert!(train(&mut data, objective, &params).model == first, "{objective}: rows, targets or weights differ");
    }
}

#[test]
fn trainings_run_at_once_and_beside_rayon() {
    let want = train(&mut data(ROWS, 2.0, false), "binary", &params()).model;
    let both = || {
        let work = |_| train(&mut data(ROWS, 2.0, false), "binary", &params()).model;
        (0..4).into_par_iter().map(work).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        // Four trainings as tasks of one pool, two of other threads, and loops of the global pool.
        let nested = scope.spawn(|| on_threads(2, both));
        let others = [(); 2].map(|()| scope.spawn(|| train(&mut data(ROWS, 2.0, false), "binary", &params()).model));
        let sum: u64 = (0..4_000_000_u64).into_par_iter().map(|at| at % 7).sum();
        assert_eq!(sum, 11_999_994);
        assert!(nested.join().expect("no panic").iter().all(|model| *model == want));
        assert!(others.into_iter().all(|other| other.join().expect("no panic") == want));
    });
}

#[test]
fn usage_counts_every_loop_of_a_tree() {
    let training = on_threads(1, || train(&mut data(ROWS, 2.0, false), "binary", &params()));
    let usage = training.team;
    assert_eq!(usage.threads, 1);
    assert_eq!(usage.phase(Phase::Gradients).loops, 12);
    // Small nodes take one loop per step of up to four nodes, and the root takes two.
    let per_tree = usage.all().loops / 12;
    assert!((8..40).contains(&per_tree), "{per_tree} loops per tree: {usage:?}");
    assert!(usage.serial() < usage.total / 2, "{usage:?}");
    assert!(usage.projected[0] >= usage.projected[2] && usage.projected[0] <= usage.all().in_loops);
}

/// Runs one test of this program in a separate process and returns its output; `None` if the program that limits the
/// process is missing.
fn in_process(limit: &[&str], role: &str) -> Option<String> {
    let own = std::env::current_exe().expect("this program");
    let mut words: Vec<&std::ffi::OsStr> = limit.iter().map(std::ffi::OsStr::new).collect();
    words.push(own.as_os_str());
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).args(["--exact", "team::work_of_a_process", "--nocapture", "--include-ignored"]);
    let done = command.env(ROLE, role).output().ok()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Returns the number after a word in the output of a process.
fn number(output: &str, word: &str) -> u64 {
    let line = output.lines().find_map(|line| line.split(word).nth(1)).unwrap_or_else(|| panic!("{word}: {output}"));
    line.trim().parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// A field of the process status in KB, or the CPU time in clock ticks.
fn status(field: &str) -> u64 {
    let read = |path| std::fs::read_to_string(path).expect("procfs");
    if field == "ticks" {
        let stat = read("/proc/self/stat");
        let after = stat.rsplit(')').next().expect("a name in brackets");
        return after.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("ticks")).sum();
    }
    let status = read("/proc/self/status");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a field");
    line.trim_start_matches(':').split_whitespace().next().and_then(|kb| kb.parse().ok()).expect("a number")
}

#[test]
#[ignore = "started by other tests"]
fn work_of_a_process() {
    let role = std::env::var(ROLE).unwrap_or_default();
    if role == "memory" {
        let mut data = data(1_000_000, 2.0, false);
        let few = Params { n_estimators: 3, num_leaves: 31, ..Params::default() };
        train(&mut data.rows(&[0, 1, 2, 3]), "binary", &few);
        std::fs::write("/proc/self/clear_refs", "5").expect("the peak can be reset");
        let before = status("VmRSS");
        on_threads(2, || train(&mut data, "binary", &few));
        println!("peak {}", status("VmHWM").saturating_sub(before));
        return;
    }
    let training = on_threads(8, || train(&mut data(ROWS, 2.0, false), "binary", &params()));
    println!("threads {}", training.team.threads);
    let before = status("ticks");
    thread::sleep(Duration::from_millis(500));
    println!("idle {}", status("ticks") - before);
}

#[test]
#[cfg(target_os = "linux")]
fn threads_respect_cpu_limits_and_burn_no_time_when_idle() {
    let all = in_process(&[], "limits").expect("this program runs");
    let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
    assert_eq!(number(&all, "threads "), cores.min(8));
    assert!(number(&all, "idle ") <= 2, "ticks of 10 ms within half a second: {all}");
    if let Some(limited) = in_process(&["taskset", "-c", "0"], "limits") {
        assert_eq!(number(&limited, "threads "), 1);
    }
}

/// Control group that may use one core; removed when dropped.
#[cfg(target_os = "linux")]
struct OneCore(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl OneCore {
    /// Creates the group; `None` without the right to do so.
    fn new() -> Option<Self> {
        let name = format!("bitgrain-{}", std::process::id());
        // Version 2 of control groups, then version 1.
        for (folder, file, limit) in
            [("/sys/fs/cgroup", "cpu.max", "100000 100000"), ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "100000")]
        {
            let group = Self(std::path::Path::new(folder).join(&name));
            if std::fs::create_dir(&group.0).is_ok()
                && group.0.join(file).exists()
                && std::fs::write(group.0.join(file), limit).is_ok()
            {
                return Some(group);
            }
        }
        None
    }
}

#[cfg(target_os = "linux")]
impl Drop for OneCore {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn threads_respect_the_cpu_limit_of_a_container() {
    let Some(group) = OneCore::new() else {
        eprintln!("skipped: control groups cannot be created here");
        return;
    };
    let enter = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", group.0.display());
    let limited = in_process(&["sh", "-c", &enter], "limits").expect("a shell");
    assert_eq!(number(&limited, "threads "), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn a_training_takes_little_memory_beside_its_data() {
    let output = in_process(&[], "memory").expect("this program runs");
    // Per row: 8 bytes of scores, 8 of gradients, 4 of the order; targets are moved and not copied.
    let limit = 1_000_000 * (8 + 8 + 4) / 1024 + 7000;
    assert!(number(&output, "peak ") <= limit, "{output}");
}

#[test]
fn more_than_256_bins_are_stored_in_two_bytes() {
    let values = values(ROWS);
    let targets: Vec<f32> = values.chunks(FEATURES).map(|row| (row[0] * 40.0).sin()).collect();
    let features = Features::row_major(&values[..], ROWS, FEATURES).expect("a matrix");
    let quantizer = Quantizer::default().with_max_bin(2000).expect("allowed");
    let made = || Dataset::new(&features, targets.clone(), None, &quantizer).expect("valid data");
    assert_eq!(made().bytes_per_row(), 2 * FEATURES);
    assert!(made().cuts().map().n_bins(0) > 1000);
    let many = Params { n_estimators: 30, num_leaves: 63, ..Params::default() };
    let models = [1, 2].map(|threads| on_threads(threads, || train(&mut made(), "squared", &many).model));
    assert!(models[0] == models[1]);
    let cuts: std::collections::BTreeSet<u64> = models[0]
        .trees
        .iter()
        .flat_map(|tree| &tree.splits)
        .filter_map(|split| match split.rule {
            bitgrain_gbdt::model::Rule::AtMost(cut) if split.feature == 0 => Some(cut.to_bits()),
            _ => None,
        })
        .collect();
    assert!(cuts.len() > 256, "splits use {} of the cuts", cuts.len());
}
