//! Lookup of objectives by name, including the names of other libraries.

use super::{
    Absolute, Binary, Cox, CrossEntropy, Expectile, Fair, Focal, Gamma, Huber, LambdaRank, LogCosh, Mape, Multiclass,
    Objective, ObjectiveError, Poisson, Quantile, RankXendcg, Squared, Tweedie,
};

/// Name and description of a built-in objective or metric, for help output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameEntry {
    /// Canonical name.
    pub name: &'static str,
    /// Meaning and default of the parameter after the colon, if there is one: `alpha, default 0.9`.
    pub parameter: Option<&'static str>,
    /// Names in LightGBM, XGBoost and scikit-learn.
    pub aliases: &'static [&'static str],
    /// Short description.
    pub about: &'static str,
}

/// Built-in objectives.
pub const NAMES: &[NameEntry] = &[
    NameEntry {
        name: "squared",
        parameter: None,
        aliases: &[
            "regression",
            "regression_l2",
            "l2",
            "mse",
            "rmse",
            "mean_squared_error",
            "squared_error",
            "reg:squarederror",
            "reg:linear",
        ],
        about: "means",
    },
    NameEntry {
        name: "absolute",
        parameter: None,
        aliases: &["regression_l1", "l1", "mae", "mean_absolute_error", "absolute_error", "reg:absoluteerror"],
        about: "medians",
    },
    NameEntry {
        name: "huber",
        parameter: Some("error from which the loss is linear, default 0.9"),
        aliases: &[],
        about: "means, robust to outliers",
    },
    NameEntry {
        name: "quantile",
        parameter: Some("quantile between 0 and 1, default 0.9"),
        aliases: &["pinball", "reg:quantileerror"],
        about: "quantiles",
    },
    NameEntry {
        name: "expectile",
        parameter: Some("expectile between 0 and 1, default 0.9"),
        aliases: &["reg:expectileerror"],
        about: "expectiles: means in which errors below and above weigh differently",
    },
    NameEntry {
        name: "fair",
        parameter: Some("error at which the loss bends, default 1"),
        aliases: &[],
        about: "means, robust to outliers",
    },
    NameEntry {
        name: "log_cosh",
        parameter: None,
        aliases: &["logcosh"],
        about: "means, robust to outliers, with a smooth loss",
    },
    NameEntry {
        name: "mape",
        parameter: None,
        aliases: &["mean_absolute_percentage_error"],
        about: "medians by relative errors",
    },
    NameEntry { name: "poisson", parameter: None, aliases: &["count:poisson"], about: "means of counts" },
    NameEntry { name: "gamma", parameter: None, aliases: &["reg:gamma"], about: "means of positive, skewed targets" },
    NameEntry {
        name: "tweedie",
        parameter: Some("variance power between 1 and 2, default 1.5"),
        aliases: &["reg:tweedie"],
        about: "means of nonnegative targets with many zeros",
    },
    NameEntry {
        name: "cross_entropy",
        parameter: None,
        aliases: &["xentropy"],
        about: "shares from 0 to 1 and soft labels",
    },
    NameEntry {
        name: "cox",
        parameter: None,
        aliases: &["survival:cox"],
        about: "relative hazards; targets are times of events, or minus times of censoring",
    },
    NameEntry {
        name: "binary",
        parameter: None,
        aliases: &["logistic", "binary:logistic", "reg:logistic", "binary_logloss", "logloss", "log_loss"],
        about: "probability of class 1 of two classes, 0 and 1",
    },
    NameEntry {
        name: "focal",
        parameter: Some("exponent from 0 to 100, default 2"),
        aliases: &["binary:focal"],
        about: "two classes of which one is rare",
    },
    NameEntry {
        name: "multiclass",
        parameter: Some("number of classes"),
        aliases: &["softmax", "multi:softprob", "multi:softmax"],
        about: "probability of each class",
    },
    NameEntry {
        name: "lambdarank",
        parameter: None,
        aliases: &["rank:ndcg"],
        about: "ranking of the rows of a query by NDCG",
    },
    NameEntry {
        name: "rank_xendcg",
        parameter: None,
        aliases: &["xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"],
        about: "ranking by a cross-entropy close to NDCG, in less time",
    },
    NameEntry {
        name: "rank_pairwise",
        parameter: None,
        aliases: &["rank:pairwise"],
        about: "ranking by the number of pairs in the wrong order",
    },
    NameEntry {
        name: "rank_map",
        parameter: None,
        aliases: &["rank:map"],
        about: "ranking by mean average precision, labels 0 and 1",
    },
];

