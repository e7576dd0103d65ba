//! `train`, `predict`, `explain`, `cv` and `convert-model`, run as a user runs them.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

use bitgrain::gbdt::parameter::{PARAMETERS, ParameterKind, ParameterStage, ParameterValue, Structure};
use serde_json::Value;

fn bitgrain(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    command.current_dir(folder).args(arguments.split_whitespace()).output().expect("the binary runs")
}

/// Runs a command that must succeed and returns its output.
fn printed(folder: &Path, arguments: &str) -> String {
    let output = bitgrain(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&printed(folder, arguments)).expect("JSON")
}

/// Runs a command that must fail and returns its error message.
fn error(folder: &Path, arguments: &str) -> String {
    let output = bitgrain(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// Writes a table of houses. The price depends on size, age and district, and some sizes are missing. `kind` has three
/// classes, `sold` has two.
fn houses(folder: &Path, name: &str, seed: u64, rows: usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = "id,size,age,district,price,sold,kind,weight\n".to_owned();
    for row in 0..rows {
        let (size, age, district) = (20.0 + 180.0 * random.f64(), 100.0 * random.f64(), random.usize(..3));
        let price = size * [3.0, 1.0, 2.0][district] - age + 5.0 * random.f64();
        let sold = if price + 60.0 * random.f64() > 180.0 { "yes" } else { "no" };
        let kind = ["flat", "house", "villa"][usize::from(size > 80.0) + usize::from(size > 150.0)];
        let size = if random.f64() < 0.05 { String::new() } else { format!("{size:.2}") };
        let district = ["center", "harbour", "\"hill, north\""][district];
        let weight = 1 + row % 3;
        writeln!(text, "{row},{size},{age:.1},{district},{price:.3},{sold},{kind},{weight}").expect("in memory");
    }
    std::fs::write(folder.join(name), text).expect("written");
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    houses(folder.path(), "train.csv", 1, 2000);
    houses(folder.path(), "test.csv", 2, 500);
    folder
}

/// Parses a CSV string of numbers; returns the column names and the rows.
fn columns(text: &str) -> (Vec<&str>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let names = lines.next().expect("a header").split(',').collect();
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect()).collect();
    (names, rows)
}

#[test]
fn a_regression_model_is_trained_saved_and_used() {
    let folder = folder();
    let folder = folder.path();
    let options = "--target price --ignore id,sold,kind,weight --model m.bitgrain --valid test.csv --rounds 60";
    let output = bitgrain(folder, &format!("train train.csv {options} --json"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("objective squared: `price` holds non-integer numbers"), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["rows"], &report["valid_rows"], &report["features"]), (&2000.into(), &500.into(), &3.into()));
    assert_eq!(report["categorical"], serde_json::json!(["district"]));
    assert_eq!(report["rounds"], 60);
    assert_eq!(report["metrics"][0]["name"], "rmse");
    let rmse = report["metrics"][0]["value"].as_f64().expect("a number");
    assert!(rmse < 45.0, "prices spread by 140: {rmse}");
    // Most of the price depends on the district, a categorical feature.
    let text = printed(folder, "predict m.bitgrain test.csv");
    let (names, rows) = columns(&text);
    assert_eq!((names, rows.len()), (vec!["prediction"], 500));
    let truth = std::fs::read_to_string(folder.join("test.csv")).expect("read");
    let price = |line: &str| line.rsplit(',').nth(3).and_then(|cell| cell.parse::<f64>().ok()).expect("a price");
    let squares = truth.lines().skip(1).map(price).zip(&rows).map(|(price, row)| (price - row[0]).powi(2)).sum::<f64>();
    assert!(((squares / 500.0).sqrt() - rmse).abs() < 1e-3 * rmse, "what was measured is what is predicted");
    let shown = printed(folder, "inspect m.bitgrain");
    assert!(shown.contains("60 trees") && shown.contains("district") && shown.contains("3 strings"), "{shown}");
    assert_eq!(json(folder, "inspect m.bitgrain --json")["features"][2]["name"], "district");
}

#[test]
fn classes_are_inferred_and_keep_their_labels() {
    let folder = folder();
    let folder = folder.path();
    let ignore = "--rounds 20 --ignore id,price,weight";
    let report = json(
        folder,
        &format!("train train.csv --target sold {ignore},kind --model two.bitgrain --json --valid-fraction 0.25"),
    );
    assert_eq!((&report["objective"], &report["classes"]), (&"binary".into(), &serde_json::json!(["no", "yes"])));
    assert_eq!((&report["rows"], &report["valid_rows"]), (&1500.into(), &500.into()));
    let report = json(folder, &format!("train train.csv --target kind {ignore},sold --model three.bitgrain --json"));
    assert_eq!(report["objective"], "multiclass:3");
    assert_eq!(report["trees"], 60);
    let text = printed(folder, "predict three.bitgrain test.csv");
    let (names, rows) = columns(&text);
    assert_eq!(names, ["probability_flat", "probability_house", "probability_villa"]);
    assert!(rows.iter().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    let classes = printed(folder, "predict three.bitgrain test.csv --class");
    let truth = std::fs::read_to_string(folder.join("test.csv")).expect("read");
    let right =
        classes.lines().zip(truth.lines()).skip(1).filter(|(class, line)| line.rsplit(',').nth(1) == Some(class));
    assert!(right.count() > 440, "sizes tell the kinds apart, where they are known");
    let text = printed(folder, "predict two.bitgrain test.csv --raw");
    assert_eq!((columns(&text).0, text.lines().count()), (vec!["score"], 501));
    let text = printed(folder, "predict two.bitgrain test.csv --leaf");
    assert_eq!((columns(&text).0.len(), text.lines().count()), (20, 501));
}

#[test]
fn every_growth_and_precision_learns_the_same_function() {
    let folder = folder();
    let folder = folder.path();
    for options in [
        "--growth depth --max-depth 5",
        "--growth symmetric",
        "--precision pair8",
        "--precision pair4",
        "--goss",
        "--bagging 0.5",
    ] {
        let command = format!(
            "train train.csv --target price --ignore id,sold,kind,weight --valid test.csv --model m.bitgrain --rounds 60 {options} --json"
        );
        let report = json(folder, &command);
        let rmse = report["metrics"][0]["value"].as_f64().expect("a number");
        assert!(rmse < 60.0, "{options}: {rmse}");
    }
}

#[test]
fn threads_and_file_formats_do_not_change_a_model() {
    let folder = folder();
    let folder = folder.path();
    let options = "--target price --ignore id,sold,kind --weight weight --rounds 10";
    printed(folder, &format!("train train.csv {options} --model one.bitgrain --threads 1"));
    printed(folder, &format!("train train.csv {options} --model two.bitgrain --threads 3"));
    let read = |name: &str| std::fs::read(folder.join(name)).expect("read");
    assert_eq!(read("one.bitgrain"), read("two.bitgrain"));
    printed(folder, "predict one.bitgrain test.csv -o p.parquet");
    printed(folder, "predict one.bitgrain test.csv -o p.csv --threads 1");
    let sum = |name: &str| json(folder, &format!("inspect {name} --json"))["columns"][0]["sum"].clone();
    assert_eq!(sum("p.parquet"), sum("p.csv"));
}

#[test]
fn training_stops_early_and_can_be_continued() {
    let folder = folder();
    let folder = folder.path();
    let options = "--target price --ignore id,sold,kind,weight --valid-fraction 0.3";
    let report = json(
        folder,
        &format!(
            "train train.csv {options} --learning-rate 0.5 --rounds 400 --early-stopping 5 --model a.bitgrain --json"
        ),
    );
    let (rounds, best) =
        (report["rounds"].as_u64().expect("a number"), report["best_round"].as_u64().expect("a number"));
    assert!(rounds < 400 && best + 5 == rounds && report["trees"] == best, "{rounds} {best}");
    let report = json(
        folder,
        "train train.csv --target price --continue a.bitgrain --model b.bitgrain --rounds 7 --json --ignore sold",
    );
    assert_eq!(report["trees"], best + 7);
}

#[test]
fn cross_validation_measures_every_fold() {
    let folder = folder();
    let folder = folder.path();
    let report = json(
        folder,
        "cv train.csv --target sold --ignore id,price,weight,kind --folds 4 --rounds 10 --metric auc,logloss --json",
    );
    assert_eq!((&report["rows"], &report["rounds"]), (&2000.into(), &serde_json::json!([10, 10, 10, 10])));
    let auc = &report["metrics"][0];
    assert_eq!((auc["name"].as_str(), report["metrics"][1]["name"].as_str()), (Some("auc"), Some("logloss")));
    let mean = (0..4).map(|fold| auc["folds"][fold].as_f64().expect("a number")).sum::<f64>() / 4.0;
    assert!((auc["mean"].as_f64().expect("a number") - mean).abs() < 1e-12);
    assert!(mean > 0.8, "{mean}");
    let shown = printed(folder, "cv train.csv --target sold --ignore id,price,weight,kind --folds 3 --rounds 5");
    assert!(shown.contains("fold") && shown.contains("±"), "{shown}");
}

#[test]
fn sparse_files_need_no_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut random = fastrand::Rng::with_seed(3);
    let mut text = String::new();
    for _ in 0..600 {
        let (a, b) = (random.usize(..3), random.f32());
        let label = i32::from(a == 1 && b > 0.4);
        writeln!(text, "{label} {}:1 9:{b}", a + 1).expect("in memory");
    }
    std::fs::write(folder.join("a.svm"), text).expect("written");
    let report = json(folder, "train a.svm --model m.bitgrain --rounds 20 --min-child-samples 5 --metric error --json");
    assert_eq!((&report["features"], &report["objective"]), (&10.into(), &"binary".into()));
    assert!(report["metrics"][0]["value"].as_f64().expect("a number") < 0.02, "{report}");
    assert_eq!(printed(folder, "predict m.bitgrain a.svm").lines().count(), 601);
}

#[test]
fn binary_metric_names_select_multiclass_metrics() {
    let folder = folder();
    let arguments = "cv train.csv --target kind --ignore id,price,sold,weight --folds 2 --rounds 2 --json --metric";
    let report = json(folder.path(), &format!("{arguments} logloss,error"));
    let names = [&report["metrics"][0]["name"], &report["metrics"][1]["name"]];
    assert_eq!(names, ["multi_logloss", "multi_error"]);
}

#[test]
fn errors_say_what_to_do() {
    let folder = folder();
    let folder = folder.path();
    let says = |arguments: &str, expected: &str| {
        let said = error(folder, arguments);
        assert!(said.contains(expected), "{arguments}: {said}");
        assert!(!folder.join("m.bitgrain").exists(), "{arguments}");
    };
    says("train train.csv --model m.bitgrain", "choose one with --target; the columns are id, size");
    says("train train.csv --target prize --model m.bitgrain", "missing column: `prize`; the table has `id`");
    says("train none.csv --target price --model m.bitgrain", "none.csv: ");
    says("train train.csv --target price --model m.bitgrain --objective foo", "unknown objective `foo`");
    says("train train.csv --target price --model m.bitgrain --metric foo", "unknown metric `foo`");
    says("train train.csv --target kind --model m.bitgrain --metric auc", "makes 3; use `multi_logloss`");
    says("train train.csv --target price --model m.bitgrain --metric merror", "compares classes, but the objective is");
    says("train train.csv --target sold --model m.bitgrain --objective squared", "column `sold` holds strings");
    says("train train.csv --target price --model m.bitgrain --valid-fraction 1.5", "is not between 0 and 1");
    says("train train.csv --target price --model m.bitgrain --early-stopping 5", "--valid FILE or --valid-fraction");
    says(
        "train train.csv --target price --model m.bitgrain --rounds 0",
        "invalid rounds: `0`; use an integer of at least 1",
    );
    says("train train.csv --target price --model train.csv", "train.csv is an input of this command");
    says("cv train.csv --target price --folds 1", "invalid folds: `1`; use an integer from 2 to");
    assert!(std::fs::read_to_string(folder.join("train.csv")).expect("still there").starts_with("id,"));
    printed(folder, "train train.csv --target price --ignore id,sold,kind,weight --rounds 2 --model p.bitgrain");
    assert!(error(folder, "predict p.bitgrain test.csv -o out.xls").contains("use .csv, .tsv or .parquet"));
    assert!(error(folder, "predict p.bitgrain test.csv --class").contains("omit --class"));
    assert!(error(folder, "predict test.csv test.csv").contains("test.csv: not a model"));
    std::fs::write(folder.join("few.csv"), "size,age\n1,2\n").expect("written");
    assert!(error(folder, "predict p.bitgrain few.csv").contains("missing column: `district`"));
    std::fs::write(folder.join("empty.csv"), "size,age,district\n").expect("written");
    assert_eq!(printed(folder, "predict p.bitgrain empty.csv"), "prediction\n");
}

#[test]
fn models_are_converted_to_json() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, "train train.csv --target price --ignore id,sold,kind,weight --rounds 2 --model p.bitgrain");
    let said = printed(folder, "convert-model p.bitgrain p.json");
    assert!(said.contains("3 features, 2 trees"), "{said}");
    let model: Value = serde_json::from_slice(&std::fs::read(folder.join("p.json")).expect("read")).expect("JSON");
    assert_eq!(model["features"][2]["labels"], serde_json::json!(["center", "harbour", "hill, north"]));
    printed(folder, "convert-model p.bitgrain q.bitgrain");
    let read = |name: &str| std::fs::read(folder.join(name)).expect("read");
    assert_eq!(read("p.bitgrain"), read("q.bitgrain"));
}

