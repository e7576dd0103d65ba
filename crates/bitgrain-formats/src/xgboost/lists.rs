//! Numbers that XGBoost versions write in different ways.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::XgboostError;

/// A number in a file; an integer if it was written as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer.
    Whole(i64),
    /// Any other number.
    Float(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Number, E> {
                Ok(Number::Whole(value.into()))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Whole(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                i64::try_from(value).map(Number::Whole).map_err(|_| E::custom("a number above 2^63"))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number::Float(value))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Flags that are numbers today and were booleans in earlier versions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Flags(pub(super) Vec<bool>);

impl<'de> Deserialize<'de> for Flags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Flags;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of flags")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Flags, A::Error> {
                let mut flags = Vec::new();
                while let Some(flag) = list.next_element::<Number>()? {
                    flags.push(flag != Number::Whole(0));
                }
                Ok(Flags(flags))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// Reads a list of f32. Numbers beyond their range are infinite: JSON cannot write an infinite threshold otherwise.
pub(super) fn floats<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "numbers are f32")]
    let float = |number: Number| match number {
        Number::Whole(whole) => whole as f32,
        Number::Float(float) => float as f32,
    };
    Ok(Vec::<Number>::deserialize(deserializer)?.into_iter().map(float).collect())
}

/// A quoted number.
pub(super) fn number<T: std::str::FromStr>(field: &'static str, text: &str) -> Result<T, XgboostError> {
    text.trim().parse().map_err(|_| XgboostError::Number { field, text: text.chars().take(40).collect() })
}

/// Quoted numbers; since version 3.1 in brackets: `[5E-1,2.5E-1]`.
pub(super) fn numbers(field: &'static str, text: &str) -> Result<Vec<f64>, XgboostError> {
    let inner = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    inner.split(',').map(|text| number(field, text)).collect()
}
