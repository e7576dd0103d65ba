//! `bitgrain inspect`.

use std::fs;

use crate::made::{at, folder, gguf, json, printed, quantized, refused, safetensors, two_layers, values};

#[test]
fn a_model_is_listed_with_totals() {
    let folder = folder("inspect_listed");
    let (model, small) = (at(&folder, "a.safetensors"), at(&folder, "b.safetensors"));
    two_layers(&model);
    quantized(&model, &small, "int4/32");
    let said = printed(&["inspect", &small]);
    for part in [
        "safetensors\n",
        "3 tensors, 832 weights in 736 bytes (736 B), 7.08 bits per weight", // 768 half-bytes, 24 scales, 64 floats
        "format  pt",
        "| layer.0.weight | 8 x 64 | int4/32 |   320 |        5.00 |",
        "| int4/32 |       2 |     768 |   480 |        5.00 |",
        "| float32 |       1 |      64 |   256 |       32.00 |",
    ] {
        assert!(said.contains(part), "`{part}` is not in\n{said}");
    }
    let report = json(&["inspect", &small, "--json"]);
    assert_eq!((report["weights"].as_u64(), report["bytes"].as_u64()), (Some(832), Some(736)));
    assert_eq!(report["metadata"]["format"], "pt");
    assert_eq!(report["storages"][0]["storage"], "int4/32");
    assert_eq!(report["tensors"].as_array().map(Vec::len), Some(3));
}

#[test]
fn long_metadata_takes_one_line_and_cannot_move_the_cursor() {
    let folder = folder("inspect_gguf");
    let model = at(&folder, "a.gguf");
    gguf(&model);
    let said = printed(&["inspect", &model]);
    assert!(said.starts_with("GGUF version 3\n"), "{said}");
    assert!(said.contains("[151936 strings] \"token 0\", \"token 1\", "), "{said}");
    assert!(said.contains(r"line one\nline two \u{1b}[31m"), "{said}");
    assert!(said.lines().count() < 30 && said.lines().all(|line| line.chars().count() < 120), "{said}");
    let report = json(&["inspect", &model, "--json"]);
    assert_eq!(report["version"], 3);
    assert_eq!(report["metadata"]["tokenizer.ggml.tokens"].as_array().map(Vec::len), Some(151_936));
}

