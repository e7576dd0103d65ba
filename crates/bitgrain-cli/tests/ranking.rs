//! Ranking on the command line: queries of CSV, Parquet and libsvm files.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn bitgrain(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    command.current_dir(folder).args(arguments.split_whitespace()).output().expect("the binary runs")
}

fn json(folder: &Path, arguments: &str) -> Value {
    let output = bitgrain(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn error(folder: &Path, arguments: &str) -> String {
    let output = bitgrain(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// Writes the same queries as CSV and as libsvm, with ids that f32 does not distinguish.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = fastrand::Rng::with_seed(1);
    let (mut csv, mut libsvm) = ("query,position,f0,f1,f2,relevance\n".to_owned(), String::new());
    for query in 0..80 {
        for position in 0..random.usize(3..25) {
            let [a, b] = [random.f32(), random.f32()];
            let relevance = ((a * b + random.f32() * 0.2) * 4.0).floor();
            let id = 16_777_216_u64 + query;
            writeln!(csv, "{id},{position},0,{a},{b},{relevance}").expect("in memory");
            writeln!(libsvm, "{relevance} qid:{id} 1:{a} 2:{b}").expect("in memory");
        }
    }
    std::fs::write(folder.path().join("a.csv"), csv).expect("written");
    std::fs::write(folder.path().join("a.libsvm"), libsvm).expect("written");
    folder
}

#[test]
fn csv_and_libsvm_files_give_the_same_trees() {
    let folder = folder();
    let folder = folder.path();
    let by_column = json(
        folder,
        "train a.csv --target relevance --group query --ignore position --model a.bitgrain --rounds 20 --metric ndcg@5,map --json",
    );
    let by_qid =
        json(folder, "train a.libsvm --objective lambdarank --model b.bitgrain --rounds 20 --metric ndcg@5,map --json");
    assert_eq!(by_column["objective"], "lambdarank");
    assert_eq!(by_column["reason"], "`query` holds queries");
    assert_eq!(by_column["metrics"], by_qid["metrics"]);
    assert!(by_column["metrics"][0]["value"].as_f64().expect("a number") > 0.8);
    assert_eq!(by_column["features"], 3);
    let predicted = |model: &str, data: &str| bitgrain(folder, &format!("predict {model} {data}")).stdout;
    assert_eq!(predicted("a.bitgrain", "a.csv"), predicted("b.bitgrain", "a.libsvm"));
}

#[test]
fn queries_are_never_divided() {
    let folder = folder();
    let folder = folder.path();
    let options = "--target relevance --group query --rounds 5 --json";
    let held =
        json(folder, &format!("train a.csv {options} --ignore position --model a.bitgrain --valid-fraction 0.25"));
    let metric = &held["metrics"][0];
    assert_eq!((&metric["data"], &metric["name"]), (&"valid".into(), &"ndcg@10".into()));
    let folds =
        json(folder, "cv a.libsvm --objective rank:ndcg --rounds 5 --folds 4 --metric ndcg@3,mrr,recall@2 --json");
    assert_eq!(folds["metrics"][1]["folds"].as_array().expect("folds").len(), 4);
    let said = error(folder, "cv a.libsvm --objective rank:ndcg --folds 81");
    assert!(said.contains("invalid folds: `81`; use an integer from 2 to the number of queries, 80"), "{said}");
}

#[test]
fn positions_and_ranking_parameters_are_options() {
    let folder = folder();
    let folder = folder.path();
    let model = |more: &str| {
        let train = format!("train a.csv --target relevance --group query --model m.bitgrain --rounds 5 --json {more}");
        json(folder, &train);
        std::fs::read(folder.join("m.bitgrain")).expect("written")
    };
    let plain = model("--ignore position");
    for more in [
        "--position position",
        "--ignore position --lambdarank-truncation-level 2",
        "--ignore position --lambdarank_norm false",
        "--ignore position --lambdarank-sigmoid 3",
        "--ignore position --label-gain 0,1,2,3,4",
        "--ignore position --objective rank_xendcg",
        "--ignore position --objective rank:pairwise",
    ] {
        assert_ne!(model(more), plain, "{more}");
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let folder = folder();
    let folder = folder.path();
    std::fs::write(folder.join("apart.csv"), "q,x,y\n1,1,0\n2,2,1\n1,3,2\n").expect("written");
    std::fs::write(folder.join("labels.csv"), "q,x,y\n1,1,0\n1,2,-1\n").expect("written");
    for (arguments, message) in [
        (
            "train a.csv --target relevance --objective lambdarank",
            "missing queries: `lambdarank` ranks the rows of a query; name their column with --group",
        ),
        ("train apart.csv --target y --group q", "column `q`: rows of query `1` are not adjacent: row 2 (0-based)"),
        ("train labels.csv --target y --group q", "label -1 of row 1 (0-based) is not a relevance label"),
        ("train a.csv --target relevance --group nowhere", "nowhere"),
        ("train a.csv --target relevance --position position", "--group"),
        ("train a.csv --target relevance --group query --position f1", "column `f1`: position"),
        ("train a.csv --target relevance --group query --label-gain 3,1", "invalid label_gain: `3,1`"),
        ("train a.csv --target relevance --group query --metric ndcg@0", "invalid parameter `0` of metric `ndcg`"),
        ("train a.csv --target relevance --objective squared --metric ndcg", "missing queries: `ndcg`"),
    ] {
        let said = error(folder, &format!("{arguments} --model m.bitgrain"));
        assert!(said.contains(message), "{arguments}: {said}");
    }
}
