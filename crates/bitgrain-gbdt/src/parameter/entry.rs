//! `HyperParameter`: entry of the parameter table, with validation and lookup by name.

use std::fmt;

use super::field::Field;
use super::kind::described;
use super::value::as_number;
use super::{PARAMETERS, ParameterError, ParameterKind, ParameterRange, ParameterValue};
use crate::objective::LabelGain;

/// Hyperparameter.
#[derive(Debug, Clone, Copy)]
pub struct HyperParameter {
    /// Name, the same in Rust, Python and, with hyphens, on the command line.
    pub name: &'static str,
    /// Names in LightGBM, XGBoost and scikit-learn, and earlier names.
    pub aliases: &'static [&'static str],
    /// Stage that the parameter belongs to.
    pub stage: ParameterStage,
    /// Type of the values.
    pub kind: ParameterKind,
    /// Range of valid values.
    pub range: ParameterRange,
    /// Returns the default value.
    pub default: fn() -> ParameterValue,
    /// Help for options and docstrings: a noun phrase without a full stop.
    pub help: &'static str,
}

/// Stage that a parameter belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterStage {
    /// Training: a field of [`Params`](super::Params).
    Training,
    /// Binning of features: a setting of a [`Quantizer`](crate::feature::Quantizer).
    Binning,
    /// Set separately by each front end: objective, metric, threads, progress messages.
    Run,
}

impl fmt::Display for ParameterStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Training => "the training",
            Self::Binning => "the binning of the dataset",
            Self::Run => "the call that trains",
        })
    }
}

impl HyperParameter {
    /// Returns a description of the valid values: `an integer of at least 1`.
    #[must_use]
    pub fn takes(&self) -> String {
        described(self.kind, self.range)
    }

    /// Checks a value and converts it to the type of the parameter's field. This is the only check of a parameter's
    /// type and range.
    ///
    /// # Errors
    /// Returns [`ParameterError::Invalid`] with the `name` that the caller used.
    pub fn check(&self, name: &str, value: &ParameterValue) -> Result<ParameterValue, ParameterError> {
        let read = match value {
            ParameterValue::String(text) => self.parse(text),
            other => Some(other.clone()),
        };
        let fits =
            |fits: bool, read: ParameterValue| if fits { Ok(read) } else { Err(self.invalid(name, value, false)) };
        match (self.kind, read) {
            (ParameterKind::Integer | ParameterKind::OptionalInteger, Some(ParameterValue::Integer(integer))) => {
                match (self.kind, integer) {
                    (ParameterKind::OptionalInteger, -1 | 0) => Ok(ParameterValue::Unset),
                    _ => fits(self.range.has_integer(integer), ParameterValue::Integer(integer)),
                }
            }
            (ParameterKind::OptionalInteger, Some(ParameterValue::Unset | ParameterValue::Flag(false))) => {
                Ok(ParameterValue::Unset)
            }
            (ParameterKind::Number, Some(ParameterValue::Number(number))) => {
                fits(self.range.has_number(number), ParameterValue::Number(number))
            }
            (ParameterKind::Number, Some(ParameterValue::Integer(integer))) => {
                let number = as_number(integer);
                fits(self.range.has_number(number), ParameterValue::Number(number))
            }
            (ParameterKind::Flag, Some(ParameterValue::Flag(flag))) => Ok(ParameterValue::Flag(flag)),
            (ParameterKind::Flag, Some(ParameterValue::Integer(0 | 1))) => {
                Ok(ParameterValue::Flag(matches!(value, ParameterValue::Integer(1))))
            }
            (ParameterKind::Choice(choices), Some(ParameterValue::String(text))) => {
                let same = |word: &&str| word.eq_ignore_ascii_case(text.trim());
                let found = choices.iter().find(|choice| same(&choice.name) || choice.aliases.iter().any(&same));
                found.map_or_else(
                    || Err(self.invalid(name, value, false)),
                    |choice| Ok(ParameterValue::from(choice.name)),
                )
            }
            (ParameterKind::Numbers, Some(read @ (ParameterValue::Unset | ParameterValue::String(_)))) => {
                // Written in one way, so that equal lists are equal values.
                LabelGain::read(&read).map_or_else(|| Err(self.invalid(name, value, false)), |read| Ok(read.value()))
            }
            (ParameterKind::Structured(_), Some(ParameterValue::Unset)) => Ok(ParameterValue::Unset),
            (ParameterKind::Structured(structure), Some(read)) if !matches!(read, ParameterValue::Flag(_)) => structure
                .canonical(&read.to_string())
                .map_err(|reason| ParameterError::Malformed { name: name.to_owned(), reason, takes: self.takes() }),
            (ParameterKind::Any, Some(read)) => Ok(read),
            _ => Err(self.invalid(name, value, true)),
        }
    }

