//! Targets and weights: columns that are no features.

use super::piece::rounded;
use super::write::number;
use super::{Column, ColumnData, TableError};
use crate::SampleError;
use crate::samples::check_weights;

/// What is to be learned, a number for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The number of each row; of classes, their codes.
    pub values: Vec<f32>,
    /// The text of each class, ascending; empty if the values are no classes.
    pub labels: Vec<String>,
}

impl Target {
    /// The numbers of a column.
    ///
    /// # Errors
    /// [`TableError::NotNumeric`], [`TableError::Sample`] for the first missing target, [`TableError::TargetRange`] for
    /// the first that is not finite as f32.
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

    /// The classes of a column, numbered in the order of their texts or numbers.
    ///
    /// # Errors
    /// [`TableError::Sample`] for the first that is missing, [`TableError::OneClass`].
    pub fn classes(column: &Column) -> Result<Self, TableError> {
        let labels = match &column.data {
            ColumnData::Text(text) => text.labels.clone(),
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

    /// The classes of a column by the numbers that training gave them.
    ///
    /// # Errors
    /// [`TableError::Sample`] for the first that is missing, [`TableError::UnknownClass`] for the first that is none of
    /// `labels`.
    pub fn classes_like(column: &Column, labels: &[String]) -> Result<Self, TableError> {
        let codes = label_codes(&column.data, labels);
        let text = |row: usize| match &column.data {
            ColumnData::Text(text) => text.get(row).map(str::to_owned),
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

/// The weights of a column.
///
/// # Errors
/// [`TableError::NotNumeric`], or [`TableError::Sample`] for the first that is missing, negative or infinite.
pub fn weights(column: &Column) -> Result<Vec<f32>, TableError> {
    // A negative number too small for f32 rounds to -0.0, which would pass as a weight.
    let weight = |value: f64| if value < 0.0 { rounded(value).min(-f32::MIN_POSITIVE) } else { rounded(value) };
    let weights: Vec<f32> = numeric(column)?.map(weight).collect();
    check_weights(&weights, weights.len()).map_err(sample(column))?;
    Ok(weights)
}

fn numeric(column: &Column) -> Result<impl Iterator<Item = f64> + '_, TableError> {
    match &column.data {
        ColumnData::Text(text) => {
            let example = text.labels.first().cloned().unwrap_or_default();
            Err(TableError::NotNumeric { column: column.name.clone(), example })
        }
        data => Ok(data.numbers().into_iter().flatten()),
    }
}

fn sample(column: &Column) -> impl Fn(SampleError) -> TableError + '_ {
    |source| TableError::Sample { column: column.name.clone(), source }
}

/// For each row the place of its text in `labels`, which may be in any order; NaN if it is none of them, or missing.
#[expect(clippy::cast_precision_loss, reason = "fewer labels than f32 counts, or they could not be told apart anyway")]
pub(super) fn label_codes(data: &ColumnData, labels: &[String]) -> Vec<f32> {
    let places: std::collections::HashMap<&str, f32> =
        labels.iter().enumerate().map(|(place, label)| (label.as_str(), place as f32)).collect();
    let place = |text: &str| places.get(text).copied().unwrap_or(f32::NAN);
    match data {
        ColumnData::Text(text) => {
            let of_code: Vec<f32> = text.labels.iter().map(|label| place(label)).collect();
            text.codes.iter().map(|code| of_code.get(*code as usize).copied().unwrap_or(f32::NAN)).collect()
        }
        // Numbers here, texts there: as they are written. Few differ, and neighbours often do not.
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
