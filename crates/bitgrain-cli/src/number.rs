//! Number formatting, shared with the HTML report.

pub(crate) use bitgrain::nn::model::report::number::{Size, digits, digits_within, ends};
