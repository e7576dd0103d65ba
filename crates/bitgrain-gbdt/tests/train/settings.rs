//! Parameters out of range.

use bitgrain_gbdt::parameter::ParameterError;
use bitgrain_gbdt::train::{Params, SampleStrategy, TrainError};

use crate::data::Made;
use crate::{small, trained};

#[test]
fn settings_out_of_range_are_named() {
    let made = Made::new(50, 1);
    let refused = |params: Params| match trained(params.clone(), "squared", &made.features(), &made.targets) {
        Err(TrainError::Parameter(ParameterError::Invalid { name, wrong_type: false, .. })) => name,
        other => panic!("{params:?} gave {other:?}"),
    };
    let cases = [
        (Params { n_estimators: 0, ..small() }, "n_estimators"),
        (Params { learning_rate: 0.0, ..small() }, "learning_rate"),
        (Params { learning_rate: f64::NAN, ..small() }, "learning_rate"),
        (Params { num_leaves: 1, ..small() }, "num_leaves"),
        (Params { num_leaves: usize::MAX, ..small() }, "num_leaves"),
        (Params { max_depth: Some(0), ..small() }, "max_depth"),
        (Params { reg_alpha: -1.0, ..small() }, "reg_alpha"),
        (Params { reg_lambda: f64::INFINITY, ..small() }, "reg_lambda"),
        (Params { min_child_weight: -1.0, ..small() }, "min_child_weight"),
        (Params { min_split_gain: f64::NAN, ..small() }, "min_split_gain"),
        (Params { colsample_bytree: 0.0, ..small() }, "colsample_bytree"),
        (Params { colsample_bynode: 1.5, ..small() }, "colsample_bynode"),
        (Params { subsample: 0.0, ..small() }, "subsample"),
        (Params { top_rate: 2.0, ..small() }, "top_rate"),
        (Params { early_stopping_rounds: Some(0), ..small() }, "early_stopping_rounds"),
    ];
    for (params, name) in cases {
        assert_eq!(refused(params), name);
    }
    let watched = Params { early_stopping_rounds: Some(3), ..small() };
    let nothing = trained(watched, "squared", &made.features(), &made.targets);
    assert_eq!(nothing, Err(TrainError::NothingToWatch));
}

#[test]
fn conflicting_row_sampling_is_rejected() {
    let made = Made::new(50, 1);
    let refused =
        |params| trained(params, "squared", &made.features(), &made.targets).expect_err("refused").to_string();
    let goss = || Params { data_sample_strategy: SampleStrategy::Goss, ..small() };
    assert_eq!(
        refused(Params { subsample: 0.5, ..goss() }),
        "conflicting parameters: `data_sample_strategy = goss` and `subsample = 0.5`; sample rows in one way only"
    );
    assert_eq!(
        refused(Params { top_rate: 0.8, other_rate: 0.8, ..goss() }),
        "conflicting parameters: `top_rate = 0.8` and `other_rate = 0.8`; their sum must be at most 1"
    );
    let unused = Params { subsample: 0.5, subsample_freq: 0, ..goss() };
    trained(unused, "squared", &made.features(), &made.targets).expect("0 switches bagging off");
}
