//! Export to source code without dependencies: tables of nodes and leaves, and a function that walks them.
//!
//! Tables instead of nested conditions: compilers take seconds for a large function of branches, and a table is walked as
//! fast. Scores are the same bits as those of [`Model::raw_scores_of`](crate::model::Model::raw_scores_of); link functions
//! use the exponential of the platform, whose last bit may differ.

mod c;
mod literal;
mod rust;
mod tables;

pub(super) use c::source as c;
pub(super) use rust::source as rust;
