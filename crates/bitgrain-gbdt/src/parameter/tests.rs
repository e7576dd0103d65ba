//! Tests of the parameter table and its names.

use std::collections::BTreeSet;

use super::*;

fn pairs(pairs: &[(&str, &str)]) -> Result<Params, String> {
    Params::from_pairs(pairs.iter().copied()).map_err(|error| error.to_string())
}

/// Returns a value of a parameter that is not its default.
fn other_value(parameter: &HyperParameter) -> ParameterValue {
    match (parameter.kind, parameter.name) {
        (ParameterKind::Number, "skip_drop") => ParameterValue::Number(0.25),
        (ParameterKind::Number, _) => ParameterValue::Number(0.5),
        (ParameterKind::Flag, _) => ParameterValue::Flag((parameter.default)() == ParameterValue::Flag(false)),
        (ParameterKind::Choice(choices), _) => {
            let other = choices.iter().find(|choice| ParameterValue::from(choice.name) != (parameter.default)());
            ParameterValue::from(other.expect("two choices").name)
        }
        (ParameterKind::Numbers, _) => ParameterValue::from("0,1,5"),
        (ParameterKind::Structured(structure), _) => ParameterValue::from(match structure {
            Structure::Directions => "[1,-1,0]",
            Structure::Factors => r#"{"a":0.5,"b":2}"#,
            Structure::Groups => r#"[[0,1],["a",2]]"#,
            Structure::Splits => r#"{"feature":0,"left":{"feature":"a","threshold":2.0},"threshold":0.5}"#,
        }),
        _ => ParameterValue::Integer(7),
    }
}

