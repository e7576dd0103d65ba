//! `explain --partial`, `explain --permutation` and `train --report`, run as a user runs them.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn bitgrain(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    command.current_dir(folder).args(arguments.split_whitespace()).output().expect("the binary runs")
}

fn printed(folder: &Path, arguments: &str) -> String {
    let output = bitgrain(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&printed(folder, arguments)).expect("JSON")
}

fn error(folder: &Path, arguments: &str) -> String {
    let output = bitgrain(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// Writes a table whose columns have every kind of content: numbers, categories, constants, missing values.
fn table(folder: &Path, name: &str, rows: usize) {
    let mut random = fastrand::Rng::with_seed(rows as u64);
    let mut text = "size,city,constant,empty,noise,price,sold,kind\n".to_owned();
    for _ in 0..rows {
        let (size, city) = (100.0 * random.f64(), random.usize(..3));
        let price = size + 30.0 * [0.0, 1.0, 2.0][city];
        let (sold, kind) = (
            if price > 80.0 { "yes" } else { "no" },
            ["<low>", "mid", "high"][usize::from(price > 60.0) + usize::from(price > 110.0)],
        );
        let city = ["Oslo", "Rome & Ostia", "Lima"][city];
        writeln!(text, "{size:.2},{city},1,,{:.3},{price:.2},{sold},{kind}", random.f64()).expect("in memory");
    }
    fs::write(folder.join(name), text).expect("written");
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    table(folder.path(), "train.csv", 600);
    let train = "train train.csv --ignore sold,kind --target price --rounds 20 --model m.bitgrain --threads 1";
    printed(folder.path(), train);
    folder
}

#[test]
fn partial_dependence_rises_with_the_size_and_names_categories() {
    let folder = folder();
    let at = folder.path();
    let found = json(at, "explain m.bitgrain train.csv --partial size --grid 4 --json");
    let means: Vec<f64> =
        found["outputs"][0]["mean"].as_array().expect("means").iter().filter_map(Value::as_f64).collect();
    assert_eq!(means.len(), 4);
    assert!(means.is_sorted() && means[3] - means[0] > 50.0, "{means:?}");
    let cities = printed(at, "explain m.bitgrain train.csv --partial city");
    assert!(cities.contains("Rome & Ostia") && cities.contains("mean_prediction"), "{cities}");
    printed(at, "explain m.bitgrain train.csv --partial city,size --grid 3 -o surface.csv");
    let surface = fs::read_to_string(at.join("surface.csv")).expect("written");
    assert_eq!(surface.lines().count(), 1 + 9);
    assert!(surface.starts_with("city,size,mean_prediction\n"), "{surface}");
    printed(at, "explain m.bitgrain train.csv --partial size --grid 3 --ice --centered -o curves.csv --threads 1");
    let curves = fs::read_to_string(at.join("curves.csv")).expect("written");
    assert_eq!(curves.lines().count(), 1 + 600 * 3);
    assert!(curves.lines().nth(1).is_some_and(|line| line.starts_with("0,") && line.ends_with(",0")), "{curves:.200}");
    printed(at, "explain m.bitgrain train.csv --partial size --grid 3 --ice --centered -o again.csv --threads 3");
    assert_eq!(fs::read_to_string(at.join("again.csv")).expect("written"), curves, "another number of threads");
    assert!(printed(at, "explain m.bitgrain train.csv --partial constant").contains("600 rows"));
}

#[test]
fn permutation_importance_does_not_depend_on_threads() {
    let folder = folder();
    let at = folder.path();
    let run =
        |more: &str| json(at, &format!("explain m.bitgrain train.csv --permutation --target price --json {more}"));
    let found = run("--threads 1");
    assert_eq!(found["features"][0]["name"], "size");
    assert_eq!((&found["metric"], &found["repeats"]), (&"rmse".into(), &5.into()));
    assert_eq!(found["features"].as_array().map(Vec::len), Some(5));
    assert_eq!(run("--threads 3"), found);
    assert_ne!(run("--seed 1"), found);
    let other = run("--metric r2 --repeats 2");
    assert!(other["features"][0]["mean"].as_f64().is_some_and(|mean| mean > 0.5), "{other}");
    printed(at, "train train.csv --target kind --ignore price,sold --rounds 5 --model k.bitgrain");
    let classes = printed(at, "explain k.bitgrain train.csv --permutation --target kind --metric error");
    assert!(classes.contains("multi_error"), "{classes}");
    let partial = printed(at, "explain k.bitgrain train.csv --partial size --grid 2");
    assert!(partial.contains("mean_probability_<low>"), "{partial}");
}

#[test]
fn invalid_requests_name_their_fix() {
    let folder = folder();
    let at = folder.path();
    let partial = |more: &str| error(at, &format!("explain m.bitgrain train.csv {more}"));
    assert!(partial("--partial height").contains("unknown feature `height`; the model has `size`, `city`"));
    assert!(partial("--partial empty").contains("column `empty` has only missing values"));
    assert!(partial("--partial size,city,noise").contains("takes one feature or two different ones"));
    assert!(partial("--partial size --grid 0").contains("it must have 1 to 1000"));
    assert!(partial("--partial size --ice").contains("--output"));
    assert!(partial("--partial size --permutation").contains("cannot be used with"));
    assert!(partial("--permutation").contains("no target column: choose one with --target"));
    assert!(partial("--permutation --target nothing").contains("nothing"));
    assert!(partial("--permutation --target price --metric auc").contains("auc"));
    assert!(partial("--permutation --target price --repeats 0").contains("at least 1"));
    assert!(partial("--target price").contains("--permutation"));
    fs::write(at.join("holes.csv"), "size,city,constant,empty,noise,price\n1,Oslo,1,,0.5,\n").expect("written");
    assert!(error(at, "explain m.bitgrain holes.csv --permutation --target price").contains("missing"));
    fs::write(at.join("none.csv"), "size,city,constant,empty,noise,price\n").expect("written");
    assert!(error(at, "explain m.bitgrain none.csv --partial size").contains("none.csv has no rows"));
    assert!(error(at, "explain m.bitgrain none.csv --permutation --target price").contains("none.csv has no rows"));
}

#[test]
fn a_report_is_one_file_for_every_kind_of_target() {
    let folder = folder();
    let at = folder.path();
    for (target, words) in [
        ("price --ignore sold,kind", vec!["Residuals", "Calibration", "r2"]),
        ("sold --ignore price,kind", vec!["ROC curve", "Precision and recall", "Confusion matrix"]),
        ("kind --ignore price,sold", vec!["Confusion matrix", "&lt;low&gt;"]),
        (
            "price --ignore sold,kind --objective quantile:0.9",
            vec!["of the targets are at most the predicted quantile"],
        ),
        ("price --ignore sold,kind --objective poisson", vec!["poisson_deviance"]),
    ] {
        for more in ["--valid-fraction 0.25", ""] {
            let command =
                format!("train train.csv --target {target} --rounds 8 --model r.bitgrain --report r.html {more}");
            let text = printed(at, &command);
            assert!(text.ends_with("wrote r.html\n"), "{text}");
            let page = fs::read_to_string(at.join("r.html")).expect("written");
            let all = ["Learning curves", "Feature importance", "SHAP values", "Columns", "Trees", "Parameters"];
            for word in words.iter().chain(&all) {
                assert!(page.contains(word), "{command}: {word}");
            }
            assert!(page.contains("Only missing values: empty") && page.contains("Constant: constant"));
            assert_eq!(page.contains("Without validation data"), more.is_empty());
            assert!(!page.contains("<script") && !page.contains("http") && !page.contains("NaN"), "{command}");
        }
    }
    // The model and its output are the same without a report.
    printed(at, "train train.csv --target price --rounds 8 --model plain.bitgrain --ignore sold,kind");
    printed(at, "train train.csv --target price --rounds 8 --model told.bitgrain --ignore sold,kind --report r.html");
    assert_eq!(
        fs::read(at.join("plain.bitgrain")).expect("written"),
        fs::read(at.join("told.bitgrain")).expect("written")
    );
}

#[test]
fn reports_that_cannot_be_written_are_refused_before_training() {
    let folder = folder();
    let at = folder.path();
    let train = "train train.csv --target price --rounds 2 --model new.bitgrain --report";
    assert!(error(at, &format!("{train} missing/r.html")).contains("is not a folder; create it first"));
    assert!(error(at, &format!("{train} train.csv")).contains("is an input"));
    fs::create_dir(at.join("folder")).expect("created");
    assert!(error(at, &format!("{train} folder")).contains("it is a folder"));
    assert!(!at.join("new.bitgrain").exists());
}
