//! Types of parameter fields.

use super::{ParameterKind, ParameterValue};

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
