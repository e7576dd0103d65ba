//! Objectives that need all rows at once, in their original order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::model::Link;
use bitgrain_gbdt::objective::{Batch, GradientBatch, Objective, ObjectiveError, by_name};
use bitgrain_gbdt::train::{Params, Trainer};

use crate::data::Made;
use crate::{dataset, predictions, small, trained};

/// Squared loss that counts its calls and compares the targets with expected ones.
struct InOrder {
    targets: Vec<f32>,
    calls: Arc<AtomicUsize>,
}

impl Objective for InOrder {
    fn name(&self) -> String {
        "in_order".into()
    }

    fn link(&self) -> Link {
        Link::Identity
    }

    fn check(&self, _targets: &[f32]) -> Result<(), ObjectiveError> {
        Ok(())
    }

    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        by_name("squared").expect("known name").base_scores(targets, weights)
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        assert!(batch.targets == self.targets, "all rows in their order");
        self.calls.fetch_add(1, Ordering::Relaxed);
        by_name("squared").expect("known name").gradients(batch, out);
    }

    fn needs_all_rows(&self) -> bool {
        true
    }
}

#[test]
fn a_whole_objective_sees_all_rows_in_order_once_per_round() {
    let made = Made::new(9000, 21); // more than fit a batch of the others
    let features = made.features();
    for precision in [GradientPrecision::F32, GradientPrecision::Pair8] {
        for subsample in [1.0, 0.7] {
            let params = Params { gradient_precision: precision, subsample, ..small() };
            let calls = Arc::new(AtomicUsize::new(0));
            let objective = InOrder { targets: made.targets.clone(), calls: Arc::clone(&calls) };
            let mut data = dataset(&features, &made.targets);
            let training = Trainer::new(params.clone(), Box::new(objective)).train(&mut data).expect("valid data");
            assert_eq!(calls.load(Ordering::Relaxed), params.n_estimators);
            assert_eq!(data.targets(), made.targets, "the data is as it was");
            if precision == GradientPrecision::F32 && subsample == 1.0 {
                let moving = trained(params, "squared", &features, &made.targets).expect("valid data");
                let of = [&training, &moving].map(|training| predictions(training, &features));
                let far = of[0].iter().zip(&of[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(far < 1e-4, "{far}: only the order of sums differs");
            }
        }
    }
}
