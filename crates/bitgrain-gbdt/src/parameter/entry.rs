//! An entry of the table: how a value is checked, and how a name is found.

use std::fmt;

use super::kind::described;
use super::value::as_number;
use super::{PARAMETERS, ParameterError, ParameterKind, ParameterRange, ParameterValue};

/// A hyper-parameter.
#[derive(Debug, Clone, Copy)]
pub struct HyperParameter {
    /// Its name, the same in Rust, Python and, with hyphens, on the command line.
    pub name: &'static str,
    /// Names of LightGBM, XGBoost and scikit-learn for it, and its earlier names.
    pub aliases: &'static [&'static str],
    /// The step it belongs to.
    pub stage: ParameterStage,
    /// Its type.
    pub kind: ParameterKind,
    /// The values it can take.
    pub range: ParameterRange,
    /// Makes its default value.
    pub default: fn() -> ParameterValue,
    /// Help for options and docstrings: a noun phrase without a full stop.
    pub help: &'static str,
}

/// The step that a parameter belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterStage {
    /// Trees are grown by it: a field of [`Params`](super::Params).
    Training,
    /// Features are binned by it: a setting of a [`Quantizer`](crate::feature::Quantizer).
    Binning,
    /// A front end takes it, under a name of its own: objective, metric, threads, messages.
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
    /// The accepted values in words: `an integer of at least 1`.
    #[must_use]
    pub fn takes(&self) -> String {
        described(self.kind, self.range)
    }

    /// The value that the parameter's field gets, if this one can be used. This is the only check of a parameter's type
    /// and range.
    ///
    /// # Errors
    /// [`ParameterError::Invalid`] with the `name` that the caller used.
    pub fn check(&self, name: &str, value: &ParameterValue) -> Result<ParameterValue, ParameterError> {
        let read = match value {
            ParameterValue::Text(text) => self.parse(text),
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
            (ParameterKind::Choice(choices), Some(ParameterValue::Text(text))) => {
                let same = |word: &&str| word.eq_ignore_ascii_case(text.trim());
                let found = choices.iter().find(|choice| same(&choice.name) || choice.aliases.iter().any(&same));
                found.map_or_else(
                    || Err(self.invalid(name, value, false)),
                    |choice| Ok(ParameterValue::from(choice.name)),
                )
            }
            (ParameterKind::Any, Some(read)) => Ok(read),
            _ => Err(self.invalid(name, value, true)),
        }
    }

    /// The error for a value that the parameter does not take.
    #[must_use]
    pub fn invalid(&self, name: &str, value: &ParameterValue, wrong_type: bool) -> ParameterError {
        ParameterError::Invalid { name: name.to_owned(), value: value.to_string(), takes: self.takes(), wrong_type }
    }

    /// A string as a value of the parameter's type, if it is one.
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
            ParameterKind::Choice(_) | ParameterKind::Any => Some(ParameterValue::from(text)),
        }
    }
}

/// The parameter of a name or an alias; hyphens count as underscores.
///
/// ```
/// use bitgrain_gbdt::parameter::find;
/// assert_eq!(find("lambda_l2")?.name, "reg_lambda");
/// assert_eq!(find("num_leafs").unwrap_err().to_string(), "unknown parameter: `num_leafs`; did you mean `num_leaf`?");
/// # Ok::<(), bitgrain_gbdt::parameter::ParameterError>(())
/// ```
///
/// # Errors
/// [`ParameterError::Unknown`], which suggests the most similar name.
pub fn find(name: &str) -> Result<&'static HyperParameter, ParameterError> {
    let wanted = name.trim().replace('-', "_");
    let has = |parameter: &&HyperParameter| parameter.name == wanted || parameter.aliases.contains(&wanted.as_str());
    PARAMETERS
        .iter()
        .find(has)
        .ok_or_else(|| ParameterError::Unknown { name: name.to_owned(), nearest: nearest(&wanted) })
}

/// The name or alias that is most similar to a word, if at least half of its letters agree.
fn nearest(wanted: &str) -> Option<&'static str> {
    let wanted = wanted.to_ascii_lowercase();
    let own = PARAMETERS.iter().map(|parameter| parameter.name);
    let aliases = PARAMETERS.iter().flat_map(|parameter| parameter.aliases.iter().copied());
    // Our own names come first, and only a better one replaces them.
    let rated = own.chain(aliases).map(|name| (strsim::normalized_damerau_levenshtein(&wanted, name), name));
    let best = rated.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.filter(|(similarity, _)| *similarity >= 0.5).map(|(_, name)| name)
}
