//! `Model`: everything around the trees.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::lists::{number, numbers};
use super::ubjson::Ubjson;
use super::{Number, Tree, XgboostError};

/// User-defined attributes of a model.
pub type Attributes = BTreeMap<String, String>;

/// Contents of a model file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Model {
    /// Everything except the version.
    pub learner: Learner,
    /// Version of the XGBoost library that wrote the file.
    #[serde(default)]
    pub version: Vec<u32>,
}

/// Everything in a model except the version.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Learner {
    /// User-defined attributes, including `best_iteration`.
    #[serde(default)]
    pub attributes: Attributes,
    /// Name of each feature; may be empty.
    #[serde(default)]
    pub feature_names: Vec<String>,
    /// Type of each feature (`float`, `int`, `c`); may be empty.
    #[serde(default)]
    pub feature_types: Vec<String>,
    /// The trees.
    pub gradient_booster: Booster,
    /// Sizes and base score.
    pub learner_model_param: LearnerParam,
    /// The objective.
    pub objective: Objective,
}

/// Sizes and base score, as quoted numbers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LearnerParam {
    pub(super) base_score: String,
    #[serde(default)]
    pub(super) num_class: String,
    pub(super) num_feature: String,
    #[serde(default)]
    pub(super) num_target: String,
}

/// Objective with the parameters that affect predictions, and those without which XGBoost does not load a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Objective {
    /// Name, such as `binary:logistic`.
    pub name: String,
    /// Parameter of `reg:tweedie`.
    #[serde(default)]
    pub tweedie_regression_param: Attributes,
    /// Parameter of `reg:quantileerror`.
    #[serde(default)]
    pub quantile_loss_param: Attributes,
    /// Parameter of `reg:pseudohubererror`.
    #[serde(default)]
    pub pseudo_huber_param: Attributes,
    /// Parameters of `count:poisson`.
    #[serde(default)]
    pub poisson_regression_param: Attributes,
    /// Parameters of `reg:squarederror`, `binary:logistic` and others.
    #[serde(default)]
    pub reg_loss_param: Attributes,
    /// Parameters of `multi:softprob`.
    #[serde(default)]
    pub softmax_multiclass_param: Attributes,
}

/// Booster type and its trees.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Booster {
    /// `gbtree`, `dart` or `gblinear`.
    pub name: String,
    /// Trees of `gbtree`.
    #[serde(default)]
    pub model: BoosterModel,
    /// Trees of `dart`.
    #[serde(default)]
    pub gbtree: Option<Box<Booster>>,
    /// Weight of each `dart` tree.
    #[serde(default)]
    pub weight_drop: Vec<f32>,
}

/// Trees of a booster.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct BoosterModel {
    /// Trees in the order they were grown.
    #[serde(default)]
    pub trees: Vec<Tree>,
    /// Output index of each tree.
    #[serde(default)]
    pub tree_info: Vec<u32>,
    /// Categories of the training table, since version 3.1.
    #[serde(default)]
    pub cats: Categories,
}

/// Categories of a table.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct Categories {
    /// Categories of each feature; empty if no feature is categorical.
    #[serde(default)]
    pub enc: Vec<Encoding>,
}

/// Categories of a feature: strings if offsets are present, otherwise numbers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Encoding {
    /// Start of each string in `values`, followed by the end of the last one.
    #[serde(default)]
    offsets: Vec<u64>,
    /// Bytes of the strings, or the numbers.
    #[serde(default)]
    values: Vec<Number>,
}

impl Model {
    /// Parses a JSON or UBJSON model.
    ///
    /// # Errors
    /// Returns an [`XgboostError`] with the position of the error.
    pub fn parse(bytes: &[u8]) -> Result<Self, XgboostError> {
        let model: Self = if super::detect_ubjson(bytes) {
            Ubjson::read(bytes)
        } else if super::detect_json(bytes) {
            serde_json::from_slice(bytes).map_err(|error| json_error(&error))
        } else {
            Err(XgboostError::Magic)
        }?;
        model.check()?;
        Ok(model)
    }

    /// Returns the trees, of either booster type.
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
    /// Creates the parameters of a model: one base score for all outputs, numbers of classes (0 unless multiclass), features
    /// and targets.
    #[must_use]
    pub fn new(base_score: f32, num_class: usize, num_feature: usize, num_target: usize) -> Self {
        Self {
            base_score: format!("{base_score:E}"),
            num_class: num_class.to_string(),
            num_feature: num_feature.to_string(),
            num_target: num_target.to_string(),
        }
    }

    /// Returns the base scores: one number, or one per output.
    ///
    /// # Errors
    /// Returns [`XgboostError::Number`] if a value is not a number.
    pub fn base_score(&self) -> Result<Vec<f64>, XgboostError> {
        numbers("base_score", &self.base_score)
    }

    /// Returns the number of classes; 0 unless the model is a multiclass classifier.
    ///
    /// # Errors
    /// Returns [`XgboostError::Number`] if the value is not a number.
    pub fn num_class(&self) -> Result<usize, XgboostError> {
        if self.num_class.is_empty() { Ok(0) } else { number("num_class", &self.num_class) }
    }

    /// Returns the number of targets per row.
    ///
    /// # Errors
    /// Returns [`XgboostError::Number`] if the value is not a number.
    pub fn num_target(&self) -> Result<usize, XgboostError> {
        if self.num_target.is_empty() { Ok(1) } else { number("num_target", &self.num_target) }
    }

    /// Returns the number of features.
    ///
    /// # Errors
    /// Returns [`XgboostError::Number`] if the value is not a number.
    pub fn num_feature(&self) -> Result<usize, XgboostError> {
        number("num_feature", &self.num_feature)
    }
}

impl Encoding {
    /// Returns the string of each category; `None` if the lists are inconsistent or a string is not ASCII. XGBoost 3.2
    /// counts characters where the file needs bytes, so non-ASCII strings come out shifted.
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
        // Descending ranges are rejected, so strings cannot overlap and add up to more than the size of the file.
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
