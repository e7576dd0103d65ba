//! Parameters that a caller gave by name.

use super::{HyperParameter, PARAMETERS, ParameterError, ParameterStage, ParameterValue, Params, find};
use crate::feature::Quantizer;

/// Parameters given by name, each once.
///
/// Every name may be an alias. One parameter under two names is accepted if the values agree, and refused if not.
///
/// ```
/// use bitgrain_gbdt::parameter::ParameterSet;
/// let mut given = ParameterSet::default();
/// given.insert("lambda_l2", 1.0)?;
/// given.insert("reg_lambda", 1)?; // the same
/// given.insert("max_depth", -1)?; // LightGBM's "no limit"
/// let params = given.params()?;
/// assert_eq!((params.reg_lambda, params.max_depth), (1.0, None));
/// let refused = given.insert("lambda", 2).unwrap_err().to_string();
/// assert_eq!(
///     refused,
///     "conflicting parameters: `lambda_l2 = 1.0` and `lambda = 2`; both names mean reg_lambda, give one of them"
/// );
/// # Ok::<(), bitgrain_gbdt::parameter::ParameterError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ParameterSet {
    entries: Vec<Entry>,
}

/// A parameter with the name and the value that were given.
#[derive(Debug, Clone)]
struct Entry {
    parameter: &'static HyperParameter,
    name: String,
    value: ParameterValue,
}

impl ParameterSet {
    /// Adds a parameter and returns its entry in the table. The value is checked when it is used.
    ///
    /// # Errors
    /// [`ParameterError::Unknown`], or [`ParameterError::Conflict`] if it was given before with another value.
    pub fn insert(
        &mut self,
        name: &str,
        value: impl Into<ParameterValue>,
    ) -> Result<&'static HyperParameter, ParameterError> {
        let (parameter, value) = (find(name)?, value.into());
        if let Some(before) = self.entry(parameter.name) {
            // Compared as the field gets them, so that 1, 1.0 and "1" agree; values out of range as they are.
            let read =
                |name: &str, value: &ParameterValue| parameter.check(name, value).unwrap_or_else(|_| value.clone());
            if !read(&before.name, &before.value).same(&read(name, &value)) {
                return Err(ParameterError::Conflict {
                    first: format!("{} = {}", before.name, before.value),
                    second: format!("{name} = {value}"),
                    fix: format!("both names mean {}, give one of them", parameter.name),
                });
            }
            return Ok(parameter);
        }
        self.entries.push(Entry { parameter, name: name.to_owned(), value });
        Ok(parameter)
    }

    /// The value of a parameter, by its own name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ParameterValue> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// Refuses parameters of every stage but one.
    ///
    /// # Errors
    /// [`ParameterError::Misplaced`].
    pub fn only(&self, stage: ParameterStage) -> Result<(), ParameterError> {
        match self.entries.iter().find(|entry| entry.parameter.stage != stage) {
            Some(entry) => Err(ParameterError::Misplaced { name: entry.name.clone(), stage: entry.parameter.stage }),
            None => Ok(()),
        }
    }

    /// Settings of a training: what was given, and defaults for the rest.
    ///
    /// # Errors
    /// [`ParameterError::Invalid`] or [`ParameterError::Conflict`].
    pub fn params(&self) -> Result<Params, ParameterError> {
        let mut params = Params::default();
        for entry in self.entries.iter().filter(|entry| entry.parameter.stage == ParameterStage::Training) {
            params.set(&entry.name, entry.value.clone())?;
        }
        if let Some(ParameterValue::Text(objective)) = self.get("objective") {
            self.check_objective(objective)?;
        }
        params.check()?;
        Ok(params)
    }

    /// Settings of the binning: `max_bin`, `sample_rows` and `seed`.
    ///
    /// # Errors
    /// [`ParameterError::Invalid`].
    pub fn quantizer(&self) -> Result<Quantizer, ParameterError> {
        let integer = |name: &str| self.entry(name).map(|entry| entry.integer()).transpose();
        let mut quantizer = Quantizer::default();
        if let Some(max_bin) = integer("max_bin")? {
            quantizer = quantizer.with_max_bin(u32::try_from(max_bin).unwrap_or(u32::MAX))?;
        }
        if let Some(rows) = integer("sample_rows")? {
            quantizer = quantizer.with_sample_rows(usize::try_from(rows).unwrap_or(usize::MAX))?;
        }
        Ok(quantizer.with_seed(integer("seed")?.unwrap_or(0)))
    }

    /// Refuses `alpha` beside an objective whose own parameter LightGBM calls alpha.
    ///
    /// # Errors
    /// [`ParameterError::Conflict`].
    pub fn check_objective(&self, objective: &str) -> Result<(), ParameterError> {
        let Some(alpha) = self.entries.iter().find(|entry| entry.name == "alpha") else { return Ok(()) };
        let own = crate::objective::by_name(objective).map(|objective| objective.name()).unwrap_or_default();
        if own.starts_with("quantile") || own.starts_with("huber") {
            return Err(ParameterError::Conflict {
                first: format!("alpha = {}", alpha.value),
                second: format!("objective = {objective}"),
                fix: "alpha is the L1 penalty here: call it reg_alpha, or write the objective as `quantile:0.9`"
                    .to_owned(),
            });
        }
        Ok(())
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.parameter.name == name)
    }
}

