//! Results of a contest: a row per contender, and the errors of failed contenders.

use serde_json::{Value, json};

use super::contest::{Contest, Entry};
use super::job::{Objective, Seconds};
use super::table::{Table, thousands};
use crate::report::Sheet;

/// Returns the sheet of a contest.
pub(super) fn of(contest: &Contest, table: &Table) -> Sheet {
    let (measure, name) = match contest.objective {
        Objective::Binary => ("AUC", "the area under the ROC curve"),
        Objective::Squared => ("RMSE", "the root mean squared error"),
    };
    let mut note = format!(
        "{} {} training rows, {} validation rows, {} features. Times are wall-clock times, with CPU times in brackets; \
         prediction is for {} rows; {measure} is {name} on the validation rows, with the difference to LightGBM \
         (positive is better).",
        table.about,
        thousands(table.train.targets.len()),
        thousands(table.held.targets.len()),
        table.columns,
        thousands(table.predicted()),
    );
    if let Some(rival) = contest.fastest_rival() {
        note += &format!(" Fastest competitor of equal quality: {}.", rival.contender.name);
    }
    for (contender, why) in &contest.failures {
        note += &format!(" Not in this run: {} ({why}).", contender.name);
    }
    let header = [
        "contender",
        "runs",
        "bin, s",
        "train, s",
        "predict, ms",
        "peak, MB",
        measure,
        "equal quality",
        "training speedup over the fastest competitor",
    ];
    let mut cells = vec![header.map(str::to_owned).to_vec()];
    cells.extend(contest.entries.iter().map(|entry| row(contest, entry)));
    Sheet { title: capital(&contest.title), note, cells, value: value(contest) }
}

fn row(contest: &Contest, entry: &Entry) -> Vec<String> {
    let dash = || "–".to_owned();
    let both = |took: Seconds, times: f64| format!("{} ({})", digits(took.wall * times), digits(took.cpu * times));
    let gain = contest.gain(entry).map_or_else(String::new, |gain| format!(" ({:+.2} %)", gain * 100.0));
    vec![
        entry.contender.name.to_owned(),
        entry.runs.to_string(),
        entry.bin.map_or_else(|| "in training".to_owned(), |bin| both(bin, 1.0)),
        both(entry.train, 1.0),
        both(entry.predict, 1e3),
        entry.peak_bytes.map_or_else(dash, |bytes| format!("{:.0}", bytes as f64 / 1e6)),
        format!("{}{gain}", digits_of_quality(entry.quality)),
        if contest.has_equal_quality(entry) { "yes" } else { "no" }.to_owned(),
        contest.fastest_rival().map_or_else(dash, |rival| format!("{:.2}×", rival.train.wall / entry.train.wall)),
    ]
}

fn value(contest: &Contest) -> Value {
    let entry = |entry: &Entry| {
        let mut value = json!(entry);
        value["contender"] = json!(entry.contender.key);
        value["as_good"] = json!(contest.has_equal_quality(entry));
        value
    };
    let failure =
        |(contender, why): &(super::contender::Contender, String)| json!({"contender": contender.key, "why": why});
    json!({
        "title": contest.title,
        "judged": contest.judged,
        "entries": contest.entries.iter().map(entry).collect::<Value>(),
        "failures": contest.failures.iter().map(failure).collect::<Value>(),
    })
}

/// Formats a value with three digits.
pub(super) fn digits(value: f64) -> String {
    match value {
        ..0.995 => format!("{value:.3}"),
        ..9.995 => format!("{value:.2}"),
        ..99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Formats a quality with enough digits to distinguish contenders.
pub(super) fn digits_of_quality(value: f64) -> String {
    if value < 1000.0 { format!("{value:.4}") } else { format!("{value:.0}") }
}

fn capital(title: &str) -> String {
    let mut chars = title.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gbdt::contender::CONTENDERS;
    use crate::gbdt::contest::tests::{contest, entry};
    use crate::gbdt::table::Source;
    use crate::measure::Pace;

    #[test]
    fn every_contender_has_a_row_or_a_reason() {
        let table = Source::all(None)[1].load(Pace::Quick).expect("a table");
        let entries = vec![
            entry("pair8", [0.5, 8.0, 0.1, 40.0, 2.01]),
            Entry { bin: None, ..entry("lightgbm", [2.0, 20.0, 1.0, 100.0, 2.0]) },
        ];
        let mut contest = contest(Objective::Squared, entries);
        contest.failures.push((CONTENDERS[8], "no module named catboost".into()));
        let sheet = of(&contest, &table);
        assert_eq!(sheet.title, "Made up, 1 thread");
        let ours = ["**bitgrain** pair8", "3", "0.500 (0.500)", "8.00 (8.00)", "100 (100)", "40", "2.0100 (-0.50 %)"];
        assert_eq!(sheet.cells[1][..7], ours);
        assert_eq!(sheet.cells[1][7..], ["no", "2.50×"]);
        assert_eq!(sheet.cells[2][2], "in training");
        assert!(sheet.note.contains("Not in this run: CatBoost (no module named catboost)."), "{}", sheet.note);
        assert_eq!(sheet.value["entries"][1]["as_good"], true);
        assert_eq!(sheet.value["failures"][0]["contender"], "catboost");
    }
}
