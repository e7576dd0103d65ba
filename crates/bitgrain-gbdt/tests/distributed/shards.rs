//! Shards that differ: dictionaries, f64 values, weights, features.

use std::sync::Arc;

use bitgrain_gbdt::distributed::{self, Communicator, LocalGroup, Shard};
use bitgrain_gbdt::feature::{Features, Quantizer, Schema};
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::train::{Dataset, Trainer};

use crate::{bytes, share, small};

/// Category and target of each row.
fn cities(n_rows: usize) -> (Vec<String>, Vec<f32>) {
    let index = |row: usize| (share(row, 0) * 30.0 + if row > n_rows / 2 { 15.0 } else { 0.0 }).floor();
    let target = |row: usize| (index(row) * 13.0 % 7.0) + share(row, 1);
    ((0..n_rows).map(|row| format!("city {}", index(row))).collect(), (0..n_rows).map(target).collect())
}

/// Codes of strings, with the dictionary in either order.
fn coded(words: &[String], reversed: bool) -> (Vec<f32>, Vec<String>) {
    let mut labels = words.to_vec();
    labels.sort_unstable();
    labels.dedup();
    if reversed {
        labels.reverse();
    }
    let code = |word: &String| labels.iter().position(|label| label == word).expect("a label") as f32;
    (words.iter().map(code).collect(), labels.clone())
}

fn schema(labels: Vec<String>) -> Arc<Schema> {
    Arc::new(Schema::new(vec!["city".into()]).and_then(|schema| schema.with_labels(0, labels)).expect("one feature"))
}

#[test]
fn dictionaries_differ() {
    let (words, targets) = cities(1200);
    let (codes, labels) = coded(&words, false);
    let features = Features::column_major(&codes[..], 1200, 1).expect("a column").with_schema(schema(labels));
    let mut data =
        Dataset::new(&features.expect("one feature"), targets.clone(), None, &Quantizer::default()).expect("valid");
    let objective = || by_name("squared").expect("a known name");
    let alone = Trainer::new(small(), objective()).train(&mut data).expect("valid").model;
    let shards = [0..300, 300..300, 300..900, 900..1200];
    let models = LocalGroup::run(4, |group| {
        let rows = shards[group.rank()].clone();
        if rows.is_empty() {
            let mut data = distributed::dataset(group, Shard::empty(), &Quantizer::default())?;
            return Trainer::new(small(), objective()).distributed(group).train(&mut data);
        }
        let (codes, labels) = coded(&words[rows.clone()], group.rank() == 2);
        let features = Features::column_major(&codes[..], rows.len(), 1)?.with_schema(schema(labels))?;
        let shard = Shard::new(&features, targets[rows].to_vec(), None);
        let mut data = distributed::dataset(group, shard, &Quantizer::default())?;
        Trainer::new(small(), objective()).distributed(group).train(&mut data)
    });
    for model in models {
        assert!(bytes(&model.expect("valid").model) == bytes(&alone));
    }
}

#[test]
fn f64_values_and_targets() {
    // Identifiers that f32 merges, timestamps with fractions, numbers that f32 holds, two values.
    let n_rows = 2000;
    let value = |row: usize, column: u64| match column {
        0 => 1e9 + f64::from(share(row, 0) * 3000.0).floor(),
        1 => 1.7e12 + f64::from(share(row, 1)) * 100.0,
        2 => f64::from(share(row, 2)) + 1e-9,
        _ => 1e9 + f64::from(share(row, 3) * 2.0).floor(),
    };
    let values: Vec<f64> = (0..n_rows).flat_map(|row| (0..4).map(move |column| value(row, column))).collect();
    let target =
        |row: usize| 1e8 + value(row, 0) - 1e9 + f64::from(share(row, 2)) * 3.0 + value(row, 3) - 1e9 + 1.0 / 3.0;
    // The targets of the first rows are exact in f32.
    let targets: Vec<f64> = (0..n_rows).map(|row| if row < 100 { target(row).round() } else { target(row) }).collect();
    let quantizer = Quantizer::default().with_sample_rows(900).expect("a valid number");
    let features = Features::row_major(&values[..], n_rows, 4).expect("complete rows");
    let mut data = Dataset::new(&features, targets.clone(), None, &quantizer).expect("valid");
    assert!([0, 1, 3].map(|feature| data.cuts().precise_cuts(feature).is_some()) == [true; 3], "f64 cuts");
    let objective = || by_name("squared").expect("a known name");
    let alone = Trainer::new(small(), objective()).train(&mut data).expect("valid").model;
    let shards = [0..100, 100..700, 700..n_rows];
    let models = LocalGroup::run(3, |group| {
        let rows = shards[group.rank()].clone();
        let features = Features::row_major(&values[rows.start * 4..rows.end * 4], rows.len(), 4)?;
        let shard = Shard::new(&features, targets[rows].to_vec(), None);
        let mut data = distributed::dataset(group, shard, &quantizer)?;
        assert!(data.cuts() == alone_cuts(&values, &targets, &quantizer).cuts());
        Trainer::new(small(), objective()).distributed(group).train(&mut data)
    });
    for model in models {
        assert!(bytes(&model.expect("valid").model) == bytes(&alone));
    }
}

fn alone_cuts(values: &[f64], targets: &[f64], quantizer: &Quantizer) -> Dataset {
    let features = Features::row_major(values, targets.len(), 4).expect("complete rows");
    Dataset::new(&features, targets.to_vec(), None, quantizer).expect("valid")
}

#[test]
fn shards_of_different_tables_are_refused_on_every_worker() {
    let errors = |names: [&str; 2], weights: [Option<Vec<f32>>; 2]| {
        LocalGroup::run(2, |group| {
            let features =
                Features::column_major(&[1.0_f32, 2.0][..], 2, 1)?.with_names(vec![names[group.rank()].into()])?;
            let shard = Shard::new(&features, vec![0.0_f32, 1.0], weights[group.rank()].clone());
            distributed::dataset(group, shard, &Quantizer::default())
        })
        .into_iter()
        .map(|result| result.expect_err("the shards differ").to_string())
        .collect::<Vec<_>>()
    };
    let found = errors(["size", "weight"], [None, None]);
    assert_eq!(found[0], found[1]);
    assert!(found[0].contains("worker 1 has different features from worker 0: `size` and `weight`"), "{}", found[0]);
    let found = errors(["size", "size"], [None, Some(vec![1.0, 2.0])]);
    assert_eq!(found[0], found[1]);
    assert!(found[0].contains("only some workers have weights"), "{}", found[0]);
}
