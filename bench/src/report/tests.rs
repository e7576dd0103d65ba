//! Targets and renderings of made-up timings.

use super::*;

fn timing(contestant: &'static str, gb_per_s: f64) -> Timing {
    Timing {
        contestant: contestant.into(),
        bytes: 1_000_000_000,
        samples: 3,
        median_seconds: 1.0 / gb_per_s,
        best_seconds: 0.5 / gb_per_s,
    }
}

fn report() -> Report {
    let row = |label: &str, ours| Row::judged(label, vec![timing("memcpy", 10.0), timing("ours", ours)]);
    let lone = Row { judged: false, ..Row::judged("3", vec![timing("ours", 1.0)]) };
    let table = Table {
        title: "Encode",
        note: "A note.".into(),
        unit: Unit::GbPerS("f32"),
        axis: "width",
        figures: vec![Figure::ratio("ours", "memcpy").at_least(0.7), Figure::speed("ours").at_least(4.0)],
        rows: vec![row("8", 8.0), row("7", 5.0), lone],
    };
    let machine = Machine { cpu: "abacus".into(), backends: vec!["scalar"], commit: None };
    Report {
        suite: "codec",
        title: "Codec",
        intro: "Intro.".into(),
        pace: Pace::Full,
        options: vec![],
        machine,
        facts: vec![],
        tables: vec![table],
        sheets: vec![],
        judged: vec![],
    }
}

#[test]
fn a_target_is_missed_if_one_row_misses_it() {
    let verdicts = report().verdicts();
    assert_eq!(verdicts.iter().map(|v| v.met).collect::<Vec<_>>(), [false, true]);
    assert_eq!(verdicts[0].finding(), "1 of 2 rows below: 0.50× (7)");
    assert_eq!(verdicts[1].finding(), "worst 5.00 GB/s (7, best 10.0)");
}

#[test]
fn rows_without_a_contestant_show_a_dash() {
    let text = text::page(&report());
    let row = text.lines().find(|line| line.trim_start().starts_with("3 ")).expect("the third row is printed");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["3", "–", "1.00", "(2.00)", "–"]);
}

#[test]
fn columns_are_aligned() {
    let text = text::page(&report());
    let table = text.lines().skip_while(|line| !line.starts_with("  width")).take(4);
    let widths: Vec<_> = table.map(|line| line.chars().count()).collect();
    assert!(widths.len() == 4 && widths.iter().all(|w| *w == widths[0]), "{text}");
}

#[test]
fn long_notes_wrap_at_120_characters() {
    let mut report = report();
    report.tables[0].note = "ten chars ".repeat(30);
    let text = text::page(&report);
    let lines: Vec<_> = text.lines().filter(|line| line.contains("ten chars")).map(str::len).collect();
    assert!(lines.len() == 3 && lines.iter().all(|len| *len <= 120), "{lines:?}");
}

#[test]
fn markdown_and_json_hold_the_same_verdicts() {
    let report = report();
    assert!(markdown::page(&report).contains("| missed | Encode | ours / memcpy at least 0.70× |"));
    let json = json::document(&[report]);
    assert_eq!(json[0]["bars"][0]["met"], false);
    assert_eq!(json[0]["tables"][0]["rows"][1]["figures"][0]["value"], 0.5);
}

#[test]
fn a_table_of_times_shows_milliseconds_and_no_speed() {
    let mut report = report();
    report.tables[0].unit = Unit::Milliseconds;
    report.tables[0].figures.clear();
    let text = text::page(&report);
    assert!(text.contains("Encode: milliseconds, median (best)"), "{text}");
    assert!(text.contains("125.000 (62.500)") && !text.contains("GB/s") && !text.contains("Targets"), "{text}");
    assert!(markdown::page(&report).contains("\nMilliseconds, median (best). A note.\n"));
}

#[test]
fn sheets_facts_and_their_bars_are_in_every_rendering() {
    let mut report = report();
    let cells = [["who", "s"], ["**us**", "0.5"]].map(|row| row.map(str::to_owned).to_vec()).to_vec();
    let value = serde_json::json!({"us": 0.5});
    report.sheets = vec![Sheet { title: "Sheet".into(), note: "About it.".into(), cells, value }];
    report.facts = vec![("Rivals", "them 1.0".into())];
    let figure = Figure::ratio("us", "them").at_least(2.0);
    report.judged.extend(Verdict::new("Sheet", figure, vec![Finding::new("here".into(), 2.5)]));
    let (text, page) = (text::page(&report), markdown::page(&report));
    assert!(text.contains("Rivals: them 1.0\n") && text.contains("  us   0.5\n"), "{text}");
    assert!(page.contains("- Rivals: them 1.0\n") && page.contains("| **us** | 0.5 |"), "{page}");
    assert!(page.contains("| met | Sheet | us / them at least 2.00× | worst 2.50× (here) |"), "{page}");
    let json = json::document(&[report]);
    assert_eq!((&json[0]["sheets"][0]["us"], &json[0]["bars"][2]["met"]), (&0.5.into(), &true.into()));
}

#[test]
fn the_command_has_the_options_it_was_given() {
    let mut report = report();
    assert_eq!(report.command(), "cargo xtask bench codec");
    report.pace = Pace::Quick;
    report.options = vec!["--data FOLDER"];
    assert_eq!(report.command(), "cargo xtask bench codec -- --quick --data FOLDER");
}
