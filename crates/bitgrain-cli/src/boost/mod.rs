//! Training data, parameters, training runs and reports, shared by `train` and `cv`.

pub(crate) mod data;
pub(crate) mod outcome;
pub(crate) mod settings;
pub(crate) mod training;
