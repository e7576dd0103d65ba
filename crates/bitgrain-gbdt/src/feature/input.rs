//! Raw features as a borrowed matrix, dense or sparse, with a name and a kind per feature.

use std::sync::{Arc, OnceLock};

use super::dense::{Dense, Order};
use super::sparse::Sparse;
use super::{Absent, FeatureError, FeatureKind, Schema, Values};

/// Borrowed matrix of raw features. NaN is a missing value.
#[derive(Debug, Clone)]
pub struct Features<'a> {
    matrix: Matrix<'a>,
    n_rows: usize,
    n_features: usize,
    /// Created when it is first needed: making up names takes longer than predicting a row.
    schema: OnceLock<Arc<Schema>>,
}

/// Storage of the values.
#[derive(Debug, Clone)]
pub(super) enum Matrix<'a> {
    Dense(Dense<'a>),
    Sparse(Sparse<'a>),
}

impl<'a> Features<'a> {
    /// Creates a row-major matrix.
    ///
    /// # Errors
    /// Returns [`FeatureError::Empty`] or [`FeatureError::ShapeMismatch`].
    pub fn row_major(values: impl Into<Values<'a>>, n_rows: usize, n_features: usize) -> Result<Self, FeatureError> {
        Self::dense(values.into(), Order::Rows(n_features), n_rows, n_features)
    }

    /// Creates a column-major matrix.
    ///
    /// # Errors
    /// Returns [`FeatureError::Empty`] or [`FeatureError::ShapeMismatch`].
    pub fn column_major(values: impl Into<Values<'a>>, n_rows: usize, n_features: usize) -> Result<Self, FeatureError> {
        Self::dense(values.into(), Order::Columns(n_rows), n_rows, n_features)
    }

    /// Creates a matrix of compressed sparse rows: the entries of row `r` are `row_ptr[r]..row_ptr[r + 1]`, each a
    /// column index and a value. Explicit zeros are values, NaN is missing, and values without an entry are `absent`.
    /// Columns that are not ascending within a row are sorted in a copy.
    ///
    /// ```
    /// use bitgrain_gbdt::feature::{Absent, Features, Quantizer};
    /// // 0 7 0
    /// // 5 0 0
    /// let features = Features::sparse(&[0, 1, 2], &[1, 0], &[7.0, 5.0], 3, Absent::Zero)?;
    /// let cuts = Quantizer::default().compute_cuts(&features, None)?;
    /// assert_eq!([cuts.cuts(0), cuts.cuts(1), cuts.cuts(2)], [&[2.5][..], &[3.5], &[]]);
    /// # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`FeatureError::Empty`], [`FeatureError::TooManyRows`], [`FeatureError::EntryCount`],
    /// [`FeatureError::RowEntries`], [`FeatureError::ColumnRange`] or [`FeatureError::DuplicateColumn`].
    pub fn sparse(
        row_ptr: &'a [usize],
        columns: &'a [u32],
        values: &'a [f32],
        n_features: usize,
        absent: Absent,
    ) -> Result<Self, FeatureError> {
        let sparse = Sparse::new(row_ptr, columns, values, n_features, absent)?;
        let n_rows = sparse.n_rows();
        Ok(Self::new(Matrix::Sparse(sparse), n_rows, n_features))
    }

    fn dense(values: Values<'a>, order: Order, n_rows: usize, n_features: usize) -> Result<Self, FeatureError> {
        if n_rows == 0 || n_features == 0 {
            return Err(FeatureError::Empty { rows: n_rows, features: n_features });
        }
        if n_rows.checked_mul(n_features) != Some(values.len()) {
            return Err(FeatureError::ShapeMismatch { values: values.len(), rows: n_rows, features: n_features });
        }
        Ok(Self::new(Matrix::Dense(Dense { values, order }), n_rows, n_features))
    }

    fn new(matrix: Matrix<'a>, n_rows: usize, n_features: usize) -> Self {
        Self { matrix, n_rows, n_features, schema: OnceLock::new() }
    }

    fn take_schema(&mut self) -> Arc<Schema> {
        self.schema.take().unwrap_or_else(|| Arc::new(Schema::unnamed(self.n_features)))
    }

    /// Replaces names, kinds and category labels with those of a schema.
    ///
    /// # Errors
    /// Returns [`FeatureError::FeatureCount`] if the schema has another number of features.
    pub fn with_schema(mut self, schema: Arc<Schema>) -> Result<Self, FeatureError> {
        let (expected, found) = (schema.n_features(), self.n_features());
        if expected != found {
            return Err(FeatureError::FeatureCount { expected, found });
        }
        self.schema = OnceLock::from(schema);
        Ok(self)
    }

    /// Renames the features, which are `f0`, `f1` and so on by default.
    ///
    /// # Errors
    /// Returns [`FeatureError::NameCount`] or [`FeatureError::DuplicateName`].
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, FeatureError> {
        let schema = Arc::new(Arc::unwrap_or_clone(self.take_schema()).with_names(names)?);
        self.schema = OnceLock::from(schema);
        Ok(self)
    }

    /// Makes some features categorical: their values are category codes, integers from 0 to 2^24 - 1. NaN and negative
    /// values are missing, in training and in prediction.
    ///
    /// ```
    /// use bitgrain_gbdt::feature::{Features, Quantizer};
    /// let features = Features::column_major(&[7.0_f32, 2.0, 7.0, f32::NAN][..], 4, 1)?.with_categorical(&[0])?;
    /// let cuts = Quantizer::default().compute_cuts(&features, None)?;
    /// assert_eq!(cuts.categories(0), [2, 7]);
    /// assert_eq!([2.0, 7.0, 3.0, f32::NAN].map(|value| cuts.bin(0, value)), [0, 1, 2, 2]);
    /// # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`FeatureError::NoSuchFeature`] for the first index that is out of range.
    pub fn with_categorical(mut self, features: &[usize]) -> Result<Self, FeatureError> {
        let schema = Arc::new(Arc::unwrap_or_clone(self.take_schema()).with_categorical(features)?);
        self.schema = OnceLock::from(schema);
        Ok(self)
    }

    /// Kind of a feature.
    ///
    /// # Panics
    /// If the index is out of range.
    #[must_use]
    pub fn kind(&self, feature: usize) -> FeatureKind {
        self.schema().kind(feature)
    }

    /// Names of the features.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.schema().names()
    }

    /// Names, kinds and category labels.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        self.schema.get_or_init(|| Arc::new(Schema::unnamed(self.n_features)))
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    pub(super) fn matrix(&self) -> &Matrix<'a> {
        &self.matrix
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[test]
    fn a_sparse_matrix_has_the_values_of_the_dense_one() {
        let dense = [0.0, 7.0, 0.0, 5.0, -0.5, f32::NAN, 0.0, 0.0, 0.0_f32];
        let (row_ptr, columns) = ([0, 1, 4, 5], [1, 2, 0, 1, 1]); // the second row is not in order
        let values = [7.0, f32::NAN, 5.0, -0.5, 0.0];
        let zeros = Features::sparse(&row_ptr, &columns, &values, 3, Absent::Zero).expect("sparse rows");
        let missing = Features::sparse(&row_ptr, &columns, &values, 3, Absent::Missing).expect("sparse rows");
        let dense = Features::row_major(&dense[..], 3, 3).expect("a matrix");
        let read = |features: &Features<'_>, rows: Range<usize>| {
            let mut out = vec![0.0; 3 * 2];
            features.read_f32(0..3, rows, &mut out, 2);
            let mut row = vec![0.0; 3];
            features.read_row(1, &mut row);
            (
                out.iter().map(|value| value.to_bits()).collect::<Vec<_>>(),
                row.iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
            )
        };
        for rows in [0..2, 1..3] {
            assert_eq!(read(&zeros, rows.clone()), read(&dense, rows));
        }
        let mut out = vec![0.0; 9];
        missing.read_f64(0..3, 0..3, &mut out, 3);
        let kept: Vec<bool> = out.iter().map(|value| !value.is_nan()).collect();
        // Column-major; the explicit NaN of the last column is missing, too.
        assert_eq!(kept, [false, true, false, true, true, true, false, false, false]);
    }
}
