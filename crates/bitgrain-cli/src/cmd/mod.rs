//! One module per command: its arguments and its `run`.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod info;
pub(crate) mod inspect;
pub(crate) mod quantize;
pub(crate) mod tour;
