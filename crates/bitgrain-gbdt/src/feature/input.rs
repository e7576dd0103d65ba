//! Raw features as a borrowed matrix, row after row or column after column.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use rayon::prelude::*;

use super::FeatureError;
use super::tile::blocks;

/// Numbers of a matrix, as the caller has them.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Single precision: binned as they are.
    F32(&'a [f32]),
    /// Double precision: rounded to the nearest f32 first.
    F64(&'a [f64]),
}

impl<'a> From<&'a [f32]> for Values<'a> {
    fn from(values: &'a [f32]) -> Self {
        Self::F32(values)
    }
}

impl<'a> From<&'a [f64]> for Values<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::F64(values)
    }
}

/// A matrix of raw features. NaN is a missing value.
#[derive(Debug, Clone)]
pub struct Features<'a> {
    values: Values<'a>,
    /// From one row to the next, and from one feature to the next.
    strides: (usize, usize),
    n_rows: usize,
    names: Vec<String>,
}

impl<'a> Features<'a> {
    /// A matrix whose rows follow one another.
    ///
    /// # Errors
    /// [`FeatureError::Empty`] or [`FeatureError::ShapeMismatch`].
    pub fn row_major(values: impl Into<Values<'a>>, n_rows: usize, n_features: usize) -> Result<Self, FeatureError> {
        Self::new(values.into(), (n_features, 1), n_rows, n_features)
    }

    /// A matrix whose columns follow one another.
    ///
    /// # Errors
    /// [`FeatureError::Empty`] or [`FeatureError::ShapeMismatch`].
    pub fn column_major(values: impl Into<Values<'a>>, n_rows: usize, n_features: usize) -> Result<Self, FeatureError> {
        Self::new(values.into(), (1, n_rows), n_rows, n_features)
    }

    fn new(
        values: Values<'a>,
        strides: (usize, usize),
        n_rows: usize,
        n_features: usize,
    ) -> Result<Self, FeatureError> {
        if n_rows == 0 || n_features == 0 {
            return Err(FeatureError::Empty { rows: n_rows, features: n_features });
        }
        let len = match values {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        };
        if n_rows.checked_mul(n_features) != Some(len) {
            return Err(FeatureError::ShapeMismatch { values: len, rows: n_rows, features: n_features });
        }
        let names = (0..n_features).map(|feature| format!("f{feature}")).collect();
        Ok(Self { values, strides, n_rows, names })
    }

    /// The same features under names other than `f0`, `f1` and so on.
    ///
    /// # Errors
    /// [`FeatureError::NameCount`] or [`FeatureError::DuplicateName`].
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, FeatureError> {
        if names.len() != self.n_features() {
            return Err(FeatureError::NameCount { names: names.len(), features: self.n_features() });
        }
        let mut seen = HashSet::new();
        if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(FeatureError::DuplicateName { name: name.clone() });
        }
        self.names = names;
        Ok(self)
    }

    /// Names of the features.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.names.len()
    }

    pub(super) fn values(&self) -> Values<'a> {
        self.values
    }

    /// Where a value lies.
    #[inline]
    pub(super) fn position(&self, row: usize, feature: usize) -> usize {
        row * self.strides.0 + feature * self.strides.1
    }

    /// A value as it is binned.
    #[inline]
    pub(super) fn value(&self, row: usize, feature: usize) -> f32 {
        let at = self.position(row, feature);
        match self.values {
            Values::F32(values) => values[at],
            Values::F64(values) => rounded(values[at]),
        }
    }

    /// Some rows of a feature as they are binned: borrowed if they lie so, copied otherwise.
    pub(super) fn column(&self, feature: usize, rows: Range<usize>) -> Cow<'a, [f32]> {
        match self.values {
            Values::F32(values) if self.strides.0 == 1 => {
                let start = feature * self.strides.1;
                Cow::Borrowed(&values[start + rows.start..start + rows.end])
            }
            _ => rows.map(|row| self.value(row, feature)).collect(),
        }
    }

    /// The values of some features in some rows, a column for each.
    pub(super) fn sampled(&self, features: Range<usize>, rows: &[usize]) -> Vec<Vec<f32>> {
        if self.strides.0 == 1 {
            return features.map(|feature| rows.iter().map(|&row| self.value(row, feature)).collect()).collect();
        }
        // A row at a time: each cache line is fetched once.
        let mut columns = vec![Vec::with_capacity(rows.len()); features.len()];
        for &row in rows {
            features.clone().zip(&mut columns).for_each(|(feature, column)| column.push(self.value(row, feature)));
        }
        columns
    }

    /// Which features miss a value in some row. In the order of memory, because every value is looked at.
    pub(super) fn missing(&self) -> Vec<bool> {
        let n_features = self.n_features();
        let either = |a: Vec<bool>, b: Vec<bool>| a.iter().zip(&b).map(|(a, b)| a | b).collect();
        let in_block = |rows: Range<usize>| -> Vec<bool> {
            // To the end even if there is one: without a way out, the compiler compares many at once.
            let any = |column: &[f32]| column.iter().fold(false, |any, value| any | value.is_nan());
            (0..n_features).map(|feature| any(&self.column(feature, rows.clone()))).collect()
        };
        blocks(self.n_rows, n_features).into_par_iter().map(in_block).reduce(|| vec![false; n_features], either)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is the rule")]
fn rounded(value: f64) -> f32 {
    value as f32
}
