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
    /// By the size of the data: `F32` as long as they fit a cache of 2 MiB or there are at most a million rows,
    /// `Pair8` up to ten million, `Pair4` beyond.
    Auto,
}

impl GradientPrecision {
    /// What `Auto` comes to for so many rows and scores per row; the others are what they are.
    #[must_use]
    pub fn of(self, n_rows: usize, n_groups: usize) -> Self {
        const CACHE: usize = 2 << 20;
        if self != Self::Auto {
            return self;
        }
        match n_rows {
            _ if n_rows.saturating_mul(n_groups).saturating_mul(8) < CACHE => Self::F32,
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
