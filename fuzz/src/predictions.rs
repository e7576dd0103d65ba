//! Compiles a parsed model for prediction and compares the scores with direct evaluation of the trees.

use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::predict::Predictor;

/// Models with more features are not evaluated.
const MAX_FEATURES: usize = 1 << 12;

/// Values that the features of a row take in turn.
const VALUES: [f64; 5] = [0.0, f64::NAN, 1.5, -1e300, f64::INFINITY];

pub(crate) fn check(model: &Model) {
    let predictor = Predictor::new(model).expect("a model that was read can be compiled");
    if predictor.n_features() > MAX_FEATURES {
        return;
    }
    for shift in 0..VALUES.len() {
        let row: Vec<f64> = VALUES.iter().copied().cycle().skip(shift).take(predictor.n_features()).collect();
        let walked = model.raw_scores_of(&row);
        let mut compiled = vec![0.0; predictor.n_outputs()];
        predictor.row_raw(&row, &mut compiled).expect("a value for each feature");
        // The payload of a NaN is not part of a score.
        let bits = |scores: &[f64]| -> Vec<u64> {
            scores.iter().map(|score| if score.is_nan() { f64::NAN } else { *score }.to_bits()).collect()
        };
        assert_eq!(bits(&compiled), bits(&walked), "{row:?}");
    }
}
