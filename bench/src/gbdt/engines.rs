//! Prediction engines on the same LightGBM model: calls from Python with one row to all rows, and single rows from
//! Rust.

use std::cell::OnceCell;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::predict::Predictor;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::array;
use super::job::Settings;
use super::ledger::Ledger;
use super::package::Package;
use super::sheet::digits;
use super::table::{Table, thousands};
use crate::measure::Pace;
use crate::report::{Figure, Finding, Sheet, Verdict};
use crate::scratch::Scratch;

/// Engines in table order: name in tables and in jobs. Ours is first, the owner of the model second.
const ENGINES: [(&str, &str); 6] = [
    ("**bitgrain**", "bitgrain"),
    ("LightGBM", "lightgbm"),
    ("lleaves", "lleaves"),
    ("onnxruntime", "onnxruntime"),
    ("tl2cgen, gcc", "tl2cgen"),
    ("treelite, GTIL", "treelite"),
];

/// Rows per call; the number of training rows is added.
const ROWS: [usize; 4] = [1, 10, 100, 1000];

/// Numbers of threads that predict single rows from Rust.
const CALLERS: [usize; 2] = [1, 8];

/// Task of an engine's process; passed as JSON to `bench/rivals/engines.py`.
#[derive(Serialize)]
struct Job<'a> {
    engine: &'a str,
    folder: &'a Path,
    model: PathBuf,
    scores: PathBuf,
    threads: usize,
    rounds: usize,
    leaves: usize,
    rows: Vec<usize>,
    /// Duration of the calls of each size.
    seconds: f64,
}

/// Line that an engine's process prints.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    version: String,
    #[serde(default)]
    calls: Vec<Call>,
}

/// Seconds per call for each number of rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Call {
    rows: usize,
    median: f64,
    p99: f64,
}

/// Times of an engine.
struct Entry {
    name: &'static str,
    key: &'static str,
    version: String,
    calls: Vec<Call>,
    /// Largest difference to LightGBM's prediction on the validation rows.
    difference: f64,
}

/// Times of an engine's process, with the largest difference to LightGBM's predictions.
#[derive(Serialize, Deserialize)]
struct Done {
    answer: Answer,
    difference: f64,
}

/// Measures every engine. Returns the sheets and the targets.
pub(super) fn run(
    package: &Package,
    ledger: &Ledger,
    table: &Table,
    scratch: &Scratch,
    settings: Settings,
    pace: Pace,
) -> (Vec<Sheet>, Vec<Verdict>) {
    let all = table.train.targets.len();
    let job = |engine| Job {
        engine,
        folder: scratch.folder(),
        model: scratch.file("model.txt"),
        scores: scratch.file(&format!("{engine}.npy")),
        threads: 1,
        rounds: settings.rounds,
        leaves: settings.leaves,
        rows: ROWS.into_iter().chain([all]).collect(),
        seconds: if pace == Pace::Quick { 0.05 } else { 1.0 },
    };
    let key = |engine: &str| json!({ "engine": engine, "table": table.size(), "settings": settings });
    let trained = OnceCell::new();
    // Trains the model when an engine needs it. LightGBM's predictions are the reference of the others.
    let model = || -> Result<Vec<f64>, String> {
        let train = || {
            eprintln!("training the model of the prediction engines");
            start(package.python()?, &job("train"))?;
            array::read_wide(&job("train").scores).map_err(|error| error.to_string())
        };
        trained.get_or_init(train).clone()
    };
    let measure = |engine: &'static str| {
        let exact = model()?;
        eprintln!("measuring prediction engine {engine}");
        let answer = start(package.python()?, &job(engine))?;
        let scores = array::read_wide(&job(engine).scores).map_err(|error| error.to_string())?;
        if scores.len() != exact.len() {
            return Err(format!("{} predictions for {} rows", scores.len(), exact.len()));
        }
        let difference = scores.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        Ok(Done { answer, difference })
    };
    let (mut entries, mut failures) = (Vec::new(), Vec::new());
    for (name, engine) in ENGINES {
        match ledger.result(&key(engine), || measure(engine)) {
            Ok(Done { answer: Answer { version, calls }, difference }) => {
                entries.push(Entry { name, key: engine, version, calls, difference });
            }
            Err(error) => failures.push(format!(" Not in this run: {name} ({error}).")),
        }
    }
    if entries.is_empty() {
        eprintln!("continuing without prediction engines:{}", failures.concat());
        return (Vec::new(), Vec::new());
    }
    let mut sheets = vec![sheet(&entries, &failures, table, settings)];
    let of_rust = || {
        model()?;
        single_rows(&job("train").model, scratch, pace).map_err(|error| error.to_string())
    };
    match ledger.result(&key("rust"), of_rust) {
        Ok(found) => sheets.push(sheet_of_rust(&found)),
        Err(error) => eprintln!("continuing without single rows from Rust: {error}"),
    }
    (sheets, judge(&entries))
}

