//! Target and weight columns.

use super::piece::rounded;
use super::write::number;
use super::{Column, ColumnData, TableError};
use crate::SampleError;
use crate::samples::check_weights;

/// Targets of all rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Target of each row; class indices for classification.
    pub values: Vec<f32>,
    /// Class labels in ascending order; empty for regression.
    pub labels: Vec<String>,
}

impl Target {
    /// Reads a column as numbers.
    ///
    /// # Errors
    /// Returns [`TableError::NotNumeric`], [`TableError::Sample`] for the first missing target, or
    /// [`TableError::TargetRange`] for the first that is not finite in f32.
    pub fn numbers(column: &Column) -> Result<Self, TableError> {
        let values = numeric(column)?.enumerate().map(|(row, value)| {
            if value.is_nan() {
                return Err(sample(column)(SampleError::MissingTarget { row }));
            }
            let target = rounded(value);
            let out_of_range = || TableError::TargetRange { column: column.name.clone(), row, value };
            if target.is_finite() { Ok(target) } else { Err(out_of_range()) }
        });
        Ok(Self { values: values.collect::<Result<_, _>>()?, labels: Vec::new() })
    }

    /// Reads a column as classes, numbered in ascending order of their strings or numbers.
    ///
    /// # Errors
    /// Returns [`TableError::Sample`] for the first missing target, or [`TableError::OneClass`].
    pub fn classes(column: &Column) -> Result<Self, TableError> {
        let labels = match &column.data {
            ColumnData::Strings(text) => text.labels.clone(),
            _ => {
                let mut values: Vec<f64> =
                    column.data.numbers().into_iter().flatten().map(|value| value + 0.0).collect();
                values.retain(|value| !value.is_nan());
                values.sort_unstable_by(f64::total_cmp);
                values.dedup();
                values.into_iter().map(number).collect()
            }
        };
        if let [class] = &labels[..] {
            return Err(TableError::OneClass { column: column.name.clone(), class: class.clone() });
        }
        Self::classes_like(column, &labels)
    }

    /// Reads a column as classes with the indices of `labels`.
    ///
    /// # Errors
    /// Returns [`TableError::Sample`] for the first missing target, or [`TableError::UnknownClass`] for the first class
    /// that is not in `labels`.
    pub fn classes_like(column: &Column, labels: &[String]) -> Result<Self, TableError> {
        let codes = label_codes(&column.data, labels);
        let text = |row: usize| match &column.data {
            ColumnData::Strings(text) => text.get(row).map(str::to_owned),
            ColumnData::F32(values) => Some(f64::from(values[row])).filter(|value| !value.is_nan()).map(number),
            ColumnData::F64(values) => Some(values[row]).filter(|value| !value.is_nan()).map(number),
        };
        if let Some(row) = codes.iter().position(|code| code.is_nan()) {
            let unknown =
                |value| TableError::UnknownClass { column: column.name.clone(), row, value, classes: labels.len() };
            let missing = || sample(column)(SampleError::MissingTarget { row });
            return Err(text(row).map_or_else(missing, unknown));
        }
        Ok(Self { values: codes, labels: labels.to_vec() })
    }
}

/// Reads a column as weights.
///
/// # Errors
/// Returns [`TableError::NotNumeric`], or [`TableError::Sample`] for the first weight that is missing, negative or
/// infinite.
pub fn weights(column: &Column) -> Result<Vec<f32>, TableError> {
    // A tiny negative number rounds to -0.0 in f32, which would pass as a weight.
    let weight = |value: f64| if value < 0.0 { rounded(value).min(-f32::MIN_POSITIVE) } else { rounded(value) };
    let weights: Vec<f32> = numeric(column)?.map(weight).collect();
    check_weights(&weights, weights.len()).map_err(sample(column))?;
    Ok(weights)
}

fn numeric(column: &Column) -> Result<impl Iterator<Item = f64> + '_, TableError> {
    match &column.data {
        ColumnData::Strings(text) => {
            let example = text.labels.first().cloned().unwrap_or_default();
            Err(TableError::NotNumeric { column: column.name.clone(), example })
        }
        data => Ok(data.numbers().into_iter().flatten()),
    }
}

fn sample(column: &Column) -> impl Fn(SampleError) -> TableError + '_ {
    |source| TableError::Sample { column: column.name.clone(), source }
}

/// Returns the index of each row's string in `labels`, which may be in any order; NaN if it is missing or unknown.
#[expect(clippy::cast_precision_loss, reason = "f32 is exact for fewer than 2^24 labels")]
pub(super) fn label_codes(data: &ColumnData, labels: &[String]) -> Vec<f32> {
    let places: std::collections::HashMap<&str, f32> =
        labels.iter().enumerate().map(|(place, label)| (label.as_str(), place as f32)).collect();
    let place = |text: &str| places.get(text).copied().unwrap_or(f32::NAN);
    match data {
        ColumnData::Strings(text) => {
            let of_code: Vec<f32> = text.labels.iter().map(|label| place(label)).collect();
            text.codes.iter().map(|code| of_code.get(*code as usize).copied().unwrap_or(f32::NAN)).collect()
        }
        // Labels are strings, the column holds numbers: compare their formatted values. Caching the last one pays off,
        // because distinct values are few and neighbors are often equal.
        data => {
            let mut last = (f64::NAN, f32::NAN);
            let code = |value: f64| {
                if value != last.0 {
                    last = (value, if value.is_nan() { f32::NAN } else { place(&number(value + 0.0)) });
                }
                last.1
            };
            data.numbers().into_iter().flatten().map(code).collect()
        }
    }
}
