//! Training.
//!
//! A [`Dataset`] holds binned features with their targets; a [`Trainer`] grows trees on it according to its [`Params`]
//! and returns a [`Model`](crate::model::Model).

mod binned;
mod boosting;
mod checkpoint;
mod constrain;
mod cross_validation;
mod dart;
mod dataset;
mod earlier;
mod error;
mod evaluate;
mod exact;
mod grow;
mod growth;
mod init_scores;
mod memory;
mod places;
mod refit;
mod rounds;
mod row_column;
mod sampling;
mod schedule;
mod scores;
mod shared;
pub(crate) mod slots;
mod split;
mod state;
mod stop_on;
mod stopwatch;
mod targets;
mod team;
mod trainer;
mod unseen;
mod usage;

pub use crate::parameter::Params;
pub use boosting::Boosting;
pub use checkpoint::Checkpoint;
pub use constrain::MonotoneMethod;
pub use cross_validation::{CrossValidation, CrossValidationResult, MetricSpread};
pub use dataset::Dataset;
pub use error::TrainError;
pub use growth::Growth;
pub use refit::{Refit, RefitData};
pub use sampling::SampleStrategy;
pub use stop_on::StopOn;
pub use targets::Targets;
pub use trainer::{EvalSet, MetricValue, Round, Trainer, Training};
pub use usage::{PROJECTED_CORES, Phase, PhaseUsage, TeamUsage};
