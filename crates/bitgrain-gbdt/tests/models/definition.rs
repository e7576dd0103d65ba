//! Models in memory: consistency checks, reference predictions, importance.

use crate::samples::{self, binary, categorical, forest, leaves, numeric, set, split};
use bitgrain_gbdt::model::{
    CategorySet, Child, Comparison, Importance, InputKind, Missing, Model, ModelError, Rule, Tree,
};

/// Returns the result of `check` after `change` was applied to a valid model.
fn broken(change: impl FnOnce(&mut Model)) -> ModelError {
    let mut model = binary();
    assert_eq!(model.check(), Ok(()));
    change(&mut model);
    model.check().expect_err("broken")
}

#[test]
fn inconsistent_models_are_rejected_by_name() {
    let duplicate = broken(|model| model.inputs[1].name = "c".into());
    assert_eq!(duplicate, ModelError::DuplicateName { name: "c".into() });
    assert_eq!(broken(|model| model.output.base_scores.clear()), ModelError::NoBaseScore);
    let partial = broken(|model| {
        model.output.classes.clear();
        model.output.base_scores = vec![0.0; 3];
    });
    assert_eq!(partial, ModelError::PartialRound { trees: 2, outputs: 3 });
    let classes = broken(|model| model.output.classes.push("maybe".into()));
    assert_eq!(classes, ModelError::ClassCount { classes: 3, outputs: 1 });
    let count = broken(|model| model.trees[0].leaves.truncate(3));
    assert_eq!(count, ModelError::LeafCount { tree: 0, leaves: 3, splits: 3 });
    let feature = broken(|model| model.trees[0].splits[2].feature = 3);
    assert_eq!(feature, ModelError::Feature { tree: 0, split: 2, feature: 3, inputs: 3 });
    let kind = broken(|model| model.trees[0].splits[0].feature = 2);
    assert_eq!(kind, ModelError::RuleKind { tree: 0, split: 0, feature: 2, asks: "a threshold" });
    let kind = broken(|model| model.trees[0].splits[1].feature = 1);
    assert_eq!(kind, ModelError::RuleKind { tree: 0, split: 1, feature: 1, asks: "a category set" });
    let threshold = broken(|model| model.trees[0].splits[0].rule = Rule::AtMost(0.1));
    assert_eq!(threshold, ModelError::Threshold { tree: 0, split: 0, threshold: 0.1 });
    let code = broken(|model| model.trees[0].splits[1].rule = Rule::In(set(&[1 << 24])));
    assert_eq!(code, ModelError::Code { place: "split 1 of tree 0".into(), code: 1 << 24, limit: 1 << 24 });
    let unsorted = broken(|model| model.inputs[2] = categorical("c", Some(&[3, 3]), &[]));
    assert_eq!(unsorted, ModelError::UnsortedCodes { name: "c".into() });
}

#[test]
fn children_make_a_tree() {
    for (split, right, reason) in [
        (1, Child::Split(1), "does not come after its parent"),
        (1, Child::Split(0), "does not come after its parent"),
        (0, Child::Split(2), "has another parent"),
        (2, Child::Leaf(1), "has another parent"),
        (2, Child::Leaf(4), "does not exist"),
        (1, Child::Split(3), "does not exist"),
    ] {
        let error = broken(|model| model.trees[0].splits[split].right = right).to_string();
        assert!(error.ends_with(reason), "{error}");
    }
}

#[test]
fn numbers_are_finite() {
    let changes: [fn(&mut Model, f64); 7] = [
        |model, value| model.output.base_scores[0] = value,
        |model, value| model.trees[0].leaves[1].value = value,
        |model, value| model.trees[0].leaves[1].weight = value,
        |model, value| model.trees[0].splits[1].value = value,
        |model, value| model.trees[0].splits[1].weight = value,
        |model, value| model.trees[0].splits[1].gain = if value.is_nan() { f32::NAN } else { f32::NEG_INFINITY },
        |model, value| model.output.link = bitgrain_gbdt::model::Link::Logistic { slope: value },
    ];
    for change in changes {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(broken(|model| change(model, value)), ModelError::NotFinite { .. }));
        }
    }
    let nan = broken(|model| model.trees[0].splits[0].rule = Rule::AtMost(f64::NAN));
    assert!(matches!(nan, ModelError::NotFinite { .. }));
}

/// A model of one split on one feature: left is -1, right is 1.
fn stump(categories: bool, rule: Rule, missing: Missing, missing_left: bool, comparison: Comparison) -> Model {
    let mut model = samples::empty();
    model.comparison = comparison;
    model.output.base_scores = vec![0.0];
    model.inputs = vec![if categories { categorical("x", None, &[]) } else { numeric("x") }];
    let mut split = split(0, rule, Child::Leaf(0), Child::Leaf(1));
    (split.missing, split.missing_left) = (missing, missing_left);
    model.trees = vec![Tree { splits: vec![split], leaves: leaves(&[-1.0, 1.0]) }];
    assert_eq!(model.check(), Ok(()));
    model
}

fn goes_left(model: &Model, value: f64) -> bool {
    model.raw_scores_of(&[value]) == [-1.0]
}

