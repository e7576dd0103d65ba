//! Small models that use every part of the format, with rows to predict.

use std::collections::BTreeMap;

use bitgrain_gbdt::model::{
    CategorySet, Child, Comparison, Input, InputKind, Leaf, Link, Missing, Model, Output, Rule, Split, Tree,
};

pub(crate) fn numeric(name: &str) -> Input {
    Input { name: name.into(), kind: InputKind::Numeric }
}

pub(crate) fn categorical(name: &str, known: Option<&[u32]>, labels: &[&str]) -> Input {
    let labels = labels.iter().map(|&label| label.into()).collect();
    Input { name: name.into(), kind: InputKind::Categorical { known: known.map(<[u32]>::to_vec), labels } }
}

pub(crate) fn set(codes: &[u32]) -> CategorySet {
    codes.iter().copied().collect()
}

pub(crate) fn split(feature: u32, rule: Rule, left: Child, right: Child) -> Split {
    let (missing, missing_left) = (Missing::Nan, feature.is_multiple_of(2));
    Split { feature, rule, missing, missing_left, left, right, gain: 1.5, value: 0.25, weight: 7.5, count: 300 }
}

pub(crate) fn leaves(values: &[f64]) -> Vec<Leaf> {
    (1_u32..)
        .zip(values)
        .map(|(i, &value)| Leaf { value, weight: f64::from(i) * 0.3, count: 100 * u64::from(i) })
        .collect()
}

pub(crate) fn output(objective: &str, link: Link, base_scores: &[f64]) -> Output {
    Output { objective: objective.into(), link, base_scores: base_scores.to_vec(), classes: vec![], average: false }
}

/// Two trees on two numeric features and a labeled categorical one; metadata.
pub(crate) fn binary() -> Model {
    let first = Tree {
        splits: vec![
            split(0, Rule::AtMost(0.1_f32.into()), Child::Split(1), Child::Leaf(0)),
            split(2, Rule::In(set(&[0, 2, 70])), Child::Leaf(2), Child::Split(2)),
            split(1, Rule::AtMost(f64::INFINITY), Child::Leaf(1), Child::Leaf(3)),
        ],
        leaves: leaves(&[-0.3, 0.7, 1e-300, -2.5]),
    };
    let second = Tree {
        splits: vec![split(1, Rule::AtMost(-1.5), Child::Leaf(0), Child::Leaf(1))],
        leaves: leaves(&[0.125, -0.0625]),
    };
    let mut output = output("binary", Link::Logistic { slope: 1.0 }, &[-0.4]);
    output.classes = vec!["no".into(), "yes".into()];
    Model {
        inputs: vec![numeric("größe"), numeric("b"), categorical("c", Some(&[0, 2, 3, 70, 200]), &["x", "", "z"])],
        comparison: Comparison::F32,
        output,
        trees: vec![first, second],
        metadata: BTreeMap::from([("best_round".into(), "2".into()), ("note".into(), "grüße\n".into())]),
    }
}

/// Averages over two rounds of two scores, in f64, with all kinds of missing values.
pub(crate) fn forest() -> Model {
    let tree = |missing, missing_left, threshold: f64| Tree {
        splits: vec![
            Split { missing, missing_left, ..split(0, Rule::AtMost(threshold), Child::Leaf(1), Child::Split(1)) },
            split(1, Rule::NotIn(set(&[1, 63, 64])), Child::Leaf(0), Child::Leaf(2)),
        ],
        leaves: leaves(&[0.1, 0.2, -0.3]),
    };
    let constant = Tree { splits: vec![], leaves: leaves(&[0.75]) };
    let mut output = output("squared", Link::Identity, &[0.5, -0.5]);
    output.average = true;
    Model {
        inputs: vec![numeric("a"), categorical("c", None, &[])],
        comparison: Comparison::F64,
        output,
        trees: vec![
            tree(Missing::NanOrZero, true, 0.1),
            tree(Missing::Nothing, true, -1e-300),
            tree(Missing::Nan, false, 1e300),
            constant,
        ],
        metadata: BTreeMap::new(),
    }
}

/// Base scores without trees.
pub(crate) fn empty() -> Model {
    Model {
        inputs: vec![],
        comparison: Comparison::F32,
        output: output("multiclass", Link::Softmax, &[0.1, 0.2, 0.3]),
        trees: vec![],
        metadata: BTreeMap::new(),
    }
}

pub(crate) fn all() -> [(&'static str, Model); 3] {
    [("binary", binary()), ("forest", forest()), ("empty", empty())]
}

/// Returns all combinations of values that any of the models distinguishes.
pub(crate) fn rows(inputs: usize) -> Vec<Vec<f64>> {
    let numbers = [f64::NAN, 0.0, -0.0, 0.1, 0.1_f32.into(), 0.100_000_002, -1.5, 1e-36, 1e301, -1e301];
    let codes = [f64::NAN, 0.0, 1.0, 2.7, 3.0, 63.0, 64.0, 70.0, 200.0, -0.5, -3.0, 1e9, 5e9, f64::INFINITY];
    match inputs {
        0 => vec![vec![]],
        2 => numbers.iter().flat_map(|&a| codes.map(|c| vec![a, c])).collect(),
        _ => numbers.iter().flat_map(|&a| numbers.iter().flat_map(move |&b| codes.map(|c| vec![a, b, c]))).collect(),
    }
}
