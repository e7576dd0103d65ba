//! Import of LightGBM text files. Spec: `spec/model.md#lightgbm`.

use std::collections::BTreeMap;

use bitgrain_formats::lightgbm as text;

use super::{ImportError, checked_outputs, classes, objective, unsupported};
use crate::model::{CategorySet, Child, Comparison, Input, InputKind, Leaf, Missing, Model, Output, Rule, Split, Tree};

/// Bits of a decision type.
const CATEGORICAL: u8 = 1;
const DEFAULT_LEFT: u8 = 2;
const MISSING: u32 = 2;

impl Model {
    /// Imports a LightGBM model from its text format.
    ///
    /// # Errors
    /// Returns an [`ImportError`] if the file is invalid or uses unsupported features (linear trees).
    pub fn from_lightgbm(text: &[u8]) -> Result<Self, ImportError> {
        let file = text::Model::parse(text)?;
        let outputs = checked_outputs(file.trees_per_iteration, file.trees.len())?;
        let trees: Vec<Tree> =
            file.trees.iter().enumerate().map(|(index, lists)| tree(index, lists)).collect::<Result<_, _>>()?;
        let (objective, link) = objective::lightgbm(file.objective.as_deref(), outputs)?;
        let classes = classes(&objective, outputs);
        let base_scores = vec![0.0; outputs];
        let rates: Option<Vec<f64>> = file.trees.iter().map(|tree| tree.shrinkage).collect();
        let mut model = Self {
            inputs: inputs(&file, &trees),
            comparison: Comparison::F64,
            output: Output { objective, link, base_scores, classes, average: file.average_output },
            trees,
            metadata: metadata(file),
        };
        if let Some(rates) = rates.filter(|rates| rates.iter().all(|rate| rate.is_finite())) {
            model.set_rates(&rates);
        }
        model.check()?;
        Ok(model)
    }
}

fn metadata(file: text::Model) -> BTreeMap<String, String> {
    let parameters = file.parameters.into_iter().filter(|(_, value)| !value.is_empty());
    // Ordered categories also appear in these lists, although their features are numeric. Only a data frame tells which
    // column a list belongs to, so readers of data frames need all lists.
    let lists = file
        .pandas_categorical
        .filter(|lists| lists.starts_with("[["))
        .map(|lists| ("pandas_categorical".into(), lists));
    let named = parameters.chain(lists).map(|(key, value)| (format!("lightgbm.{key}"), value));
    named.chain([("source".to_owned(), format!("LightGBM {}", file.version))]).collect()
}

fn inputs(file: &text::Model, trees: &[Tree]) -> Vec<Input> {
    // Categories are separated by `:`; numeric features have a range in brackets.
    let is_list = |info: &String| info.contains(':') && !info.starts_with('[');
    let mut categorical: Vec<bool> = file.feature_infos.iter().map(is_list).collect();
    categorical.resize(file.feature_names.len(), false);
    for split in trees.iter().flat_map(|tree| &tree.splits) {
        if let (Rule::In(_), Some(flag)) = (&split.rule, categorical.get_mut(split.feature as usize)) {
            *flag = true;
        }
    }
    let mut labels = labels(file, categorical.iter().filter(|&&is| is).count()).into_iter();
    let kind = |is| match is {
        true => InputKind::Categorical { known: None, labels: labels.next().unwrap_or_default() },
        false => InputKind::Numeric,
    };
    let kinds = categorical.into_iter().map(kind);
    file.feature_names.iter().zip(kinds).map(|(name, kind)| Input { name: name.clone(), kind }).collect()
}

/// Returns the category labels of each categorical feature, if there is one list per such feature.
fn labels(file: &text::Model, count: usize) -> Vec<Vec<String>> {
    let lists = file.pandas_categorical.as_deref().and_then(|json| serde_json::from_str(json).ok());
    let lists: Vec<Vec<serde_json::Value>> = lists.unwrap_or_default();
    if lists.len() != count {
        return Vec::new();
    }
    let label = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    lists.iter().map(|list| list.iter().map(label).collect()).collect()
}

fn tree(index: usize, lists: &text::Tree) -> Result<Tree, ImportError> {
    if lists.is_linear {
        return Err(unsupported("a LightGBM model with linear trees"));
    }
    let splits = (0..lists.num_leaves - 1).map(|node| split(index, node, lists)).collect::<Result<_, _>>()?;
    let leaf = |(leaf, &value): (usize, &f64)| Leaf {
        value,
        weight: lists.leaf_weight.get(leaf).copied().unwrap_or(0.0),
        count: lists.leaf_count.get(leaf).copied().unwrap_or(0),
    };
    Ok(Tree { splits, leaves: lists.leaf_value.iter().enumerate().map(leaf).collect() })
}

fn split(tree: usize, node: usize, lists: &text::Tree) -> Result<Split, ImportError> {
    let (decision, threshold) = (lists.decision_type[node], lists.threshold[node]);
    let wrong = |wrong| ImportError::Node { tree, node, wrong };
    let (rule, missing, missing_left) = if decision & CATEGORICAL != 0 {
        let set = as_index(threshold).and_then(|set| lists.category_words(set));
        let words = set.ok_or_else(|| wrong("has no category set"))?;
        let pairs = words.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32);
        // Missing values always go right, regardless of the other bits of the decision type.
        (Rule::In(CategorySet::from_words(pairs.collect())), Missing::Nan, false)
    } else {
        let missing = match decision >> MISSING & 0b11 {
            0 => Missing::Nothing,
            1 => Missing::NanOrZero,
            2 => Missing::Nan,
            _ => return Err(wrong("has an unknown decision type")),
        };
        (Rule::AtMost(move_from_zero(threshold)), missing, decision & DEFAULT_LEFT != 0)
    };
    let child = |child: i32| match u32::try_from(child) {
        Ok(split) => Child::Split(split),
        Err(_) => Child::Leaf((!child).unsigned_abs()),
    };
    Ok(Split {
        feature: lists.split_feature[node],
        rule,
        missing,
        missing_left,
        left: child(lists.left_child[node]),
        right: child(lists.right_child[node]),
        gain: gain(lists.split_gain.get(node).copied().unwrap_or(0.0)),
        value: lists.internal_value.get(node).copied().unwrap_or(0.0),
        weight: lists.internal_weight.get(node).copied().unwrap_or(0.0),
        count: lists.internal_count.get(node).copied().unwrap_or(0),
    })
}

/// Moves a threshold near zero to the edge of the range that LightGBM rounds to 0 before comparing.
fn move_from_zero(threshold: f64) -> f64 {
    match threshold {
        _ if threshold.abs() > Missing::ZERO || threshold.is_nan() => threshold,
        _ if threshold < 0.0 => (-Missing::ZERO).next_down(),
        _ => Missing::ZERO,
    }
}

/// Converts a gain to f32, clamped to its range.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of f32")]
fn gain(gain: f64) -> f32 {
    gain.clamp(f32::MIN.into(), f32::MAX.into()) as f32
}

fn as_index(number: f64) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer from 0 to 2^31")]
    (number.fract() == 0.0 && (0.0..2_147_483_648.0).contains(&number)).then_some(number as usize)
}
