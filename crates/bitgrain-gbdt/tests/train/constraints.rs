//! Interaction constraints, limits of leaf values, random cuts, costs of features and forced splits.

use std::collections::BTreeSet;

use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::model::{Child, Model, Rule, Split, Tree};
use bitgrain_gbdt::train::{Growth, Params, TrainError};

use crate::data::{CATEGORY, Made};
use crate::{on_threads, predictions, rmse, small, trained};

const GROWTHS: [Growth; 3] = [Growth::LeafWise, Growth::DepthWise, Growth::Symmetric];
const PRECISIONS: [GradientPrecision; 3] = [GradientPrecision::F32, GradientPrecision::Pair8, GradientPrecision::Pair4];

/// Sets parameters by name on those of small data.
fn with(pairs: &[(&str, &str)]) -> Params {
    let mut params = small();
    pairs.iter().for_each(|(name, value)| params.set(name, *value).expect("valid value"));
    params
}

fn train(params: &Params, made: &Made) -> Model {
    trained(params.clone(), "squared", &made.categorical(), &made.targets).expect("valid data").model
}

fn refused(params: &Params, made: &Made) -> String {
    match trained(params.clone(), "squared", &made.categorical(), &made.targets) {
        Err(error @ (TrainError::FeatureParameter { .. } | TrainError::Parameter(_))) => error.to_string(),
        other => panic!("{params:?} gave {other:?}"),
    }
}

/// Returns the features of each path from the root to a leaf.
fn paths(tree: &Tree) -> Vec<BTreeSet<u32>> {
    fn below(tree: &Tree, child: Child, path: &BTreeSet<u32>, all: &mut Vec<BTreeSet<u32>>) {
        match child {
            Child::Leaf(_) => all.push(path.clone()),
            Child::Split(at) => {
                let split = &tree.splits[at as usize];
                let path: BTreeSet<u32> = path.iter().copied().chain([split.feature]).collect();
                [split.left, split.right].into_iter().for_each(|child| below(tree, child, &path, all));
            }
        }
    }
    let mut all = Vec::new();
    if !tree.splits.is_empty() {
        below(tree, Child::Split(0), &BTreeSet::new(), &mut all);
    }
    all
}

fn splits(model: &Model) -> impl Iterator<Item = &Split> {
    model.trees.iter().flat_map(|tree| &tree.splits)
}

fn used(model: &Model) -> BTreeSet<u32> {
    splits(model).map(|split| split.feature).collect()
}

/// Trains with every growth and precision, on one thread and on three, and passes the model to a check.
fn for_all(made: &Made, pairs: &[(&str, &str)], check: impl Fn(&Model, &str)) {
    for growth in GROWTHS {
        for gradient_precision in PRECISIONS {
            let params = Params { growth, gradient_precision, ..with(pairs) };
            let model = on_threads(1, || train(&params, made));
            assert_eq!(model, on_threads(3, || train(&params, made)), "{params:?}");
            check(&model, &format!("{growth:?}, {gradient_precision}, {pairs:?}"));
        }
    }
}

#[test]
fn paths_use_features_of_one_group() {
    let made = Made::new(12_000, 31);
    let groups = [BTreeSet::from([0, 3]), BTreeSet::from([0, 1, 2]), BTreeSet::from([4]), BTreeSet::from([5])];
    let given = [("interaction_constraints", "[0,3],[0,1,2]"), ("colsample_bynode", "0.9")];
    for_all(&made, &given, |model, what| {
        let mut shared = 0;
        for path in model.trees.iter().flat_map(paths) {
            assert!(groups.iter().any(|group| path.is_subset(group)), "{what}: {path:?}");
            shared += usize::from(path.len() > 1);
        }
        assert!(shared > 0, "{what}: no interaction");
    });
    let free = paths(&train(&small(), &made).trees[0]);
    assert!(!free.iter().all(|path| groups.iter().any(|group| path.is_subset(group))), "the constraint has an effect");
}

#[test]
fn leaf_values_keep_their_limit() {
    let made = Made::new(8000, 32);
    for_all(&made, &[("max_delta_step", "0.3"), ("learning_rate", "0.5")], |model, what| {
        let values: Vec<f64> = model.trees.iter().flat_map(|tree| &tree.leaves).map(|leaf| leaf.value).collect();
        assert!(values.iter().all(|value| value.abs() <= 0.15), "{what}");
        assert!(values.contains(&0.15) || values.contains(&-0.15), "{what}: the limit has an effect");
    });
    let params = with(&[("max_leaf_output", "10")]);
    let renewed = trained(params, "absolute", &made.features(), &made.targets).expect("valid data").model;
    assert!(renewed.trees.iter().flat_map(|tree| &tree.leaves).all(|leaf| leaf.value.abs() <= 1.0));
}

