//! SHAP values, ranking and training under constraints, compared with other libraries from Python: one script of
//! `bindings/python/bench` per capability.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ledger::Ledger;
use super::package::Package;
use super::sheet::{digits, digits_of_quality};
use crate::machine::Machine;
use crate::measure::Pace;
use crate::report::{Figure, Finding, Report, Sheet, Verdict};

/// A script, and the targets of its rows.
struct Capability {
    title: &'static str,
    script: &'static str,
    /// Options of a quick run.
    quick: &'static [&'static str],
    /// Start of the cases to which the target applies, and the target: our speed relative to the competitor's.
    speed: (&'static str, &'static str, f64),
    /// Whether a larger quality is better, and the share of the competitor's quality that ours must have.
    quality: Option<(&'static str, bool, f64)>,
}

const CAPABILITIES: [Capability; 3] = [
    Capability {
        title: "SHAP values",
        script: "contributions.py",
        quick: &["--rows", "500", "--train-rows", "5000", "--threads", "1", "--repetitions", "1"],
        speed: ("SHAP values, time", "values", 10.0),
        quality: None,
    },
    Capability {
        title: "Ranking",
        script: "ranking.py",
        quick: &["--queries", "100", "--rounds", "10", "--threads", "1", "--repeats", "1"],
        speed: ("Ranking, training time", "", 1.0),
        quality: Some(("Ranking, NDCG@10", true, 0.995)),
    },
    Capability {
        title: "Constraints",
        script: "constraints.py",
        quick: &["--rows", "5000", "--rounds", "10", "--threads", "1", "--repeats", "1"],
        speed: ("Constraints, training time", "", 1.0),
        quality: Some(("Constraints, RMSE", false, 0.99)),
    },
];

/// Answer of a script.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    note: String,
    /// Name of the quality, if there is one.
    measure: Option<String>,
    rows: Vec<Comparison>,
}

/// Times of one case in seconds.
#[derive(Debug, Serialize, Deserialize)]
struct Comparison {
    case: String,
    competitor: String,
    threads: usize,
    ours: f64,
    theirs: f64,
    /// Ours and the competitor's.
    quality: Option<[f64; 2]>,
    /// Largest difference of the results.
    difference: Option<f64>,
}

/// Measures all capabilities. `data` is a folder of real tables, of which LightGBM's ranking example is used.
pub(super) fn run(package: &Package, ledger: &Ledger, data: Option<&Path>, pace: Pace) -> (Vec<Sheet>, Vec<Verdict>) {
    let (mut sheets, mut verdicts) = (Vec::new(), Vec::new());
    for capability in &CAPABILITIES {
        eprintln!("measuring {}", capability.script);
        let key = json!({ "script": capability.script, "data": data.is_some(), "quick": pace == Pace::Quick });
        match ledger.result(&key, || ask(package.python()?, capability, data, pace)) {
            Ok(answer) => {
                verdicts.extend(judge(capability, &answer));
                sheets.push(sheet(capability, &answer));
            }
            Err(error) => eprintln!("continuing without {}: {error}", capability.script),
        }
    }
    (sheets, verdicts)
}

/// Measures only the capabilities, as a separate report.
///
/// # Errors
/// Returns an error if the Python package cannot be installed.
pub(super) fn report(package: &Package, ledger: &Ledger, data: Option<&Path>, pace: Pace) -> std::io::Result<Report> {
    let python = package.python().map_err(std::io::Error::other)?;
    let (sheets, judged) = run(package, ledger, data, pace);
    ledger.finished()?;
    let options = if data.is_some() { vec!["--capabilities", "--data FOLDER"] } else { vec!["--capabilities"] };
    Ok(Report {
        suite: "gbdt",
        title: "Explanations, ranking and constraints",
        intro:
            "SHAP values, ranking and training under constraints, called from Python and compared with LightGBM and \
                XGBoost at equal numbers of threads. Times are wall-clock seconds, the shortest of several runs that \
                alternate between the libraries."
                .to_owned(),
        pace,
        options,
        machine: Machine::read(),
        facts: vec![("Competitors", versions(python))],
        tables: Vec::new(),
        sheets,
        judged,
    })
}

