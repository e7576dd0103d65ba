//! Lookup of metrics by name, including the names of other libraries.

use super::{
    Auc, AucMu, AveragePrecision, BalancedAccuracy, Brier, Concordance, CrossEntropy, ErrorRate, GammaDeviance, Huber,
    Logloss, Mae, Mape, MeanAveragePrecision, MeanReciprocalRank, Metric, MetricError, Mse, MultiErrorRate,
    MultiLogloss, NameEntry, Ndcg, Pinball, PoissonDeviance, Precision, R2, Recall, Rmse, TweedieDeviance,
    cutoff::Cutoff,
};
use crate::objective::{self, ObjectiveError, Quantile, Tweedie, found};

const fn plain(name: &'static str, aliases: &'static [&'static str], about: &'static str) -> NameEntry {
    NameEntry { name, parameter: None, aliases, about }
}

/// Entry of a metric that ranks the rows of a query.
const fn of_queries(name: &'static str, aliases: &'static [&'static str], about: &'static str) -> NameEntry {
    NameEntry { name, parameter: Some("number of first rows after @ (ndcg@10), default all"), aliases, about }
}

/// Built-in metrics.
pub const NAMES: &[NameEntry] = &[
    plain("rmse", &["l2_root", "root_mean_squared_error"], "root mean squared error"),
    plain("mse", &["l2", "mean_squared_error"], "mean squared error"),
    plain("mae", &["l1", "mean_absolute_error"], "mean absolute error"),
    NameEntry {
        name: "mape",
        parameter: Some("smallest divisor above 0, default 2.2e-16"),
        aliases: &["mean_absolute_percentage_error"],
        about: "mean absolute percentage error",
    },
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
    plain("cross_entropy", &["xentropy"], "mean cross-entropy of targets from 0 to 1"),
    plain("brier", &["brier_score_loss"], "mean squared error of probabilities of two classes"),
    plain("error", &["binary_error"], "share of misclassified rows, two classes"),
    plain("auc", &["roc_auc"], "area under the ROC curve"),
    plain("average_precision", &["pr_auc", "pr-auc", "aucpr"], "area under the precision-recall curve"),
    plain("multi_logloss", &["mlogloss"], "mean negative log-likelihood of several classes"),
    plain("multi_error", &["merror"], "share of misclassified rows, several classes"),
    plain("auc_mu", &[], "mean area under the ROC curve of all pairs of classes"),
    plain("balanced_accuracy", &["balanced_accuracy_score"], "mean share of correct rows per class"),
    plain("concordance", &["c_index"], "share of pairs of survival times in the predicted order"),
    of_queries("ndcg", &[], "normalized discounted cumulative gain of queries"),
    of_queries("map", &["mean_average_precision"], "mean average precision of queries"),
    of_queries("mrr", &["mean_reciprocal_rank"], "mean reciprocal rank of the first relevant row of queries"),
    of_queries("precision", &["pre"], "share of relevant rows among the first rows of queries"),
    of_queries("recall", &[], "share of the relevant rows that are among the first rows of queries"),
];

/// Creates a built-in metric from its name, optionally with a parameter after a colon or an at sign: `auc`,
/// `pinball:0.9`, `ndcg@10`.
///
/// # Errors
/// Returns [`MetricError::Unknown`] or [`MetricError::Parameter`].
pub fn by_name(text: &str) -> Result<Box<dyn Metric>, MetricError> {
    let colon = text.replacen('@', ":", 1);
    let (named, parameter) = found(NAMES, &colon).ok_or_else(|| unknown(text))?;
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
        ("mape", None) => Box::new(Mape::default()),
        ("mape", Some(parameter)) => {
            let least = number(f64::EPSILON)?;
            if !(least > 0.0 && least.is_finite()) {
                let takes = "a number above 0";
                return Err(MetricError::Parameter { metric, parameter: parameter.into(), takes });
            }
            Box::new(Mape::above(least))
        }
        ("pinball", _) => Box::new(Pinball::of(Quantile::new(number(Quantile::default().alpha())?).map_err(refused)?)),
        ("tweedie_deviance", _) => {
            Box::new(TweedieDeviance::of(Tweedie::new(number(Tweedie::default().power())?).map_err(refused)?))
        }
        ("ndcg", at) => Box::new(Ndcg::of(Cutoff::parse(metric, at)?)),
        ("map", at) => Box::new(MeanAveragePrecision::of(Cutoff::parse(metric, at)?)),
        ("mrr", at) => Box::new(MeanReciprocalRank::of(Cutoff::parse(metric, at)?)),
        ("precision", at) => Box::new(Precision::of(Cutoff::parse(metric, at)?)),
        ("recall", at) => Box::new(Recall::of(Cutoff::parse(metric, at)?)),
        (_, Some(parameter)) => {
            return Err(MetricError::Parameter { metric, parameter: parameter.into(), takes: "no parameter" });
        }
        ("rmse", None) => Box::new(Rmse),
        ("mse", None) => Box::new(Mse),
        ("mae", None) => Box::new(Mae),
        ("cross_entropy", None) => Box::new(CrossEntropy),
        ("brier", None) => Box::new(Brier),
        ("auc_mu", None) => Box::new(AucMu),
        ("balanced_accuracy", None) => Box::new(BalancedAccuracy),
        ("concordance", None) => Box::new(Concordance),
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
        assert!(message("err").contains("known metrics: rmse, mse"));
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
            ("expectile:0.8", "rmse"),
            ("fair:2", "mae"),
            ("log_cosh", "mae"),
            ("mape", "mape:1"),
            ("cross_entropy", "cross_entropy"),
            ("cox", "concordance"),
            ("focal:1", "logloss"),
            ("binary", "logloss"),
            ("multiclass:3", "multi_logloss"),
            ("lambdarank", "ndcg@10"),
            ("rank_xendcg", "ndcg@10"),
            ("rank_pairwise", "ndcg@10"),
            ("rank_map", "map@10"),
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
