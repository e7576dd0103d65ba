//! `FormatOptions`: scale, group and calibration options that refine a format name.
//!
//! All front ends resolve their options here, so that each option is either part of the resulting format, reported as
//! having no effect, or rejected because it contradicts the name.

use std::fmt;

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{BlockLen, Calibration, DType, ScaledFormat, Scaling, WeightFormat};

use super::FormatChoice;

/// Granularity of scales, without the group length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granularity {
    /// No scale.
    None,
    /// One scale per tensor.
    Tensor,
    /// One scale per row.
    Channel,
    /// One scale per group of weights within a row.
    Group,
}

impl fmt::Display for Granularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Tensor => "tensor",
            Self::Channel => "channel",
            Self::Group => "group",
        })
    }
}

/// Options that refine a format; `None` defers to the format's name.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FormatOptions {
    /// Granularity of scales.
    pub scale: Option<Granularity>,
    /// Number of weights that share a scale.
    pub group: Option<usize>,
    /// Method that computes scales.
    pub calibration: Option<Calibration>,
}

/// Name of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatOption {
    /// [`FormatOptions::scale`].
    Scale,
    /// [`FormatOptions::group`].
    Group,
    /// [`FormatOptions::calibration`].
    Calibrate,
}

impl fmt::Display for FormatOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Scale => "scale",
            Self::Group => "group",
            Self::Calibrate => "calibrate",
        })
    }
}

/// A format with the options applied, and which of them it uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolved {
    /// The resulting format.
    pub format: WeightFormat,
    /// Whether the format uses `scale` and `group`.
    pub scaled: bool,
    /// Whether the format uses `calibration`.
    pub calibrated: bool,
}

/// Reason why options cannot be applied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatOptionsError {
    /// An option that contradicts the format's name.
    #[error("{setting}={value} contradicts the format `{format}`; omit one of them")]
    Contradiction {
        /// The option.
        setting: FormatOption,
        /// Its value.
        value: String,
        /// The format as given by the caller.
        format: String,
    },
    /// A group length together with a granularity that has no groups.
    #[error("group={group} contradicts scale={scale}; omit one of them")]
    GroupWithScale {
        /// Weights per group.
        group: usize,
        /// The granularity.
        scale: Granularity,
    },
    /// An option that none of the formats uses.
    #[error("{setting}={value} has no effect on {formats}: {reason}; omit it")]
    Unused {
        /// The option.
        setting: FormatOption,
        /// Its value.
        value: String,
        /// The formats, separated by commas.
        formats: String,
        /// Reason why the last of them does not use the option.
        reason: &'static str,
    },
    /// An unknown name or a value out of range.
    #[error(transparent)]
    Codec(#[from] CodecErr),
}

impl FormatOptions {
    /// Applies the options to a format name, which may state its own scaling and calibration: `int4/32@mse`.
    ///
    /// ```
    /// use bitgrain_nn::model::convert::{FormatOptions, Granularity};
    /// let grouped = FormatOptions { scale: Some(Granularity::Group), ..FormatOptions::default() };
    /// assert_eq!(grouped.resolve("int4/32")?.format.to_string(), "int4/32");
    /// assert_eq!(grouped.resolve("int8")?.format.to_string(), "int8/64");
    /// assert!(!grouped.resolve("q4_k")?.scaled);
    /// assert!(grouped.resolve("int4/channel").is_err());
    /// # Ok::<(), bitgrain_nn::model::convert::FormatOptionsError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`FormatOptionsError::Contradiction`] and [`FormatOptionsError::GroupWithScale`] for conflicting
    /// options, [`FormatOptionsError::Codec`] for an unknown name or a group length that is not a multiple of 8. An
    /// option without effect is not an error here: see [`reject_unused`](Self::reject_unused).
    pub fn resolve(&self, name: &str) -> Result<Resolved, FormatOptionsError> {
        self.resolved(name, false)
    }

    /// Like [`resolve`](Self::resolve), but where name and options conflict, the name wins.
    ///
    /// # Errors
    /// Same as [`resolve`](Self::resolve), except [`FormatOptionsError::Contradiction`].
    pub fn resolve_override(&self, name: &str) -> Result<Resolved, FormatOptionsError> {
        self.resolved(name, true)
    }

