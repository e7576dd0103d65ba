//! The same file on 1, 2, 3 and 7 workers as in one process.

use bitgrain_gbdt::feature::Quantizer;
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::parameter::PerFeature;
use bitgrain_gbdt::train::{Boosting, Growth, MonotoneMethod, Params, SampleStrategy};

use crate::{Rows, Task, bytes, divisions, small};

/// Compares trainings of all divisions with that of one process.
fn check(task: &Task, rows: &Rows, valid: Option<&Rows>, name: &str) {
    let alone = task.alone(rows, valid);
    let splits: usize = alone.model.trees.iter().map(|tree| tree.splits.len()).sum();
    assert!(splits > 5, "{name}: {splits} splits");
    let n_rows = rows.targets.len();
    for (division, of_valid) in divisions(n_rows).into_iter().zip(divisions(valid.map_or(0, |v| v.targets.len()))) {
        let shards: Vec<Rows> = division.iter().map(|part| rows.part(part.clone())).collect();
        let valid: Option<Vec<Rows>> =
            valid.map(|valid| of_valid.iter().map(|part| valid.part(part.clone())).collect());
        for training in task.on(&shards, valid.as_deref()) {
            let training = training.unwrap_or_else(|error| panic!("{name}, {} workers: {error}", shards.len()));
            assert_eq!(training.history, alone.history, "{name}, {} workers", shards.len());
            assert!(training == alone, "{name}, {} workers", shards.len());
            assert!(bytes(&training.model) == bytes(&alone.model), "{name}, {} workers", shards.len());
        }
    }
}

#[test]
fn every_growth_and_precision() {
    let rows = Rows::new(3000);
    for precision in [GradientPrecision::Pair8, GradientPrecision::Pair4] {
        for growth in [Growth::LeafWise, Growth::DepthWise, Growth::Symmetric] {
            for stochastic_rounding in [true, false] {
                let params = Params { growth, gradient_precision: precision, stochastic_rounding, ..small() };
                check(&Task::new(params, "squared"), &rows, None, &format!("{growth:?} {precision}"));
            }
        }
    }
}

#[test]
fn large_nodes_and_several_threads() {
    // More rows than any chunk, and a sample of rows for the cuts.
    let rows = Rows::new(40_000).weighted();
    let quantizer = Quantizer::default().with_sample_rows(7000).expect("a valid number");
    let params = Params { n_estimators: 2, num_leaves: 63, ..small() };
    check(&Task { quantizer, ..Task::new(params, "squared") }, &rows, None, "large");
}

#[test]
fn every_objective() {
    let rows = Rows::new(1500);
    for name in ["squared", "absolute", "huber", "quantile:0.8", "poisson", "gamma", "tweedie:1.5"] {
        check(&Task::new(small(), name), &rows, None, name);
        check(&Task::new(small(), name), &rows.clone().weighted(), None, &format!("weighted {name}"));
    }
    let classes = rows.clone().with_targets(|target| f32::from(target > 1.5));
    check(&Task::new(small(), "binary"), &classes, None, "binary");
    let classes = rows.with_targets(|target| target.floor().min(2.0));
    check(&Task::new(small(), "multiclass:3"), &classes, None, "multiclass");
}

#[test]
fn samples_of_rows_and_features() {
    let rows = Rows::new(3000);
    let bagging = Params { subsample: 0.6, subsample_freq: 2, colsample_bytree: 0.7, colsample_bynode: 0.8, ..small() };
    check(&Task::new(bagging, "squared"), &rows, None, "bagging");
    let goss = Params {
        data_sample_strategy: SampleStrategy::Goss,
        learning_rate: 0.5,
        top_rate: 0.2,
        other_rate: 0.2,
        ..small()
    };
    check(&Task::new(goss, "squared"), &rows, None, "goss");
}

#[test]
fn dropout_of_trees_and_random_forests() {
    let (rows, valid) = (Rows::new(2000), Rows::new(500));
    let dart = Params { boosting: Boosting::Dart, drop_rate: 0.4, skip_drop: 0.0, ..small() };
    check(&Task::new(dart.clone(), "squared"), &rows, Some(&valid), "dart");
    check(&Task::new(Params { subsample: 0.6, ..dart }, "squared"), &rows, None, "dart with a sample");
    let forest = Params { boosting: Boosting::Rf, subsample: 0.6, ..small() };
    check(&Task::new(forest, "squared"), &rows, Some(&valid), "forest");
}

#[test]
fn constraints() {
    let rows = Rows::new(2000);
    for method in [MonotoneMethod::Basic, MonotoneMethod::Intermediate, MonotoneMethod::Advanced] {
        let monotone_constraints = PerFeature::Listed(vec![1, 0, -1, 0, 0]);
        let params = Params { monotone_constraints_method: method, monotone_constraints, ..small() };
        check(&Task::new(params, "squared"), &rows, None, &format!("{method:?}"));
    }
    let params = Params { max_delta_step: 0.3, path_smooth: 2.0, extra_trees: true, ..small() };
    check(&Task::new(params, "squared"), &rows, None, "smooth");
}

#[test]
fn metrics_and_early_stopping() {
    let rows = Rows::new(2500).weighted().with_targets(|target| f32::from(target > 1.5));
    let valid = rows.part(1700..2500);
    let rows = rows.part(0..1700);
    let params = Params { n_estimators: 40, learning_rate: 0.9, early_stopping_rounds: Some(3), ..small() };
    let task = Task { metrics: &["auc", "logloss", "average_precision"], ..Task::new(params, "binary") };
    assert!(task.alone(&rows, Some(&valid)).model.trees.len() < 30, "early stopping");
    check(&task, &rows, Some(&valid), "early stopping");
}

#[test]
fn metrics_on_training_rows() {
    let rows = Rows::new(1200).with_targets(|target| target.floor().min(2.0));
    let task = Task { metrics: &["multi_logloss", "multi_error"], ..Task::new(small(), "multiclass:3") };
    check(&task, &rows, None, "training metrics");
}

#[test]
fn ranking_with_whole_queries() {
    let mut rows = Rows::new(1000).with_targets(|target| target.floor().min(3.0));
    let mut left = 1000;
    let sizes = std::iter::from_fn(|| {
        let size = (7 + left % 11).min(left);
        left -= size;
        (size > 0).then_some(size)
    });
    rows.sizes = Some(sizes.collect());
    let task = Task { metrics: &["ndcg"], ..Task::new(small(), "lambdarank") };
    let alone = task.alone(&rows, None);
    let sizes = rows.sizes.clone().expect("set above");
    let end_of = |queries: usize| sizes[..queries].iter().sum::<usize>();
    let (a, b) = (end_of(20), end_of(50));
    let shards = [rows.part(0..a), rows.part(a..a), rows.part(a..b), rows.part(b..1000)];
    for training in task.on(&shards, None) {
        assert!(training.expect("valid queries") == alone);
    }
}
