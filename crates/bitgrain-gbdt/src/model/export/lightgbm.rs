//! Export to LightGBM's lists, which `bitgrain_formats::lightgbm` writes as text or JSON.
//!
//! Scores are the same bits: LightGBM compares f64 values with f64 thresholds and adds up leaf values in the order of the
//! trees. It reads magnitudes of at most 1e-35 as 0, and categories as the integer part of a value.

use bitgrain_formats::lightgbm as text;

use super::categorical::CategoricalSplit;
use super::threshold::wide;
use super::{ExportError, ModelFormat, folded};
use crate::model::{Child, InputKind, Link, Missing, Model, Rule, Split, Tree};

/// Formats that express every model.
const EVERY: &str = "json, c or rust";

/// Largest count of LightGBM, which stores counts as 32-bit integers.
const MAX_COUNT: u64 = i32::MAX as u64;

/// Converts a model.
pub(super) fn lists(model: &Model, format: ModelFormat) -> Result<text::Model, ExportError> {
    convert(model).map_err(|what| ExportError::Unsupported { format: format.name(), what, instead: EVERY })
}

/// Converts a model; the error describes the part that cannot be expressed.
fn convert(model: &Model) -> Result<text::Model, String> {
    let output = &model.output;
    if output.average && output.base_scores.iter().any(|&score| score != 0.0) {
        return Err("an average over rounds with a base score".into());
    }
    let trees = folded::trees(model);
    let mut trees: Vec<text::Tree> =
        trees.iter().enumerate().map(|(index, own)| tree(model, index, own)).collect::<Result<_, _>>()?;
    let rates = model.rates().unwrap_or_default();
    for (index, tree) in trees.iter_mut().enumerate() {
        // As in LightGBM, where a leaf that contains a base score counts in full.
        let has_base = output.base_scores.get(index).is_some_and(|&score| score != 0.0);
        let rate = rates.get(index).copied().filter(|_| !has_base);
        tree.shrinkage = Some(rate.unwrap_or(1.0));
    }
    let names = names(model)?;
    Ok(text::Model {
        version: "v4".into(),
        trees_per_iteration: model.n_outputs(),
        objective: objective(model)?,
        average_output: output.average,
        feature_infos: model.inputs.iter().map(|input| info(&input.kind)).collect(),
        feature_names: names,
        trees,
        parameters: parameters(model),
        pandas_categorical: Some(pandas_categories(model)),
    })
}

/// Feature names as LightGBM has them: spaces separate names in its files, so it replaces them by underscores itself.
fn names(model: &Model) -> Result<Vec<String>, String> {
    let clean = |name: &str| name.replace(|character: char| character.is_whitespace(), "_");
    let names: Vec<String> = model.inputs.iter().map(|input| clean(&input.name)).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two features that differ in spaces only (`{}`)", pair[0])),
        None if names.iter().any(String::is_empty) => Err("a feature without a name".into()),
        None => Ok(names),
    }
}

/// Range of a feature. Training ranges are not part of our models, so numeric features are unbounded.
fn info(kind: &InputKind) -> String {
    match kind {
        InputKind::Categorical { known: Some(known), .. } if known.len() > 1 => {
            known.iter().map(u32::to_string).collect::<Vec<_>>().join(":")
        }
        InputKind::Categorical { .. } => "0:1".into(),
        InputKind::Numeric => "[-inf:inf]".into(),
    }
}

/// LightGBM's `objective=` line; `None` leaves scores unchanged.
fn objective(model: &Model) -> Result<Option<String>, String> {
    let (outputs, own) = (model.n_outputs(), &*model.output.objective);
    let (name, parameter) = own.split_once(':').unwrap_or((own, ""));
    let with = |line: &str, key: &str| match parameter {
        "" => line.to_owned(),
        value => format!("{line} {key}:{value}"),
    };
    let several = outputs > 1;
    Ok(match model.output.link {
        Link::Identity if several => None,
        Link::Identity => match name {
            "squared" => Some("regression".into()),
            "absolute" => Some("regression_l1".into()),
            "huber" | "fair" | "mape" | "lambdarank" | "rank_xendcg" => Some(name.into()),
            "quantile" => Some(with("quantile", "alpha")),
            _ => None,
        },
        Link::SignedSquare if !several => Some("regression sqrt".into()),
        Link::Logistic { slope } if several => Some(format!("multiclassova num_class:{outputs} sigmoid:{slope}")),
        Link::Logistic { slope } if name == "cross_entropy" && slope == 1.0 => Some("cross_entropy".into()),
        Link::Logistic { slope } => Some(format!("binary sigmoid:{slope}")),
        Link::Softmax => Some(format!("multiclass num_class:{outputs}")),
        Link::Exponential if !several => Some(match name {
            "gamma" => "gamma".into(),
            "tweedie" => with("tweedie", "tweedie_variance_power"),
            _ => "poisson".into(),
        }),
        Link::Softplus if !several => Some("cross_entropy_lambda".into()),
        link => {
            let scores = if several { "several scores" } else { "one score" };
            return Err(format!("the link function {} of {scores}", link.name()));
        }
    })
}