impl Entry {
    fn integer(&self) -> Result<u64, ParameterError> {
        match self.parameter.check(&self.name, &self.value)? {
            ParameterValue::Integer(integer) => Ok(u64::try_from(integer).unwrap_or(u64::MAX)),
            _ => Err(self.parameter.invalid(&self.name, &self.value, true)),
        }
    }
}

impl Params {
    /// Settings of a training from names and values; aliases are accepted, and defaults are taken for the rest.
    ///
    /// ```
    /// use bitgrain_gbdt::train::Params;
    /// let params = Params::from_pairs([("num_iterations", "500"), ("eta", "0.05"), ("grow_policy", "depthwise")])?;
    /// assert_eq!((params.n_estimators, params.learning_rate), (500, 0.05));
    /// # Ok::<(), bitgrain_gbdt::parameter::ParameterError>(())
    /// ```
    ///
    /// # Errors
    /// [`ParameterError`], also for a parameter that is not a training's, such as `max_bin`.
    pub fn from_pairs<'a, V: Into<ParameterValue>>(
        pairs: impl IntoIterator<Item = (&'a str, V)>,
    ) -> Result<Self, ParameterError> {
        let mut given = ParameterSet::default();
        for (name, value) in pairs {
            given.insert(name, value)?;
        }
        given.only(ParameterStage::Training)?;
        given.params()
    }

    /// Sets one parameter by its name or an alias.
    ///
    /// # Errors
    /// [`ParameterError::Unknown`], [`ParameterError::Misplaced`] or [`ParameterError::Invalid`]; nothing is changed then.
    pub fn set(&mut self, name: &str, value: impl Into<ParameterValue>) -> Result<(), ParameterError> {
        let (parameter, value) = (find(name)?, value.into());
        let read = parameter.check(name, &value)?;
        if parameter.stage != ParameterStage::Training {
            return Err(ParameterError::Misplaced { name: name.to_owned(), stage: parameter.stage });
        }
        if self.assign(parameter.name, &read) { Ok(()) } else { Err(parameter.invalid(name, &value, false)) }
    }

    /// Checks every field, and the fields that depend on each other.
    ///
    /// # Errors
    /// [`ParameterError::Invalid`] for the first field out of range, or [`ParameterError::Conflict`].
    pub fn check(&self) -> Result<(), ParameterError> {
        for parameter in PARAMETERS.iter().filter(|parameter| parameter.stage == ParameterStage::Training) {
            let Some(value) = self.get(parameter.name) else { continue };
            // `Some(0)` would be read as "no limit", but a field that holds it is a mistake.
            if parameter.check(parameter.name, &value)? != value {
                return Err(parameter.invalid(parameter.name, &value, false));
            }
        }
        let conflict = |first: &str, second: &str, fix: &str| {
            let shown = |name| format!("{name} = {}", self.get(name).unwrap_or(ParameterValue::Unset));
            Err(ParameterError::Conflict { first: shown(first), second: shown(second), fix: fix.to_owned() })
        };
        if self.goss().is_some() && self.top_rate + self.other_rate > 1.0 {
            return conflict("top_rate", "other_rate", "their sum must be at most 1");
        }
        if self.goss().is_some() && self.subsample < 1.0 && self.subsample_freq > 0 {
            return conflict("data_sample_strategy", "subsample", "sample rows in one way only");
        }
        Ok(())
    }
}
