//! What the commands of boosting share: how trees are grown, what they learn from, and how far they are.

pub(crate) mod data;
pub(crate) mod outcome;
pub(crate) mod settings;
pub(crate) mod training;
