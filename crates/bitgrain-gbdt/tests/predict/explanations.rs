//! SHAP values match their definition over all coalitions of features.

use bitgrain_gbdt::explain::{ExplainError, Explainer};
use bitgrain_gbdt::feature::Features;
use bitgrain_gbdt::model::{Child, Comparison, Model, Tree};
use bitgrain_gbdt::predict::PredictError;
use proptest::prelude::*;

use crate::random::{self, Kind, Random};
use crate::{bits, on_threads};

/// Random model whose nodes count training rows; some leaves have a count of 0.
pub(crate) fn model(seed: u64, comparison: Comparison, outputs: usize) -> Model {
    let mut random = Random::new(seed);
    let mut model = random::model(&mut random, Kind::Mixed, comparison, outputs, 0);
    let shapes = (0..2 * outputs).map(|at| (2 + random.below(40), at % 3 == 0)).collect::<Vec<_>>();
    for (leaves, chain) in shapes {
        let which = |random: &mut Random, leaves| if chain { leaves - 1 } else { random.below(leaves) };
        let mut tree = random::grown(&mut random, Kind::Mixed, &model, leaves, which);
        tree.leaves.iter_mut().for_each(|leaf| leaf.count = random.below(20) as u64);
        count(&mut tree);
        model.trees.push(tree);
    }
    model
}

/// Sets the count of each split to the sum of its children.
fn count(tree: &mut Tree) {
    for at in (0..tree.splits.len()).rev() {
        let of = |child| match child {
            Child::Split(child) => tree.splits[child as usize].count,
            Child::Leaf(leaf) => tree.leaves[leaf as usize].count,
        };
        tree.splits[at].count = of(tree.splits[at].left) + of(tree.splits[at].right);
    }
}

/// Expected value of a node if only the features of `known` are, by the definition of path-dependent values.
fn expectation(tree: &Tree, node: Child, row: &[f64], known: usize) -> f64 {
    let index = match node {
        Child::Leaf(leaf) => return tree.leaves[leaf as usize].value,
        Child::Split(index) => index as usize,
    };
    let split = &tree.splits[index];
    if known >> split.feature & 1 == 1 {
        let child = if split.goes_left(row[split.feature as usize]) { split.left } else { split.right };
        return expectation(tree, child, row, known);
    }
    let count = |child| match child {
        Child::Split(child) => tree.splits[child as usize].count,
        Child::Leaf(leaf) => tree.leaves[leaf as usize].count,
    };
    let share = |child| if split.count > 0 { count(child) as f64 / split.count as f64 } else { 0.5 };
    [split.left, split.right].into_iter().map(|child| share(child) * expectation(tree, child, row, known)).sum()
}

/// Score of one output if only the features of `known` are.
fn score(model: &Model, output: usize, of_tree: impl Fn(&Tree) -> f64) -> f64 {
    let trees = model.trees.iter().skip(output).step_by(model.n_outputs());
    let sum: f64 = trees.map(of_tree).sum();
    model.output.base_scores[output] + if model.output.average { sum / model.n_rounds() as f64 } else { sum }
}

fn root(tree: &Tree) -> Child {
    if tree.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) }
}

/// Shapley values of a game of five players by definition, then the value of the empty coalition.
fn shapley(earns: impl Fn(usize) -> f64) -> Vec<f64> {
    let factorial = |n: usize| (1..=n).product::<usize>() as f64;
    let all: Vec<f64> = (0..32).map(earns).collect();
    let value = |player: usize| {
        let without = (0..32_usize).filter(|set| set >> player & 1 == 0);
        let weight = |size: usize| factorial(size) * factorial(4 - size) / factorial(5);
        without.map(|set| weight(set.count_ones() as usize) * (all[set | 1 << player] - all[set])).sum::<f64>()
    };
    (0..5).map(value).chain([all[0]]).collect()
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 1e-11, "{what}, value {at}: {found} instead of {expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Numbers, categories, missing values and several outputs; rows with values that no split names.
    #[test]
    fn values_and_interactions_sum_to_the_raw_scores(
        seed in any::<u64>(), f64_thresholds in any::<bool>(), outputs in 1_usize..4, n_rows in 1_usize..60,
    ) {
        let model = model(seed, crate::COMPARISONS[usize::from(f64_thresholds)], outputs);
        let rows = random::rows(&mut Random::new(seed ^ 1), &model, n_rows);
        let others = random::rows(&mut Random::new(seed ^ 2), &model, 7);
        let features = Features::row_major(&rows[..], n_rows, 5).expect("five features");
        let background = Features::row_major(&others[..], 7, 5).expect("five features");
        let scores: Vec<f64> = rows.chunks(5).flat_map(|row| model.raw_scores_of(row)).collect();
        let sums = |values: &[f64], each: usize| values.chunks(each).map(|values| values.iter().sum()).collect::<Vec<f64>>();
        let close = |found: &[f64]| {
            found.len() == scores.len() && found.iter().zip(&scores).all(|(found, score)| (found - score).abs() < 1e-10)
        };
        for explainer in [Explainer::new(&model), Explainer::with_background(&model, &background)] {
            let explainer = explainer.expect("a valid model");
            prop_assert!(close(&sums(&explainer.contributions(&features).expect("five features"), 6)));
            prop_assert!(close(&sums(&explainer.interactions(&features).expect("five features"), 36)));
        }
    }
}