    fn resolved(&self, name: &str, overrides: bool) -> Result<Resolved, FormatOptionsError> {
        let wanted = self.scaling()?;
        let FormatChoice::To(format) = name.parse()? else { return Err(CodecErr::UnknownFormat.into()) };
        let WeightFormat::Scaled(mut scaled) = format else {
            return Ok(Resolved { format, scaled: false, calibrated: false });
        };
        // `int4` and `int4/64` parse to the same format, but only the second contradicts `channel`: look at the name.
        let (names_scaling, names_calibration) = (name.contains('/'), name.contains('@'));
        let contradiction =
            |setting, value| FormatOptionsError::Contradiction { setting, value, format: name.to_owned() };
        let mut used = Resolved { format, scaled: false, calibrated: false };
        if let Some(wanted) = wanted.filter(|wanted| !scaled.dtype.is_plain() || *wanted == Wanted::None) {
            let scaling = wanted.with_groups_of(scaled.scaling);
            if !names_scaling || scaling == scaled.scaling {
                scaled.scaling = scaling;
                used.scaled = true;
            } else if !overrides {
                let group = self.group.map(|group| (FormatOption::Group, group.to_string()));
                let scale = self.scale.map(|scale| (FormatOption::Scale, scale.to_string()));
                let (setting, value) = group.or(scale).unwrap_or((FormatOption::Scale, String::new()));
                return Err(contradiction(setting, value));
            }
        }
        if let Some(how) = self.calibration.filter(|how| uncalibrated(scaled, *how).is_none()) {
            if !names_calibration || scaled.calibration == how {
                scaled.calibration = how;
                used.calibrated = true;
            } else if !overrides {
                return Err(contradiction(FormatOption::Calibrate, how.to_string()));
            }
        }
        Ok(Resolved { format: scaled.into(), ..used })
    }

    /// Rejects options that have no effect on any of `formats`, which must have been resolved with these options.
    ///
    /// # Errors
    /// Returns [`FormatOptionsError::Unused`].
    pub fn reject_unused(&self, formats: &[Resolved]) -> Result<(), FormatOptionsError> {
        let scaling = self.group.map(|group| (FormatOption::Group, group.to_string()));
        let scaling = scaling.or(self.scale.map(|scale| (FormatOption::Scale, scale.to_string())));
        let calibration = self.calibration.map(|how| (FormatOption::Calibrate, how.to_string()));
        let unused_scaling = scaling.filter(|_| !formats.iter().any(|one| one.scaled));
        let unused_calibration = calibration.filter(|_| !formats.iter().any(|one| one.calibrated));
        let Some((setting, value)) = unused_scaling.or(unused_calibration) else { return Ok(()) };
        let names: Vec<String> = formats.iter().map(|one| one.format.to_string()).collect();
        let reason = match formats.last().map(|one| one.format) {
            None => "no format is given with it",
            Some(WeightFormat::Ggml(_) | WeightFormat::Codebook(_) | WeightFormat::Q4F32) => {
                "block formats store their own scales"
            }
            Some(WeightFormat::Scaled(scaled)) => {
                let named = "its name overrides the option";
                let how = self.calibration.filter(|_| setting == FormatOption::Calibrate);
                let plain = scaled.dtype.is_plain().then_some("plain floats have no scales");
                how.map_or(plain, |how| uncalibrated(scaled, how)).unwrap_or(named)
            }
        };
        let formats = if names.is_empty() { "this conversion".to_owned() } else { names.join(", ") };
        Err(FormatOptionsError::Unused { setting, value, formats, reason })
    }

    fn scaling(&self) -> Result<Option<Wanted>, FormatOptionsError> {
        Ok(match (self.scale, self.group) {
            (None | Some(Granularity::Group), Some(len)) => {
                Some(Wanted::Group(Some(BlockLen::new(len).map_err(CodecErr::from)?)))
            }
            (Some(scale), Some(group)) => return Err(FormatOptionsError::GroupWithScale { group, scale }),
            (Some(Granularity::Group), None) => Some(Wanted::Group(None)),
            (Some(Granularity::None), None) => Some(Wanted::None),
            (Some(Granularity::Tensor), None) => Some(Wanted::Tensor),
            (Some(Granularity::Channel), None) => Some(Wanted::Channel),
            (None, None) => None,
        })
    }
}

/// Requested scaling; the length of groups may be left open.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wanted {
    None,
    Tensor,
    Channel,
    Group(Option<BlockLen>),
}

