//! `ParameterValue`: a value on its way from a front end to its field.

use std::fmt;

/// Value of a parameter as the caller gave it, in Rust, on the command line or in Python.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ParameterValue {
    /// Python's `None`: unlimited or disabled.
    Unset,
    /// A boolean.
    Flag(bool),
    /// An integer; wide enough for every seed and for negative numbers.
    Integer(i128),
    /// A floating-point number.
    Number(f64),
    /// A string: the name of a choice, or a number to be parsed.
    String(String),
}

impl ParameterValue {
    /// Returns whether two values are equal, such as `1` and `1.0`.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(integer), Self::Number(number)) | (Self::Number(number), Self::Integer(integer)) => {
                as_number(*integer).total_cmp(number).is_eq()
            }
            _ => self == other,
        }
    }
}

/// Converts an integer to the nearest f64.
#[expect(clippy::cast_precision_loss, reason = "numeric parameters do not need more precision")]
pub(super) fn as_number(integer: i128) -> f64 {
    integer as f64
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("None"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Integer(integer) => write!(f, "{integer}"),
            // `Debug` keeps the decimal point of 1.0 and writes small numbers with an exponent.
            Self::Number(number) => write!(f, "{number:?}"),
            Self::String(text) => f.write_str(text),
        }
    }
}

impl From<bool> for ParameterValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<f64> for ParameterValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for ParameterValue {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for ParameterValue {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

/// Implements `From` for integers up to 64 bits.
macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for ParameterValue {
            fn from(integer: $integer) -> Self {
                Self::Integer(i128::from(integer))
            }
        }
    )*};
}
from_integers!(i32, i64, i128, u32, u64);

impl From<usize> for ParameterValue {
    fn from(integer: usize) -> Self {
        // At most 64 bits on all platforms that Rust supports.
        Self::Integer(i128::try_from(integer).unwrap_or(i128::MAX))
    }
}