#[test]
fn path_dependent_values_match_their_definition() {
    for (seed, outputs) in [(1, 1), (2, 1), (3, 3), (4, 1)] {
        let model = model(seed, crate::COMPARISONS[seed as usize % 2], outputs);
        // More rows than a path has patterns, so that tables are used as well.
        let rows = random::rows(&mut Random::new(seed + 50), &model, 70);
        let explainer = Explainer::new(&model).expect("a valid model");
        let features = Features::row_major(&rows[..], 70, 5).expect("five features");
        let found = explainer.contributions(&features).expect("five features");
        for (row, found) in rows.chunks(5).zip(found.chunks(6 * outputs)) {
            let seen = model.normalize(row);
            for (output, found) in found.chunks(6).enumerate() {
                let earns = |known| score(&model, output, |tree| expectation(tree, root(tree), &seen, known));
                assert_close(found, &shapley(earns), &format!("seed {seed}, row {row:?}"));
                assert!((found.iter().sum::<f64>() - model.raw_scores_of(row)[output]).abs() < 1e-11);
            }
        }
    }
}

#[test]
fn interventional_values_match_their_definition() {
    let model = model(7, Comparison::F64, 2);
    let rows = random::rows(&mut Random::new(8), &model, 9);
    let others = random::rows(&mut Random::new(9), &model, 13);
    let background = Features::row_major(&others[..], 13, 5).expect("five features");
    let explainer = Explainer::with_background(&model, &background).expect("a valid model");
    let features = Features::row_major(&rows[..], 9, 5).expect("five features");
    let found = explainer.contributions(&features).expect("five features");
    for (row, found) in rows.chunks(5).zip(found.chunks(12)) {
        for (output, found) in found.chunks(6).enumerate() {
            let earns = |known: usize| {
                let mixed = |other: &[f64]| -> Vec<f64> {
                    (0..5).map(|at| if known >> at & 1 == 1 { row[at] } else { other[at] }).collect()
                };
                let scores = others.chunks(5).map(|other| model.raw_scores_of(&mixed(other))[output]);
                scores.sum::<f64>() / 13.0
            };
            assert_close(found, &shapley(earns), &format!("row {row:?}"));
        }
    }
}

#[test]
fn interactions_are_symmetric_and_sum_to_the_values() {
    let model = model(11, Comparison::F32, 1);
    let rows = random::rows(&mut Random::new(12), &model, 40);
    let features = Features::row_major(&rows[..], 40, 5).expect("five features");
    let explainer = Explainer::new(&model).expect("a valid model");
    let values = explainer.contributions(&features).expect("five features");
    let pairs = explainer.interactions(&features).expect("five features");
    for (values, pairs) in values.chunks(6).zip(pairs.chunks(36)) {
        for (at, row) in pairs.chunks(6).enumerate() {
            assert!((row.iter().sum::<f64>() - values[at]).abs() < 1e-12);
            (0..6).for_each(|other| assert!((row[other] - pairs[other * 6 + at]).abs() < 1e-13));
        }
    }
}

#[test]
fn values_do_not_depend_on_threads_or_on_other_rows() {
    let model = model(13, Comparison::F32, 3);
    let rows = random::rows(&mut Random::new(14), &model, 1200);
    let features = Features::row_major(&rows[..], 1200, 5).expect("five features");
    let explain = || Explainer::new(&model).expect("a valid model").contributions(&features).expect("five features");
    let all = on_threads(1, explain);
    assert_eq!(bits(&all), bits(&on_threads(3, explain)));
    for row in [0, 700, 1199] {
        let one = Features::row_major(&rows[row * 5..][..5], 1, 5).expect("five features");
        let one = Explainer::new(&model).expect("a valid model").contributions(&one).expect("five features");
        assert_eq!(bits(&one), bits(&all[row * 18..][..18]));
    }
}

#[test]
fn models_without_counts_need_a_background() {
    let mut model = model(15, Comparison::F32, 1);
    for leaf in &mut model.trees[1].leaves {
        (leaf.count, leaf.weight) = (0, 0.0);
    }
    model.trees[1].splits.iter_mut().for_each(|split| split.weight = 0.0);
    assert_eq!(Explainer::new(&model).err(), Some(ExplainError::NoCover { tree: 1 }));
    let rows = random::rows(&mut Random::new(16), &model, 3);
    let features = Features::row_major(&rows[..], 3, 5).expect("five features");
    let explainer = Explainer::with_background(&model, &features).expect("a background");
    let values = explainer.contributions(&features).expect("five features");
    for (row, values) in rows.chunks(5).zip(values.chunks(6)) {
        assert!((values.iter().sum::<f64>() - model.raw_scores_of(row)[0]).abs() < 1e-12);
    }
}

#[test]
fn mismatched_rows_and_deep_trees_are_errors() {
    let mut model = model(17, Comparison::F32, 1);
    let narrow = Features::row_major(&[0.0_f64; 8][..], 2, 4).expect("four features");
    let expected = ExplainError::Predict(PredictError::FeatureCount { expected: 5, found: 4 });
    let explainer = Explainer::new(&model).expect("a valid model");
    assert_eq!(explainer.contributions(&narrow).err(), Some(expected.clone()));
    assert_eq!(explainer.interactions(&narrow).err(), Some(expected.clone()));
    assert_eq!(Explainer::with_background(&model, &narrow).err(), Some(expected));
    model.trees[0] = random::grown(&mut Random::new(1), Kind::Plain, &model, 20_000, |_, leaves| leaves - 1);
    assert!(matches!(Explainer::new(&model), Err(ExplainError::Depth { tree: 0, .. })));
}
