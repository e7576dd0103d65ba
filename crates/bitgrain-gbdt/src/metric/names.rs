//! Lookup of metrics by name, including the names of other libraries.

use super::{
    Auc, AveragePrecision, ErrorRate, GammaDeviance, Huber, Logloss, Mae, Mape, Metric, MetricError, Mse,
    MultiErrorRate, MultiLogloss, NameEntry, Pinball, PoissonDeviance, R2, Rmse, TweedieDeviance,
};
use crate::objective::{self, ObjectiveError, Quantile, Tweedie, found};

const fn plain(name: &'static str, aliases: &'static [&'static str], about: &'static str) -> NameEntry {
    NameEntry { name, parameter: None, aliases, about }
}

/// Built-in metrics.
pub const NAMES: &[NameEntry] = &[
    plain("rmse", &["l2_root", "root_mean_squared_error"], "root mean squared error"),
    plain("mse", &["l2", "mean_squared_error"], "mean squared error"),
    plain("mae", &["l1", "mean_absolute_error"], "mean absolute error"),
    plain("mape", &["mean_absolute_percentage_error"], "mean absolute percentage error"),
    plain("r2", &["r_squared"], "coefficient of determination"),
    NameEntry {
        name: "huber",
        parameter: Some("error from which the loss is linear, default 0.9"),
        aliases: &[],
        about: "mean Huber loss",
    },
    NameEntry {
        name: "pinball",
        parameter: Some("quantile between 0 and 1, default 0.9"),
        aliases: &["quantile"],
        about: "mean pinball loss",
    },
    plain("poisson_deviance", &["mean_poisson_deviance"], "mean Poisson deviance"),
    plain("gamma_deviance", &["mean_gamma_deviance"], "mean gamma deviance"),
    NameEntry {
        name: "tweedie_deviance",
        parameter: Some("variance power between 1 and 2, default 1.5"),
        aliases: &["mean_tweedie_deviance"],
        about: "mean Tweedie deviance",
    },
    plain("logloss", &["binary_logloss", "log_loss"], "mean negative log-likelihood of two classes"),
    plain("error", &["binary_error"], "share of misclassified rows, two classes"),
    plain("auc", &["roc_auc"], "area under the ROC curve"),
    plain("average_precision", &["pr_auc", "pr-auc", "aucpr"], "area under the precision-recall curve"),
    plain("multi_logloss", &["mlogloss"], "mean negative log-likelihood of several classes"),
    plain("multi_error", &["merror"], "share of misclassified rows, several classes"),
];

/// Creates a built-in metric from its name, optionally with a parameter after a colon: `auc`, `pinball:0.9`.
///
/// # Errors
/// Returns [`MetricError::Unknown`] or [`MetricError::Parameter`].
pub fn by_name(text: &str) -> Result<Box<dyn Metric>, MetricError> {
    let (named, parameter) = found(NAMES, text).ok_or_else(|| unknown(text))?;
    let metric = named.name;
    let number = |default: f64| {
        let refused = |parameter: &str| MetricError::Parameter {
            metric,
            parameter: parameter.into(),
            takes: named.parameter.unwrap_or("no parameter"),
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
            return Err(MetricError::Parameter { metric, parameter: parameter.into(), takes: "no parameter" });
        }
        ("rmse", None) => Box::new(Rmse),
        ("mse", None) => Box::new(Mse),
        ("mae", None) => Box::new(Mae),
        ("mape", None) => Box::new(Mape),
        ("r2", None) => Box::new(R2),
        ("poisson_deviance", None) => Box::new(PoissonDeviance),
        ("gamma_deviance", None) => Box::new(GammaDeviance),
        ("logloss", None) => Box::new(Logloss),
        ("error", None) => Box::new(ErrorRate),
        ("auc", None) => Box::new(Auc),
        ("average_precision", None) => Box::new(AveragePrecision),
        ("multi_logloss", None) => Box::new(MultiLogloss),
        ("multi_error", None) => Box::new(MultiErrorRate),
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
                let metric = by_name(name).expect("a known name");
                assert_eq!(metric.name().split(':').next(), Some(named.name), "{name}");
                assert_eq!(by_name(&metric.name()).expect("its own name").name(), metric.name());
            }
        }
    }

    #[test]
    fn invalid_names_and_parameters_list_the_valid_ones() {
        let message = |name: &str| by_name(name).expect_err(name).to_string();
        assert!(message("ndcg").contains("known metrics: rmse, mse"));
        assert_eq!(message("auc:2"), "invalid parameter `2` of metric `auc`; expected no parameter");
        assert_eq!(
            message("pinball:1.5"),
            "invalid parameter `1.5` of metric `pinball`; expected a quantile between 0 and 1"
        );
        assert!(message("tweedie_deviance:x").contains("variance power"));
    }

    #[test]
    fn every_objective_has_a_metric() {
        let default = |name: &str| super::super::default_for(&*objective::by_name(name).expect("known name")).name();
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
