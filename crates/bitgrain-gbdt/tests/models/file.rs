//! Model files: golden vectors, round trips, truncation at every length and every flipped bit. Spec: `spec/model.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bitgrain_formats::crc32c;
use bitgrain_gbdt::model::{FileError, Importance, LoadError, Model, ModelError};
use serde_json::{Value, json};

use crate::samples;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/models")
}

/// Reads a float; JSON has neither NaN nor infinity, so these are strings.
fn number(value: f64) -> Value {
    if value.is_nan() {
        Value::Null
    } else if value.is_infinite() {
        json!(value.to_string())
    } else {
        json!(value)
    }
}

fn float(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().expect("an infinity"),
        _ => value.as_f64().unwrap_or(f64::NAN),
    }
}

#[test]
fn files_are_those_of_the_golden_vectors() {
    let mut missing = Vec::new();
    for (name, model) in samples::all() {
        let path = vectors().join(format!("v1_{name}.json"));
        let made: Value = serde_json::from_str(&model.to_json()).expect("JSON");
        let Ok(text) = fs::read_to_string(&path) else {
            let rows = samples::rows(model.n_inputs());
            let list = |values: &[f64]| values.iter().map(|&value| number(value)).collect::<Vec<_>>();
            let scores: Vec<_> = rows.iter().map(|row| list(&model.raw_scores_of(row))).collect();
            let rows: Vec<_> = rows.iter().map(|row| list(row)).collect();
            let vector = json!({ "kind": "model", "model": made, "rows": rows, "scores": scores });
            fs::create_dir_all(vectors()).expect("writable");
            fs::write(&path, vector.to_string().replace("],", "],\n") + "\n").expect("writable");
            fs::write(path.with_extension("bitgrain"), model.to_bytes().expect("valid")).expect("writable");
            missing.push(name);
            continue;
        };
        let vector: Value = serde_json::from_str(&text).expect("JSON");
        let bytes = fs::read(path.with_extension("bitgrain")).expect("every vector has its bytes");
        assert_eq!(model.to_bytes().expect("valid"), bytes, "{name}");
        assert_eq!(Model::from_bytes(&bytes), Ok(model.clone()), "{name}");
        assert_eq!(made, vector["model"], "{name}");
        let lists = |key: &str| vector[key].as_array().expect("a list").clone();
        for (row, scores) in lists("rows").iter().zip(lists("scores")) {
            let row: Vec<f64> = row.as_array().expect("a list").iter().map(float).collect();
            assert_eq!(json!(model.raw_scores_of(&row)), scores, "{name}: {row:?}");
        }
    }
    assert!(missing.is_empty(), "written because they were missing, check and commit them: {missing:?}");
}

