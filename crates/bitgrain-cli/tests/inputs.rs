//! Training parameters from files, and tables from standard input, run as a user runs them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn bitgrain(folder: &Path, arguments: &str, input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    command.current_dir(folder).args(arguments.split_whitespace());
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the binary runs");
    // A command that does not read its input closes the pipe.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("the binary ends")
}

fn succeeds(folder: &Path, arguments: &str, input: &[u8]) -> String {
    let output = bitgrain(folder, arguments, input);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn fails(folder: &Path, arguments: &str, part: &str) {
    let output = bitgrain(folder, arguments, b"");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
    assert!(error.contains(part), "{arguments}: {error}");
}

/// Returns a table of 300 rows with the columns `x`, `z` and `y`.
fn table() -> String {
    let row = |row: i32| format!("{},{},{}\n", row % 17, row % 5, (row % 17) * 3 - (row % 5));
    "x,z,y\n".to_owned() + &(0..300).map(row).collect::<String>()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t.csv"), table()).expect("written");
    folder
}

#[test]
fn files_of_every_format_set_the_same_parameters() {
    let folder = folder();
    let folder = folder.path();
    let files = [
        ("p.toml", "num_leaves = 5\nlearning_rate = 0.3 # fast\nobjective = 'absolute'\nmetric = [\"mae\", 'rmse']\n"),
        ("p.json", r#"{"num_leaves": 5, "eta": 0.3, "objective": "mae", "metric": "mae,rmse"}"#),
        (
            "p.conf",
            "task = train\nboosting_type = gbdt\nobjective = regression_l1\nmetric = l1,rmse\nnum_leaves=5\n\
                    shrinkage_rate = 0.3\nmetric_freq = 1\nis_training_metric = false\n",
        ),
    ];
    let train = "train t.csv --target y --rounds 4 --json --model";
    succeeds(
        folder,
        &format!("{train} o.bitgrain --num-leaves 5 --eta 0.3 --objective absolute --metric mae,rmse"),
        b"",
    );
    let wanted = fs::read(folder.join("o.bitgrain")).expect("written");
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("written");
        let report = succeeds(folder, &format!("{train} {name}.bitgrain --params {name}"), b"");
        assert!(fs::read(folder.join(format!("{name}.bitgrain"))).expect("written") == wanted, "{name}");
        assert!(report.contains("\"rmse\"") && report.contains("\"mae\""), "{name}: {report}");
        let report = succeeds(folder, &format!("cv t.csv --target y --rounds 4 --folds 3 --json --params {name}"), b"");
        assert!(report.contains("absolute"), "{name}: {report}");
    }
    // Options take precedence.
    let report =
        succeeds(folder, &format!("{train} m.bitgrain --params p.toml --num-leaves 3 --objective squared"), b"");
    assert!(report.contains("\"train.num_leaves\": \"3\"") && report.contains("\"squared\""), "{report}");
}

#[test]
fn unusable_files_name_the_problem() {
    let folder = folder();
    let folder = folder.path();
    let train = "train t.csv --target y --model m.bitgrain --params";
    for (name, text, part) in [
        ("a.conf", "data = t.csv\n", "pass the table as the argument DATA"),
        ("b.conf", "output_model = m.txt\n", "use --model"),
        ("c.conf", "boosting = plain\n", "use `gbdt`, `dart` or `rf`"),
        ("d.conf", "num_leafs = 3\n", "num_leaf"),
        ("e.toml", "num_leaves = many\n", "line 1 (1-based): invalid value `many`"),
        ("f.json", "[1]", "not a JSON object"),
        ("g.conf", "num_leaves = -3\n", "num_leaves"),
        ("h.conf", "num_leaves = 3\nmax_leaves = 4\n", "max_leaves"),
    ] {
        fs::write(folder.join(name), text).expect("written");
        fails(folder, &format!("{train} {name}"), part);
    }
    fails(folder, &format!("{train} missing.toml"), "missing.toml");
    assert!(!folder.join("m.bitgrain").exists());
}

#[test]
fn tables_are_read_from_the_standard_input() {
    let folder = folder();
    let folder = folder.path();
    succeeds(folder, "train t.csv --target y --rounds 4 --model file.bitgrain", b"");
    succeeds(folder, "train - --target y --rounds 4 --model pipe.bitgrain", table().as_bytes());
    let bytes = |name: &str| fs::read(folder.join(name)).expect("written");
    assert!(bytes("file.bitgrain") == bytes("pipe.bitgrain"));
    let from_file = succeeds(folder, "predict file.bitgrain t.csv", b"");
    assert_eq!(succeeds(folder, "predict file.bitgrain -", table().as_bytes()), from_file);
    fails(folder, "train - --target y --model m.bitgrain", "standard input");
    fails(folder, "train t.csv --valid - --target y --model m.bitgrain", "--valid cannot be standard input");
}

#[test]
fn unknown_columns_to_ignore_are_errors() {
    let folder = folder();
    fails(folder.path(), "train t.csv --target y --model m.bitgrain --ignore z,w", "w");
}
