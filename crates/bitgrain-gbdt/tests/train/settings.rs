//! Settings outside their range.

use bitgrain_gbdt::train::{Bagging, Goss, Params, TrainError};

use crate::data::Made;
use crate::{small, trained};

#[test]
fn settings_out_of_range_are_named() {
    let made = Made::new(50, 1);
    let refused = |params: Params| match trained(params.clone(), "squared", &made.features(), &made.targets) {
        Err(TrainError::Param { name, .. }) => name,
        other => panic!("{params:?} gave {other:?}"),
    };
    let bag = |fraction, every| Some(Bagging { fraction, every });
    let cases = [
        (Params { rounds: 0, ..small() }, "rounds"),
        (Params { learning_rate: 0.0, ..small() }, "learning_rate"),
        (Params { learning_rate: f64::NAN, ..small() }, "learning_rate"),
        (Params { num_leaves: 1, ..small() }, "num_leaves"),
        (Params { num_leaves: usize::MAX, ..small() }, "num_leaves"),
        (Params { max_depth: Some(0), ..small() }, "max_depth"),
        (Params { lambda_l1: -1.0, ..small() }, "lambda_l1"),
        (Params { lambda_l2: f64::INFINITY, ..small() }, "lambda_l2"),
        (Params { min_child_weight: -1.0, ..small() }, "min_child_weight"),
        (Params { min_split_gain: f64::NAN, ..small() }, "min_split_gain"),
        (Params { feature_fraction: 0.0, ..small() }, "feature_fraction"),
        (Params { feature_fraction_by_node: 1.5, ..small() }, "feature_fraction_by_node"),
        (Params { bagging: bag(0.0, 1), ..small() }, "bagging.fraction"),
        (Params { bagging: bag(0.5, 0), ..small() }, "bagging.every"),
        (Params { goss: Some(Goss { top_rate: 2.0, other_rate: 0.1 }), ..small() }, "goss.top_rate"),
        (Params { bagging: bag(0.5, 1), goss: Some(Goss { top_rate: 0.2, other_rate: 0.1 }), ..small() }, "goss"),
        (Params { early_stopping: Some(0), ..small() }, "early_stopping"),
    ];
    for (params, name) in cases {
        assert_eq!(refused(params), name);
    }
    let watched = Params { early_stopping: Some(3), ..small() };
    let nothing = trained(watched, "squared", &made.features(), &made.targets);
    assert_eq!(nothing, Err(TrainError::NothingToWatch));
}
