//! Learning with every growth strategy and every precision.

use bitgrain_gbdt::feature::{Features, Quantizer};
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::model::{Child, Rule, Tree};
use bitgrain_gbdt::objective::{NAMES, by_name};
use bitgrain_gbdt::train::{Dataset, Growth, Params, SampleStrategy, Trainer};

use crate::data::{CATEGORY, FEATURES, Made};
use crate::{dataset, predictions, rmse, small, trained};

fn depth(tree: &Tree) -> usize {
    fn below(tree: &Tree, child: Child) -> usize {
        match child {
            Child::Leaf(_) => 0,
            Child::Split(at) => {
                let split = &tree.splits[at as usize];
                1 + below(tree, split.left).max(below(tree, split.right))
            }
        }
    }
    if tree.splits.is_empty() { 0 } else { below(tree, Child::Split(0)) }
}

#[test]
fn every_growth_policy_learns_at_every_precision() {
    let (made, other) = (Made::new(20_000, 1), Made::new(5000, 2));
    let constant = rmse(&vec![1.9; 5000], &other.targets);
    for growth in [Growth::LeafWise, Growth::DepthWise, Growth::Symmetric] {
        let mut errors = Vec::new();
        for precision in [GradientPrecision::F32, GradientPrecision::Pair8, GradientPrecision::Pair4] {
            let params = Params { n_estimators: 60, num_leaves: 31, growth, gradient_precision: precision, ..small() };
            let training = trained(params, "squared", &made.categorical(), &made.targets).expect("valid data");
            assert_eq!(training.precision, precision);
            errors.push(rmse(&predictions(&training, &other.categorical()), &other.targets));
        }
        assert!(errors.iter().all(|error| *error < constant / 8.0), "{growth:?}: {errors:?} of {constant}");
        assert!(errors[1] < errors[0] * 1.05 && errors[2] < errors[0] * 1.10, "{growth:?}: {errors:?}");
    }
}

#[test]
fn trees_keep_their_bounds() {
    let made = Made::new(5000, 3);
    let grow = |params: Params| trained(params, "squared", &made.features(), &made.targets).expect("valid data").model;
    let leaf_wise = grow(Params { num_leaves: 9, ..small() });
    assert!(leaf_wise.trees.iter().all(|tree| tree.leaves.len() == 9 && tree.splits.len() == 8));
    let shallow = grow(Params { num_leaves: 1000, max_depth: Some(3), ..small() });
    assert!(shallow.trees.iter().all(|tree| depth(tree) == 3 && tree.leaves.len() <= 8));
    let depth_wise = grow(Params { num_leaves: 16, growth: Growth::DepthWise, ..small() });
    assert!(depth_wise.trees.iter().all(|tree| tree.leaves.len() == 16 && depth(tree) <= 6));
    let large = grow(Params { num_leaves: 1000, min_child_samples: 500, ..small() });
    assert!(large.trees.iter().flat_map(|tree| &tree.leaves).all(|leaf| leaf.count >= 500));
    let nothing = grow(Params { min_split_gain: 1e12, ..small() });
    assert!(nothing.trees.iter().all(|tree| tree.splits.is_empty() && tree.leaves.len() == 1));
}

#[test]
fn symmetric_trees_have_one_split_per_level() {
    let made = Made::new(5000, 4);
    let params = Params { growth: Growth::Symmetric, max_depth: Some(4), ..small() };
    let model = trained(params, "squared", &made.categorical(), &made.targets).expect("valid data").model;
    for tree in &model.trees {
        assert_eq!((depth(tree), tree.leaves.len()), (4, 16));
        let mut level = vec![0_u32];
        while !level.is_empty() {
            let splits: Vec<_> = level.iter().map(|&at| &tree.splits[at as usize]).collect();
            assert!(splits.iter().all(|split| (split.feature, &split.rule) == (splits[0].feature, &splits[0].rule)));
            let children = splits.iter().flat_map(|split| [split.left, split.right]);
            level = children.filter_map(|child| if let Child::Split(at) = child { Some(at) } else { None }).collect();
        }
    }
}

