//! Storage precision of gradients.

use std::fmt;
use std::str::FromStr;

/// Precision in which gradients are stored while a tree is grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GradientPrecision {
    /// Unquantized f32: eight bytes per row.
    #[default]
    F32,
    /// A signed byte for the gradient and an unsigned byte for the hessian: two bytes per row.
    Pair8,
    /// Four bits each for gradient and hessian: one byte per row.
    Pair4,
    /// Chosen by the number of rows: `F32` up to one million, `Pair8` up to ten million, `Pair4` beyond.
    Auto,
}

impl GradientPrecision {
    /// Resolves `Auto` for a number of rows; returns any other precision unchanged.
    ///
    /// RFC-0008 also keeps f32 gradients if they fit the cache. No cache holds the gradients of a million rows, so that
    /// rule would never apply.
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

    /// All precisions with their names.
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

/// An unknown precision name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown gradient precision `{name}`; known precisions: f32, pair8, pair4, auto")]
pub struct UnknownPrecision {
    /// The requested name.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::GradientPrecision::{Auto, F32, Pair4, Pair8};

    #[test]
    fn auto_depends_on_the_number_of_rows() {
        let rows = [0, 1_000_000, 1_000_001, 10_000_000, 10_000_001];
        assert_eq!(rows.map(|rows| Auto.of(rows)), [F32, F32, Pair8, Pair8, Pair4]);
        assert_eq!([F32, Pair8, Pair4].map(|precision| precision.of(20_000_000)), [F32, Pair8, Pair4]);
    }
}
