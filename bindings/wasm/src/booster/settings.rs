//! Options of a training: data, metrics and hyperparameters in one object.

use bitgrain::gbdt::Objective;
use bitgrain::gbdt::metric::{self, Metric};
use bitgrain::gbdt::parameter::{ParameterKind, ParameterSet, ParameterValue, find};
use bitgrain::gbdt::table::ColumnRoles;
use serde::Deserialize;
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Options of a training. Hyperparameters of LightGBM, XGBoost and scikit-learn are known by their names. */
export interface TrainOptions {
  /** Loss function, such as `binary` or `quantile:0.9`; inferred from the targets by default. */
  objective?: string;
  /** Metrics after every round; that of the objective by default. */
  metric?: string | string[];
  /** Share of the rows that is held out for validation, stratified by class. */
  validFraction?: number;
  /** Names of the features; `f0`, `f1` and so on by default. Not for tables. */
  names?: string[];
  /** Indices, or names for tables, of features whose numbers are category codes. */
  categorical?: (number | string)[];
  n_estimators?: number;
  learning_rate?: number;
  num_leaves?: number;
  max_depth?: number;
  early_stopping_rounds?: number;
  seed?: number;
  /** Any other hyperparameter, in `snake_case` or `camelCase`. */
  [hyperparameter: string]: unknown;
}

/** Options of a training on a table. */
export interface TableOptions extends TrainOptions {
  /** Column to predict. */
  target: string;
  /** Column of row weights. */
  weight?: string;
  /** Column of queries, for ranking. */
  group?: string;
  /** Columns that are not used. */
  ignore?: string[];
}

/** Metrics after a round; `index` counts from 0. */
export interface Round {
  index: number;
  total: number;
  metrics: { data: string; name: string; value: number }[];
}

/** Called after every round. Training ends early if the function returns `false`. */
export type OnRound = (round: Round) => boolean | void;

/** A column, and the task that is inferred if it is the target. */
export interface TableColumn {
  name: string;
  kind: "number" | "string";
  task: "regression" | "binary" | "multiclass";
  reason: string;
}
"#;

/// Options of a training. Other keys are hyperparameters.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Settings {
    target: Option<String>,
    weight: Option<String>,
    group: Option<String>,
    objective: Option<String>,
    metric: Option<OneOrMany>,
    pub(super) ignore: Vec<String>,
    pub(super) categorical: Vec<Value>,
    pub(super) names: Option<Vec<String>>,
    pub(super) valid_fraction: Option<f64>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Settings {
    /// Returns the hyperparameters by name.
    pub(super) fn parameters(&self) -> Result<ParameterSet> {
        let mut given = ParameterSet::default();
        for (name, value) in &self.others {
            given.insert(&snake_case(name), parameter(name, value)?).map_err(js)?;
        }
        Ok(given)
    }

    pub(super) fn objective(&self) -> Option<&str> {
        self.objective.as_deref()
    }

    pub(super) fn metrics(&self, objective: &dyn Objective) -> Result<Vec<Box<dyn Metric>>> {
        let names = match &self.metric {
            None => return Ok(vec![metric::default_for(objective)]),
            Some(OneOrMany::One(name)) => std::slice::from_ref(name),
            Some(OneOrMany::Many(names)) => names,
        };
        names.iter().map(|name| metric::by_name_for(name, objective).map_err(js)).collect()
    }

    /// Returns the roles of a table's columns.
    pub(super) fn roles(&self) -> Result<ColumnRoles> {
        let name = |value: &Value| {
            value.as_str().map(str::to_owned).ok_or_else(|| js(format!("unknown column {value}; use its name")))
        };
        Ok(ColumnRoles {
            target: self.target.clone(),
            weight: self.weight.clone(),
            group: self.group.clone(),
            position: None,
            categorical: self.categorical.iter().map(name).collect::<Result<_>>()?,
            objective: self.objective.clone(),
            balanced: false,
        })
    }

    /// Checks the share of held-out rows.
    pub(super) fn valid_share(&self) -> Result<Option<f64>> {
        match self.valid_fraction {
            Some(share) if !(share > 0.0 && share < 1.0) => {
                Err(js(format!("invalid validFraction `{share}`; use a number between 0 and 1")))
            }
            share => Ok(share),
        }
    }
}

fn parameter(name: &str, value: &Value) -> Result<ParameterValue> {
    Ok(match value {
        Value::Null => ParameterValue::Unset,
        Value::Bool(flag) => (*flag).into(),
        Value::String(text) => text.as_str().into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(integer), ..) => integer.into(),
            (_, Some(integer), _) => integer.into(),
            (.., number) => number.unwrap_or(f64::NAN).into(),
        },
        Value::Array(_) | Value::Object(_) if is_structured(name) => value.to_string().into(),
        Value::Array(_) | Value::Object(_) => {
            return Err(js(format!("invalid value of `{name}`; use a number, a string or a boolean")));
        }
    })
}

/// Returns whether a parameter is a list, a map or a tree.
fn is_structured(name: &str) -> bool {
    find(name).is_ok_and(|parameter| matches!(parameter.kind, ParameterKind::Structured(_)))
}

/// Converts `learningRate` to `learning_rate`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
