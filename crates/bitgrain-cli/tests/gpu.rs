//! The command on a graphics adapter.

use std::process::{Command, Output};

use serde_json::Value;

use crate::tiny::{HIDDEN, Tiny};

#[expect(dead_code, reason = "these tests use a part of it")]
#[path = "../../bitgrain-nn/tests/embedding/tiny.rs"]
mod tiny;

fn bitgrain(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bitgrain")).args(arguments).output().expect("the command starts")
}

fn json(arguments: &[&str]) -> Value {
    let output = bitgrain(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn info_lists_the_adapters() {
    let report = json(&["info", "--json"]);
    let first = &report["adapters"][0];
    let name = first["name"].as_str().expect("at least one adapter");
    assert!(first["max_array_bytes"].as_u64().is_some_and(|bytes| bytes >= 1 << 20), "{first}");
    let shown = String::from_utf8(bitgrain(&["info"]).stdout).expect("text");
    assert!(shown.contains("graphics adapters:") && shown.contains(name), "{shown}");
}

#[test]
fn vectors_of_a_graphics_adapter_equal_those_of_the_cpu() {
    let folder = Tiny::new().write();
    let folder = folder.path().to_str().expect("a path in UTF-8");
    let vectors = |device: &str| {
        let report = json(&["embed", folder, "a dog", "the cat", "--json", "--device", device]);
        let numbers =
            |row: &Value| row.as_array().expect("a row").iter().map(|x| x.as_f64().expect("a number")).collect();
        report["vectors"].as_array().expect("vectors").iter().map(numbers).collect::<Vec<Vec<f64>>>()
    };
    let (cpu, gpu) = (vectors("cpu"), vectors("gpu"));
    assert_eq!((cpu.len(), cpu[0].len()), (2, HIDDEN));
    for (cpu, gpu) in cpu.iter().zip(&gpu) {
        assert!(cpu.iter().zip(gpu).all(|(a, b)| (a - b).abs() < 2e-6), "{cpu:?} and {gpu:?}");
    }
    assert_eq!(vectors("gpu:0").len(), 2);
}

#[test]
fn an_unknown_adapter_is_an_error_that_lists_the_known_ones() {
    let folder = Tiny::new().write();
    let folder = folder.path().to_str().expect("a path in UTF-8");
    let output = bitgrain(&["embed", folder, "a dog", "--device", "gpu:no such adapter"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("no graphics adapter matches `no such adapter`; found 0 `"), "{message}");
}
