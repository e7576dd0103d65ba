//! Frames of temporal tensors: bounds that hold for every series, bytes that are refused, sizes that were promised.

mod bounds;
mod refused;
mod series;
mod sizes;