#[test]
fn an_ignored_column_must_exist() {
    let folder = folder();
    let said = error(folder.path(), "train train.csv --target price --model m.bitgrain --ignore id,prize");
    assert!(said.contains("missing column: `prize`") && said.contains("`price`"), "{said}");
}

#[test]
#[cfg(unix)]
fn ctrl_c_keeps_the_model_so_far() {
    use std::time::{Duration, Instant};

    let folder = folder();
    let folder = folder.path();
    let arguments = "train train.csv --target price --model m.bitgrain --rounds 1000000 --num-leaves 15 --json";
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    command.current_dir(folder).args(arguments.split_whitespace());
    // The report goes to a file, because it would fill a pipe before the test reads it.
    let report = std::fs::File::create(folder.join("report.json")).expect("created");
    command.stdout(report).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let start = Instant::now();
    // A signal before the handler is installed would end the process without a model, so the first one is delayed. It
    // is repeated because the time at which training starts is unknown.
    while child.try_wait().expect("a child").is_none() {
        assert!(start.elapsed() < Duration::from_secs(60), "it does not stop");
        std::thread::sleep(Duration::from_secs(2));
        let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(signal.expect("kill runs").success());
        let asked = Instant::now();
        while asked.elapsed() < Duration::from_secs(8) && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    let output = child.wait_with_output().expect("output");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("the model trained so far is kept"), "{said}");
    let report = std::fs::read(folder.join("report.json")).expect("a report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["settings"]["train.rounds"], "1000000");
    let trees = report["trees"].as_u64().expect("a number");
    assert!((1..1_000_000).contains(&trees), "{trees}");
    printed(folder, "predict m.bitgrain test.csv -o p.csv");
    assert!(folder.join("p.csv").exists());
}

/// Saves a model without trees whose score is `score` and whose only feature is named `feature`.
fn constant_model(path: &Path, score: f64, feature: &str) {
    use bitgrain::gbdt::model::{Comparison, Input, InputKind, Link, Model, Output};
    let model = Model {
        inputs: vec![Input { name: feature.to_owned(), kind: InputKind::Numeric }],
        comparison: Comparison::F32,
        output: Output {
            objective: "binary".to_owned(),
            link: Link::Logistic { slope: 1.0 },
            base_scores: vec![score],
            classes: vec!["no".to_owned(), "yes".to_owned()],
            average: false,
        },
        trees: Vec::new(),
        metadata: std::collections::BTreeMap::new(),
    };
    model.save(path).expect("saved");
}

#[test]
fn predicted_classes_match_the_engine_even_if_probabilities_round_to_one_half() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("rows.csv"), "x\n1\n").expect("written");
    for (score, class) in [(1e-20, "yes"), (0.0, "no"), (-1e-20, "no")] {
        constant_model(&folder.join("m.bitgrain"), score, "x");
        assert_eq!(columns(&printed(folder, "predict m.bitgrain rows.csv")).1, [[0.5]]);
        assert_eq!(printed(folder, "predict m.bitgrain rows.csv --class"), format!("class\n{class}\n"));
    }
}

