//! How gradients are kept while a tree is grown.

use std::fmt;
use std::str::FromStr;

/// How gradients are kept while a tree is grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GradientPrecision {
    /// As they are: eight bytes a row.
    #[default]
    F32,
    /// A signed byte for the gradient and a byte for the hessian: two bytes a row.
    Pair8,
    /// Four bits for each: a byte a row.
    Pair4,
    /// By the number of rows: `F32` up to a million, `Pair8` up to ten million, `Pair4` beyond.
    Auto,
}

impl GradientPrecision {
    /// Resolves `Auto` for a number of rows; the others are returned as they are.
    ///
    /// RFC-0008 also keeps gradients in f32 if they fit a cache. A cache holds those of far fewer rows than a million, so
    /// that this rule would never decide.
    #[must_use]
    pub fn of(self, n_rows: usize) -> Self {
        if self != Self::Auto {
            return self;
        }
        match n_rows {
            0..=1_000_000 => Self::F32,
            1_000_001..=10_000_000 => Self::Pair8,
            _ => Self::Pair4,
        }
    }

    /// Every precision with its name.
    pub const NAMES: [(&'static str, Self); 4] =
        [("f32", Self::F32), ("pair8", Self::Pair8), ("pair4", Self::Pair4), ("auto", Self::Auto)];
}

impl fmt::Display for GradientPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, precision)| precision == self).map_or("", |(name, _)| name);
        f.pad(name)
    }
}

impl FromStr for GradientPrecision {
    type Err = UnknownPrecision;

    fn from_str(name: &str) -> Result<Self, UnknownPrecision> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, precision)| *precision);
        found.ok_or_else(|| UnknownPrecision { name: name.to_owned() })
    }
}

/// A name that is not that of a precision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no precision {name}; there are: f32, pair8, pair4, auto")]
pub struct UnknownPrecision {
    /// What was asked for.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::GradientPrecision::{Auto, F32, Pair4, Pair8};

    #[test]
    fn auto_goes_by_the_number_of_rows() {
        let rows = [0, 1_000_000, 1_000_001, 10_000_000, 10_000_001];
        assert_eq!(rows.map(|rows| Auto.of(rows)), [F32, F32, Pair8, Pair8, Pair4]);
        assert_eq!([F32, Pair8, Pair4].map(|precision| precision.of(20_000_000)), [F32, Pair8, Pair4]);
    }
}
