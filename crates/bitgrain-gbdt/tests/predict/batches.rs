//! Batches of every size give the same predictions as single rows.

use bitgrain_gbdt::feature::Features;
use bitgrain_gbdt::model::{Comparison, Model};
use bitgrain_gbdt::predict::Predictor;

use crate::random::{self, Kind, Random};
use crate::{bits, on_threads};

const MOST: usize = 2000;

/// Models of trees with a given number of leaves.
fn model(leaves: &[usize]) -> Model {
    let mut random = Random::new(leaves.len() as u64);
    let mut model = random::model(&mut random, Kind::Plain, Comparison::F32, 1, 0);
    model.trees =
        leaves.iter().map(|&leaves| random::grown(&mut random, Kind::Plain, &model, leaves, Random::below)).collect();
    model
}

#[test]
fn predictions_do_not_depend_on_the_batch_size() {
    let shapes: [(&str, &[usize]); 4] =
        [("no trees", &[]), ("no splits", &[1, 1]), ("stumps", &[2, 2]), ("mixed", &[1, 7, 2, 300])];
    for (what, leaves) in shapes {
        let model = model(leaves);
        let predictor = Predictor::new(&model).expect("a model");
        let n_features = model.inputs.len();
        let rows = random::rows(&mut Random::new(7), &model, MOST);
        let one = |row: &[f64]| {
            let mut out = [0.0];
            predictor.row_raw(row, &mut out).expect("same number of features");
            out[0]
        };
        let alone: Vec<f64> = rows.chunks(n_features).map(one).collect();
        for threads in [1, 2] {
            on_threads(threads, || {
                for n_rows in 1..=MOST {
                    let batch = &rows[..n_rows * n_features];
                    let features = Features::row_major(batch, n_rows, n_features).expect("complete rows");
                    let raw = predictor.raw(&features).expect("same number of features");
                    assert!(bits(&raw) == bits(&alone[..n_rows]), "{what}: {n_rows} rows on {threads} threads");
                }
            });
        }
    }
}