/// Creates a built-in objective from its name, optionally with a parameter after a colon: `binary`, `quantile:0.9`,
/// `multi:softprob:5`.
///
/// ```
/// use bitgrain_gbdt::objective::by_name;
/// assert_eq!(by_name("mae")?.name(), "absolute");
/// assert_eq!(by_name("tweedie")?.name(), "tweedie:1.5");
/// assert_eq!(by_name("multi:softprob:5")?.n_outputs(), 5);
/// # Ok::<(), bitgrain_gbdt::objective::ObjectiveError>(())
/// ```
///
/// # Errors
/// Returns [`ObjectiveError::Unknown`], [`ObjectiveError::Parameter`] or [`ObjectiveError::MissingParameter`].
pub fn by_name(text: &str) -> Result<Box<dyn Objective>, ObjectiveError> {
    let (named, parameter) = found(NAMES, text).ok_or_else(|| unknown(text))?;
    let number = |default: f64| parameter.map_or(Ok(default), |text| parsed(named, text));
    match (named.name, parameter) {
        ("huber", _) => Ok(Box::new(Huber::new(number(Huber::default().delta())?)?)),
        ("expectile", _) => Ok(Box::new(Expectile::new(number(Expectile::default().alpha())?)?)),
        ("fair", _) => Ok(Box::new(Fair::new(number(Fair::default().c())?)?)),
        ("focal", _) => Ok(Box::new(Focal::new(number(Focal::default().gamma())?)?)),
        ("quantile", _) => Ok(Box::new(Quantile::new(number(Quantile::default().alpha())?)?)),
        ("tweedie", _) => Ok(Box::new(Tweedie::new(number(Tweedie::default().power())?)?)),
        ("multiclass", Some(classes)) => Ok(Box::new(Multiclass::new(parsed(named, classes)?)?)),
        ("multiclass", None) => {
            Err(ObjectiveError::MissingParameter { objective: "multiclass", example: "multiclass:3" })
        }
        (objective, Some(parameter)) => {
            Err(ObjectiveError::Parameter { objective, parameter: parameter.into(), takes: "no parameter" })
        }
        ("squared", None) => Ok(Box::new(Squared)),
        ("absolute", None) => Ok(Box::new(Absolute)),
        ("log_cosh", None) => Ok(Box::new(LogCosh)),
        ("mape", None) => Ok(Box::new(Mape)),
        ("cross_entropy", None) => Ok(Box::new(CrossEntropy)),
        ("cox", None) => Ok(Box::new(Cox)),
        ("poisson", None) => Ok(Box::new(Poisson)),
        ("gamma", None) => Ok(Box::new(Gamma)),
        ("binary", None) => Ok(Box::new(Binary)),
        ("lambdarank", None) => Ok(Box::new(LambdaRank::ndcg())),
        ("rank_xendcg", None) => Ok(Box::new(RankXendcg::default())),
        ("rank_pairwise", None) => Ok(Box::new(LambdaRank::pairwise())),
        ("rank_map", None) => Ok(Box::new(LambdaRank::map())),
        (_, None) => Err(unknown(text)),
    }
}

/// Splits a string into a known name and a parameter. Names may contain a colon, so the full string is tried first.
pub(crate) fn found<'a>(names: &'static [NameEntry], text: &'a str) -> Option<(&'static NameEntry, Option<&'a str>)> {
    let text = text.trim();
    let named = |text: &str| {
        let same = |name: &str| name.eq_ignore_ascii_case(text.trim());
        names.iter().find(|named| same(named.name) || named.aliases.iter().any(|alias| same(alias)))
    };
    named(text).map(|named| (named, None)).or_else(|| {
        let (name, parameter) = text.rsplit_once(':')?;
        named(name).map(|named| (named, Some(parameter.trim())))
    })
}

fn parsed<T: std::str::FromStr>(named: &NameEntry, parameter: &str) -> Result<T, ObjectiveError> {
    let takes = named.parameter.unwrap_or("no parameter");
    parameter.parse().map_err(|_| ObjectiveError::Parameter {
        objective: named.name,
        parameter: parameter.into(),
        takes,
    })
}

fn unknown(name: &str) -> ObjectiveError {
    let known: Vec<_> = NAMES.iter().map(|named| named.name).collect();
    ObjectiveError::Unknown { name: name.into(), known: known.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_makes_its_objective() {
        for named in NAMES {
            for name in named.aliases.iter().chain([&named.name]) {
                let text = if named.name == "multiclass" { format!("{name}:3") } else { (*name).to_string() };
                let objective = by_name(&text).expect("a known name");
                assert_eq!(objective.name().split(':').next(), Some(named.name), "{text}");
                assert_eq!(by_name(&objective.name()).expect("its own name").name(), objective.name());
            }
        }
    }

    #[test]
    fn names_are_declared_once() {
        let mut all: Vec<_> = NAMES.iter().flat_map(|named| named.aliases.iter().chain([&named.name])).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn parameters_reach_the_objective() {
        for name in ["quantile:0.25", "tweedie:1.3", "huber:2.5", "multiclass:7"] {
            assert_eq!(by_name(name).expect("valid").name(), name);
        }
        assert_eq!(by_name(" Pinball : 0.25 ").expect("spaces and capitals").name(), "quantile:0.25");
    }

    #[test]
    fn invalid_names_and_parameters_list_the_valid_ones() {
        let message = |name: &str| by_name(name).expect_err(name).to_string();
        assert!(message("yetirank").contains("known objectives: squared, absolute"));
        assert!(message("").starts_with("unknown objective"));
        assert_eq!(
            message("quantile:1"),
            "invalid parameter `1` of objective `quantile`; expected a quantile between 0 and 1"
        );
        assert_eq!(message("multiclass"), "objective `multiclass` needs a parameter, such as `multiclass:3`");
        assert_eq!(message("squared:2"), "invalid parameter `2` of objective `squared`; expected no parameter");
        for name in [
            "quantile:",
            "quantile:NaN",
            "huber:0",
            "huber:inf",
            "tweedie:2",
            "multiclass:1",
            "multiclass:-1",
            "expectile:1",
            "fair:0",
            "fair:NaN",
            "focal:-1",
            "focal:inf",
            "cox:1",
        ] {
            assert!(matches!(by_name(name), Err(ObjectiveError::Parameter { .. })), "{name}");
        }
    }
}