/// Returns the versions of the competitors: `LightGBM 4.7.0, XGBoost 3.2.0`.
fn versions(python: &Path) -> String {
    let script = "import lightgbm, xgboost; print(f'LightGBM {lightgbm.__version__}, XGBoost {xgboost.__version__}')";
    let done = Command::new(python).args(["-c", script]).output();
    done.map_or_else(|_| "unknown".to_owned(), |done| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

fn ask(python: &Path, capability: &Capability, data: Option<&Path>, pace: Pace) -> Result<Answer, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/python/bench").join(capability.script);
    let mut command = Command::new(python);
    command.arg(script).arg("--json").env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    if pace == Pace::Quick {
        command.args(capability.quick);
    }
    if let Some(data) = data.map(|data| data.join("lightgbm_examples")).filter(|data| data.is_dir())
        && capability.script == "ranking.py"
    {
        command.arg("--data").arg(data);
    }
    let done = command.output().map_err(|error| format!("cannot start the process: {error}"))?;
    let output = String::from_utf8_lossy(&done.stdout);
    let answer = output.lines().rev().find_map(|line| serde_json::from_str(line).ok());
    answer.filter(|_| done.status.success()).ok_or_else(|| {
        let errors = String::from_utf8_lossy(&done.stderr);
        errors.lines().rfind(|line| !line.trim().is_empty()).map_or(done.status.to_string(), |l| l.trim().to_owned())
    })
}

fn sheet(capability: &Capability, answer: &Answer) -> Sheet {
    let mut header = ["case", "competitor", "threads", "Bitgrain, s", "competitor, s", "speedup"].map(str::to_owned);
    header[0] = if capability.quality.is_some() { "training" } else { "quantity" }.to_owned();
    let mut header = header.to_vec();
    match &answer.measure {
        Some(measure) => header.extend([measure.clone(), format!("{measure} of the competitor")]),
        None => header.push("largest difference".to_owned()),
    }
    let row = |each: &Comparison| {
        let mut cells = vec![each.case.clone(), each.competitor.clone(), each.threads.to_string()];
        cells.extend([digits(each.ours), digits(each.theirs), format!("{:.2}×", each.theirs / each.ours)]);
        match (&answer.measure, each.quality) {
            (Some(_), Some(both)) => cells.extend(both.map(digits_of_quality)),
            (Some(_), None) => cells.extend(["–".to_owned(), "–".to_owned()]),
            (None, _) => cells.push(each.difference.map_or_else(|| "–".to_owned(), |d| format!("{d:.0e}"))),
        }
        cells
    };
    let cells = std::iter::once(header).chain(answer.rows.iter().map(row)).collect();
    Sheet { title: capability.title.to_owned(), note: answer.note.clone(), cells, value: json!(answer) }
}

fn judge(capability: &Capability, answer: &Answer) -> Vec<Verdict> {
    let name = |each: &Comparison| format!("{}, {}, {} threads", each.case, each.competitor, each.threads);
    let (title, start, bar) = capability.speed;
    let fast = answer.rows.iter().filter(|each| each.case.starts_with(start));
    let fast = fast.map(|each| Finding::new(name(each), each.theirs / each.ours)).collect();
    let mut verdicts = vec![Verdict::new(title, Figure::ratio("bitgrain", "the competitor").at_least(bar), fast)];
    if let Some((title, larger, bar)) = capability.quality {
        let share = |each: &Comparison| {
            let [ours, theirs] = each.quality?;
            Some(Finding::new(name(each), if larger { ours / theirs } else { theirs / ours }))
        };
        let (of, to) = if larger { ("bitgrain", "the competitor") } else { ("the competitor", "bitgrain") };
        let found = answer.rows.iter().filter_map(share).collect();
        verdicts.push(Verdict::new(title, Figure::ratio(of, to).at_least(bar), found));
    }
    verdicts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(measure: Option<&str>, rows: &str) -> Answer {
        let rows = serde_json::from_str(rows).expect("rows");
        Answer { note: "Made up.".to_owned(), measure: measure.map(str::to_owned), rows }
    }

    #[test]
    fn every_script_exists_and_takes_the_options_of_a_quick_run() {
        for capability in &CAPABILITIES {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/python/bench").join(capability.script);
            let text = std::fs::read_to_string(&script).expect("a script");
            for option in capability.quick.iter().filter_map(|option| option.strip_prefix("--")) {
                let listed = [format!("(\"{option}\","), format!("\"--{option}\"")];
                assert!(listed.iter().any(|each| text.contains(each)), "{}: {option}", capability.script);
            }
        }
    }

    #[test]
    fn values_are_judged_and_other_explanations_are_not() {
        let rows = r#"[
            {"case": "values, 10 rows", "competitor": "A", "threads": 1, "ours": 0.5, "theirs": 6, "difference": 1e-9},
            {"case": "interactions, 2 rows", "competitor": "A", "threads": 1, "ours": 1, "theirs": 2, "difference": 0}
        ]"#;
        let answer = answer(None, rows);
        let found = judge(&CAPABILITIES[0], &answer);
        assert_eq!((found.len(), found[0].met), (1, true));
        assert_eq!(found[0].finding(), "worst 12.00× (values, 10 rows, A, 1 threads)");
        let sheet = sheet(&CAPABILITIES[0], &answer);
        assert_eq!(sheet.cells[1], ["values, 10 rows", "A", "1", "0.500", "6.00", "12.00×", "1e-9"]);
        assert!(sheet.cells.iter().all(|row| row.len() == sheet.cells[0].len()));
    }

    #[test]
    fn a_worse_quality_misses_its_target_in_either_direction() {
        let rows = r#"[{"case": "a", "competitor": "A", "threads": 2, "ours": 1, "theirs": 3, "quality": [0.7, 0.8]}]"#;
        let answer = answer(Some("any"), rows);
        let met = |capability| judge(capability, &answer).iter().map(|verdict| verdict.met).collect::<Vec<_>>();
        assert_eq!(met(&CAPABILITIES[1]), [true, false], "a lower NDCG is worse");
        assert_eq!(met(&CAPABILITIES[2]), [true, true], "a lower error is better");
        assert_eq!(sheet(&CAPABILITIES[1], &answer).cells[1][6..], ["0.7000", "0.8000"]);
    }
}
