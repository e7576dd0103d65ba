//! Objectives and link functions of LightGBM and XGBoost models.

use bitgrain_formats::xgboost::Objective;

use super::{ImportError, unsupported};
use crate::model::Link;

/// Name of an objective in our files, and its link function.
pub(super) type Named = (String, Link);

/// Parses LightGBM's `objective=` line: a name, and parameters as `key:value`.
pub(super) fn lightgbm(line: Option<&str>, outputs: usize) -> Result<Named, ImportError> {
    let mut words = line.unwrap_or("none").split_ascii_whitespace();
    let name = words.next().unwrap_or("none");
    let words: Vec<&str> = words.collect();
    let parameter = |key: &str| words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix(':'));
    let slope = || match parameter("sigmoid").unwrap_or("1").parse() {
        Ok(slope) => Ok(Link::Logistic { slope }),
        Err(_) => Err(unsupported(format!("objective `{}`", line.unwrap_or_default()))),
    };
    let with = |name: &str, key| parameter(key).map_or_else(|| name.to_owned(), |value| format!("{name}:{value}"));
    // With `sqrt`, any regression loss was trained on the square roots of the targets.
    let plain = if words.contains(&"sqrt") { Link::SignedSquare } else { Link::Identity };
    Ok(match name {
        "regression" => ("squared".into(), plain),
        "regression_l1" => ("absolute".into(), plain),
        "huber" | "fair" | "mape" => (name.into(), plain),
        "quantile" => (with("quantile", "alpha"), plain),
        "poisson" | "gamma" => (name.into(), Link::Exponential),
        "tweedie" => (with("tweedie", "tweedie_variance_power"), Link::Exponential),
        "binary" => (name.into(), slope()?),
        "multiclassova" => (format!("multiclassova:{outputs}"), slope()?),
        "multiclass" => (format!("multiclass:{outputs}"), Link::Softmax),
        "cross_entropy" => (name.into(), Link::Logistic { slope: 1.0 }),
        "cross_entropy_lambda" => (name.into(), Link::Softplus),
        "lambdarank" | "rank_xendcg" => (name.into(), Link::Identity),
        "none" | "custom" => ("custom".into(), Link::Identity),
        _ => return Err(unsupported(format!("LightGBM objective `{name}`"))),
    })
}

/// Meaning of the base score of an XGBoost model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// A raw score.
    Raw,
    /// A probability.
    Logit,
    /// A mean.
    Log,
}

impl Base {
    pub(super) fn raw(self, score: f64) -> f64 {
        match self {
            Self::Raw => score,
            Self::Logit => libm::log(score / (1.0 - score)),
            Self::Log => libm::log(score),
        }
    }
}

/// Maps XGBoost's objective.
pub(super) fn xgboost(objective: &Objective, outputs: usize) -> Result<(Named, Base), ImportError> {
    let logistic = Link::Logistic { slope: 1.0 };
    let with = |name: &str, value: Option<&String>| {
        let value = value.map(|text| text.trim_matches(['[', ']', '(', ')']));
        value.map_or_else(|| name.to_owned(), |value| format!("{name}:{value}"))
    };
    let (name, link, base) = match &*objective.name {
        "reg:squarederror" | "reg:linear" => ("squared".into(), Link::Identity, Base::Raw),
        "reg:absoluteerror" => ("absolute".into(), Link::Identity, Base::Raw),
        "reg:pseudohubererror" => {
            (with("pseudo_huber", objective.pseudo_huber_param.get("huber_slope")), Link::Identity, Base::Raw)
        }
        "reg:quantileerror" => {
            (with("quantile", objective.quantile_loss_param.get("quantile_alpha")), Link::Identity, Base::Raw)
        }
        "reg:logistic" => ("cross_entropy".into(), logistic, Base::Logit),
        "binary:logistic" => ("binary".into(), logistic, Base::Logit),
        "binary:logitraw" => ("binary".into(), Link::Identity, Base::Raw),
        "binary:hinge" => ("hinge".into(), Link::Step, Base::Raw),
        "multi:softprob" | "multi:softmax" => (format!("multiclass:{outputs}"), Link::Softmax, Base::Raw),
        "count:poisson" => ("poisson".into(), Link::Exponential, Base::Log),
        "reg:gamma" => ("gamma".into(), Link::Exponential, Base::Log),
        "reg:tweedie" => {
            let power = objective.tweedie_regression_param.get("tweedie_variance_power");
            (with("tweedie", power), Link::Exponential, Base::Log)
        }
        name @ ("survival:cox" | "survival:aft") => (name.into(), Link::Exponential, Base::Log),
        name @ ("reg:squaredlogerror" | "rank:pairwise" | "rank:ndcg" | "rank:map") => {
            (name.into(), Link::Identity, Base::Raw)
        }
        name => return Err(unsupported(format!("XGBoost objective `{name}`"))),
    };
    Ok(((name, link), base))
}
