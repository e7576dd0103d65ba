//! `FormatChoice`: the output format of a tensor, as a value and as a string.

use std::fmt;
use std::str::FromStr;

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{Calibration, WeightFormat};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Output format of a tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FormatChoice {
    /// Copies the tensor unchanged.
    Keep,
    /// Quantizes the tensor.
    To(WeightFormat),
}

impl fmt::Display for FormatChoice {
    /// Writes `keep`, or the format with its calibration if that is not the default: `int4/32@mse`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.pad("keep"),
            Self::To(format @ WeightFormat::Scaled(scaled)) if scaled.calibration != Calibration::AbsMax => {
                f.pad(&format!("{format}@{}", scaled.calibration))
            }
            Self::To(format) => fmt::Display::fmt(format, f),
        }
    }
}

impl FromStr for FormatChoice {
    type Err = CodecErr;

    /// Parses the output of [`Display`](fmt::Display).
    fn from_str(text: &str) -> Result<Self, CodecErr> {
        if text == "keep" {
            return Ok(Self::Keep);
        }
        let (format, calibration) = text.split_once('@').map_or((text, None), |(format, how)| (format, Some(how)));
        match (format.parse()?, calibration) {
            (WeightFormat::Scaled(scaled), Some(how)) => Ok(Self::To(scaled.with_calibration(how.parse()?).into())),
            (format, None) => Ok(Self::To(format)),
            (_, Some(_)) => Err(CodecErr::UnknownCalibration),
        }
    }
}

impl Serialize for FormatChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FormatChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error| de::Error::custom(format!("`{text}`: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_round_trip_through_strings() {
        for text in ["keep", "q4_k", "int4/32@mse", "int8@percentile=99.5", "uint2@hqq", "float16"] {
            assert_eq!(text.parse::<FormatChoice>().expect(text).to_string(), text);
        }
        for wrong in ["", "drop", "q4_k@mse", "int4@best", "int4@"] {
            assert!(wrong.parse::<FormatChoice>().is_err(), "{wrong}");
        }
    }
}
