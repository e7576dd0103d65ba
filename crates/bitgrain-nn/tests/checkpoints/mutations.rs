//! Golden checkpoints with random changes to configuration, header and data decode or are refused, and never panic.
//!
//! `BITGRAIN_MUTATIONS=1000000 cargo test -p bitgrain-nn --test checkpoints mutations::` runs longer than every test run does.

use std::fs;
use std::path::PathBuf;

use bitgrain_nn::ModelFile;
use serde_json::Value;

use crate::vectors;

/// Boundary values for counts, shapes and offsets.
const NUMBERS: [i64; 16] = [0, 1, 2, 3, 5, 7, 16, 31, 33, 64, 255, -1, 1 << 31, 1 << 32, (1 << 53) + 1, i64::MAX];

/// Dtypes of safetensors and values of configurations.
const STRINGS: [&str; 24] = [
    "I32",
    "U8",
    "I8",
    "F8_E4M3",
    "F8_E8M0",
    "F16",
    "F32",
    "I64",
    "BOOL",
    "F64",
    "gptq",
    "gptq_v2",
    "awq",
    "gemm",
    "group",
    "channel",
    "tensor",
    "block",
    "float",
    "int",
    "NVFP4",
    "FP8",
    "",
    "auto_round",
];

/// A reproducible source of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (limit.max(1) as u64)).expect("small")
    }
}

/// Changes one value of a document: a number, a string, or an entry that disappears or changes its name.
fn change(random: &mut Random, value: &mut Value) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            let key = entries.keys().nth(random.below(entries.len())).expect("below the length").clone();
            match random.below(24) {
                0 => drop(entries.remove(&key)),
                1 => {
                    let entry = entries.remove(&key).expect("there");
                    entries.insert(format!("{key}x"), entry);
                }
                2 => drop(entries.insert(key, Value::Null)),
                _ => change(random, &mut entries[&key]),
            }
        }
        Value::Array(items) if !items.is_empty() => match random.below(12) {
            0 => drop(items.pop()),
            1 => items.push(1.into()),
            2 => items.reverse(),
            _ => {
                let at = random.below(items.len());
                change(random, &mut items[at]);
            }
        },
        Value::Number(number) => {
            let old = number.as_i64().unwrap_or(0);
            *value = match random.below(4) {
                0 => (old + 1).into(),
                1 => (old - 1).into(),
                2 => (old / 2).into(),
                _ => NUMBERS[random.below(NUMBERS.len())].into(),
            };
        }
        Value::Bool(flag) => *flag = !*flag,
        _ => *value = STRINGS[random.below(STRINGS.len())].into(),
    }
}

#[test]
fn any_change_gives_values_or_a_typed_error() {
    let count = std::env::var("BITGRAIN_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(1000_u32);
    let entries = fs::read_dir(vectors()).expect("golden files").map(|entry| entry.expect("readable").path());
    let mut cases: Vec<PathBuf> = entries.filter(|path| path.join("expected.safetensors").is_file()).collect();
    cases.sort();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let folder = tempfile::tempdir().expect("temporary directory");
    let (mut refused, mut decoded) = (0, 0);
    for _ in 0..count {
        let case = &cases[random.below(cases.len())];
        let mut config: Value =
            serde_json::from_slice(&fs::read(case.join("config.json")).expect("golden")).expect("JSON");
        let bytes = fs::read(case.join("model.safetensors")).expect("golden");
        let header = 8 + usize::try_from(u64::from_le_bytes(*bytes.first_chunk().expect("long"))).expect("small");
        let mut json: Value = serde_json::from_slice(&bytes[8..header]).expect("golden");
        let mut data = bytes[header..].to_vec();
        match random.below(4) {
            0 => change(&mut random, &mut config["quantization_config"]),
            1 => change(&mut random, &mut json),
            2 => {
                change(&mut random, &mut json);
                change(&mut random, &mut config["quantization_config"]);
            }
            _ => {
                for _ in 0..=random.below(8) {
                    let (at, byte) = (random.below(data.len()), random.below(256));
                    data[at] = if random.below(2) == 0 { 0xFF } else { u8::try_from(byte).expect("below 256") };
                }
            }
        }
        let json = json.to_string();
        let file = [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &data].concat();
        fs::write(folder.path().join("config.json"), config.to_string()).expect("writable");
        fs::write(folder.path().join("model.safetensors"), file).expect("writable");
        let read = ModelFile::open(folder.path()).and_then(|model| {
            model.tensors().iter().try_for_each(|tensor| {
                let values = tensor.values()?;
                assert_eq!(values.len() as u64, tensor.elements(), "{} in {}", tensor.name, case.display());
                Ok(())
            })
        });
        match read {
            Ok(()) => decoded += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(refused > count / 8 && decoded > count / 8, "{refused} refused, {decoded} decoded");
}