#[test]
fn counts_and_weights_of_children_add_up() {
    let made = Made::new(5000, 5);
    let model = trained(small(), "squared", &made.features(), &made.targets).expect("valid data").model;
    for tree in &model.trees {
        let of = |child: Child| match child {
            Child::Leaf(at) => (tree.leaves[at as usize].count, tree.leaves[at as usize].weight),
            Child::Split(at) => (tree.splits[at as usize].count, tree.splits[at as usize].weight),
        };
        assert_eq!(of(Child::Split(0)).0, 5000);
        for split in &tree.splits {
            let ((left, left_weight), (right, right_weight)) = (of(split.left), of(split.right));
            assert_eq!(left + right, split.count);
            assert!((left_weight + right_weight - split.weight).abs() < 1e-6 * split.weight);
            assert!(split.gain > 0.0);
        }
    }
}

#[test]
fn a_raw_value_goes_to_the_same_child_as_its_bin() {
    // The rows of each leaf, counted by traversal of raw values, equal those that training counted by bins.
    let made = Made::new(20_000, 6);
    for max_bin in [4, 16, 256, 3000] {
        let features = made.categorical();
        let quantizer = Quantizer::default().with_max_bin(max_bin).expect("in range");
        let mut data = Dataset::new(&features, made.targets.clone(), None, &quantizer).expect("valid data");
        let model =
            Trainer::new(small(), by_name("squared").expect("known name")).train(&mut data).expect("valid data").model;
        let predictor = bitgrain_gbdt::predict::Predictor::new(&model).expect("a trained model");
        let leaves = predictor.leaves(&features).expect("the same features");
        for (at, tree) in model.trees.iter().enumerate() {
            let mut counts = vec![0; tree.leaves.len()];
            leaves.iter().skip(at).step_by(model.trees.len()).for_each(|&leaf| counts[leaf as usize] += 1);
            let want: Vec<u64> = tree.leaves.iter().map(|leaf| leaf.count).collect();
            assert_eq!(counts, want, "tree {at}, {max_bin} bins");
        }
    }
}

#[test]
fn missing_values_go_where_they_lower_the_loss() {
    // The target is 1 where the value is missing or low, which one split can express.
    let values: Vec<f32> = (0..1000).map(|i| if i % 4 == 0 { f32::NAN } else { (i % 100) as f32 }).collect();
    let targets: Vec<f32> = values.iter().map(|value| f32::from(value.is_nan() || *value < 30.0)).collect();
    let features = Features::row_major(&values[..], 1000, 1).expect("complete rows");
    let params = Params { n_estimators: 1, num_leaves: 2, learning_rate: 1.0, ..small() };
    for growth in [Growth::LeafWise, Growth::Symmetric] {
        let params = Params { growth, ..params.clone() };
        let training = trained(params, "squared", &features, &targets).expect("valid data");
        assert!(training.model.trees[0].splits[0].missing_left, "{growth:?}");
        assert!(rmse(&predictions(&training, &features), &targets) < 1e-6, "{growth:?}");
    }
    // Missing values alone on one side.
    let alone: Vec<f32> = values.iter().map(|value| f32::from(value.is_nan())).collect();
    let training = trained(params, "squared", &features, &alone).expect("valid data");
    assert!(rmse(&predictions(&training, &features), &alone) < 1e-6);
    assert_eq!(training.model.trees[0].splits[0].rule, Rule::AtMost(f64::INFINITY));
}

