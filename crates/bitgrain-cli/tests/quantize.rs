//! `bitgrain quantize`, run as a user runs it.

use std::path::Path;
use std::process::{Command, Output};

use bitgrain::formats::safetensors::{Dtype, TensorSpec, Writer};
use serde_json::Value;

fn bitgrain(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bitgrain")).current_dir(folder).args(arguments).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output is UTF-8")
}

/// Header of an npy file of four f32 values.
const NPY_HEADER: &[u8; 118] =
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }                                                            \n";

/// Returns a folder with `model.safetensors`: two matrices, one of which does not fit blocks of 256, and a vector.
fn folder_with_model() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for tests");
    let shapes: [(&str, Vec<u64>); 4] =
        [("a.weight", vec![8, 512]), ("b.weight", vec![16, 256]), ("c.weight", vec![4, 96]), ("norm", vec![64])];
    let specs = shapes.map(|(name, shape)| TensorSpec { name: name.into(), dtype: Dtype::F32, shape });
    let mut writer = Writer::new(Vec::new(), &[], &specs).expect("a valid file");
    for spec in &specs {
        let count = u16::try_from(spec.shape.iter().product::<u64>()).expect("small");
        let value = |i: u16| (f32::from(i) * 0.7).sin() * if i % 50 == 3 { 0.9 } else { 0.1 };
        writer.write(&(0..count).map(value).flat_map(f32::to_le_bytes).collect::<Vec<u8>>()).expect("in memory");
    }
    std::fs::write(folder.path().join("model.safetensors"), writer.finish().expect("complete")).expect("writable");
    folder
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_final_table_lists_the_format_of_every_tensor() {
    let folder = folder_with_model();
    let output = bitgrain(folder.path(), &["quantize", "model.safetensors", "out.gguf", "--to", "q4_k"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for words in [
        "a.weight",
        "q4_k",
        "row length 96 is not a multiple of 256",
        "smaller)",
        "worst relative RMSE",
        "mean",
        "wrote out.gguf",
    ] {
        assert!(shown.contains(words), "{words} is missing in\n{shown}");
    }
    assert!(output.stderr.is_empty(), "no progress bar where nobody is watching");
}

#[test]
fn json_has_the_figures_of_the_table() {
    let folder = folder_with_model();
    let done = json(&bitgrain(
        folder.path(),
        &[
            "quantize",
            "model.safetensors",
            "out.safetensors",
            "--to",
            "int4",
            "--group",
            "32",
            "--calibrate",
            "mse",
            "--json",
        ],
    ));
    assert_eq!(done["tensors"][0]["to"], "int4/32");
    assert_eq!(done["tensors"][3]["figures"], Value::Null);
    assert!(done["bytes_after"].as_u64() < done["bytes_before"].as_u64());
    assert!(done["overall"]["cosine"].as_f64() > Some(0.97));
}

#[test]
fn every_calibration_and_scaling_is_accepted() {
    let folder = folder_with_model();
    let error = |options: &[&str]| {
        let mut arguments = vec!["quantize", "model.safetensors", "out.safetensors", "--to", "int4", "--json"];
        arguments.extend(options);
        json(&bitgrain(folder.path(), &arguments))["overall"]["rmse"].as_f64().expect("a number")
    };
    let plain = error(&[]);
    assert!(error(&["--calibrate", "mse"]) <= plain);
    assert!(error(&["--scale", "tensor"]) > error(&["--scale", "channel"]));
    assert!(error(&["--scale", "channel"]) > plain && error(&["--group", "32"]) < plain);
    for how in ["hqq", "percentile", "percentile=99"] {
        assert!(error(&["--calibrate", how]) > 0.0);
    }
}

#[test]
fn a_saved_plan_can_be_applied_again() {
    let folder = folder_with_model();
    let first = json(&bitgrain(
        folder.path(),
        &["quantize", "model.safetensors", "a.gguf", "--budget", "7kB", "--plan", "plan.json", "--json"],
    ));
    assert!(first["bytes_after"].as_u64() <= Some(7000), "{first}");
    let shown = bitgrain(folder.path(), &["quantize", "model.safetensors", "b.gguf", "--plan", "plan.json"]);
    assert!(text(&shown.stdout).contains("<- chosen"), "the trade-off curve is drawn");
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
    assert_eq!(read("a.gguf"), read("b.gguf"));
    let error =
        json(&bitgrain(folder.path(), &["quantize", "model.safetensors", "c.gguf", "--max-rmse", "0.02", "--json"]));
    assert!(error["plan"]["relative_rmse"].as_f64() <= Some(0.02), "{}", error["plan"]);
}

#[test]
fn tensors_are_kept_unchanged_or_in_the_given_format() {
    let folder = folder_with_model();
    let done = json(&bitgrain(
        folder.path(),
        &["quantize", "model.safetensors", "out.gguf", "--to", "q4_0", "--keep", "a.*", "--keep", "b*=q8_0", "--json"],
    ));
    let found: Vec<_> = (0..4).map(|i| done["tensors"][i]["to"].as_str().expect("a name")).collect();
    assert_eq!(found, ["float32", "q8_0", "q4_0", "float32"]);
}

#[test]
fn a_shard_never_takes_the_place_of_its_input() {
    let folder = folder_with_model();
    let input = folder.path().join("s-00001-of-00001.safetensors");
    std::fs::rename(folder.path().join("model.safetensors"), &input).expect("renamed");
    let before = std::fs::read(&input).expect("there");
    let arguments = ["quantize", "s-00001-of-00001.safetensors", "s.safetensors.index.json", "--to", "int8"];
    let output = bitgrain(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(std::fs::read(&input).expect("there") == before, "the input is as it was");
}

#[test]
fn invalid_requests_say_what_to_change_and_leave_no_files() {
    let folder = folder_with_model();
    std::fs::write(folder.path().join("plain.npy"), [&b"\x93NUMPY\x01\0v\0"[..], &NPY_HEADER[..], &[0; 16]].concat())
        .expect("writable");
    let cases: [(&[&str], &str); 16] = [
        (
            &["model.safetensors", "out.gguf", "--budget", "7kB", "--plan", "model.safetensors"],
            "save the plan to another",
        ),
        (&["model.safetensors", "out.gguf", "--budget", "7kB", "--plan", "./out.gguf"], "save the plan to another"),
        (&["model.safetensors", "out.gguf", "--to", "q4_0", "--keep", "nothing*"], "does not match any tensor"),
        (&["model.safetensors", "out.gguf", "--to", "q4_0", "--imatrix", "plain.npy"], "covers no tensor of the model"),
        (&["model.safetensors", "out.gguf", "--to", "q4_0", "--threads", "5000"], "1024"),
        (&["missing.gguf", "out.gguf", "--to", "q4_0"], "missing.gguf: No such file"),
        (&["model.safetensors", "out.gguf", "--to", "q9"], "unknown weight format"),
        (&["model.safetensors", "out.gguf", "--to", "int8"], "GGUF files cannot hold int8"),
        (&["model.safetensors", "out.bin", "--to", "q4_0"], "unknown output extension; use .gguf"),
        (&["model.safetensors", "model.safetensors", "--to", "int8"], "write to another file"),
        (&["model.safetensors", "out.gguf", "--budget", "1kB"], "too small"),
        (&["model.safetensors", "out.gguf", "--max-rmse", "1e-30"], "cannot reach"),
        (&["model.safetensors", "out.gguf", "--to", "q4_0", "--keep", "a*=q7"], "unknown weight format `q7`"),
        (&["model.safetensors", "out.safetensors", "--to", "int4", "--group", "7"], "multiple of 8"),
        (&["model.safetensors", "out.gguf", "--to", "q4_0", "--threads", "0"], "--threads"),
        (&["model.safetensors", "nowhere/out.gguf", "--to", "q4_0"], "`nowhere` is not a folder"),
    ];
    for (arguments, message) in cases {
        let output = bitgrain(folder.path(), &[&["quantize"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{arguments:?}: {}", text(&output.stderr));
    }
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).expect("readable").map(|e| e.expect("readable").file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}
