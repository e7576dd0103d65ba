//! Frames of temporal tensors: bounds that hold for every series, bytes that are refused, sizes that were promised.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "small numbers made up for tests"
)]

mod bounds;
mod refused;
mod series;
mod sizes;
