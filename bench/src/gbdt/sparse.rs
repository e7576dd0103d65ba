//! Sparse tables: one-hot columns in CSR form, trained from Python by this package, LightGBM and XGBoost, each in a
//! separate process.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ledger::Ledger;
use super::package::Package;
use super::sheet::digits;
use super::table::thousands;
use crate::measure::Pace;
use crate::report::{Figure, Finding, Sheet, Verdict};

/// Name in the table and in `bindings/python/bench/sparse.py`. Ours is first.
const LIBRARIES: [(&str, &str); 3] = [("**bitgrain**", "bitgrain"), ("LightGBM", "lightgbm"), ("XGBoost", "xgboost")];

/// Variables and levels of each table: 10,000 columns, of which 1 % and 0.1 % are set in a row.
const TABLES: [(usize, usize); 2] = [(100, 100), (10, 1000)];

/// Seconds of the budget of a table from which the full number of rows is used.
const FULL_BUDGET: u64 = 150;

/// Line that a process prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Answer {
    /// CPU seconds.
    bin: f64,
    train: f64,
    /// Wall-clock seconds of both.
    wall: f64,
    /// MB above the input.
    peak: f64,
}

/// Table with the answers of all libraries that ran.
struct Measured {
    label: String,
    answers: Vec<(&'static str, &'static str, Answer)>,
    failures: Vec<String>,
}

/// Measures every library on every table.
pub(super) fn run(package: &Package, ledger: &Ledger, budget: u64, pace: Pace) -> (Vec<Sheet>, Vec<Verdict>) {
    let (rows, rounds) = match pace {
        Pace::Quick => (10_000, 3),
        Pace::Full if budget < FULL_BUDGET => (100_000, 5),
        Pace::Full => (1_000_000, 5),
    };
    let mut measured = Vec::new();
    for (variables, levels) in TABLES {
        let label = format!("{} × {}, {variables} values per row", thousands(rows), thousands(variables * levels));
        let (mut answers, mut failures) = (Vec::new(), Vec::new());
        for (name, key) in LIBRARIES {
            eprintln!("training {key} on a sparse table, {label}");
            let size = [rows, variables, levels, rounds];
            let done = ledger.result(&json!({ "sparse": size, "library": key }), || ask(package.python()?, key, size));
            match done {
                Ok(answer) => answers.push((name, key, answer)),
                Err(error) => failures.push(format!(" Not in this run: {name} ({error}).")),
            }
        }
        // Without any, there is no Python environment.
        if !answers.is_empty() {
            measured.push(Measured { label, answers, failures });
        }
    }
    let sheets = measured.iter().map(|found| sheet(found, rounds)).collect();
    (sheets, judge(&measured))
}

fn ask(python: &Path, library: &str, [rows, variables, levels, rounds]: [usize; 4]) -> Result<Answer, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/python/bench/sparse.py");
    let mut command = Command::new(python);
    command.arg(script).args([library, "--json", "--threads", "1"]);
    for (name, number) in [("rows", rows), ("variables", variables), ("levels", levels), ("rounds", rounds)] {
        command.arg(format!("--{name}")).arg(number.to_string());
    }
    command.env("OMP_NUM_THREADS", "1").env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    let done = command.output().map_err(|error| format!("cannot start the process: {error}"))?;
    let output = String::from_utf8_lossy(&done.stdout);
    let answer = output.lines().rev().find_map(|line| serde_json::from_str(line).ok());
    answer.filter(|_| done.status.success()).ok_or_else(|| {
        let errors = String::from_utf8_lossy(&done.stderr);
        errors.lines().rfind(|line| !line.trim().is_empty()).map_or(done.status.to_string(), |l| l.trim().to_owned())
    })
}

fn sheet(found: &Measured, rounds: usize) -> Sheet {
    let header = ["library", "bin, CPU s", "train, CPU s", "both, wall s", "peak, MB"].map(str::to_owned).to_vec();
    let mut cells = vec![header];
    cells.extend(found.answers.iter().map(|(name, _, answer)| {
        let times = [answer.bin, answer.train, answer.wall].map(digits);
        [vec![(*name).to_owned()], times.to_vec(), vec![format!("{:.0}", answer.peak)]].concat()
    }));
    let note = format!(
        "One-hot encoded variables as a SciPy CSR matrix, two classes, {rounds} rounds of 63 leaves, 1 thread, all from \
         Python. *Peak* is the memory above the input.{}",
        found.failures.concat(),
    );
    let value = |(_, key, answer): &(&str, &str, Answer)| json!({ "library": key, "answer": answer });
    let value = json!({ "table": found.label, "libraries": found.answers.iter().map(value).collect::<Vec<_>>() });
    Sheet { title: format!("Sparse, {}", found.label), note, cells, value }
}

/// Compares ours with the best of the others.
fn judge(measured: &[Measured]) -> Vec<Verdict> {
    let findings = |cost: fn(&Answer) -> f64| {
        let of_table = |found: &Measured| {
            let ours = found.answers.iter().find(|(_, key, _)| *key == LIBRARIES[0].1)?;
            let others = found.answers.iter().filter(|(_, key, _)| *key != LIBRARIES[0].1);
            let best = others.map(|(.., answer)| cost(answer)).min_by(f64::total_cmp)?;
            Some(Finding::new(found.label.clone(), best / cost(&ours.2)))
        };
        measured.iter().filter_map(of_table).collect()
    };
    let verdicts = [
        (
            "Sparse, time",
            Figure::ratio("bitgrain", "the faster competitor"),
            findings(|answer| answer.bin + answer.train),
        ),
        ("Sparse, memory", Figure::ratio("the smaller competitor", "bitgrain"), findings(|answer| answer.peak)),
    ];
    let verdicts = verdicts.into_iter();
    verdicts.filter_map(|(table, figure, found)| Verdict::new(table, figure.at_least(2.0), found)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_compared_with_the_best_of_the_others() {
        let answer = |train, peak| Answer { bin: 1.0, train, wall: 1.0, peak };
        let answers = vec![
            ("a", "bitgrain", answer(1.0, 10.0)),
            ("b", "lightgbm", answer(9.0, 15.0)),
            ("c", "xgboost", answer(4.0, 90.0)),
        ];
        let found = Measured { label: "it".into(), answers, failures: Vec::new() };
        let verdicts = judge(&[found]);
        assert_eq!((verdicts[0].met, verdicts[0].finding()), (true, "worst 2.50× (it)".into()));
        assert_eq!((verdicts[1].met, verdicts[1].finding()), (false, "1 of 1 rows below: 1.50× (it)".into()));
    }
}
