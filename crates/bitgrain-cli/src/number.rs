//! Numbers as text, the same in tables of the command and in the HTML report.

pub(crate) use bitgrain::nn::model::report::number::{Size, digits, digits_within, ends};