#[test]
fn one_tensor_shows_its_values() {
    let folder = folder("inspect_tensor");
    let model = at(&folder, "a.safetensors");
    let mut odd = values(62, 5);
    odd.extend([f32::NAN, 0.0]);
    safetensors(&model, &[("w", &[2, 32], odd), ("flat", &[3], vec![0.5; 3]), ("none", &[0], vec![])]);
    let said = printed(&["inspect", &model, "w"]);
    for part in ["shape      2 x 32", "values     64", "zeros      1", "not finite 1", "logarithmic", "█"] {
        assert!(said.contains(part), "`{part}` is not in\n{said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let report = json(&["inspect", &model, "w", "--json"]);
    assert_eq!(report["stats"]["non_finite"], 1);
    let bars = report["stats"]["histogram"].as_array().expect("a list");
    assert_eq!(bars.iter().filter_map(serde_json::Value::as_u64).sum::<u64>(), 63);
    assert!(printed(&["inspect", &model, "flat"]).contains("0.5000 to 0.5000"));
    assert!(printed(&["inspect", &model, "none"]).contains("values     0"));
}

#[test]
fn a_pattern_lists_some_tensors() {
    let folder = folder("inspect_pattern");
    let model = at(&folder, "a.safetensors");
    two_layers(&model);
    let said = printed(&["inspect", &model, "layer.1.*"]);
    assert!(said.contains("2 of 3 tensors") && !said.contains("layer.0.weight"), "{said}");
    assert_eq!(json(&["inspect", &model, "*.weight", "--json"])["tensors"].as_array().map(Vec::len), Some(2));
}

#[test]
fn folders_and_shards_are_one_model() {
    let folder = folder("inspect_shards");
    safetensors(&at(&folder, "one.safetensors"), &[("a", &[4], values(4, 6))]);
    safetensors(&at(&folder, "two.safetensors"), &[("b", &[2, 2], values(4, 7))]);
    let index = r#"{"metadata":{"total_size":32},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}}"#;
    fs::write(folder.join("model.safetensors.index.json"), index).expect("written");
    fs::write(folder.join("config.json"), r#"{"model_type":"bert"}"#).expect("written");
    let said = printed(&["inspect", folder.to_str().expect("UTF-8")]);
    assert!(said.contains("architecture bert") && said.contains("in 2 files") && said.contains("2 tensors, 8 weights"));
    let by_index = json(&["inspect", &at(&folder, "model.safetensors.index.json"), "--json"]);
    assert_eq!(by_index["files"].as_array().map(Vec::len), Some(2));
}

#[test]
fn numpy_arrays_are_models_too() {
    let folder = folder("inspect_npy");
    let literal = b"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n";
    let file = [b"\x93NUMPY\x01\x00", &[58, 0][..], literal, &[1, 0, 2, 0]].concat();
    fs::write(folder.join("counts.npy"), file).expect("written");
    let said = printed(&["inspect", &at(&folder, "counts.npy")]);
    assert!(said.contains("npy version 1") && said.contains("| counts | 2     | i16 "), "{said}");
    assert!(printed(&["inspect", &at(&folder, "counts.npy"), "counts"]).contains("1.000 to 2.000"));
}

#[test]
fn unreadable_files_are_errors_not_panics() {
    let folder = folder("inspect_bad");
    let (model, cut, words, blocks) =
        (at(&folder, "a.safetensors"), at(&folder, "cut.safetensors"), at(&folder, "a.txt"), at(&folder, "a.gguf"));
    two_layers(&model);
    gguf(&blocks);
    fs::write(&words, "once upon a time there was no model\n").expect("written");
    assert!(refused(&["inspect", &at(&folder, "missing.gguf")]).contains("missing.gguf: "));
    assert!(refused(&["inspect", &words]).contains("unknown model format"));
    assert!(refused(&["inspect", folder.to_str().expect("UTF-8")]).contains("no weights found"));
    let nearest = refused(&["inspect", &model, "layer.0.wait"]);
    assert!(nearest.contains("unknown tensor `layer.0.wait`; did you mean `layer.0.weight`?"), "{nearest}");
    assert!(refused(&["inspect", &model, "nothing.*"]).contains("unknown tensor `nothing.*`"));
    assert!(refused(&["inspect", &blocks, "blk.0.attn_k.weight"]).contains("cannot dequantize q8_k"));
    let whole = fs::read(&model).expect("there");
    for len in [0, 3, 8, 20, whole.len() - 1] {
        fs::write(&cut, &whole[..len]).expect("written");
        assert!(refused(&["inspect", &cut]).contains("cut.safetensors"), "{len}");
    }
}

#[test]
fn values_far_from_zero_have_ends_that_differ() {
    let folder = folder("inspect_far");
    let model = at(&folder, "a.safetensors");
    let far: Vec<f32> = values(4096, 9).iter().map(|x| 10_000.0 + 0.03 * x).collect();
    safetensors(&model, &[("far", &[64, 64], far)]);
    let said = printed(&["inspect", &model, "far"]);
    let line = |key: &str| said.lines().find_map(|line| line.trim().strip_prefix(key)).map(str::trim).expect("a line");
    let (low, high) = line("range").split_once(" to ").expect("two ends");
    let [low, mean, high] = [low, line("mean"), high].map(|text| text.parse::<f64>().expect("a number"));
    assert!(9999.9 < low && low < mean && mean < high && high < 10_000.1, "{said}");
    let axis = said.lines().last().expect("the axis").split_whitespace().collect::<Vec<_>>();
    assert!(axis.len() == 2 && axis[0] != axis[1], "{said}");
    // The sum of three uniform numbers from 0 to 1 has the variance 1/4; `values` divides it by 1.5.
    let deviation = line("deviation").parse::<f64>().expect("a number");
    assert!((deviation / 0.03 - 1.0 / 3.0).abs() < 0.02, "{said}");
}

#[test]
fn other_files_are_identified_in_the_error() {
    let folder = folder("inspect_no_model");
    let (config, empty, none) =
        (at(&folder, "config.json"), at(&folder, "empty.gguf"), at(&folder, "empty.safetensors"));
    for text in [r#"{"model_type":"bert"}"#, "[1]", "no JSON"] {
        fs::write(&config, text).expect("written");
        let said = refused(&["inspect", &config]);
        assert!(said.contains("config.json: not the index of a sharded model"), "{said}");
    }
    for file in [empty, none] {
        fs::write(&file, "").expect("written");
        assert!(refused(&["inspect", &file]).contains("the file is empty"), "{file}");
    }
}

#[test]
fn names_in_a_file_cannot_move_the_cursor() {
    let folder = folder("inspect_names");
    let model = at(&folder, "a.safetensors");
    safetensors(&model, &[("layer.0.\u{1b}[2Jweight", &[4], values(4, 1))]);
    for said in [
        printed(&["inspect", &model]),
        printed(&["inspect", &model, "layer.0.\u{1b}[2Jweight"]),
        printed(&["compare", &model, &model]),
        refused(&["inspect", &model, "layer.0.weight"]),
    ] {
        assert!(said.contains(r"layer.0.\u{1b}[2Jweight") && !said.contains('\u{1b}'), "{said}");
    }
}