#[test]
fn values_are_rounded_to_f32_only_where_the_model_says_so() {
    let threshold = f64::from(0.1_f32);
    let rule = || Rule::AtMost(threshold);
    let narrow = stump(false, rule(), Missing::Nan, false, Comparison::F32);
    let wide = stump(false, rule(), Missing::Nan, false, Comparison::F64);
    let above = threshold.next_up();
    assert!(goes_left(&narrow, above) && !goes_left(&wide, above));
    assert!(goes_left(&narrow, threshold) && goes_left(&wide, threshold));
    assert!(!goes_left(&narrow, 0.1_f32.next_up().into()));
}

#[test]
fn each_split_defines_its_missing_values() {
    for left in [false, true] {
        let at = |missing| stump(false, Rule::AtMost(-1.0), missing, left, Comparison::F64);
        let (nan, zero, nothing) = (at(Missing::Nan), at(Missing::NanOrZero), at(Missing::Nothing));
        assert_eq!([&nan, &zero].map(|model| goes_left(model, f64::NAN)), [left; 2]);
        assert!(!goes_left(&nothing, f64::NAN), "NaN is 0, and 0 is above -1");
        for value in [0.0, -0.0, 1e-36, -1e-36, Missing::ZERO, -Missing::ZERO] {
            assert_eq!(goes_left(&zero, value), left, "{value}");
            assert!(!goes_left(&nan, value) && !goes_left(&nothing, value), "{value}");
        }
        assert!(!goes_left(&zero, Missing::ZERO.next_up()));
        assert_eq!(nan.raw_scores_of(&[]), nan.raw_scores_of(&[f64::NAN]), "a row that is too short");
    }
}

#[test]
fn categories_are_integer_parts_and_other_values_are_in_no_set() {
    for comparison in [Comparison::F32, Comparison::F64] {
        let within = stump(true, Rule::In(set(&[0, 2])), Missing::Nan, false, comparison);
        let outside = stump(true, Rule::NotIn(set(&[0, 2])), Missing::Nan, false, comparison);
        let left = |value| [&within, &outside].map(|model| goes_left(model, value));
        for value in [0.0, -0.0, 0.9, 2.0, 2.7] {
            assert_eq!(left(value), [true, false], "{value}");
        }
        for value in [1.0, 64.0, 1e9, 5e9, f64::INFINITY, -1.0, -2.5, f64::NEG_INFINITY] {
            assert_eq!(left(value), [false, true], "{value}");
        }
        assert_eq!(left(f64::NAN), [false, false]);
        assert_eq!(left(-0.5)[0], comparison == Comparison::F64, "0 for LightGBM, none for XGBoost");
    }
}

#[test]
fn unknown_codes_are_missing_values() {
    let mut model = stump(true, Rule::NotIn(set(&[5])), Missing::Nan, false, Comparison::F32);
    assert!(goes_left(&model, 6.0) && !goes_left(&model, f64::NAN));
    model.inputs[0].kind = InputKind::Categorical { known: Some(vec![4, 5]), labels: vec![] };
    assert!(goes_left(&model, 4.0) && !goes_left(&model, 5.0));
    for value in [6.0, -1.0, 1e12] {
        assert!(!goes_left(&model, value), "{value}");
    }
}

#[test]
fn means_are_over_rounds() {
    let model = forest();
    // Score 0: trees 0 (zero is missing, goes left: 0.2) and 2 (0 is at most 1e300: 0.2). Score 1: trees 1 (0 is above
    // the threshold, category 1 is in the set and goes right: -0.3) and 3 (0.75).
    assert_eq!(model.raw_scores_of(&[0.0, 1.0]), [0.5 + 0.4 * 0.5, -0.5 + (-0.3 + 0.75) * 0.5]);
    assert_eq!(model.leaves_of(&[0.0, 1.0]), [1, 2, 1, 0]);
}

#[test]
fn the_first_rounds_are_a_model() {
    let model = forest();
    assert_eq!((model.n_inputs(), model.n_outputs(), model.n_rounds()), (2, 2, 2));
    assert_eq!(model.truncated(1).trees, model.trees[..2]);
    assert_eq!(model.truncated(1).raw_scores_of(&[0.0, 1.0]), [0.7, -0.8]);
    assert_eq!(model.truncated(usize::MAX), model);
    assert_eq!(model.truncated(0).raw_scores_of(&[0.0, 1.0]), [0.5, -0.5]);
}

#[test]
fn importance_is_split_counts_or_gains() {
    let mut model = binary();
    model.trees[0].splits[2].gain = 4.0;
    assert_eq!(model.feature_importance(Importance::Split), [1.0, 2.0, 1.0]);
    assert_eq!(model.feature_importance(Importance::Gain), [1.5, 5.5, 1.5]);
}

#[test]
fn a_model_prints_a_one_line_summary() {
    assert_eq!(binary().to_string(), "binary: 3 features, 1 score, 2 rounds, 2 trees with 6 leaves");
}

#[test]
fn category_sets_ignore_trailing_zero_words() {
    let set = set(&[1, 64, 200]);
    assert_eq!(CategorySet::from_words([set.words(), &[0, 0]].concat()), set);
    assert_eq!(set.max(), Some(200));
    assert_eq!(CategorySet::default().max(), None);
}
