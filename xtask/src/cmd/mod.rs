//! Commands: one module each, with its arguments and a `run` function.

pub(crate) mod bench;
pub(crate) mod charts;
pub(crate) mod crash;
pub(crate) mod docs;
pub(crate) mod fuzz;
pub(crate) mod lint;
pub(crate) mod parameters;
pub(crate) mod site;
pub(crate) mod test;
pub(crate) mod testing;
