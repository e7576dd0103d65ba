//! `Structure`: parameters that are lists, maps or trees, given as JSON or in the notation of LightGBM and XGBoost.

use super::{FeatureGroups, ForcedSplits, ParameterValue, PerFeature};

/// Shape of a parameter that is more than one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Structure {
    /// -1, 0 or 1 for each feature.
    Directions,
    /// A number of at least 0 for each feature.
    Factors,
    /// Groups of features.
    Groups,
    /// A tree of splits.
    Splits,
}

impl Structure {
    /// Parses a string and returns the same structure as canonical JSON; unset if it is empty. The error is the reason.
    pub(super) fn canonical(self, text: &str) -> Result<ParameterValue, String> {
        Ok(match self {
            Self::Directions => PerFeature::<i8>::parse(text)?.to_value(),
            Self::Factors => PerFeature::<f64>::parse(text)?.to_value(),
            Self::Groups => FeatureGroups::parse(text)?.to_value(),
            Self::Splits => ForcedSplits::parse(text)?.to_value(),
        })
    }

    /// Describes valid values.
    pub(super) const fn takes(self) -> &'static str {
        match self {
            Self::Directions => "-1, 0 or 1 per feature: `1,0,-1` or `age:1,price:-1`",
            Self::Factors => "a number of at least 0 per feature: `1,0.5,2` or `age:1,price:0.5`",
            Self::Groups => "lists of feature names or 0-based indices: `[0,1],[2,3]` or `[age,price],[rooms]`",
            Self::Splits => {
                "a JSON file or object: `{\"feature\": 0, \"threshold\": 0.5, \"left\": {...}, \"right\": {...}}`"
            }
        }
    }
}

/// Implements `Field` for a structured type with `parse` and `to_value`.
macro_rules! structured {
    ($type:ty, $structure:expr) => {
        impl super::field::Field for $type {
            const KIND: super::ParameterKind = super::ParameterKind::Structured($structure);

            fn read(value: &super::ParameterValue) -> Option<Self> {
                match value {
                    super::ParameterValue::Unset => Some(Self::default()),
                    super::ParameterValue::String(text) => Self::parse(text).ok(),
                    _ => None,
                }
            }

            fn value(&self) -> super::ParameterValue {
                self.to_value()
            }
        }
    };
}
pub(super) use structured;
