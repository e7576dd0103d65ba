//! Checkpoints: training that continues with fewer workers gives the same file as an uninterrupted run.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;

use bitgrain_gbdt::distributed::{Communicator, LocalGroup};
use bitgrain_gbdt::model::Model;
use bitgrain_gbdt::train::{Checkpoint, Params, TrainError};

use crate::{Rows, Task, bytes, small};

/// Divides validation rows like training rows.
fn half(rows: &Range<usize>) -> Range<usize> {
    rows.start / 2..rows.end / 2
}

#[test]
fn a_checkpoint_goes_on_with_fewer_workers() {
    let rows = Rows::new(1500).with_targets(|target| f32::from(target > 1.5));
    let (valid, rows) = (rows.part(1000..1500), rows.part(0..1000));
    let params = Params { n_estimators: 9, subsample: 0.7, subsample_freq: 1, ..small() };
    for patience in [None, Some(3)] {
        let params = Params { early_stopping_rounds: patience, learning_rate: 0.6, ..params.clone() };
        let task = Task { metrics: &["logloss"], ..Task::new(params, "binary") };
        let alone = task.alone(&rows, Some(&valid));
        let kept: Mutex<Vec<Checkpoint>> = Mutex::default();
        let three = [0..300, 300..700, 700..1000];
        let first = LocalGroup::run(3, |group| -> Result<(), TrainError> {
            let own = &three[group.rank()];
            let mut data = rows.part(own.clone()).shard(group, &task.quantizer)?;
            let valid = valid.part(half(own)).like(&data);
            let trainer = task.trainer().valid(&valid).distributed(group).on_round(|round| {
                if group.rank() == 0 && round.index % 2 == 1 {
                    kept.lock().expect("no panic").push(round.checkpoint());
                }
                ControlFlow::Continue(())
            });
            trainer.train(&mut data).map(drop)
        });
        first.into_iter().for_each(|result| result.expect("valid"));
        let kept = kept.into_inner().expect("no panic");
        assert!(!kept.is_empty());
        for checkpoint in kept {
            // Through a file, as after a crash.
            let model = Model::from_bytes(&bytes(&checkpoint.to_model())).expect("a written model");
            let checkpoint = Checkpoint::from_model(model).expect("a checkpoint");
            let all = 0..1000;
            for division in [vec![all], vec![0..900, 900..1000]] {
                let trained = LocalGroup::run(division.len(), |group| {
                    let own = rows.part(division[group.rank()].clone());
                    let own_valid = valid.part(half(&division[group.rank()]));
                    let data = own.shard(group, &task.quantizer)?;
                    let valid = own_valid.like(&data).start_from(checkpoint.model(), &own_valid.features())?;
                    let mut data = data.start_from(checkpoint.model(), &own.features())?;
                    task.trainer().valid(&valid).distributed(group).resume(&checkpoint).train(&mut data)
                });
                for training in trained {
                    let training = training.expect("valid");
                    assert!(training == alone, "{} rounds", checkpoint.rounds());
                    assert!(bytes(&training.model) == bytes(&alone.model));
                }
            }
        }
    }
}
