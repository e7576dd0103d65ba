//! Frames of temporal tensors: bounds for every series, rejected bytes, and guaranteed sizes.
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
