//! `refit`, and training with dropout of trees and as a random forest, run as a user runs them.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

fn bitgrain(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    command.current_dir(folder).args(arguments.split_whitespace()).output().expect("the binary runs")
}

fn printed(folder: &Path, arguments: &str) -> String {
    let output = bitgrain(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn error(folder: &Path, arguments: &str) -> String {
    let output = bitgrain(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// Writes rows whose target moves by `offset`, with a column of classes.
fn table(folder: &Path, name: &str, seed: u64, offset: f64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = "a,b,y,class\n".to_owned();
    for _ in 0..600 {
        let (a, b) = (random.f64(), random.usize(..3));
        let y = 10.0 * a + [0.0, 5.0, -2.0][b] + offset;
        let class = if a > 0.5 { "high" } else { "low" };
        writeln!(text, "{a:.4},{},{y:.4},{class}", ["red", "green", "blue"][b]).expect("in memory");
    }
    std::fs::write(folder.join(name), text).expect("written");
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    table(folder.path(), "old.csv", 1, 0.0);
    table(folder.path(), "new.csv", 2, 3.0);
    folder
}

/// Returns the mean of the predictions.
fn mean(folder: &Path, model: &str) -> f64 {
    let text = printed(folder, &format!("predict {model} new.csv"));
    let values: Vec<f64> = text.lines().skip(1).map(|line| line.parse().expect("a number")).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn leaves_follow_new_rows_as_far_as_the_decay_rate_says() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, "train old.csv --target y --ignore class --model m.bitgrain --rounds 40");
    let before = mean(folder, "m.bitgrain");
    for (decay, moved) in [("0", 3.0), ("1", 0.0), ("0.5", 1.5)] {
        let said = printed(folder, &format!("refit m.bitgrain new.csv --target y -o r.bitgrain --decay-rate {decay}"));
        assert_eq!(said, "fitted the leaves of 40 trees to 600 rows: r.bitgrain\n");
        let found = mean(folder, "r.bitgrain") - before;
        // With a decay rate between, each tree also corrects what the earlier ones left.
        let tolerance = if decay == "0.5" { 1.5 } else { 0.1 };
        assert!((found - moved).abs() < tolerance, "{decay}: {found}");
    }
    // A LightGBM file has the same trees and rates.
    printed(folder, "convert-model m.bitgrain m.txt");
    printed(folder, "refit m.txt new.csv --target y -o r.txt --decay-rate 0.9");
    assert!(mean(folder, "r.txt") > before);
}

#[test]
fn classes_keep_their_order() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, "train old.csv --target class --ignore y --model m.bitgrain --rounds 20");
    printed(folder, "refit m.bitgrain new.csv --target class -o r.bitgrain --threads 1");
    printed(folder, "refit m.bitgrain new.csv --target class -o r2.bitgrain --threads 2");
    let same = |a: &str, b: &str| {
        std::fs::read(folder.join(a)).expect("written") == std::fs::read(folder.join(b)).expect("written")
    };
    assert!(same("r.bitgrain", "r2.bitgrain"));
    let classes = |model: &str| printed(folder, &format!("predict {model} new.csv --class"));
    let equal = classes("m.bitgrain").lines().zip(classes("r.bitgrain").lines()).filter(|(a, b)| a == b).count();
    assert!(equal > 590, "{equal} of 601 lines");
}

#[test]
fn unusable_refits_are_errors() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, "train old.csv --target y --ignore class --model m.bitgrain --rounds 5");
    // Without strings, because XGBoost's files have no labels of categories.
    printed(folder, "train old.csv --target y --ignore class,b --model numbers.bitgrain --rounds 5");
    printed(folder, "convert-model numbers.bitgrain m.ubj");
    let refit = "refit m.bitgrain new.csv --target y -o r.bitgrain";
    assert!(error(folder, &format!("{refit} --decay-rate 2")).contains("decay_rate: `2`; use a number from 0 to 1"));
    assert!(error(folder, &format!("{refit} --reg-lambda=-1")).contains("reg_lambda"));
    assert!(error(folder, &format!("{refit} --objective poisson")).contains("link function is identity"));
    assert!(error(folder, "refit m.bitgrain new.csv --target missing -o r.bitgrain").contains("missing"));
    assert!(error(folder, "refit m.bitgrain new.csv --target class -o r.bitgrain").contains("class"));
    assert!(error(folder, "refit m.ubj new.csv --target y -o r.bitgrain").contains("pass learning_rate"));
    assert!(error(folder, "refit m.bitgrain new.csv --target y -o m.bitgrain").contains("m.bitgrain"));
    assert!(error(folder, "refit m.bitgrain new.csv --target y").contains("--output"));
    std::fs::write(folder.join("empty.csv"), "a,b,y\n").expect("written");
    error(folder, "refit m.bitgrain empty.csv --target y -o r.bitgrain");
    assert!(!folder.join("r.bitgrain").exists());
}

#[test]
fn trees_can_be_dropped_or_averaged() {
    let folder = folder();
    let folder = folder.path();
    let train = "train old.csv --target y --ignore class --rounds 30 --model";
    let before = mean_of_old(folder, &format!("{train} plain.bitgrain"), "plain.bitgrain");
    for (name, options) in [
        ("dart.bitgrain", "--boosting dart --drop-rate 0.3 --skip-drop 0"),
        ("rf.bitgrain", "--boosting rf --subsample 0.6"),
    ] {
        let found = mean_of_old(folder, &format!("{train} {name} {options}"), name);
        // Dropped trees learn more slowly, so predictions stay nearer to the mean of the old rows.
        assert!((found - before).abs() < 0.6, "{name}: {found}, not {before}");
        // The formats of other programs predict the same.
        for format in ["txt", "json"] {
            let other = name.replace("bitgrain", format);
            printed(folder, &format!("convert-model {name} {other}"));
            assert!((mean(folder, &other) - mean(folder, name)).abs() < 1e-9);
        }
    }
    std::fs::write(folder.join("rf.conf"), "boosting = rf\nbagging_fraction = 0.6\nbagging_freq = 1\n")
        .expect("written");
    printed(folder, &format!("{train} conf.bitgrain --params rf.conf"));
    assert_eq!(mean(folder, "conf.bitgrain"), mean(folder, "rf.bitgrain"));
    std::fs::write(folder.join("goss.conf"), "boosting = goss\n").expect("written");
    printed(folder, &format!("{train} goss.bitgrain --params goss.conf"));

    let refused = error(folder, &format!("{train} m.bitgrain --boosting rf"));
    assert!(refused.contains("set subsample below 1"), "{refused}");
    let stops = format!("{train} m.bitgrain --boosting dart --valid-fraction 0.2 --early-stopping-rounds 3");
    assert!(error(folder, &stops).contains("choose n_estimators by cross-validation"));
    assert!(error(folder, &format!("{train} m.bitgrain --drop-rate 1.5")).contains("from 0 to 1"));
}

fn mean_of_old(folder: &Path, train: &str, model: &str) -> f64 {
    printed(folder, train);
    mean(folder, model)
}