#[test]
fn underscores_of_a_model_match_spaces_of_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    constant_model(&folder.join("m.bitgrain"), 0.0, "floor_area");
    std::fs::write(folder.join("rows.csv"), "id,floor area\n7,50\n").expect("written");
    assert_eq!(columns(&printed(folder, "predict m.bitgrain rows.csv")).1, [[0.5]]);
}

#[test]
fn log_loss_depends_on_the_number_of_classes() {
    let folder = folder();
    let folder = folder.path();
    let report = |target| {
        json(
            folder,
            &format!(
                "train train.csv --target {target} --objective log_loss --n-estimators 2 --model m.bitgrain --json"
            ),
        )
    };
    assert_eq!(
        (&report("sold")["objective"], &report("kind")["objective"]),
        (&"binary".into(), &"multiclass:3".into())
    );
    let said = error(folder, "train train.csv --target kind --objective binary --model m.bitgrain");
    assert!(said.contains("`binary` predicts 2 classes, but the target has 3; use `multiclass`"), "{said}");
}

#[test]
fn every_alias_is_an_option_and_gives_the_same_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    houses(folder, "a.csv", 1, 300);
    let model = |option: &str, value: &str| {
        printed(folder, &format!("train a.csv --target price --model m.bitgrain --valid a.csv {option} {value}"));
        std::fs::read(folder.join("m.bitgrain")).expect("written")
    };
    let plain = model("--num-leaves", "31");
    for parameter in PARAMETERS.iter().filter(|parameter| parameter.stage != ParameterStage::Run) {
        let value = match parameter.kind {
            ParameterKind::Integer | ParameterKind::OptionalInteger => "5",
            ParameterKind::Number => "0.25",
            ParameterKind::Numbers => "0,1,5",
            ParameterKind::Flag if (parameter.default)() == ParameterValue::Flag(true) => "false",
            ParameterKind::Flag => "true",
            ParameterKind::Structured(Structure::Directions) => "size:-1,age:1",
            ParameterKind::Structured(Structure::Factors) => "size:0.5",
            ParameterKind::Structured(Structure::Groups) => "[size,age],[district]",
            ParameterKind::Structured(Structure::Splits) => r#"{"feature":"age","threshold":50}"#,
            ParameterKind::Choice(choices) => {
                let default = (parameter.default)();
                choices
                    .iter()
                    .map(|choice| choice.name)
                    .find(|name| ParameterValue::from(*name) != default)
                    .expect("two")
            }
            _ => panic!("{}: not an option", parameter.name),
        };
        let by = |name: &str| model(&format!("--{name}"), value);
        let own = by(&parameter.name.replace('_', "-"));
        assert_eq!(own, by(parameter.name), "{}", parameter.name);
        for alias in parameter.aliases {
            assert_eq!(own, by(alias), "{alias}");
            assert_eq!(own, by(&alias.replace('_', "-")), "{alias}");
        }
        // Parameters without an effect on these rows: rounding of f32 gradients, GOSS rates, DART, ranking, and limits
        // above the row count.
        let idle =
            ["stochastic_rounding", "top_rate", "other_rate", "subsample_freq", "max_cat_to_onehot", "sample_rows"];
        let also = [
            "early_stopping_rounds",
            "early_stopping_min_delta",
            "max_cat_threshold",
            "cat_l2",
            "cat_smooth",
            "min_split_gain",
            "min_child_weight",
            "monotone_constraints_method",
            "monotone_penalty",
            "extra_seed",
            "cegb_tradeoff",
            "drop_rate",
            "max_drop",
            "skip_drop",
            "uniform_drop",
            "xgboost_dart_mode",
            "drop_seed",
        ];
        let ranks = parameter.name.starts_with("lambdarank") || parameter.name == "label_gain";
        let is_idle = ranks || idle.contains(&parameter.name) || also.contains(&parameter.name);
        assert!(own != plain || is_idle, "{}", parameter.name);
    }
    for option in ["--objective", "--loss", "--objective_type"] {
        assert_eq!(model(option, "mae"), model("--application", "absolute"));
    }
    for option in ["--n-jobs", "--num_threads", "--nthread", "--threads"] {
        assert_eq!(model(option, "1"), plain);
    }
}

