//! Commands: one module each, with its arguments and a `run` function.

pub(crate) mod bin;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert_model;
pub(crate) mod cv;
pub(crate) mod embed;
pub(crate) mod explain;
pub(crate) mod info;
pub(crate) mod inspect;
pub(crate) mod language;
pub(crate) mod predict;
pub(crate) mod quantize;
pub(crate) mod refit;
pub(crate) mod store;
pub(crate) mod tour;
pub(crate) mod train;