#[test]
fn categories_are_split_into_sets() {
    let (made, other) = (Made::new(10_000, 7), Made::new(3000, 8));
    let params = || Params { n_estimators: 3, num_leaves: 4, learning_rate: 1.0, ..small() };
    let numbers = trained(params(), "squared", &made.features(), &made.targets).expect("valid data");
    let sets = trained(params(), "squared", &made.categorical(), &made.targets).expect("valid data");
    let is_set = |rule: &Rule| matches!(rule, Rule::In(_));
    assert!(sets.model.trees[0].splits.iter().any(|split| split.feature as usize == CATEGORY && is_set(&split.rule)));
    let error = |training, features: &Features<'_>| rmse(&predictions(training, features), &other.targets);
    let (by_number, by_set) = (error(&numbers, &other.features()), error(&sets, &other.categorical()));
    assert!(by_set < by_number * 0.8, "{by_set} against {by_number}");
}

#[test]
fn unseen_categories_are_missing() {
    let made = Made::new(5000, 9);
    let training = trained(small(), "squared", &made.categorical(), &made.targets).expect("valid data");
    let row = |code: f32| [0.5, 0.5, code, 1.0, 1.0, 0.5];
    let values: Vec<f32> = [row(77.0), row(f32::NAN), row(-3.0), row(2.5), row(1e9), row(1.0)].concat();
    let features = Features::row_major(&values[..], 6, FEATURES).expect("complete rows");
    let got = predictions(&training, &features);
    assert!(got[..5].iter().all(|prediction| prediction.to_bits() == got[0].to_bits()), "{got:?}");
    assert!(got[5] != got[0]);
}

#[test]
fn samples_of_rows_learn_as_well() {
    let (made, other) = (Made::new(20_000, 10), Made::new(5000, 11));
    let error = |params: Params| {
        let training = trained(params, "squared", &made.features(), &made.targets).expect("valid data");
        rmse(&predictions(&training, &other.features()), &other.targets)
    };
    let base = || Params { n_estimators: 60, ..small() };
    let all = error(base());
    let bagged = error(Params { subsample: 0.6, ..base() });
    let goss = error(Params { data_sample_strategy: SampleStrategy::Goss, top_rate: 0.2, other_rate: 0.2, ..base() });
    assert!(bagged < all * 1.1 && goss < all * 1.15, "all {all}, bagged {bagged}, goss {goss}");
}

#[test]
fn every_objective_learns() {
    let made = Made::new(4000, 12);
    let positive: Vec<f32> = made.targets.iter().map(|target| (target / 4.0).exp()).collect();
    let cases: [(&str, &[f32]); 15] = [
        ("absolute", &made.targets),
        ("huber", &made.targets),
        ("quantile:0.5", &made.targets),
        ("poisson", &positive),
        ("gamma", &positive),
        ("tweedie:1.3", &positive),
        ("binary", &made.classes()),
        ("multiclass:3", &made.three_classes()),
        ("expectile:0.6", &made.targets),
        ("fair", &made.targets),
        ("log_cosh", &made.targets),
        ("mape", &made.targets),
        ("cross_entropy", &made.classes()),
        ("cox", &positive),
        ("focal:1", &made.classes()),
    ];
    for (name, targets) in cases {
        let objective = by_name(name).expect("known name");
        let metric = objective.metric();
        let higher = metric.higher_is_better();
        let mut data = dataset(&made.features(), targets);
        let training = Trainer::new(Params { n_estimators: 50, ..small() }, objective)
            .metric(metric)
            .train(&mut data)
            .expect("valid data");
        let value = |round: usize| training.history[round][0].value;
        let (first, last) = (value(0), value(49));
        assert!(if higher { last > first } else { last < first * 0.8 }, "{name}: from {first} to {last}");
        assert!(predictions(&training, &made.features()).iter().all(|p| p.is_finite()), "{name}");
    }
    // The other tests train with `squared`.
    for named in NAMES.iter().filter(|named| named.name != "squared") {
        let ranking = crate::ranking::RANKING.map(|name| (name, &[][..]));
        let covered = cases.iter().chain(&ranking).any(|(name, _)| name.split(':').next() == Some(named.name));
        assert!(covered, "`{}` has no entry in `cases`", named.name);
    }
}