#[test]
fn constraints_are_given_by_name_and_by_file() {
    let folder = folder();
    let folder = folder.path();
    let train = "train train.csv --target price --ignore id,sold,kind,weight --model m.bitgrain --n-estimators 30";
    // Sizes from 20 to 200 at the same age and district.
    let mut rows = "size,age,district\n".to_owned();
    (20..200).for_each(|size| writeln!(rows, "{size},50,center").expect("in memory"));
    std::fs::write(folder.join("sizes.csv"), rows).expect("written");
    let prices = |options: &str| -> Vec<f64> {
        printed(folder, &format!("{train} {options}"));
        printed(folder, "predict m.bitgrain sizes.csv -o prices.csv");
        let text = std::fs::read_to_string(folder.join("prices.csv")).expect("written");
        columns(&text).1.iter().map(|row| row[0]).collect()
    };
    let rises = |prices: &[f64]| prices.windows(2).all(|pair| pair[0] <= pair[1]);
    assert!(!rises(&prices("--num-leaves 60")), "prices are noisy");
    for option in ["--monotone-constraints size:1,age:-1", "--mc 1,-1,0", "--monotone_constraints {\"size\":1}"] {
        assert!(rises(&prices(&format!("--num-leaves 60 {option}"))), "{option}");
    }
    let falls = prices("--monotone-constraints -1,0,0");
    assert!(falls.windows(2).all(|pair| pair[0] >= pair[1]), "a list that starts with a minus sign");
    std::fs::write(folder.join("top.json"), r#"{"feature": "age", "threshold": 40}"#).expect("written");
    printed(folder, &format!("{train} --forced-splits top.json --interaction-constraints [age,size],[district]"));
    let says = |options: &str, expected: &str| {
        let said = error(folder, &format!("{train} {options}"));
        assert!(said.contains(expected), "{options}: {said}");
    };
    says("--monotone-constraints 1,0", "invalid monotone_constraints: 2 values for 3 features; give one per feature");
    says("--monotone-constraints siz:1", "unknown feature `siz`; did you mean `size`?");
    says("--monotone-constraints district:1", "feature `district` is categorical and has no order");
    says("--monotone-constraints size:2", "`2` is not -1, 0 or 1");
    says("--monotone-constraints-method exact", "use `basic`, `intermediate` or `advanced`");
    says("--interaction-constraints [size,size]", "has feature `size` twice");
    says("--forced-splits none.json", "cannot read file `none.json`");
    says("--feature-contri size:-1", "`-1` is not at least 0");
    says("--cegb-penalty-split -1", "invalid cegb_penalty_split: `-1`; use a number of at least 0");
}

#[test]
fn options_that_contradict_each_other_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    houses(folder, "a.csv", 1, 100);
    let says = |options: &str, expected: &str| {
        let said = error(folder, &format!("train a.csv --target price --model m.bitgrain {options}"));
        assert!(said.contains(expected), "{options}: {said}");
        assert!(!folder.join("m.bitgrain").exists(), "{options}");
    };
    says("--lambda-l2 1 --reg-lambda 2", "`lambda_l2 = 1` and `reg_lambda = 2`; both names mean reg_lambda");
    says("--goss --subsample 0.5", "`data_sample_strategy = goss` and `subsample = 0.5`");
    says("--goss --data-sample-strategy bagging", "data_sample_strategy");
    says("--alpha 0.9 --objective quantile", "`alpha = 0.9` and `objective = quantile");
    says("--learning-rate fast", "invalid learning_rate: `fast`; use a number above 0");
    says("--max-depth -2", "invalid max_depth: `-2`; use an integer from 1 to 131072, or -1 for none");
    says("--num-leafs 3", "a similar argument exists");
    printed(folder, "train a.csv --target price --model m.bitgrain --max-depth -1 --lambda-l2 1 --lambda 1.0");
}