impl Wanted {
    /// Returns the scaling, with the group length of `own` if none was requested.
    fn with_groups_of(self, own: Scaling) -> Scaling {
        match (self, own) {
            (Self::None, _) => Scaling::None,
            (Self::Tensor, _) => Scaling::Tensor,
            (Self::Channel, _) => Scaling::Channel,
            (Self::Group(Some(len)), _) | (Self::Group(None), Scaling::Group(len)) => Scaling::Group(len),
            (Self::Group(None), _) => Scaling::Group(BlockLen::DEFAULT),
        }
    }
}

/// Returns the reason why a calibration method has no effect on a format, or `None` if it has one.
fn uncalibrated(format: ScaledFormat, how: Calibration) -> Option<&'static str> {
    match format.dtype {
        dtype if dtype.is_plain() => Some("plain floats have no scales"),
        _ if format.scaling == Scaling::None => Some("it has no scale to calibrate"),
        DType::Ternary | DType::Binary => Some("its scale always minimizes the squared error"),
        dtype if dtype.bits() > 8 && matches!(how, Calibration::MeanSquaredError | Calibration::HalfQuadratic) => {
            Some("scales of dtypes with at least 16 bits are not searched")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(scale: Option<Granularity>, group: Option<usize>) -> FormatOptions {
        FormatOptions { scale, group, calibration: None }
    }

    #[test]
    fn a_group_length_in_the_name_survives_group_scaling() {
        let name =
            |name: &str, scale, group| settings(scale, group).resolve(name).map(|resolved| resolved.format.to_string());
        assert_eq!(name("int4/32", Some(Granularity::Group), None), Ok("int4/32".to_owned()));
        assert_eq!(name("int4/32", None, Some(32)), Ok("int4/32".to_owned()));
        assert_eq!(name("int4", Some(Granularity::Group), Some(128)), Ok("int4/128".to_owned()));
        assert_eq!(name("int4", Some(Granularity::Channel), None), Ok("int4/channel".to_owned()));
        assert_eq!(name("float16", Some(Granularity::None), None), Ok("float16".to_owned()));
    }

    #[test]
    fn names_and_settings_that_contradict_each_other_are_rejected() {
        let refused = |name: &str, scale, group| settings(scale, group).resolve(name).is_err();
        assert!(refused("int4/32", None, Some(64)));
        assert!(refused("int4/64", Some(Granularity::Channel), None));
        assert!(refused("int8/channel", Some(Granularity::Group), None));
        assert!(refused("int8", Some(Granularity::Tensor), Some(32)));
        let mse = FormatOptions { calibration: Some(Calibration::MeanSquaredError), ..Default::default() };
        assert!(mse.resolve("int4@hqq").is_err() && mse.resolve("int4@mse").is_ok());
        let own = settings(None, Some(64)).resolve_override("int4/32").expect("its own groups");
        assert_eq!((own.format.to_string().as_str(), own.scaled), ("int4/32", false));
    }

    #[test]
    fn settings_that_no_format_uses_are_rejected_with_the_reason() {
        let message = |settings: FormatOptions, names: &[&str]| {
            let resolved = names.iter().map(|name| settings.resolve_override(name)).collect::<Result<Vec<_>, _>>();
            settings.reject_unused(&resolved.expect("known names")).err().map(|error| error.to_string())
        };
        let mse = FormatOptions { calibration: Some(Calibration::MeanSquaredError), ..Default::default() };
        for (names, reason) in [
            (&["q4_k"][..], "store their own scales"),
            (&["float16"], "plain floats have no scales"),
            (&["ternary"], "minimizes the squared error"),
            (&["int16"], "not searched"),
            (&["int8/none"], "no scale to calibrate"),
            (&["int8@hqq"], "its name overrides the option"),
            (&[], "no format is given"),
        ] {
            let found = message(mse, names).expect("refused");
            assert!(found.contains("calibrate=mse") && found.contains(reason), "{names:?}: {found}");
        }
        assert_eq!(message(mse, &["q4_k", "int4"]), None);
        assert_eq!(message(settings(None, Some(32)), &["int4/64", "int8"]), None);
        assert!(message(settings(None, Some(32)), &["q4_k"]).is_some_and(|found| found.contains("group=32")));
    }
}
