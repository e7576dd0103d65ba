//! Failed trainings, and the state they leave.

use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::model::Link;
use bitgrain_gbdt::objective::{Batch, GradientBatch, Objective, ObjectiveError, by_name};
use bitgrain_gbdt::train::{Params, TrainError, Trainer};

use crate::data::Made;
use crate::{dataset, on_threads, small};

const PRECISIONS: [GradientPrecision; 3] = [GradientPrecision::F32, GradientPrecision::Pair8, GradientPrecision::Pair4];

#[test]
fn zero_rows_are_rejected() {
    let made = Made::new(500, 7);
    for objective in ["squared", "multiclass:3"] {
        let mut data = dataset(&made.features(), &made.three_classes());
        let none = data.rows(&[]);
        let trainer = || {
            Trainer::new(small(), by_name(objective).expect("known name"))
                .metric(by_name(objective).expect("known name").metric())
        };
        assert!(matches!(trainer().train(&mut none.clone()), Err(TrainError::Feature(_))));
        assert!(matches!(trainer().valid(&none).train(&mut data), Err(TrainError::Feature(_))));
    }
}

#[test]
fn the_first_invalid_gradient_is_reported_for_any_number_of_threads() {
    struct Own;
    impl Objective for Own {
        fn name(&self) -> String {
            "own".into()
        }
        fn link(&self) -> Link {
            Link::Identity
        }
        fn check(&self, _targets: &[f32]) -> Result<(), ObjectiveError> {
            Ok(())
        }
        fn base_scores(&self, _targets: &[f32], _weights: Option<&[f32]>) -> Vec<f64> {
            vec![0.0]
        }
        fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
            for (row, (score, target)) in batch.scores[0].iter().zip(batch.targets).enumerate() {
                // Valid in the first round, invalid afterwards.
                out.grads[0][row] = if *score == 0.0 { score - target } else { f32::NAN };
                out.hess[0][row] = 1.0;
            }
        }
    }
    let made = Made::new(50_000, 14);
    let mut data = dataset(&made.features(), &made.targets);
    let good = || Trainer::new(small(), by_name("squared").expect("known name"));
    let want = good().train(&mut data).expect("valid data");
    for precision in PRECISIONS {
        for _ in 0..5 {
            let params = Params { gradient_precision: precision, ..small() };
            let error = on_threads(4, || Trainer::new(params, Box::new(Own)).train(&mut data));
            assert!(matches!(error, Err(TrainError::Gradient { row: 0, round: 1, .. })), "{precision}: {error:?}");
        }
    }
    assert!(good().train(&mut data).expect("valid data") == want, "rows are put back");
}