/// Training parameters of a model that came from LightGBM.
fn parameters(model: &Model) -> Vec<(String, String)> {
    let own = model.metadata.iter().filter_map(|(key, value)| Some((key.strip_prefix("lightgbm.")?, value)));
    let single_line = |(key, value): &(&str, &String)| *key != "pandas_categorical" && !value.contains('\n');
    own.filter(single_line).map(|(key, value)| (key.to_owned(), value.clone())).collect()
}

/// Category labels of the columns that pandas stores as categories, as JSON: one list per labeled feature.
fn pandas_categories(model: &Model) -> String {
    if let Some(lists) = model.metadata.get("lightgbm.pandas_categorical") {
        return lists.clone();
    }
    let labels = model.inputs.iter().filter_map(|input| match &input.kind {
        InputKind::Categorical { labels, .. } if !labels.is_empty() => Some(labels),
        _ => None,
    });
    let lists: Vec<&Vec<String>> = labels.collect();
    if lists.is_empty() { "null".into() } else { serde_json::json!(lists).to_string() }
}

fn tree(model: &Model, index: usize, tree: &Tree) -> Result<text::Tree, String> {
    let mut out = text::Tree { num_leaves: tree.leaves.len(), ..text::Tree::default() };
    for (at, own) in tree.splits.iter().enumerate() {
        let node = Node::new(model, own).ok_or_else(|| {
            format!("split {at} of tree {index}, which sends missing values along with the listed categories")
        })?;
        let threshold = match &node.codes {
            Some(codes) => push_set(&mut out, codes),
            None => node.threshold,
        };
        out.split_feature.push(own.feature);
        out.split_gain.push(own.gain.into());
        out.threshold.push(threshold);
        out.decision_type.push(node.decision);
        out.left_child.push(child(node.left)?);
        out.right_child.push(child(node.right)?);
        out.internal_value.push(own.value);
        out.internal_weight.push(own.weight);
        out.internal_count.push(own.count.min(MAX_COUNT));
    }
    for leaf in &tree.leaves {
        out.leaf_value.push(leaf.value);
        out.leaf_weight.push(leaf.weight);
        out.leaf_count.push(leaf.count.min(MAX_COUNT));
    }
    Ok(out)
}

/// A split in LightGBM's terms.
struct Node {
    decision: u8,
    threshold: f64,
    codes: Option<Vec<u32>>,
    left: Child,
    right: Child,
}

impl Node {
    /// Converts a split; `None` if it cannot be expressed. Listed categories go left and all other values right, so the
    /// children are swapped where the model has it the other way round.
    fn new(model: &Model, split: &Split) -> Option<Self> {
        if let Rule::AtMost(threshold) = split.rule {
            let missing = match split.missing {
                Missing::Nothing => 0,
                Missing::NanOrZero => 1,
                Missing::Nan => 2,
            };
            let decision = missing << 2 | u8::from(split.missing_left) << 1;
            let threshold = wide(threshold, model.comparison);
            return Some(Self { decision, threshold, codes: None, left: split.left, right: split.right });
        }
        let CategoricalSplit { listed, listed_left, missing_left } = CategoricalSplit::new(model, split)?;
        let (left, right) = if listed_left { (split.left, split.right) } else { (split.right, split.left) };
        // The kind of missing value is NaN, as in LightGBM's own models if the feature has missing values.
        let node = Self { decision: 1 | 2 << 2, threshold: 0.0, codes: Some(listed), left, right };
        (missing_left != listed_left).then_some(node)
    }
}

/// Adds a category set and returns its index, which takes the place of the threshold.
#[expect(clippy::cast_precision_loss, reason = "a tree has far fewer than 2^53 category sets")]
fn push_set(tree: &mut text::Tree, codes: &[u32]) -> f64 {
    let index = tree.n_category_sets();
    if tree.cat_boundaries.is_empty() {
        tree.cat_boundaries.push(0);
    }
    // At least one word: readers look at the first one.
    let words = codes.last().map_or(1, |&last| last as usize / 32 + 1);
    let start = tree.cat_threshold.len();
    tree.cat_threshold.resize(start + words, 0);
    for code in codes {
        tree.cat_threshold[start + *code as usize / 32] |= 1 << (code % 32);
    }
    tree.cat_boundaries.push(u32::try_from(start + words).unwrap_or(u32::MAX));
    index as f64
}

fn child(child: Child) -> Result<i32, String> {
    let (index, is_leaf) = match child {
        Child::Split(index) => (index, false),
        Child::Leaf(index) => (index, true),
    };
    let index = i32::try_from(index).map_err(|_| "a tree with 2^31 or more nodes".to_owned())?;
    Ok(if is_leaf { !index } else { index })
}