#[test]
fn smoothed_values_are_means_of_own_and_parent() {
    let made = Made::new(4000, 33);
    let smooth = 50.0;
    let params = Params { path_smooth: smooth, n_estimators: 1, learning_rate: 1.0, ..small() };
    let model = train(&params, &made);
    let tree = &model.trees[0];
    let root = tree.splits[0].clone();
    assert!(root.value.abs() < 1e-6, "the root is not smoothed: the gradients of the mean add up to 0");
    let mean = |child: Child| -> (f64, f64) {
        match child {
            Child::Leaf(at) => (tree.leaves[at as usize].value, tree.leaves[at as usize].count as f64),
            Child::Split(at) => (tree.splits[at as usize].value, tree.splits[at as usize].count as f64),
        }
    };
    let [(left, n_left), (right, n_right)] = [root.left, root.right].map(mean);
    // Sums of the rows on both sides cancel out, so the unsmoothed means are `l` and `-l * n_left / n_right`.
    let unsmoothed = |value: f64, rows: f64| (value - root.value * smooth / (rows + smooth)) * (rows + smooth) / rows;
    let sum = unsmoothed(left, n_left) * n_left + unsmoothed(right, n_right) * n_right;
    assert!(sum.abs() < 1e-2 && left != 0.0, "{left}, {right}, {sum}");
    let largest = |model: &Model| model.trees[0].leaves.iter().fold(0.0, |most: f64, leaf| most.max(leaf.value.abs()));
    let plain = train(&Params { path_smooth: 0.0, ..params }, &made);
    assert!(largest(&model) < largest(&plain), "values of small leaves shrink");
    for_all(&made, &[("path_smooth", "5")], |model, what| assert!(splits(model).count() > 20, "{what}"));
}

#[test]
fn random_cuts_depend_on_their_seed_and_learn() {
    let (made, other) = (Made::new(12_000, 34), Made::new(4000, 35));
    let error = |pairs: &[(&str, &str)]| {
        let training = trained(with(pairs), "squared", &made.categorical(), &made.targets).expect("valid data");
        rmse(&predictions(&training, &other.categorical()), &other.targets)
    };
    let constant = rmse(&vec![1.9; 4000], &other.targets);
    let extra = error(&[("extra_trees", "true"), ("n_estimators", "60")]);
    let plain = error(&[("n_estimators", "60")]);
    assert!(extra < constant / 4.0 && extra > plain, "{extra}, {plain} of {constant}");
    let seed = |seed: &str| train(&with(&[("extra_trees", "true"), ("extra_seed", seed)]), &made);
    assert_eq!(seed("6"), train(&with(&[("extra_tree", "1")]), &made));
    assert_ne!(seed("6").trees, seed("7").trees);
    assert_eq!(train(&with(&[("extra_seed", "7")]), &made), train(&small(), &made), "no effect without extra_trees");
    for_all(&made, &[("extra_trees", "true")], |model, what| {
        let thresholds: BTreeSet<u64> = splits(model)
            .filter_map(|split| if let Rule::AtMost(at) = split.rule { Some(at.to_bits()) } else { None })
            .collect();
        assert!(thresholds.len() > 12, "{what}: {} thresholds", thresholds.len());
    });
}

#[test]
fn factors_and_costs_keep_features_out() {
    let made = Made::new(8000, 36);
    let all = used(&train(&small(), &made));
    assert!(all.len() > 4, "{all:?}");
    for_all(&made, &[("feature_contri", "0,1,1,1,1,1")], |model, what| {
        assert!(!used(model).contains(&0) && used(model).len() > 2, "{what}: {:?}", used(model));
    });
    let names = train(&small(), &made).inputs.iter().map(|input| input.name.clone()).collect::<Vec<_>>();
    let named = train(&with(&[("feature_penalty", &format!("{}:0", names[0]))]), &made);
    assert_eq!(named, train(&with(&[("fc", "0,1,1,1,1,1")]), &made));
    // The first column costs more than it gains, the others nothing.
    for_all(&made, &[("cegb_penalty_feature_coupled", "1e9,0,0,0,0,0")], |model, what| {
        assert!(!used(model).contains(&0) && used(model).len() > 2, "{what}: {:?}", used(model));
    });
    for_all(&made, &[("cegb_penalty_feature_coupled", "500,500,500,500,500,500")], |model, what| {
        assert!(!used(model).contains(&5) && used(model).contains(&0), "{what}: {:?}", used(model));
    });
    let n_splits = |pairs: &[(&str, &str)]| splits(&train(&with(pairs), &made)).count();
    let free = n_splits(&[]);
    let taxed = n_splits(&[("cegb_penalty_split", "0.2")]);
    assert!(taxed < free && taxed > 0, "{taxed} of {free} splits");
    assert_eq!(taxed, n_splits(&[("cegb_penalty_split", "2"), ("cegb_tradeoff", "0.1")]));
    assert_eq!(n_splits(&[("cegb_penalty_split", "1e9")]), 0);
    assert_eq!(n_splits(&[("cegb_penalty_split", "1e9"), ("cegb_tradeoff", "0")]), free);
}

