//! One module per command: its arguments and what it runs.

pub(crate) mod bench;
pub(crate) mod charts;
pub(crate) mod crash;
pub(crate) mod docs;
pub(crate) mod fuzz;
pub(crate) mod lint;
pub(crate) mod parameters;
pub(crate) mod test;
pub(crate) mod testing;
