//! `ParameterSet`: parameters given by name.

use super::{HyperParameter, PARAMETERS, ParameterError, ParameterStage, ParameterValue, Params, find};
use crate::feature::Quantizer;
use crate::train::{Boosting, Growth, MonotoneMethod};

/// Parameters given by name.
///
/// Names may be aliases. A parameter given under two names is accepted if the values agree, and rejected otherwise.
///
/// ```
/// use bitgrain_gbdt::parameter::ParameterSet;
/// let mut given = ParameterSet::default();
/// given.insert("lambda_l2", 1.0)?;
/// given.insert("reg_lambda", 1)?; // the same parameter and value
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

/// Parameter with the name and the value that the caller gave.
#[derive(Debug, Clone)]
struct Entry {
    parameter: &'static HyperParameter,
    name: String,
    value: ParameterValue,
}

impl ParameterSet {
    /// Adds a parameter and returns its entry in the table. Its value is checked when it is used.
    ///
    /// # Errors
    /// Returns [`ParameterError::Unknown`], or [`ParameterError::Conflict`] if the parameter was given with another
    /// value.
    pub fn insert(
        &mut self,
        name: &str,
        value: impl Into<ParameterValue>,
    ) -> Result<&'static HyperParameter, ParameterError> {
        let (parameter, value) = (find(name)?, value.into());
        if let Some(before) = self.entry(parameter.name) {
            // Compare converted values, so that 1, 1.0 and "1" agree; values out of range are compared unconverted.
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

    /// Returns the value of a parameter by its canonical name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ParameterValue> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// Checks that all parameters belong to a stage.
    ///
    /// # Errors
    /// Returns [`ParameterError::Misplaced`] for the first parameter of another stage.
    pub fn only(&self, stage: ParameterStage) -> Result<(), ParameterError> {
        match self.entries.iter().find(|entry| entry.parameter.stage != stage) {
            Some(entry) => Err(ParameterError::Misplaced { name: entry.name.clone(), stage: entry.parameter.stage }),
            None => Ok(()),
        }
    }

    /// Returns the training parameters: the given values, and defaults for the others.
    ///
    /// # Errors
    /// Returns [`ParameterError::Invalid`] or [`ParameterError::Conflict`].
    pub fn params(&self) -> Result<Params, ParameterError> {
        let mut params = Params::default();
        for entry in self.entries.iter().filter(|entry| entry.parameter.stage == ParameterStage::Training) {
            params.set(&entry.name, entry.value.clone())?;
        }
        if let Some(ParameterValue::String(objective)) = self.get("objective") {
            self.check_objective(objective)?;
        }
        params.check()?;
        Ok(params)
    }

    /// Returns the settings of the binning: `max_bin`, `sample_rows` and `seed`.
    ///
    /// # Errors
    /// Returns [`ParameterError::Invalid`].
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

    /// Rejects `alpha` together with an objective whose own parameter LightGBM calls alpha.
    ///
    /// # Errors
    /// Returns [`ParameterError::Conflict`].
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
    /// Creates parameters from names (or aliases) and values; others have their defaults.
    ///
    /// ```
    /// use bitgrain_gbdt::train::Params;
    /// let params = Params::from_pairs([("num_iterations", "500"), ("eta", "0.05"), ("grow_policy", "depthwise")])?;
    /// assert_eq!((params.n_estimators, params.learning_rate), (500, 0.05));
    /// # Ok::<(), bitgrain_gbdt::parameter::ParameterError>(())
    /// ```
    ///
    /// # Errors
    /// Returns a [`ParameterError`], also for a parameter of another stage, such as `max_bin`.
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

    /// Sets a parameter by its name or an alias.
    ///
    /// # Errors
    /// Returns [`ParameterError::Unknown`], [`ParameterError::Misplaced`] or [`ParameterError::Invalid`]; nothing is
    /// changed.
    pub fn set(&mut self, name: &str, value: impl Into<ParameterValue>) -> Result<(), ParameterError> {
        let (parameter, value) = (find(name)?, value.into());
        let read = parameter.check(name, &value)?;
        if parameter.stage != ParameterStage::Training {
            return Err(ParameterError::Misplaced { name: name.to_owned(), stage: parameter.stage });
        }
        if self.assign(parameter.name, &read) { Ok(()) } else { Err(parameter.invalid(name, &value, false)) }
    }

    /// Checks every field, and combinations of fields.
    ///
    /// # Errors
    /// Returns [`ParameterError::Invalid`] for the first field out of range, or [`ParameterError::Conflict`].
    pub fn check(&self) -> Result<(), ParameterError> {
        for parameter in PARAMETERS.iter().filter(|parameter| parameter.stage == ParameterStage::Training) {
            let Some(value) = self.get(parameter.name) else { continue };
            // `check` converts `Some(0)` to "unlimited", but in a field it is a mistake.
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
        if self.boosting == Boosting::Dart && self.early_stopping_rounds.is_some() {
            let fix = "later rounds change the weights of earlier trees; choose n_estimators by cross-validation";
            return conflict("boosting", "early_stopping_rounds", fix);
        }
        if self.boosting == Boosting::Rf && self.goss().is_some() {
            return conflict("boosting", "data_sample_strategy", "the gradients of a random forest do not change");
        }
        let differs = self.bagging().is_some() || self.extra_trees || self.colsample_bynode < 1.0;
        if self.boosting == Boosting::Rf && !differs && self.colsample_bytree >= 1.0 {
            let fix = "the trees of a random forest need different rows or features; set subsample below 1";
            return conflict("boosting", "subsample", fix);
        }
        let tracks = self.monotone_constraints_method != MonotoneMethod::Basic;
        if tracks && self.growth == Growth::Symmetric {
            return conflict("monotone_constraints_method", "growth", "symmetric trees have basic bounds only");
        }
        // The bounds of each leaf follow from all others, so that their cost grows with the square of the leaves.
        if tracks && self.num_leaves > 1024 {
            let fix = "use at most 1024 leaves, or the basic method";
            return conflict("monotone_constraints_method", "num_leaves", fix);
        }
        if self.forced_splits.0.is_some() && self.growth == Growth::Symmetric {
            return conflict("forced_splits", "growth", "symmetric trees have one split per level; grow others");
        }
        Ok(())
    }
}
