//! `Shape`: dimensions of one sample, outermost first; the length of sequences may be variable.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Dimensions of a sample, outermost first. `None` is a dimension that each batch chooses: the length of sequences.
///
/// ```
/// use bitgrain_nn::network::Shape;
/// assert_eq!(Shape::new(&[3, 8, 8]).to_string(), "[3, 8, 8]");
/// assert_eq!(Shape::sequence(&[384]).to_string(), "[any, 384]");
/// assert!(Shape::sequence(&[384]).matches(&[7, 384]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(Vec<Option<usize>>);

impl Shape {
    /// Creates a shape with fixed dimensions.
    #[must_use]
    pub fn new(dims: &[usize]) -> Self {
        Self(dims.iter().map(|dim| Some(*dim)).collect())
    }

    /// Creates the shape of a sequence of variable length whose positions have the dimensions `dims`; with empty
    /// `dims`, each position is a number.
    #[must_use]
    pub fn sequence(dims: &[usize]) -> Self {
        Self([None].into_iter().chain(dims.iter().map(|dim| Some(*dim))).collect())
    }

    /// Returns the dimensions.
    #[must_use]
    pub fn dims(&self) -> &[Option<usize>] {
        &self.0
    }

    /// Returns whether samples with these dimensions have this shape.
    #[must_use]
    pub fn matches(&self, dims: &[usize]) -> bool {
        self.0.len() == dims.len() && self.0.iter().zip(dims).all(|(own, dim)| own.is_none_or(|own| own == *dim))
    }

    /// Returns whether the product of the fixed dimensions does not overflow.
    pub(crate) fn fits(&self) -> bool {
        let product = self.0.iter().flatten().try_fold(1_usize, |product, dim| product.checked_mul(*dim));
        product.is_some_and(|product| product <= usize::MAX / 32)
    }

    /// Returns the dimensions if all are fixed.
    pub(crate) fn fixed(&self) -> Option<Vec<usize>> {
        self.0.iter().copied().collect()
    }

    /// Returns the last dimension if it is fixed.
    pub(crate) fn last(&self) -> Option<usize> {
        self.0.last().copied().flatten()
    }

    /// Replaces the last dimension.
    pub(crate) fn with_last(&self, last: usize) -> Self {
        let mut dims = self.0.clone();
        if let Some(dim) = dims.last_mut() {
            *dim = Some(last);
        }
        Self(dims)
    }

    /// Appends a dimension.
    pub(crate) fn with_inner(&self, last: usize) -> Self {
        Self(self.0.iter().copied().chain([Some(last)]).collect())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, dim) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            match dim {
                Some(dim) => write!(f, "{dim}")?,
                None => f.write_str("any")?,
            }
        }
        f.write_str("]")
    }
}
