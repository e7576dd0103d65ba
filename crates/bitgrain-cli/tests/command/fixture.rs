//! A folder with every file that the examples in the help and the guides read.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bitgrain::formats::gguf;
use bitgrain::formats::npy::f32_header;
use bitgrain::formats::safetensors::{Dtype, TensorSpec, Writer};

fn values(count: usize) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(count as u64);
    // The magnitude of weights of a trained layer.
    (0..count).map(|_| ((random.f32() + random.f32() + random.f32()) / 1.5 - 1.0) * 0.1).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn count(shape: &[u64]) -> usize {
    usize::try_from(shape.iter().product::<u64>()).expect("small")
}

fn safetensors(path: &Path, tensors: &[(&str, &[u64])]) {
    let spec = |(name, shape): &(&str, &[u64])| TensorSpec {
        name: (*name).to_owned(),
        dtype: Dtype::F32,
        shape: shape.to_vec(),
    };
    let specs: Vec<TensorSpec> = tensors.iter().map(spec).collect();
    let mut writer = Writer::new(Vec::new(), &[], &specs).expect("a header");
    specs.iter().for_each(|spec| writer.write(&bytes(&values(count(&spec.shape)))).expect("in memory"));
    fs::write(path, writer.finish().expect("complete")).expect("writable");
}

/// Writes an importance matrix for `output.weight`.
fn importances(path: &Path) {
    let spec = TensorSpec { name: "output.weight".to_owned(), dtype: Dtype::F32, shape: vec![256] };
    let mut writer = Writer::new(Vec::new(), &[], &[spec]).expect("a header");
    writer.write(&bytes(&[0.5; 256])).expect("in memory");
    fs::write(path, writer.finish().expect("complete")).expect("writable");
}

fn gguf(path: &Path) {
    let mut metadata = gguf::Metadata::default();
    metadata.set("general.architecture", "llama");
    let spec = |name: &str, dims: &[u64]| gguf::TensorSpec {
        name: name.to_owned(),
        dims: dims.to_vec(),
        kind: gguf::TensorType::F32,
    };
    let specs = [
        spec("token_embd.weight", &[256, 8]),
        spec("blk.0.attn_q.weight", &[256, 4]),
        spec("blk.0.attn_norm.weight", &[256]),
        spec("output.weight", &[256, 8]),
    ];
    let mut writer = gguf::Writer::new(Vec::new(), &metadata, &specs).expect("a header");
    specs.iter().for_each(|spec| writer.write(&bytes(&values(count(&spec.dims)))).expect("in memory"));
    fs::write(path, writer.finish().expect("complete")).expect("writable");
}

fn npy(path: &Path, shape: &[u64]) {
    fs::write(path, [f32_header(shape), bytes(&values(count(shape)))].concat()).expect("writable");
}

/// Writes a table with these columns; the last column is a function of the others.
fn csv(path: &Path, columns: &[&str], classes: bool) {
    let mut text = columns.join(",") + "\n";
    for row in 0..240_usize {
        let inputs: Vec<usize> = (0..columns.len() - 1).map(|at| row * (at * 6 + 7) % (11 + at * 4)).collect();
        let sum: usize = inputs.iter().sum();
        inputs.iter().for_each(|value| write!(text, "{value},").expect("in memory"));
        writeln!(text, "{}", if classes { sum % 2 } else { sum * 3 }).expect("in memory");
    }
    fs::write(path, text).expect("writable");
}

/// Writes queries of eight rows, as CSV and as libsvm.
fn queries(csv: &Path, libsvm: &Path) {
    let (mut table, mut sparse) = ("query,a,b,relevance\n".to_owned(), String::new());
    for row in 0..240_usize {
        let (query, a, b) = (row / 8, row * 7 % 11, row * 13 % 15);
        let relevance = (a + b) / 7;
        writeln!(table, "q{query},{a},{b},{relevance}").expect("in memory");
        writeln!(sparse, "{relevance} qid:{query} 1:{a} 2:{b}").expect("in memory");
    }
    fs::write(csv, table).expect("writable");
    fs::write(libsvm, sparse).expect("writable");
}

/// Writes a BERT model without blocks: embeddings and a layer norm.
fn sentence_model(folder: &Path) {
    fs::create_dir_all(folder).expect("writable");
    let config = serde_json::json!({
        "model_type": "bert", "hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 1,
        "num_hidden_layers": 0, "max_position_embeddings": 32, "vocab_size": 10,
    });
    fs::write(folder.join("config.json"), config.to_string()).expect("writable");
    let vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ndog\n##s\nrun\n.\n";
    fs::write(folder.join("vocab.txt"), vocabulary).expect("writable");
    safetensors(
        &folder.join("model.safetensors"),
        &[
            ("embeddings.word_embeddings.weight", &[10, 32]),
            ("embeddings.position_embeddings.weight", &[32, 32]),
            ("embeddings.token_type_embeddings.weight", &[2, 32]),
            ("embeddings.LayerNorm.weight", &[32]),
            ("embeddings.LayerNorm.bias", &[32]),
        ],
    );
}