#[test]
fn a_first_use_is_paid_once() {
    let made = Made::new(8000, 37);
    let free = train(&small(), &made);
    let paid = train(&with(&[("cegb_penalty_feature_coupled", "1,1,1,1,1,1")]), &made);
    assert_eq!(used(&free), used(&paid));
    // Gains are recorded after costs. The cost is small enough that the first tree stays the same.
    let gains = free.trees[0].splits.iter().zip(&paid.trees[0].splits);
    let costs: Vec<f32> = gains.map(|(free, paid)| (free.gain - paid.gain).round()).collect();
    assert_eq!(
        costs.iter().sum::<f32>(),
        paths(&free.trees[0]).into_iter().flatten().collect::<BTreeSet<_>>().len() as f32
    );
    assert!(costs.iter().all(|cost| [0.0, 1.0].contains(cost)) && costs[0] == 1.0, "{costs:?}");
}

#[test]
fn forced_splits_are_the_top_of_every_tree() {
    let made = Made::new(6000, 38);
    let json = r#"{"feature": 0, "threshold": 0.5, "left": {"feature": 4, "threshold": 0.5},
                   "right": {"feature": 2, "threshold": 3, "right": {"feature": 3, "threshold": 1}}}"#;
    for growth in [Growth::LeafWise, Growth::DepthWise] {
        for gradient_precision in PRECISIONS {
            let params =
                Params { growth, gradient_precision, colsample_bytree: 0.4, ..with(&[("forced_splits", json)]) };
            let model = on_threads(1, || train(&params, &made));
            assert_eq!(model, on_threads(3, || train(&params, &made)));
            for tree in &model.trees {
                let at = |child: Child| match child {
                    Child::Split(at) => &tree.splits[at as usize],
                    Child::Leaf(_) => panic!("a leaf instead of a forced split"),
                };
                let [left, right] = [tree.splits[0].left, tree.splits[0].right].map(at);
                let below = at(right.right);
                assert_eq!([&tree.splits[0], left, right, below].map(|split| split.feature), [0, 4, 2, 3]);
                let Rule::AtMost(threshold) = tree.splits[0].rule else { panic!("a number") };
                assert!((0.5..0.53).contains(&threshold), "{threshold}: the next cut");
                let Rule::In(categories) = &right.rule else { panic!("a category") };
                assert_eq!(categories.iter().collect::<Vec<_>>(), [3]);
                assert_eq!(tree.leaves.len(), 15, "the rest of the tree grows as usual");
            }
        }
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), json).expect("written");
    let path = file.path().to_str().expect("a name");
    assert_eq!(train(&with(&[("forcedsplits_filename", path)]), &made), train(&with(&[("fs", json)]), &made));
}

