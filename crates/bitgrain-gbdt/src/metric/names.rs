//! Metrics by name, other libraries' names included.

use super::{
    Auc, AveragePrecision, GammaDeviance, Huber, Logloss, Mae, Mape, Metric, MetricError, Mse, MultiLogloss,
    MultiWrongShare, NameEntry, Pinball, PoissonDeviance, R2, Rmse, TweedieDeviance, WrongShare,
};
use crate::objective::{self, ObjectiveError, Quantile, Tweedie, found};

const fn plain(name: &'static str, aliases: &'static [&'static str], about: &'static str) -> NameEntry {
    NameEntry { name, parameter: None, aliases, about }
}

/// The built-in metrics.
pub const NAMES: &[NameEntry] = &[
    plain("rmse", &["l2_root", "root_mean_squared_error"], "root of the mean squared error"),
    plain("mse", &["l2", "mean_squared_error"], "mean squared error"),
    plain("mae", &["l1", "mean_absolute_error"], "mean absolute error"),
    plain("mape", &["mean_absolute_percentage_error"], "mean absolute error in relation to the target"),
    plain("r2", &["r_squared"], "share of the variance explained"),
    NameEntry {
        name: "huber",
        parameter: Some("distance from which on an error is an outlier, 0.9 by default"),
        aliases: &[],
        about: "mean Huber loss",
    },
    NameEntry {
        name: "pinball",
        parameter: Some("share of the targets below, 0.9 by default"),
        aliases: &["quantile"],
        about: "mean pinball loss of predicted quantiles",
    },
    plain("poisson_deviance", &["mean_poisson_deviance"], "mean deviance of predicted counts"),
    plain("gamma_deviance", &["mean_gamma_deviance"], "mean deviance of predicted amounts above 0"),
    NameEntry {
        name: "tweedie_deviance",
        parameter: Some("power of the variance between 1 and 2, 1.5 by default"),
        aliases: &["mean_tweedie_deviance"],
        about: "mean deviance of predicted amounts from 0 on",
    },
    plain("logloss", &["binary_logloss", "log_loss"], "minus the mean logarithm of the probability of the truth"),
    plain("error", &["binary_error"], "share of rows whose likelier class is wrong"),
    plain("auc", &["roc_auc"], "chance that class 1 is ranked above class 0"),
    plain("average_precision", &["pr_auc", "pr-auc", "aucpr"], "area under the curve of precision over recall"),
    plain("multi_logloss", &["mlogloss"], "log loss of several classes"),
    plain("multi_error", &["merror"], "share of rows whose likeliest class is wrong"),
];

/// The built-in metric of a name, its parameter behind a colon: `auc`, `pinball:0.9`.
///
/// # Errors
/// [`MetricError::Unknown`] or [`MetricError::Parameter`].
pub fn by_name(text: &str) -> Result<Box<dyn Metric>, MetricError> {
    let (named, parameter) = found(NAMES, text).ok_or_else(|| unknown(text))?;
    let metric = named.name;
    let number = |default: f64| {
        let refused = |parameter: &str| MetricError::Parameter {
            metric,
            parameter: parameter.into(),
            takes: named.parameter.unwrap_or("none"),
        };
        parameter.map_or(Ok(default), |text| text.parse().map_err(|_| refused(text)))
    };
    let refused = |error| match error {
        ObjectiveError::Parameter { parameter, takes, .. } => MetricError::Parameter { metric, parameter, takes },
        _ => unknown(text),
    };
    Ok(match (metric, parameter) {
        ("huber", _) => {
            let default = objective::Huber::default().delta();
            Box::new(Huber::of(objective::Huber::new(number(default)?).map_err(refused)?))
        }
        ("pinball", _) => Box::new(Pinball::of(Quantile::new(number(Quantile::default().alpha())?).map_err(refused)?)),
        ("tweedie_deviance", _) => {
            Box::new(TweedieDeviance::of(Tweedie::new(number(Tweedie::default().power())?).map_err(refused)?))
        }
        (_, Some(parameter)) => {
            return Err(MetricError::Parameter { metric, parameter: parameter.into(), takes: "none" });
        }
        ("rmse", None) => Box::new(Rmse),
        ("mse", None) => Box::new(Mse),
        ("mae", None) => Box::new(Mae),
        ("mape", None) => Box::new(Mape),
        ("r2", None) => Box::new(R2),
        ("poisson_deviance", None) => Box::new(PoissonDeviance),
        ("gamma_deviance", None) => Box::new(GammaDeviance),
        ("logloss", None) => Box::new(Logloss),
        ("error", None) => Box::new(WrongShare),
        ("auc", None) => Box::new(Auc),
        ("average_precision", None) => Box::new(AveragePrecision),
        ("multi_logloss", None) => Box::new(MultiLogloss),
        ("multi_error", None) => Box::new(MultiWrongShare),
        (_, None) => return Err(unknown(text)),
    })
}

fn unknown(name: &str) -> MetricError {
    let known: Vec<_> = NAMES.iter().map(|named| named.name).collect();
    MetricError::Unknown { name: name.into(), known: known.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_makes_its_metric() {
        for named in NAMES {
            for name in named.aliases.iter().chain([&named.name]) {
                let metric = by_name(name).expect("a name of ours");
                assert_eq!(metric.name().split(':').next(), Some(named.name), "{name}");
                assert_eq!(by_name(&metric.name()).expect("its own name").name(), metric.name());
            }
        }
    }

    #[test]
    fn bad_names_and_parameters_say_what_would_do() {
        let message = |name: &str| by_name(name).expect_err(name).to_string();
        assert!(message("ndcg").contains("there are: rmse, mse"));
        assert_eq!(message("auc:2"), "auc with parameter 2: it takes none");
        assert_eq!(message("pinball:1.5"), "pinball with parameter 1.5: it takes a share between 0 and 1");
        assert!(message("tweedie_deviance:x").contains("power of the variance"));
    }

    #[test]
    fn every_objective_has_a_metric() {
        let default = |name: &str| super::super::default_for(&*objective::by_name(name).expect("ours")).name();
        let cases = [
            ("squared", "rmse"),
            ("absolute", "mae"),
            ("huber:2", "huber:2"),
            ("quantile:0.3", "pinball:0.3"),
            ("poisson", "poisson_deviance"),
            ("gamma", "gamma_deviance"),
            ("tweedie:1.2", "tweedie_deviance:1.2"),
            ("binary", "logloss"),
            ("multiclass:3", "multi_logloss"),
        ];
        for (name, metric) in cases {
            assert_eq!(default(name), metric);
        }
        for named in objective::NAMES {
            let covered = cases.iter().any(|(name, _)| name.split(':').next() == Some(named.name));
            assert!(covered, "objective `{}` has no entry here", named.name);
        }
    }
}