/// Runs a command that must succeed.
pub(crate) fn run(folder: &Path, words: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    let output = command.current_dir(folder).args(words.split(' ')).output().expect("the binary runs");
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Fills the folder.
pub(crate) fn fill(folder: &Path) {
    let at = |name: &str| -> PathBuf { folder.join(name) };
    let tensors: [(&str, &[u64]); 4] =
        [("layers/0.weight", &[8, 256]), ("lm_head.weight", &[8, 256]), ("final_norm.weight", &[256]), ("7", &[16])];
    for name in ["model.safetensors", "small.safetensors"] {
        safetensors(&at(name), &tensors);
    }
    for name in ["llama-folder", "folder"] {
        fs::create_dir(at(name)).expect("writable");
        fs::copy(at("model.safetensors"), at(name).join("model.safetensors")).expect("copied");
    }
    ["model.gguf", "in.gguf", "a.gguf", "b.gguf", "f16.gguf", "q4.gguf"].iter().for_each(|name| gguf(&at(name)));
    queries(&at("search.csv"), &at("search.libsvm"));
    for (name, shape) in [
        ("mean.npy", &[64][..]),
        ("labels.npy", &[50]),
        ("matrix.npy", &[3, 64]),
        ("readings.npy", &[30, 8]),
        ("one.npy", &[8]),
        ("gaps.npy", &[5, 8]),
    ] {
        npy(&at(name), shape);
    }
    for (name, target) in [
        ("houses", "price"),
        ("this-year", "price"),
        ("new", "y"),
        ("a", "y"),
        ("train", "y"),
        ("valid", "y"),
        ("data", "price"),
    ] {
        csv(&at(&format!("{name}.csv")), &["rooms", "area", target], false);
    }
    fs::write(at("train.conf"), "# LightGBM\ntask = train\nnum_leaves = 7\n").expect("writable");
    fs::write(at("top.json"), r#"{"feature": "area", "threshold": 0.5}"#).expect("writable");
    csv(&at("clicks.csv"), &["age", "clicked"], true);
    csv(&at("rows.csv"), &["x", "z", "c", "age", "rest"], false);
    importances(&at("imatrix.safetensors"));
    fs::write(at("lines.txt"), "a dog\ndogs run.\n").expect("writable");
    sentence_model(&at("all-MiniLM-L6-v2"));
    let foreign = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/foreign_models");
    fs::copy(foreign.join("lightgbm_binary.txt"), at("lightgbm.txt")).expect("copied");
    fs::copy(foreign.join("xgboost_binary.ubj"), at("xgboost.ubj")).expect("copied");
    stores(folder);
    // Inputs of `predict` and `--continue`, which are outputs of other examples.
    run(folder, "train houses.csv --target price --model houses.bitgrain --rounds 3");
    run(folder, "train a.csv --target y --model m.bitgrain --rounds 3");
    run(folder, "train clicks.csv --target clicked --model clicks.bitgrain --rounds 3");
    run(folder, "convert-model m.bitgrain model.bitgrain");
    run(folder, "quantize model.gguf planned.gguf --budget 60MB --plan plan.json");
    fs::remove_file(at("planned.gguf")).expect("written");
    for folder in [".zfunc", ".config/fish/completions", ".local/share/bash-completion/completions"] {
        fs::create_dir_all(at(folder)).expect("writable");
    }
}

/// Creates stores, and the npz and Parquet files, which can only be exported from a store.
fn stores(folder: &Path) {
    npy(&folder.join("words.npy"), &[200, 8]);
    run(folder, "store init words.store");
    run(folder, "store import words.store words.npy");
    run(folder, "store export words.store embeddings.npz");
    run(folder, "quantize model.safetensors weights.safetensors --to float32");
    run(folder, "store export words.store weights.npz");
    for (name, columns) in [
        ("rows", &["x", "z", "c"][..]),
        ("labeled", &["y", "x", "z", "c"]),
        ("clicks", &["age", "clicked"]),
        ("features", &["u", "v"]),
    ] {
        let store = format!("{name}.store");
        run(folder, &format!("store init {store}"));
        for (at, column) in columns.iter().enumerate() {
            let file = format!("{column}.column.npy");
            let number = |row: usize| f32::from(u8::try_from(row * (at + 3) / 3 % 2).expect("small"));
            let values: Vec<f32> = (0..60).map(number).collect();
            fs::write(folder.join(&file), [f32_header(&[60]), bytes(&values)].concat()).expect("writable");
            run(folder, &format!("store put {store} {column} {file} --lossless"));
            fs::remove_file(folder.join(&file)).expect("written");
        }
        run(folder, &format!("store export {store} {name}.parquet"));
        fs::remove_dir_all(folder.join(&store)).expect("made");
    }
    fs::remove_dir_all(folder.join("words.store")).expect("made");
    run(folder, "store init vectors.store");
    run(folder, "store import vectors.store model.safetensors embeddings.npz");
    run(folder, "store put vectors.store mean mean.npy");
    run(folder, "store put vectors.store #7 mean.npy");
    run(folder, "store put vectors.store #8 mean.npy");
    run(folder, "store put vectors.store original mean.npy");
    run(folder, "store put vectors.store tuned mean.npy");
    run(folder, "embed all-MiniLM-L6-v2 --file lines.txt -o notes.npy");
    run(folder, "store init notes.store");
    run(folder, "store put notes.store lines notes.npy");
    run(folder, "store init sensors.store");
    run(folder, "store append sensors.store room readings.npy");
    ["tensors.store", "cache.store"].iter().for_each(|name| run(folder, &format!("store init {name}")));
}

/// Copies a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("readable");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("known").is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("copied");
        }
    }
}