fn start(python: &Path, job: &Job<'_>) -> Result<Answer, String> {
    let text = serde_json::to_string(job).map_err(|error| error.to_string())?;
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals/engines.py")).arg(text);
    command.env("OMP_NUM_THREADS", job.threads.to_string()).env("PYTHONDONTWRITEBYTECODE", "1");
    let done = command.stdin(Stdio::null()).output().map_err(|error| format!("cannot start the process: {error}"))?;
    let output = String::from_utf8_lossy(&done.stdout);
    let answer = output.lines().rev().find_map(|line| serde_json::from_str(line).ok());
    answer.filter(|_| done.status.success()).ok_or_else(|| {
        let errors = String::from_utf8_lossy(&done.stderr);
        errors.lines().rfind(|line| !line.trim().is_empty()).map_or(done.status.to_string(), |l| l.trim().to_owned())
    })
}

fn sheet(entries: &[Entry], failures: &[String], table: &Table, settings: Settings) -> Sheet {
    let mut header = vec!["engine".to_owned(), "version".to_owned()];
    header.extend(entries.first().into_iter().flat_map(|entry| &entry.calls).map(|call| match call.rows {
        1 => "1 row".to_owned(),
        rows => format!("{} rows", thousands(rows)),
    }));
    header.push("largest difference".to_owned());
    let mut cells = vec![header];
    cells.extend(entries.iter().map(|entry| {
        let mut row = vec![entry.name.to_owned(), entry.version.clone()];
        row.extend(entry.calls.iter().map(|call| microseconds(call.median)));
        row.push(if entry.difference == 0.0 { "0".to_owned() } else { format!("{:.1e}", entry.difference) });
        row
    }));
    let note = format!(
        "The same LightGBM model ({} trees of {} leaves, trained on {} rows × {} features), called from Python with \
         row-major f32 arrays on one thread. Median time of a call in microseconds, by number of rows; every call has \
         other rows than the call before. The last column is the largest difference to the probabilities that \
         LightGBM predicts.{}",
        settings.rounds,
        settings.leaves,
        thousands(table.train.targets.len()),
        table.columns,
        failures.concat(),
    );
    let value = |entry: &Entry| {
        json!({
            "engine": entry.key, "version": entry.version, "calls": entry.calls, "difference": entry.difference,
        })
    };
    let value = json!({ "engines": entries.iter().map(value).collect::<Vec<_>>() });
    Sheet { title: "Prediction engines, 1 thread".to_owned(), note, cells, value }
}

