//! Types of parameter fields.

use super::{ParameterKind, ParameterValue};
use crate::objective::LabelGain;

/// Type of a parameter field.
pub(super) trait Field: Sized {
    /// Kind in the parameter table.
    const KIND: ParameterKind;

    /// Converts a value that passed [`HyperParameter::check`](super::HyperParameter::check); `None` if it does not fit
    /// the type, such as an integer above `usize::MAX`.
    fn read(value: &ParameterValue) -> Option<Self>;

    /// Converts the field to a value.
    fn value(&self) -> ParameterValue;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Field for $integer {
            const KIND: ParameterKind = ParameterKind::Integer;

            fn read(value: &ParameterValue) -> Option<Self> {
                match value {
                    ParameterValue::Integer(integer) => (*integer).try_into().ok(),
                    _ => None,
                }
            }

            fn value(&self) -> ParameterValue {
                ParameterValue::from(*self)
            }
        }
    )*};
}
integers!(usize, u64);

impl Field for Option<usize> {
    const KIND: ParameterKind = ParameterKind::OptionalInteger;

    fn read(value: &ParameterValue) -> Option<Self> {
        match value {
            ParameterValue::Unset => Some(None),
            other => usize::read(other).map(Some),
        }
    }

    fn value(&self) -> ParameterValue {
        self.map_or(ParameterValue::Unset, ParameterValue::from)
    }
}

impl Field for f64 {
    const KIND: ParameterKind = ParameterKind::Number;

    fn read(value: &ParameterValue) -> Option<Self> {
        match value {
            ParameterValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    fn value(&self) -> ParameterValue {
        ParameterValue::Number(*self)
    }
}

impl Field for bool {
    const KIND: ParameterKind = ParameterKind::Flag;

    fn read(value: &ParameterValue) -> Option<Self> {
        match value {
            ParameterValue::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    fn value(&self) -> ParameterValue {
        ParameterValue::Flag(*self)
    }
}

impl Field for LabelGain {
    const KIND: ParameterKind = ParameterKind::Numbers;

    fn read(value: &ParameterValue) -> Option<Self> {
        match value {
            ParameterValue::Unset => Some(Self::default()),
            ParameterValue::String(text) => Self::new(numbers(text)?),
            _ => None,
        }
    }

    fn value(&self) -> ParameterValue {
        if *self == Self::default() {
            return ParameterValue::Unset;
        }
        ParameterValue::String(self.gains().iter().map(f64::to_string).collect::<Vec<_>>().join(","))
    }
}

/// Parses numbers separated by commas, optionally in brackets.
fn numbers(text: &str) -> Option<Vec<f64>> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    inner.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// Implements `Field` for an enum whose variants are the names of a [`ParameterKind::Choice`].
macro_rules! choices {
    ($type:ty { $($variant:ident = $name:literal $(| $alias:literal)*),* $(,)? }) => {
        impl $crate::parameter::field::Field for $type {
            const KIND: $crate::parameter::ParameterKind =
                $crate::parameter::ParameterKind::Choice(&[$($crate::parameter::ParameterChoice { name: $name, aliases: &[$($alias),*] }),*]);

            fn read(value: &$crate::parameter::ParameterValue) -> Option<Self> {
                match value {
                    $($crate::parameter::ParameterValue::String(text) if text == $name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn value(&self) -> $crate::parameter::ParameterValue {
                $crate::parameter::ParameterValue::from(match self { $(Self::$variant => $name),* })
            }
        }
    };
}
pub(super) use choices;