#[test]
fn every_name_is_declared_once() {
    let names = || PARAMETERS.iter().flat_map(|p| p.aliases.iter().chain([&p.name]));
    assert_eq!(names().collect::<BTreeSet<_>>().len(), names().count());
    assert!(names().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')));
}

#[test]
fn help_is_a_noun_phrase_without_a_full_stop() {
    for parameter in PARAMETERS {
        assert!(parameter.help.starts_with(|c: char| c.is_ascii_uppercase()), "{}", parameter.help);
        assert!(!parameter.help.ends_with('.') && parameter.help.len() < 130, "{}", parameter.help);
    }
}

#[test]
fn every_default_is_accepted_by_its_own_check() {
    for parameter in PARAMETERS {
        let default = (parameter.default)();
        assert_eq!(parameter.check(parameter.name, &default), Ok(default), "{}", parameter.name);
    }
    Params::default().check().expect("defaults are compatible");
    assert_eq!(Params::from_pairs([("seed", 0)]), Ok(Params::default()));
}

#[test]
fn every_alias_sets_the_field_of_its_parameter() {
    for parameter in PARAMETERS.iter().filter(|parameter| parameter.stage == ParameterStage::Training) {
        let value = other_value(parameter);
        let by = |name: &str| Params::from_pairs([(name, value.clone())]).expect("in range");
        let own = by(parameter.name);
        assert_ne!(own, Params::default(), "{}", parameter.name);
        assert_eq!(own.get(parameter.name), Some(value.clone()));
        for alias in parameter.aliases {
            assert_eq!(by(alias), own, "{alias}");
            assert_eq!(by(&alias.replace('_', "-")), own, "{alias}");
            let text = Params::from_pairs([(*alias, value.to_string())]).expect("the same as a string");
            assert_eq!(text, own, "{alias} as a string");
        }
        if let ParameterKind::Choice(choices) = parameter.kind {
            for choice in choices {
                for word in choice.aliases.iter().chain([&choice.name]) {
                    // Without the check of combinations: a random forest also needs samples.
                    let mut set = Params::default();
                    set.set(parameter.name, word.to_ascii_uppercase()).expect("a choice");
                    assert_eq!(set.get(parameter.name), Some(ParameterValue::from(choice.name)), "{word}");
                }
            }
        }
    }
}

#[test]
fn two_names_of_a_parameter_must_agree() {
    let twice = pairs(&[("lambda_l2", "1"), ("reg_lambda", "1.0"), ("lambda", "1e0")]).expect("they agree");
    assert_eq!(twice.reg_lambda, 1.0);
    assert_eq!(pairs(&[("max_depth", "-1"), ("max_depth", "none")]).map(|params| params.max_depth), Ok(None));
    assert_eq!(
        pairs(&[("eta", "0.1"), ("shrinkage_rate", "0.2")]),
        Err("conflicting parameters: `eta = 0.1` and `shrinkage_rate = 0.2`; \
             both names mean learning_rate, give one of them"
            .to_owned())
    );
}

#[test]
fn lightgbm_conventions_are_followed() {
    for none in ["-1", "0", "none", "None"] {
        let params = pairs(&[("max_depth", none), ("early_stopping_round", none)]).expect("no limit");
        assert_eq!((params.max_depth, params.early_stopping_rounds), (None, None));
    }
    assert_eq!(
        pairs(&[("max_depth", "-2")]),
        Err("invalid max_depth: `-2`; use an integer from 1 to 131072, or -1 for none".to_owned())
    );
    assert!(pairs(&[("bagging_fraction", "0.5"), ("bagging_freq", "0")]).expect("off").bagging().is_none());
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    for (name, nearest) in [
        ("leaves", "num_leaves"),
        ("learning_rte", "learning_rate"),
        ("num_itterations", "num_iterations"),
        ("LAMBDA_L2", "lambda_l2"),
        ("min_child_sample", "min_child_samples"),
    ] {
        let said = pairs(&[(name, "1")]).expect_err(name);
        assert_eq!(said, format!("unknown parameter: `{name}`; did you mean `{nearest}`?"));
    }
    let said = pairs(&[("zebra", "1")]).expect_err("nothing is similar");
    assert_eq!(said, "unknown parameter: `zebra`; docs/parameters.md lists all names");
}

#[test]
fn parameters_of_another_stage_are_rejected_by_a_training() {
    let said = pairs(&[("max_bins", "63")]).expect_err("not a training parameter");
    assert_eq!(said, "misplaced parameter: `max_bins` belongs to the binning of the dataset; set it there");
    assert!(Params::default().set("objective", "binary").is_err());
    let mut given = ParameterSet::default();
    given.insert("max_bins", 63).expect("known");
    given.insert("seed", 5).expect("known");
    let expected = crate::feature::Quantizer::default().with_max_bin(63).expect("in range").with_seed(5);
    assert_eq!(given.quantizer(), Ok(expected));
}

#[test]
fn wrong_types_and_out_of_range_values_have_different_errors() {
    for (name, value, wrong) in [
        ("n_estimators", ParameterValue::Number(2.5), true),
        ("n_estimators", ParameterValue::Flag(true), true),
        ("n_estimators", ParameterValue::Unset, true),
        ("n_estimators", ParameterValue::Integer(0), false),
        ("n_estimators", ParameterValue::Integer(1 << 64), false),
        ("seed", ParameterValue::Integer(-1), false),
        ("learning_rate", ParameterValue::from("fast"), true),
        ("learning_rate", ParameterValue::from("nan"), false),
        ("subsample", ParameterValue::Number(1.5), false),
        ("growth", ParameterValue::Integer(1), true),
        ("growth", ParameterValue::from("up"), false),
        ("stochastic_rounding", ParameterValue::from("maybe"), true),
        ("early_stopping", ParameterValue::Flag(true), true),
    ] {
        let refused = Params::default().set(name, value.clone());
        assert!(
            matches!(&refused, Err(ParameterError::Invalid { wrong_type, .. }) if *wrong_type == wrong),
            "{name} {value:?}: {refused:?}"
        );
    }
    let said = pairs(&[("grow_policy", "up")]).expect_err("unknown word");
    assert_eq!(said, "invalid grow_policy: `up`; use `leaf`, `depth` or `symmetric`");
}

#[test]
fn alpha_is_rejected_for_objectives_with_their_own_alpha() {
    let given = |name: &str, objective: &str| {
        let mut given = ParameterSet::default();
        given.insert(name, 0.9).expect("known");
        given.insert("objective", objective).expect("known");
        given.params()
    };
    assert_eq!(given("alpha", "binary").map(|params| params.reg_alpha), Ok(0.9));
    assert!(given("reg_alpha", "quantile").is_ok());
    for objective in ["quantile", "huber", "reg:quantileerror"] {
        let said = given("alpha", objective).expect_err("two meanings").to_string();
        assert!(said.contains("alpha = 0.9") && said.contains("call it reg_alpha"), "{said}");
    }
}
