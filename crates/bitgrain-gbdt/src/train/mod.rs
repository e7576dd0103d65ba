//! Growing trees.

mod params;

pub use params::{Bagging, Goss, Growth, Params};
