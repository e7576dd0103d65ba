//! `bitgrain embed` with a small random model.

use std::fs;
use std::path::Path;

use crate::made::{at, folder, json, printed, refused, values};

const SIZE: usize = 32;
const VOCABULARY: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ndog\n##s\nrun\n.\n";

/// Writes a BERT model without blocks: embeddings and a layer norm.
fn model(name: &str) -> String {
    let folder = folder(name);
    let config = serde_json::json!({
        "model_type": "bert", "hidden_size": SIZE, "intermediate_size": SIZE, "num_attention_heads": 1,
        "num_hidden_layers": 0, "max_position_embeddings": 8, "vocab_size": 10,
    });
    fs::write(folder.join("config.json"), config.to_string()).expect("a file");
    fs::write(folder.join("vocab.txt"), VOCABULARY).expect("a file");
    let tensors = [("word_embeddings", 10), ("position_embeddings", 8), ("token_type_embeddings", 2), ("LayerNorm", 1)];
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    let mut add = |name: String, shape: Vec<usize>, seed: u64| {
        let start = data.len();
        data.extend(values(shape.iter().product(), seed).iter().flat_map(|value| value.to_le_bytes()));
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(format!("embeddings.{name}"), entry);
    };
    for (seed, (name, rows)) in (1..).zip(tensors) {
        add(format!("{name}.weight"), if rows == 1 { vec![SIZE] } else { vec![rows, SIZE] }, seed);
    }
    add("LayerNorm.bias".to_owned(), vec![SIZE], 9);
    let header = serde_json::Value::Object(header).to_string();
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    fs::write(folder.join("model.safetensors"), file).expect("a file");
    folder.to_str().expect("UTF-8").to_owned()
}

#[test]
fn sentences_are_shown_with_the_most_similar_one() {
    let model = model("embed-shown");
    let shown = printed(&["embed", &model, "a dog", "a dogs run.", "a dog"]);
    assert!(shown.contains("| a dog") && shown.contains("1.0000"), "{shown}");
    assert!(shown.contains("3 sentences, 32 dimensions, float32"), "{shown}");
    assert_eq!(printed(&["embed", &model, "Dogs zebra", "--tokens"]), "2 6 7 1 3\n");
}

#[test]
fn lines_of_a_file_become_rows_of_an_array() {
    let model = model("embed-file");
    let (lines, out) = (at(Path::new(&model), "lines.txt"), at(Path::new(&model), "out.npy"));
    fs::write(&lines, "a dog\n\nrun.\n").expect("a file");
    let said = json(&["embed", &model, "--file", &lines, "--to", "q8_0", "-o", &out, "--json"]);
    assert_eq!((&said["sentences"], &said["dims"], &said["format"]), (&3.into(), &SIZE.into(), &"q8_0".into()));
    assert!(said.get("vectors").is_none());
    let array = bitgrain::nn::ModelFile::open(&out).expect("an array");
    assert_eq!(array.tensors()[0].shape, [3, SIZE as u64]);
    let direct = json(&["embed", &model, "a dog", "", "run.", "--to", "q8_0", "--json", "--threads", "1"]);
    let numbers = direct["vectors"].as_array().expect("vectors").iter().flat_map(|row| row.as_array().expect("a row"));
    #[expect(clippy::cast_possible_truncation, reason = "it was one")]
    let numbers: Vec<f32> = numbers.map(|x| x.as_f64().expect("a number") as f32).collect();
    assert_eq!(array.tensors()[0].values().expect("numbers"), numbers);
}

#[test]
fn impossible_requests_are_explained() {
    let model = model("embed-refused");
    assert!(refused(&["embed", &model, "a", "-o", "out.csv"]).contains(".npy"));
    assert!(refused(&["embed", &model, "a", "--to", "float3"]).contains("float3"));
    assert!(refused(&["embed", &model, "--file", "no-such-file"]).contains("no-such-file"));
    assert!(refused(&["embed", "no-such-folder", "a"]).contains("config.json"));
    fs::remove_file(at(Path::new(&model), "vocab.txt")).expect("it is there");
    assert!(refused(&["embed", &model, "a"]).contains("no vocabulary found"));
}