fn microseconds(seconds: f64) -> String {
    match seconds * 1e6 {
        large @ 1e5.. => whole(large),
        small => digits(small),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times and rates are far below 2^53")]
fn whole(value: f64) -> String {
    thousands(value.round() as usize)
}

/// Calls with one row from Rust, on some threads at once.
#[derive(Serialize, Deserialize)]
struct SingleRows {
    threads: usize,
    /// Cores of the machine.
    cores: usize,
    /// Microseconds per call.
    p50: f64,
    p99: f64,
    per_second: f64,
}

/// Measures calls with one row from Rust, by one thread and by several at once.
fn single_rows(model: &Path, scratch: &Scratch, pace: Pace) -> Result<Vec<SingleRows>, Box<dyn Error + Send + Sync>> {
    let predictor = Predictor::new(&Model::load(model)?)?;
    let (values, columns) = array::read(&scratch.folder().join("xv.npy"))?;
    let rows: Vec<Vec<f64>> = values.chunks_exact(columns).map(|row| row.iter().map(|&v| v.into()).collect()).collect();
    let duration = Duration::from_secs_f64(if pace == Pace::Quick { 0.05 } else { 1.0 });
    let cores = std::thread::available_parallelism()?.get();
    let mut found = Vec::new();
    for callers in CALLERS {
        let one = |first: usize| {
            let (mut took, start) = (Vec::with_capacity(1 << 20), Instant::now());
            let mut out = [0.0];
            for row in rows.iter().cycle().skip(first) {
                let call = Instant::now();
                predictor.row(row, &mut out).unwrap_or_else(|error| unreachable!("rows fit the model: {error}"));
                std::hint::black_box(&out);
                took.push(call.elapsed());
                if start.elapsed() > duration {
                    break;
                }
            }
            took
        };
        let start = Instant::now();
        let mut took: Vec<Duration> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..callers).map(|caller| scope.spawn(move || one(caller * 1000))).collect();
            started.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        let per_second = took.len() as f64 / start.elapsed().as_secs_f64();
        took.sort_unstable();
        let at = |share: usize| took.get(took.len() * share / 100).map_or(f64::NAN, |took| took.as_secs_f64() * 1e6);
        found.push(SingleRows { threads: callers, cores, p50: at(50), p99: at(99), per_second });
    }
    Ok(found)
}

fn sheet_of_rust(found: &[SingleRows]) -> Sheet {
    let mut cells = vec![["threads", "p50, µs", "p99, µs", "rows per second"].map(str::to_owned).to_vec()];
    cells.extend(
        found.iter().map(|of| vec![of.threads.to_string(), digits(of.p50), digits(of.p99), whole(of.per_second)]),
    );
    let note = format!(
        "The same model, `Predictor::row` on one row of f64 values at a time. Threads share one predictor without locks. \
         This machine has {} cores, so that the percentiles of {} threads include the time that a thread waits for a \
         core.",
        found.first().map_or(1, |of| of.cores),
        CALLERS[1],
    );
    Sheet { title: "Single rows from Rust".to_owned(), note, cells, value: json!(found) }
}

/// Checks the targets against the fastest other engine.
fn judge(entries: &[Entry]) -> Vec<Verdict> {
    let Some((ours, others)) = entries.split_first().filter(|(first, _)| first.key == ENGINES[0].1) else {
        return Vec::new();
    };
    let time = |entry: &Entry, rows: usize| entry.calls.iter().find(|call| call.rows == rows).map(|call| call.median);
    let ratio = |rows: usize| {
        let fastest = others.iter().filter_map(|entry| time(entry, rows)).min_by(f64::total_cmp)?;
        Some(Finding::new(format!("{} rows", thousands(rows)), fastest / time(ours, rows)?))
    };
    let sizes = |wanted: fn(usize) -> bool| ours.calls.iter().map(|call| call.rows).filter(move |&rows| wanted(rows));
    let bar = |at_least| Figure::ratio("bitgrain", "the fastest other engine").at_least(at_least);
    let verdicts = [
        ("Prediction engines, one row from Python", bar(2.0), sizes(|rows| rows == 1).filter_map(ratio).collect()),
        (
            "Prediction engines, 10 to 1,000 rows",
            bar(1.0),
            sizes(|rows| (10..=1000).contains(&rows)).filter_map(ratio).collect(),
        ),
        ("Prediction engines, all rows", bar(3.0), sizes(|rows| rows > 1000).filter_map(ratio).collect()),
    ];
    verdicts.into_iter().filter_map(|(table, figure, findings)| Verdict::new(table, figure, findings)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &'static str, microseconds: [f64; 3]) -> Entry {
        let calls = [1, 10, 100_000].into_iter().zip(microseconds);
        let calls = calls.map(|(rows, median)| Call { rows, median, p99: median * 2.0 }).collect();
        Entry { name: key, key, version: "1.0".into(), calls, difference: 0.0 }
    }

    #[test]
    fn every_engine_of_the_list_is_in_the_script() {
        let script = include_str!("../../rivals/engines.py");
        for (_, key) in ENGINES {
            assert!(script.contains(&format!("    \"{key}\": {key},")), "{key}");
        }
    }

    #[test]
    fn ours_is_compared_with_the_fastest_other_engine_of_each_size() {
        let entries = [entry("bitgrain", [2.0, 5.0, 10.0]), entry("a", [4.0, 9.0, 90.0]), entry("b", [9.0, 4.0, 20.0])];
        let found: Vec<_> = judge(&entries).iter().map(|verdict| (verdict.met, verdict.finding())).collect();
        assert_eq!(found[0], (true, "worst 2.00× (1 rows)".into()));
        assert_eq!(found[1], (false, "1 of 1 rows below: 0.80× (10 rows)".into()));
        assert_eq!(found[2], (false, "1 of 1 rows below: 2.00× (100,000 rows)".into()));
        assert!(judge(&entries[1..]).is_empty(), "without ours there is nothing to compare");
    }
}
