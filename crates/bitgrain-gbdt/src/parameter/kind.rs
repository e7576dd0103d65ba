//! Types and ranges of parameters, and their descriptions.

use std::fmt::Write;

use super::Structure;

/// Type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// An integer.
    Integer,
    /// An integer, or unset: 0, -1, `none` and Python's `None` mean unlimited or disabled.
    OptionalInteger,
    /// A finite floating-point number.
    Number,
    /// A boolean; `0` and `1` are accepted.
    Flag,
    /// One of several names.
    Choice(&'static [ParameterChoice]),
    /// Numbers separated by commas, or unset.
    Numbers,
    /// A list, a map or a tree, as JSON or in the notation of LightGBM and XGBoost.
    Structured(Structure),
    /// Any value; the front end checks it.
    Any,
}

/// Name that a parameter can be set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterChoice {
    /// Canonical name.
    pub name: &'static str,
    /// Names in other libraries.
    pub aliases: &'static [&'static str],
}

/// Range of valid values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterRange {
    /// All values of the type.
    Any,
    /// Integers between two bounds, inclusive.
    Integers(u64, u64),
    /// Numbers above 0.
    Positive,
    /// Numbers of at least 0.
    NonNegative,
    /// Numbers above 0 and up to 1.
    Fraction,
    /// Numbers from 0 to 1.
    Probability,
}

impl ParameterRange {
    /// Returns the range of integers from `least` up to the maximum of the field's type.
    #[must_use]
    pub const fn at_least(least: u64) -> Self {
        Self::Integers(least, u64::MAX)
    }

    pub(super) fn has_integer(self, integer: i128) -> bool {
        match self {
            Self::Integers(least, most) => (i128::from(least)..=i128::from(most)).contains(&integer),
            _ => true,
        }
    }

    pub(super) fn has_number(self, number: f64) -> bool {
        number.is_finite()
            && match self {
                Self::Positive => number > 0.0,
                Self::NonNegative => number >= 0.0,
                Self::Fraction => number > 0.0 && number <= 1.0,
                Self::Probability => (0.0..=1.0).contains(&number),
                Self::Any | Self::Integers(..) => true,
            }
    }
}

/// Describes the values of a type within a range: `an integer of at least 1`.
pub(super) fn described(kind: ParameterKind, range: ParameterRange) -> String {
    let mut text = match kind {
        ParameterKind::Integer | ParameterKind::OptionalInteger => "an integer".to_owned(),
        ParameterKind::Number => "a number".to_owned(),
        ParameterKind::Flag => "true or false".to_owned(),
        ParameterKind::Choice(choices) => {
            let words: Vec<String> = choices.iter().map(|choice| format!("`{}`", choice.name)).collect();
            let (last, first) = words.split_last().map_or(("", &words[..]), |(last, first)| (last.as_str(), first));
            if first.is_empty() { last.to_owned() } else { format!("{} or {last}", first.join(", ")) }
        }
        ParameterKind::Numbers => "at least two numbers from 0 up in ascending order, separated by commas".to_owned(),
        ParameterKind::Structured(structure) => structure.takes().to_owned(),
        ParameterKind::Any => "another value".to_owned(),
    };
    let written = match range {
        ParameterRange::Any => Ok(()),
        ParameterRange::Integers(least, u64::MAX) => write!(text, " of at least {least}"),
        ParameterRange::Integers(least, most) => write!(text, " from {least} to {most}"),
        ParameterRange::Positive => write!(text, " above 0"),
        ParameterRange::NonNegative => write!(text, " of at least 0"),
        ParameterRange::Fraction => write!(text, " above 0 and at most 1"),
        ParameterRange::Probability => write!(text, " from 0 to 1"),
    };
    debug_assert!(written.is_ok(), "writing to a string does not fail");
    if kind == ParameterKind::OptionalInteger {
        text.push_str(", or -1 for none");
    }
    text
}