#[test]
fn help_and_completions_show_each_parameter_once() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in ["train --help", "cv --help", "completions bash", "completions zsh"] {
        let shown = printed(folder.path(), arguments);
        assert!(shown.contains("--reg-lambda") && shown.contains("--goss"), "{arguments}");
        assert!(!shown.contains("--lambda-l2") && !shown.contains("--reg_lambda"), "{arguments}");
    }
    let help = printed(folder.path(), "train --help");
    assert!(help.contains("[default: 31]") && help.contains("possible values: leaf, depth, symmetric"), "{help}");
}

#[test]
fn contributions_sum_to_the_raw_scores() {
    let folder = folder();
    let at = folder.path();
    printed(at, "train train.csv --target price --ignore id,sold,kind --model m.bitgrain --n-estimators 20");
    let said = printed(at, "explain m.bitgrain test.csv -o values.csv --background train.csv");
    assert_eq!(said, "wrote values.csv\n");
    let text = std::fs::read_to_string(at.join("values.csv")).expect("written");
    let (names, rows) = columns(&text);
    assert_eq!(names.last(), Some(&"expected"));
    assert!(names.contains(&"district") && rows.len() == 500);
    let raw = printed(at, "predict m.bitgrain test.csv --raw");
    for (values, raw) in rows.iter().zip(columns(&raw).1) {
        assert!((values.iter().sum::<f64>() - raw[0]).abs() < 1e-9 * raw[0].abs().max(1.0), "{values:?} {raw:?}");
    }
    let report = json(at, "explain m.bitgrain test.csv --json");
    let first = &report["outputs"][0]["contributions"][0];
    assert_eq!((&report["rows"], &first["name"]), (&500.into(), &"size".into()));
    assert!(printed(at, "explain m.bitgrain test.csv --interactions").contains("size*district"));

    printed(at, "train train.csv --target kind --ignore id --model k.bitgrain --n-estimators 5");
    printed(at, "explain k.bitgrain test.csv -o kinds.parquet");
    let classes = json(at, "explain k.bitgrain test.csv --json");
    assert_eq!(classes["outputs"][2]["class"], "villa");
}