#[test]
fn forced_splits_without_rows_on_both_sides_are_skipped() {
    let made = Made::new(2000, 39);
    for threshold in ["-1e30", "1e30"] {
        let json = format!(r#"{{"feature": 0, "threshold": {threshold}, "left": {{"feature": 5, "threshold": 0.5}}}}"#);
        let given = [("min_child_samples", "50"), ("forced_splits", &json)];
        let (forced, free) = (train(&with(&given), &made), train(&with(&given[..1]), &made));
        // Sums of rows in another order differ in their last bits.
        let shape = |model: &Model| splits(model).map(|split| (split.feature, split.count)).collect::<Vec<_>>();
        assert_eq!(shape(&forced), shape(&free), "{threshold}");
    }
}

#[test]
fn settings_that_do_not_match_the_features_are_rejected() {
    let made = Made::new(200, 40);
    for (name, value, said) in [
        ("monotone_constraints", "1,0", "invalid monotone_constraints: 2 values for 6 features; give one per feature"),
        ("monotone_constraints", "zebra:1", "invalid monotone_constraints: unknown feature `zebra`"),
        ("monotone_constraints", "0,0,1,0,0,0", "is categorical and has no order; set it to 0"),
        ("feature_contri", "1,1,1,1,1,1,1", "invalid feature_contri: 7 values for 6 features; give one per feature"),
        ("cegb_penalty_feature_coupled", "1", "invalid cegb_penalty_feature_coupled: 1 values for 6 features"),
        (
            "interaction_constraints",
            "[0,6]",
            "invalid interaction_constraints: feature index 6 (0-based) of 6 features",
        ),
        ("interaction_constraints", "[zebra]", "invalid interaction_constraints: unknown feature `zebra`"),
        ("forced_splits", r#"{"feature": 9, "threshold": 1}"#, "invalid forced_splits: feature index 9"),
        ("forced_splits", r#"{"feature": 2, "threshold": 55}"#, "invalid forced_splits: `55` is not a category of"),
    ] {
        let message = refused(&with(&[(name, value)]), &made);
        assert!(message.contains(said), "{name} = {value}: {message}");
    }
    let names = train(&small(), &made).inputs;
    let twice = format!("[{CATEGORY},{}]", names[CATEGORY].name);
    let message = refused(&with(&[("interaction_constraints", &twice)]), &made);
    assert!(message.contains("group 0 (0-based) has feature") && message.contains("twice"), "{message}");
    let deep = r#"{"feature": 0, "threshold": 0, "left": {"feature": 0, "threshold": -1}}"#;
    let message = refused(&with(&[("num_leaves", "2"), ("forced_splits", deep)]), &made);
    assert_eq!(message, "invalid forced_splits: they have 3 leaves, but num_leaves is 2; raise it");
    for (first, second) in [
        (("monotone_constraints_method", "intermediate"), ("growth", "symmetric")),
        (("monotone_constraints_method", "intermediate"), ("num_leaves", "2000")),
        (("monotone_constraints_method", "advanced"), ("growth", "symmetric")),
        (("monotone_constraints_method", "advanced"), ("num_leaves", "2000")),
        (("forced_splits", deep), ("growth", "symmetric")),
    ] {
        let message = refused(&with(&[first, second]), &made);
        assert!(message.starts_with("conflicting parameters") && message.contains(second.1), "{message}");
    }
}

#[test]
fn malformed_settings_are_rejected_before_training() {
    let deep = "{\"feature\":0,\"threshold\":0,\"left\":".repeat(100_000);
    for (name, value, said) in [
        ("monotone_constraints", "1,2,0", "invalid monotone_constraints: `2` is not -1, 0 or 1; use -1, 0 or 1 per"),
        ("monotone_constraints", "1,x", "`x` is not a number"),
        ("mc", "a:1,b", "`b` has no `name:`"),
        ("mc", "a:1,a:1", "feature `a` is given twice"),
        ("mc", "{\"a\": ", "malformed JSON"),
        ("mc", "{\"a\": \"up\"}", "`\"up\"` of `a` is not a number"),
        ("mc", "0.5", "`0.5` is not -1, 0 or 1"),
        ("feature_contri", "1,-1", "`-1` is not at least 0"),
        ("feature_contri", "nan", "`NaN` is not at least 0"),
        ("cegb_penalty_feature_coupled", "a:-1", "`-1` is not at least 0"),
        ("cegb_penalty_split", "-1", "a number of at least 0"),
        ("cegb_tradeoff", "-1", "a number of at least 0"),
        ("monotone_penalty", "-0.5", "a number of at least 0"),
        ("max_delta_step", "-1", "a number of at least 0"),
        ("path_smooth", "inf", "a number of at least 0"),
        ("monotone_constraints_method", "exact", "use `basic`, `intermediate` or `advanced`"),
        ("interaction_constraints", "[0],1]", "brackets that do not match"),
        ("interaction_constraints", "[[]]", "group 0 (0-based) is empty"),
        ("interaction_constraints", "[0,0]", "has feature `0` twice"),
        ("interaction_constraints", "[[0.5]]", "`0.5` is not a feature name or a 0-based index"),
        ("interaction_constraints", "[0,[1]]", "`[1]` is not a feature name or a 0-based index"),
        ("interaction_constraints", "age", "no brackets"),
        ("forced_splits", "{\"feature\": 0", "malformed JSON"),
        ("forced_splits", "{\"feature\": 0}", "the split at root has no `threshold`"),
        (
            "forced_splits",
            "{\"feature\": 0, \"threshold\": \"x\"}",
            "the threshold of the split at root is not a number",
        ),
        ("forced_splits", "{\"feature\": -1, \"threshold\": 1}", "`-1` is not a feature name"),
        ("forced_splits", "{\"feature\": 0, \"threshold\": 1, \"left\": 3}", "the split at root.left is not an object"),
        ("forced_splits", "{\"feature\": 0, \"threshold\": 1, \"up\": {}}", "unknown key `up`"),
        ("forced_splits", "no-such-file.json", "cannot read file `no-such-file.json`"),
        ("forced_splits", &deep, "malformed JSON, recursion limit exceeded"),
    ] {
        let message = Params::default().set(name, value).expect_err(value).to_string();
        assert!(message.contains(said), "{name}: {message:.200}");
        assert!(message.starts_with("invalid "), "{message:.200}");
    }
}
