//! Training data, parameters, training runs and reports, shared by `train` and `cv`.

pub(crate) mod data;
pub(crate) mod outcome;
mod params_file;
pub(crate) mod report;
pub(crate) mod settings;
pub(crate) mod training;
