//! Predictions by the words of the contract: one row, one tree, one split after another.

use bitgrain_gbdt::model::{CategorySet, Child, Comparison, InputKind, Link, Missing, Model, Rule, Split, Tree};

pub(crate) fn leaf(model: &Model, tree: &Tree, row: &[f64]) -> u32 {
    if tree.splits.is_empty() {
        return 0;
    }
    let mut at = 0;
    loop {
        let split = &tree.splits[at as usize];
        let next = if left(model, split, row[split.feature as usize]) { split.left } else { split.right };
        match next {
            Child::Split(split) => at = split,
            Child::Leaf(leaf) => return leaf,
        }
    }
}

fn left(model: &Model, split: &Split, value: f64) -> bool {
    let mut value = if model.comparison == Comparison::F32 { f64::from(value as f32) } else { value };
    if let InputKind::Categorical { known: Some(known), .. } = &model.inputs[split.feature as usize].kind {
        // Whatever is not one of the codes is missing.
        if !known.iter().any(|&code| f64::from(code) == value) {
            value = f64::NAN;
        }
    }
    // LightGBM's constant is the f32 next to 1e-35.
    let zero = (-f64::from(1e-35_f32)..=f64::from(1e-35_f32)).contains(&value);
    let missing = match split.missing {
        Missing::Nan => value.is_nan(),
        Missing::NanOrZero => value.is_nan() || zero,
        Missing::Nothing => false,
    };
    if missing {
        return split.missing_left;
    }
    if value.is_nan() {
        value = 0.0;
    }
    match &split.rule {
        Rule::AtMost(threshold) => value <= *threshold,
        Rule::In(set) => contains(set, value),
        Rule::NotIn(set) => !contains(set, value),
    }
}

/// Cut to a whole number; negative numbers and what no u32 holds are in no set.
fn contains(set: &CategorySet, value: f64) -> bool {
    let whole = value.trunc();
    whole >= 0.0 && whole <= f64::from(u32::MAX) && set.contains(whole as u32)
}

pub(crate) fn raw(model: &Model, rounds: usize, row: &[f64]) -> Vec<f64> {
    let groups = model.output.base_scores.len();
    let trees = &model.trees[..model.trees.len().min(rounds * groups)];
    let used = trees.len().div_ceil(groups);
    (0..groups)
        .map(|group| {
            let base = model.output.base_scores[group];
            let mut score = if model.output.average { 0.0 } else { base };
            for tree in trees.iter().skip(group).step_by(groups) {
                score += tree.leaves[leaf(model, tree, row) as usize].value;
            }
            if model.output.average { base + score / (used.max(1) as f64) } else { score }
        })
        .collect()
}

pub(crate) fn predicted(model: &Model, rounds: usize, row: &[f64]) -> Vec<f64> {
    let raw = raw(model, rounds, row);
    match model.output.link {
        Link::Identity => raw,
        Link::Logistic { slope } => raw.iter().map(|score| 1.0 / (1.0 + (-slope * score).exp())).collect(),
        Link::Exponential => raw.iter().map(|score| score.exp()).collect(),
        Link::Softplus | Link::SignedSquare | Link::Step => unreachable!("models of other libraries only"),
        Link::Softmax => {
            let largest = raw.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let powers: Vec<f64> = raw.iter().map(|score| (score - largest).exp()).collect();
            powers.iter().map(|power| power / powers.iter().sum::<f64>()).collect()
        }
    }
}
