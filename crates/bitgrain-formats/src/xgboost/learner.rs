//! The whole model: what surrounds the trees.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::lists::{number, numbers};
use super::ubjson::Ubjson;
use super::{Number, Tree, XgboostError};

/// Strings that a user put into a model.
pub type Attributes = BTreeMap<String, String>;

/// What a file says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Model {
    /// All but the version.
    pub learner: Learner,
    /// Of the library that wrote it.
    #[serde(default)]
    pub version: Vec<u32>,
}

/// All but the version.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Learner {
    /// Strings that a user put into the model, `best_iteration` among them.
    #[serde(default)]
    pub attributes: Attributes,
    /// The name of each feature, or nothing.
    #[serde(default)]
    pub feature_names: Vec<String>,
    /// The type of each feature (`float`, `int`, `c`), or nothing.
    #[serde(default)]
    pub feature_types: Vec<String>,
    /// The trees.
    pub gradient_booster: Booster,
    /// Sizes and the base score.
    pub learner_model_param: LearnerParam,
    /// The objective.
    pub objective: Objective,
}

/// Sizes and the base score, as numbers in quotes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LearnerParam {
    base_score: String,
    #[serde(default)]
    num_class: String,
    num_feature: String,
    #[serde(default)]
    num_target: String,
}

/// The objective with those of its parameters that matter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Objective {
    /// Its name: `binary:logistic`.
    pub name: String,
    /// Of `reg:tweedie`.
    #[serde(default)]
    pub tweedie_regression_param: Attributes,
    /// Of `reg:quantileerror`.
    #[serde(default)]
    pub quantile_loss_param: Attributes,
    /// Of `reg:pseudohubererror`.
    #[serde(default)]
    pub pseudo_huber_param: Attributes,
}

/// The trees, and how they are put together.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Booster {
    /// `gbtree`, `dart` or `gblinear`.
    pub name: String,
    /// The trees of `gbtree`.
    #[serde(default)]
    pub model: BoosterModel,
    /// The trees of `dart`.
    #[serde(default)]
    pub gbtree: Option<Box<Booster>>,
    /// The factor of each tree of `dart`.
    #[serde(default)]
    pub weight_drop: Vec<f32>,
}

/// Trees.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct BoosterModel {
    /// In the order they were grown.
    #[serde(default)]
    pub trees: Vec<Tree>,
    /// The score that each tree adds to.
    #[serde(default)]
    pub tree_info: Vec<u32>,
    /// The categories of the table it was trained on, from version 3.1 on.
    #[serde(default)]
    pub cats: Categories,
}

/// The categories of a table.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct Categories {
    /// For each feature; nothing if none has categories.
    #[serde(default)]
    pub enc: Vec<Encoding>,
}

/// The categories of a feature: texts if there are offsets, else numbers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Encoding {
    /// Where each text begins in `values`, and where the last one ends.
    #[serde(default)]
    offsets: Vec<u64>,
    /// Bytes of the texts, or the numbers.
    #[serde(default)]
    values: Vec<Number>,
}

impl Model {
    /// Reads a model in JSON or UBJSON.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(bytes: &[u8]) -> Result<Self, XgboostError> {
        let model: Self = if super::begins_as_ubjson(bytes) {
            Ubjson::read(bytes)
        } else if super::begins_as_json(bytes) {
            serde_json::from_slice(bytes).map_err(|error| json_error(&error))
        } else {
            Err(XgboostError::Magic)
        }?;
        model.check()?;
        Ok(model)
    }

    /// The trees, in whichever booster they are.
    #[must_use]
    pub fn trees(&self) -> &BoosterModel {
        let booster = &self.learner.gradient_booster;
        booster.gbtree.as_deref().map_or(&booster.model, |inner| &inner.model)
    }

    fn check(&self) -> Result<(), XgboostError> {
        let (model, drops) = (self.trees(), self.learner.gradient_booster.weight_drop.len());
        for (index, tree) in model.trees.iter().enumerate() {
            tree.check(index)?;
        }
        let trees = model.trees.len();
        for (field, found) in [("tree_info", model.tree_info.len()), ("weight_drop", drops)] {
            if found != trees && !(field == "weight_drop" && found == 0) {
                return Err(XgboostError::Length { place: "the model".into(), field, expected: trees, found });
            }
        }
        Ok(())
    }
}

impl LearnerParam {
    /// What predictions begin with: one number, or one for each score.
    ///
    /// # Errors
    /// If it is not numbers.
    pub fn base_score(&self) -> Result<Vec<f64>, XgboostError> {
        numbers("base_score", &self.base_score)
    }

    /// Classes, 0 if it is no classifier of several.
    ///
    /// # Errors
    /// If it is not a number.
    pub fn num_class(&self) -> Result<usize, XgboostError> {
        if self.num_class.is_empty() { Ok(0) } else { number("num_class", &self.num_class) }
    }

    /// Targets of a row.
    ///
    /// # Errors
    /// If it is not a number.
    pub fn num_target(&self) -> Result<usize, XgboostError> {
        if self.num_target.is_empty() { Ok(1) } else { number("num_target", &self.num_target) }
    }

    /// Features.
    ///
    /// # Errors
    /// If it is not a number.
    pub fn num_feature(&self) -> Result<usize, XgboostError> {
        number("num_feature", &self.num_feature)
    }
}

impl Encoding {
    /// The text of each category; `None` if the lists do not fit together, or if a text is not ASCII: XGBoost 3.2 counts
    /// characters where the file needs bytes, and such texts come out shifted.
    #[must_use]
    pub fn labels(&self) -> Option<Vec<String>> {
        if self.offsets.is_empty() {
            return Some(self.values.iter().map(Number::to_string).collect());
        }
        let ascii = |number: &Number| match *number {
            Number::Whole(number) => u8::try_from(number).ok().filter(u8::is_ascii).map(char::from),
            Number::Float(_) => None,
        };
        let text: String = self.values.iter().map(ascii).collect::<Option<_>>()?;
        // A range that goes backwards is none, so texts do not overlap and add up to more than the file holds.
        let label = |ends: &[u64]| {
            let range = usize::try_from(ends[0]).ok()?..usize::try_from(ends[1]).ok()?;
            text.get(range).map(str::to_owned)
        };
        self.offsets.windows(2).map(label).collect()
    }
}

fn json_error(error: &serde_json::Error) -> XgboostError {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = text.strip_suffix(&place).map(str::to_owned).unwrap_or(text);
    XgboostError::Json { line: error.line(), column: error.column(), message }
}
