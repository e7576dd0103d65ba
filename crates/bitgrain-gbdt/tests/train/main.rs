//! Tests of training through the public API.

mod constraints;
mod data;
mod edges;
mod failures;
mod going_on;
mod growth;
mod invariance;
mod missing;
mod modes;
mod monotone;
mod odd;
mod precise;
mod ranking;
mod refitting;
mod resuming;
mod scores;
mod settings;
mod sparse;
mod team;
mod watching;
mod whole;

use bitgrain_gbdt::feature::{Features, Quantizer};
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{Dataset, Params, TrainError, Trainer, Training};

/// Parameters for small data.
fn small() -> Params {
    Params { n_estimators: 20, num_leaves: 15, min_child_samples: 5, ..Params::default() }
}

fn dataset(features: &Features<'_>, targets: &[f32]) -> Dataset {
    Dataset::new(features, targets.to_vec(), None, &Quantizer::default()).expect("valid data")
}

fn trained(params: Params, objective: &str, features: &Features<'_>, targets: &[f32]) -> Result<Training, TrainError> {
    let objective = by_name(objective).expect("a known name");
    Trainer::new(params, objective).train(&mut dataset(features, targets))
}

/// Returns the predictions of a training.
fn predictions(training: &Training, features: &Features<'_>) -> Vec<f64> {
    Predictor::new(&training.model).expect("a trained model").predict(features).expect("the same features")
}

fn rmse(predictions: &[f64], targets: &[f32]) -> f64 {
    let squares: f64 = predictions.iter().zip(targets).map(|(p, &t)| (p - f64::from(t)).powi(2)).sum();
    (squares / targets.len() as f64).sqrt()
}

/// Runs a function on a pool with a number of threads.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}