    /// Returns the error for an invalid value.
    #[must_use]
    pub fn invalid(&self, name: &str, value: &ParameterValue, wrong_type: bool) -> ParameterError {
        ParameterError::Invalid { name: name.to_owned(), value: value.to_string(), takes: self.takes(), wrong_type }
    }

    /// Parses a string as a value of the parameter's type.
    fn parse(&self, text: &str) -> Option<ParameterValue> {
        let text = text.trim();
        match self.kind {
            ParameterKind::Integer => text.parse().ok().map(ParameterValue::Integer),
            ParameterKind::OptionalInteger if text.eq_ignore_ascii_case("none") => Some(ParameterValue::Unset),
            ParameterKind::OptionalInteger => text.parse().ok().map(ParameterValue::Integer),
            ParameterKind::Number => text.parse().ok().map(ParameterValue::Number),
            ParameterKind::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Some(ParameterValue::Flag(true)),
                "false" | "0" => Some(ParameterValue::Flag(false)),
                _ => None,
            },
            ParameterKind::Numbers if text.eq_ignore_ascii_case("none") => Some(ParameterValue::Unset),
            ParameterKind::Structured(_) if text.eq_ignore_ascii_case("none") => Some(ParameterValue::Unset),
            ParameterKind::Choice(_) | ParameterKind::Numbers | ParameterKind::Structured(_) | ParameterKind::Any => {
                Some(ParameterValue::from(text))
            }
        }
    }
}

/// Returns the parameter with a name or an alias; hyphens count as underscores.
///
/// ```
/// use bitgrain_gbdt::parameter::find;
/// assert_eq!(find("lambda_l2")?.name, "reg_lambda");
/// assert_eq!(find("num_leafs").unwrap_err().to_string(), "unknown parameter: `num_leafs`; did you mean `num_leaf`?");
/// # Ok::<(), bitgrain_gbdt::parameter::ParameterError>(())
/// ```
///
/// # Errors
/// Returns [`ParameterError::Unknown`] with the most similar name.
pub fn find(name: &str) -> Result<&'static HyperParameter, ParameterError> {
    let wanted = name.trim().replace('-', "_");
    let has = |parameter: &&HyperParameter| parameter.name == wanted || parameter.aliases.contains(&wanted.as_str());
    PARAMETERS
        .iter()
        .find(has)
        .ok_or_else(|| ParameterError::Unknown { name: name.to_owned(), nearest: nearest(&wanted) })
}

/// Returns the most similar name or alias, if at least half of its letters agree.
fn nearest(wanted: &str) -> Option<&'static str> {
    let wanted = wanted.to_ascii_lowercase();
    let own = PARAMETERS.iter().map(|parameter| parameter.name);
    let aliases = PARAMETERS.iter().flat_map(|parameter| parameter.aliases.iter().copied());
    // Canonical names come first, and `>` keeps the first of equally similar ones.
    let rated = own.chain(aliases).map(|name| (strsim::normalized_damerau_levenshtein(&wanted, name), name));
    let best = rated.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.filter(|(similarity, _)| *similarity >= 0.5).map(|(_, name)| name)
}