#[test]
fn tables_that_cannot_be_explained_are_errors() {
    let folder = folder();
    let at = folder.path();
    printed(at, "train train.csv --target price --ignore id --model m.bitgrain --n-estimators 2");
    std::fs::write(at.join("empty.csv"), "size,age,district,sold,kind,weight\n").expect("written");
    assert!(error(at, "explain m.bitgrain empty.csv").contains("empty.csv has no rows"));
    assert!(error(at, "explain m.bitgrain test.csv --background empty.csv").contains("empty.csv has no rows"));
    assert!(error(at, "explain m.bitgrain test.csv -o m.bitgrain").contains("m.bitgrain"));
    assert!(error(at, "explain m.bitgrain test.csv -o test.csv").contains("is an input"));
    assert!(error(at, "explain test.csv test.csv").contains("not a model file"));
}

#[test]
fn a_binned_table_trains_the_model_of_its_files() {
    let folder = folder();
    let folder = folder.path();
    let all = std::fs::read_to_string(folder.join("train.csv")).expect("written");
    let lines: Vec<&str> = all.lines().collect();
    for (name, rows) in [("part-1.csv", &lines[1..800]), ("part-2.csv", &lines[800..])] {
        std::fs::write(folder.join(name), format!("{}\n{}\n", lines[0], rows.join("\n"))).expect("written");
    }
    let columns = "--target price --weight weight --ignore id,sold,kind";
    let binned = json(folder, &format!("bin part-*.csv {columns} -o t.bins --json"));
    assert_eq!((&binned["files"], &binned["rows"], &binned["features"]), (&2.into(), &2000.into(), &3.into()));
    let rounds = "--n-estimators 20 --valid test.csv --early-stopping-rounds 5 --json";
    let wanted = json(folder, &format!("train train.csv {columns} --model memory.bitgrain {rounds}"));
    for (model, memory) in [("read.bitgrain", ""), ("mapped.bitgrain", "--memory 300MB")] {
        let columns = "--weight weight --ignore id,sold,kind";
        let found = json(folder, &format!("train t.bins {columns} --model {model} {memory} {rounds}"));
        assert_eq!(found["history"], wanted["history"]);
        let bytes = |name: &str| std::fs::read(folder.join(name)).expect("written");
        assert!(bytes(model) == bytes("memory.bitgrain"), "{model}");
    }
    let shown = printed(folder, "inspect t.bins --verify");
    assert!(shown.contains("2000 rows") && shown.contains("all checksums match"), "{shown}");
    let appended = json(folder, &format!("bin test.csv {columns} -o t.bins --append --json"));
    assert_eq!(appended["rows"], 2500);
}