#[test]
fn every_truncation_is_an_error() {
    for (name, model) in samples::all() {
        let bytes = model.to_bytes().expect("valid");
        for len in 0..bytes.len() {
            assert!(matches!(Model::from_bytes(&bytes[..len]), Err(FileError::Length { .. })), "{name} cut at {len}");
            assert!(Model::import(&bytes[..len]).is_err(), "{name} cut at {len}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(matches!(Model::from_bytes(&longer), Err(FileError::Length { .. })), "{name} with a byte more");
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    for (name, model) in samples::all() {
        let mut bytes = model.to_bytes().expect("valid");
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let refused = Model::from_bytes(&bytes).expect_err(name);
            let told = match bit / 8 {
                0..8 => refused == FileError::Magic,
                8..12 => matches!(refused, FileError::Version { .. }),
                16..24 => matches!(refused, FileError::Length { .. }),
                _ => matches!(refused, FileError::Checksum { .. }),
            };
            assert!(told, "{name}: bit {bit}: {refused}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// Returns the bytes with a matching checksum.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let len = bytes.len();
    bytes[16..24].copy_from_slice(&(len as u64).to_le_bytes());
    let sum = crc32c(&bytes[..len - 4]);
    bytes[len - 4..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Corrupt bytes with a forged checksum give an error or a model that can be traversed, never a panic.
#[test]
fn forged_bytes_are_errors_or_models() {
    let (mut errors, mut models) = (0, 0);
    for (_, model) in samples::all() {
        let bytes = model.to_bytes().expect("valid");
        for at in 0..bytes.len() - 4 {
            for new in (0..8).map(|bit| bytes[at] ^ (1 << bit)).chain([0, 0x7f, 0x80, 0xff]) {
                let mut forged = bytes.clone();
                forged[at] = new;
                match Model::from_bytes(&sealed(forged)) {
                    Err(_) => errors += 1,
                    Ok(found) => {
                        models += 1;
                        assert_eq!(found.check(), Ok(()));
                        let row = vec![0.5; found.n_inputs()];
                        assert_eq!(found.raw_scores_of(&row).len(), found.n_outputs());
                        assert_eq!(found.feature_importance(Importance::Gain).len(), found.n_inputs());
                        assert!(found.to_json().ends_with('}'));
                    }
                }
            }
        }
    }
    assert!(errors > 1000 && models > 1000, "{errors} errors, {models} models");
}

#[test]
fn counts_are_compared_with_the_remaining_bytes() {
    let bytes = samples::binary().to_bytes().expect("valid");
    // A varint of 2^63 - 1 at every offset of the sections.
    for at in 24..bytes.len() - 4 {
        let huge = [&bytes[..at], &[0xff; 8], &[0x7f], &bytes[at + 1..]].concat();
        assert!(Model::from_bytes(&sealed(huge)).is_err(), "at {at}");
    }
}

fn with_section(tag: &[u8; 4], flags: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = samples::empty().to_bytes().expect("valid");
    bytes.truncate(bytes.len() - 4);
    bytes[12] += 1;
    bytes.extend(tag);
    bytes.extend(flags.to_le_bytes());
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(content);
    bytes.extend([0; 4]);
    sealed(bytes)
}

#[test]
fn sections_of_later_versions_are_skipped_unless_they_say_otherwise() {
    assert_eq!(Model::from_bytes(&with_section(b"shap", 0, b"whatever")), Ok(samples::empty()));
    assert_eq!(Model::from_bytes(&with_section(b"shap", 2, b"")), Ok(samples::empty()));
    let refused = Model::from_bytes(&with_section(b"shap", 1, b"whatever"));
    assert_eq!(refused, Err(FileError::UnknownSection { tag: *b"shap" }));
    let refused = Model::from_bytes(&with_section(b"tree", 1, b"\0"));
    assert_eq!(refused, Err(FileError::DuplicateSection { tag: *b"tree" }));
}

#[test]
fn a_later_version_is_rejected_with_a_clear_message() {
    let mut bytes = samples::empty().to_bytes().expect("valid");
    bytes[8] = 2;
    let refused = Model::from_bytes(&sealed(bytes)).expect_err("a later version");
    assert_eq!(refused, FileError::Version { version: 2 });
    assert!(refused.to_string().contains("update"), "{refused}");
}

#[test]
fn an_inconsistent_model_is_not_written() {
    let mut model = samples::binary();
    model.trees[1].splits[0].feature = 9;
    let refused = ModelError::Feature { tree: 1, split: 0, feature: 9, inputs: 3 };
    assert_eq!(model.to_bytes(), Err(refused));
    let folder = tempfile::tempdir().expect("a folder");
    assert!(model.save(folder.path().join("m.bitgrain")).is_err());
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0);
}

#[test]
fn saved_models_load_and_replace_older_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.bitgrain");
    for (name, model) in samples::all() {
        model.save(&path).expect("writable");
        assert_eq!(Model::load(&path).expect("just written"), model, "{name}");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1, "{name}");
    }
    fs::write(&path, "something else").expect("writable");
    assert!(matches!(Model::load(&path), Err(LoadError::Import { .. })));
    assert!(matches!(Model::load(folder.path().join("none")), Err(LoadError::Io { .. })));
    assert!(samples::empty().save(folder.path().join("no/folder")).is_err());
}

/// Returns the cells of the table with the header `| rule | error |` that follows `line` in the specification.
fn errors_listed(line: &str) -> BTreeSet<&'static str> {
    let spec = include_str!("../../../../spec/model.md").lines().skip_while(|text| *text != line);
    let table = spec.skip_while(|text| *text != "| rule | error |").skip(2).take_while(|text| text.starts_with('|'));
    table.filter_map(|row| row.trim_matches('|').split('|').nth(1)).map(|cell| cell.trim().trim_matches('`')).collect()
}

/// Returns the variants of the error enum that starts in `source`: lines at its depth that start with a capital.
fn variants(source: &str) -> BTreeSet<&str> {
    let within = source.split_once("Error {").expect("an enum").1.split("\n}").next().expect("its end");
    let lines = within.lines().filter_map(|line| line.strip_prefix("    "));
    let named = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    named.map(|line| line.split([' ', ',', '(']).next().unwrap_or(line)).collect()
}

#[test]
fn every_error_has_a_rule_in_the_specification() {
    let file = variants(include_str!("../../src/model/file/error.rs"));
    assert_eq!(errors_listed("## Errors of a reader"), file);
    let model = variants(include_str!("../../src/model/check.rs"));
    assert_eq!(errors_listed("A model is consistent if these rules hold:"), model);
    assert!(file.len() > 10 && model.len() > 10);
}
