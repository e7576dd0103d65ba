//! Random models, and rows of values near their thresholds.

use std::collections::BTreeMap;

use bitgrain_codec::random::SplitMix64;
use bitgrain_gbdt::model::{
    Child, Comparison, Input, InputKind, Leaf, Link, Missing, Model, Output, Rule, Split, Tree,
};

/// Reproducible random numbers.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() >> 8) as usize % end
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 40) as f64 / (1_u64 << 40) as f64
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns a threshold, or a value near one; from few distinct numbers, so that they coincide often.
    fn number(&mut self, exact: bool) -> f64 {
        const ODD: [f64; 14] = [
            0.0,
            -0.0,
            1e-35,
            -1e-36,
            1.000_000_1e-35,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1e300,
            -1e300,
            f32::MAX as f64,
            0.1,
            1e-45,
            1.0,
            16_777_217.0,
        ];
        let number = match self.below(4) {
            0 => ODD[self.below(ODD.len())],
            1 => (self.below(9) as f64 - 4.0) / 3.0,
            _ => f64::from((self.unit() * 4.0 - 2.0) as f32),
        };
        let number = match self.below(6) {
            0 => number.next_up(),
            1 => number.next_down(),
            2 => f64::from((number as f32).next_up()),
            _ => number,
        };
        if exact { number } else { f64::from(number as f32) }
    }
}

/// Kinds of splits and trees of a model.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Numeric features only, NaN is missing: like models trained here.
    Plain,
    /// All rules and all kinds of missing values.
    Mixed,
}

pub(crate) fn model(random: &mut Random, kind: Kind, comparison: Comparison, outputs: usize, trees: usize) -> Model {
    let inputs: Vec<Input> = (0..5)
        .map(|feature| {
            let codes =
                |random: &mut Random| (0..40).filter(|_| random.one_in(2)).chain([70_000, 16_777_216]).collect();
            let kind = match feature {
                2 if kind == Kind::Mixed => InputKind::Categorical { known: Some(codes(random)), labels: vec![] },
                3 if kind == Kind::Mixed => InputKind::Categorical { known: None, labels: vec![] },
                _ => InputKind::Numeric,
            };
            Input { name: format!("f{feature}"), kind }
        })
        .collect();
    let link = match (outputs, random.below(3)) {
        (1, 0) => Link::Logistic { slope: 1.5 },
        (1, 1) => Link::Exponential,
        (1, _) => Link::Identity,
        (_, 0) => Link::Logistic { slope: 1.0 },
        (_, _) => Link::Softmax,
    };
    let base_scores = (0..outputs).map(|output| output as f64 * 0.3 - 0.1).collect();
    let average = random.one_in(3);
    let output = Output { objective: "any".into(), link, base_scores, classes: vec![], average };
    let mut model = Model { inputs, comparison, output, trees: vec![], metadata: BTreeMap::new() };
    model.trees = (0..trees).map(|_| tree(random, kind, &model)).collect();
    model
}

fn tree(random: &mut Random, kind: Kind, model: &Model) -> Tree {
    match random.below(9) {
        0 => grown(random, kind, model, 1, |_, _| 0),
        1 => grown(random, kind, model, 2, |_, _| 0),
        2..=4 => symmetric(random, kind, model),
        5 => grown(random, kind, model, 301, |_, leaves| leaves - 1),
        6 => grown(random, kind, model, 256, Random::below),
        7 => grown(random, kind, model, 63, Random::below),
        _ => {
            let leaves = 2 + random.below(400);
            grown(random, kind, model, leaves, Random::below)
        }
    }
}

/// Splits leaves until there are `leaves`; `which` chooses the next one, given the current number.
pub(crate) fn grown(
    random: &mut Random,
    kind: Kind,
    model: &Model,
    leaves: usize,
    mut which: impl FnMut(&mut Random, usize) -> usize,
) -> Tree {
    let mut splits: Vec<Split> = vec![];
    let mut parents = vec![None];
    while parents.len() < leaves {
        let leaf = which(random, parents.len());
        let new = Child::Split(splits.len() as u32);
        match parents[leaf] {
            Some((parent, true)) => splits[parent as usize].left = new,
            Some((parent, false)) => splits[parent as usize].right = new,
            None => {}
        }
        let at = splits.len() as u32;
        let mut split = split(random, kind, model);
        (split.left, split.right) = (Child::Leaf(leaf as u32), Child::Leaf(parents.len() as u32));
        splits.push(split);
        parents[leaf] = Some((at, true));
        parents.push(Some((at, false)));
    }
    Tree { leaves: values(random, leaves), splits }
}

pub(crate) fn symmetric(random: &mut Random, kind: Kind, model: &Model) -> Tree {
    let depth = 1 + random.below(10);
    // Level by level: `which` returns the first leaf of the last full level that is not split yet.
    let mut tree = grown(random, kind, model, 1 << depth, |_, leaves| leaves - (1 << leaves.ilog2()));
    let levels: Vec<Split> = (0..depth).map(|_| split(random, kind, model)).collect();
    let mut depths = vec![0; tree.splits.len()];
    for at in 0..tree.splits.len() {
        let Split { left, right, .. } = tree.splits[at];
        for child in [left, right] {
            if let Child::Split(child) = child {
                depths[child as usize] = depths[at] + 1;
            }
        }
        tree.splits[at] = Split { left, right, ..levels[depths[at]].clone() };
    }
    assert_eq!(depths.iter().max(), Some(&(depth - 1)), "a full tree");
    tree
}

fn values(random: &mut Random, leaves: usize) -> Vec<Leaf> {
    (0..leaves).map(|_| Leaf { value: random.unit() - 0.5, weight: 1.0, count: 1 }).collect()
}

fn split(random: &mut Random, kind: Kind, model: &Model) -> Split {
    let feature = random.below(model.inputs.len());
    let is_category = model.inputs[feature].kind != InputKind::Numeric;
    let rule = if is_category {
        let large = random.one_in(3);
        let set = (0..45).filter(|_| random.one_in(2)).chain(large.then_some(70_000)).collect();
        if random.one_in(2) { Rule::In(set) } else { Rule::NotIn(set) }
    } else {
        Rule::AtMost(random.number(model.comparison == Comparison::F64))
    };
    let missing = match kind {
        // For categories only NaN is missing, in every library.
        Kind::Mixed if is_category => Missing::Nan,
        Kind::Plain => Missing::Nan,
        Kind::Mixed => [Missing::Nan, Missing::NanOrZero, Missing::Nothing][random.below(3)],
    };
    let (left, right) = (Child::Leaf(0), Child::Leaf(0));
    let missing_left = random.one_in(2);
    Split {
        feature: feature as u32,
        rule,
        missing,
        missing_left,
        left,
        right,
        gain: 0.0,
        value: 0.0,
        weight: 1.0,
        count: 1,
    }
}

/// Rows of values that are often a threshold, its neighbor, missing, or without a category.
pub(crate) fn rows(random: &mut Random, model: &Model, n_rows: usize) -> Vec<f64> {
    let mut value = |feature: usize| match (&model.inputs[feature].kind, random.below(12)) {
        (_, 0) => f64::NAN,
        (InputKind::Categorical { .. }, 1) => [-1.0, -0.5, 0.5, 3.5, 1e12, 70_000.0, 1e-40][random.below(7)],
        (InputKind::Categorical { .. }, _) => random.below(50) as f64,
        (InputKind::Numeric, _) => random.number(true),
    };
    (0..n_rows * model.inputs.len()).map(|at| value(at % model.inputs.len())).collect()
}