#[test]
fn binned_tables_name_the_options_that_fix_them() {
    let folder = folder();
    let folder = folder.path();
    let columns = "--target price --ignore id,sold,kind,weight";
    printed(folder, &format!("bin train.csv {columns} -o t.bins"));
    let refused = |arguments: &str, part: &str| {
        let error = error(folder, arguments);
        assert!(error.contains(part), "{arguments}: {error}");
    };
    refused("train t.bins --model m.bitgrain --memory 1MB", "raise the limit");
    refused("train t.bins --model m.bitgrain --valid-fraction 0.2", "--valid-fraction");
    refused("train t.bins --model m.bitgrain --categorical age", "`bitgrain bin`");
    refused("train train.csv --target price --model m.bitgrain --memory 1GB", "`bitgrain bin`");
    refused("bin nothing-*.csv --target price -o u.bins", "no file matches");
    refused("bin train.csv -o u.bins", "--target");
    refused("bin train.csv --target cost -o u.bins", "cost");
    refused("bin train.csv --target price -o train.csv", "train.csv");
    let mut bytes = std::fs::read(folder.join("t.bins")).expect("written");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(folder.join("t.bins"), bytes).expect("written");
    refused("inspect t.bins --verify", "checksum");
    refused("train t.bins --model m.bitgrain", "checksum");
    assert!(!folder.join("u.bins").exists());
}
