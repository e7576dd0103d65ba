//! A worker that fails: every worker ends with the same error, and none waits.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use bitgrain_gbdt::distributed::{Communicator, LocalGroup};
use bitgrain_gbdt::feature::Quantizer;
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::train::{Params, TrainError, Training};

use crate::{Rows, Task, small};

fn same_error(results: Vec<Result<Training, TrainError>>) -> String {
    let errors: Vec<String> = results.into_iter().map(|result| result.expect_err("a failure").to_string()).collect();
    assert!(errors.windows(2).all(|pair| pair[0] == pair[1]), "{errors:?}");
    errors.into_iter().next().unwrap_or_default()
}

#[test]
fn an_invalid_shard_ends_every_worker() {
    let rows = Rows::new(900);
    let mut shards = [rows.part(0..300), rows.part(300..600), rows.part(600..900)];
    shards[1].targets[7] = -1.0;
    let error = same_error(Task::new(small(), "poisson").on(&shards, None));
    assert!(error.starts_with("worker 1 failed: target -1 of row 7"), "{error}");
}

#[test]
fn a_gradient_is_reported_with_the_row_of_all_workers() {
    let rows = Rows::new(900);
    let mut shards = [rows.part(0..300), rows.part(300..900)];
    // The base score is between the two targets, and the difference times the weight is infinite in f32.
    shards[1].weights = Some(vec![1.0; 600]);
    shards[0].weights = Some(vec![1.0; 300]);
    for (row, target) in [(5, -3e38), (6, 3e38)] {
        shards[1].weights.as_mut().expect("set above")[row] = 1e30;
        shards[1].targets[row] = target;
    }
    let error = same_error(Task::new(small(), "squared").on(&shards, None));
    assert!(error.contains("row 305"), "{error}");
}

#[test]
fn float_gradients_are_refused() {
    let rows = Rows::new(400);
    for gradient_precision in [GradientPrecision::F32, GradientPrecision::Auto] {
        let params = Params { gradient_precision, ..small() };
        let shards = [rows.part(0..100), rows.part(100..400)];
        let error = same_error(Task::new(params, "squared").on(&shards, None));
        assert!(error.contains("sums of floats depend on their order"), "{error}");
    }
}

#[test]
fn a_worker_that_stops_ends_the_others_after_the_same_round() {
    let rows = Rows::new(600);
    let task = Task::new(small(), "squared");
    let trained = LocalGroup::run(3, |group| {
        let mut data = rows.part(group.rank() * 200..(group.rank() + 1) * 200).shard(group, &Quantizer::default())?;
        let stops = |round: usize| group.rank() == 2 && round == 1;
        let trainer = task.trainer().distributed(group);
        let call = |index| if stops(index) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        trainer.on_round(|round| call(round.index)).train(&mut data)
    });
    for training in trained {
        assert_eq!(training.expect("valid").model.trees.len(), 2);
    }
}

#[test]
fn a_worker_that_vanishes_ends_the_others_at_once() {
    let rows = Rows::new(600);
    let task = Task::new(Params { n_estimators: 100_000, ..small() }, "squared");
    let start = Instant::now();
    let results = LocalGroup::run(3, |group| {
        let mut data = rows.part(group.rank() * 200..(group.rank() + 1) * 200).shard(group, &Quantizer::default())?;
        let trainer = task.trainer().distributed(group);
        // In the middle of the collective operations of a round.
        let trainer = trainer.on_round(|round| {
            if group.rank() == 1 && round.index == 2 {
                group.fail("the machine lost power");
            }
            ControlFlow::Continue(())
        });
        trainer.train(&mut data)
    });
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(same_error(results), "worker 1 failed: the machine lost power");
}

#[test]
fn other_arguments_are_refused() {
    let rows = Rows::new(400);
    let results = LocalGroup::run(2, |group| {
        let mut data = rows.part(group.rank() * 200..(group.rank() + 1) * 200).shard(group, &Quantizer::default())?;
        let params = Params { num_leaves: 15 + group.rank(), ..small() };
        Task::new(params, "squared").trainer().distributed(group).train(&mut data)
    });
    assert!(same_error(results).contains("worker 1 has different arguments from worker 0"));
}
