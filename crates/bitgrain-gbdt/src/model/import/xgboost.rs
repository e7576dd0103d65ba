//! Import of XGBoost JSON and UBJSON files. Spec: `spec/model.md#xgboost`.

use std::collections::BTreeMap;

use bitgrain_formats::xgboost::{self as file, Learner};

use super::{ImportError, SetBudget, checked_outputs, classes, objective, unsupported};
use crate::model::{CategorySet, Child, Comparison, Input, InputKind, Leaf, Missing, Model, Output, Rule, Split, Tree};

/// Maximum number of features of a model without feature names.
const UNNAMED: usize = 1 << 20;
/// Upper bound of category codes (exclusive): smaller integers are exact in f32.
const CODES: u32 = 1 << 24;

impl Model {
    /// Imports an XGBoost model in JSON or UBJSON.
    ///
    /// # Errors
    /// Returns an [`ImportError`] if the file is invalid or uses unsupported features (linear boosters, multi-output
    /// trees).
    pub fn from_xgboost(bytes: &[u8]) -> Result<Self, ImportError> {
        let file = file::Model::parse(bytes)?;
        let learner = &file.learner;
        if !matches!(&*learner.gradient_booster.name, "gbtree" | "dart") {
            return Err(unsupported(format!("XGBoost booster `{}`", learner.gradient_booster.name)));
        }
        let lists = file.trees();
        let param = &learner.learner_model_param;
        let claimed = param.num_class()?.max(param.num_target()?).max(1);
        let outputs = checked_outputs(claimed, lists.trees.len())?;
        let ((objective, link), base) = objective::xgboost(&learner.objective, outputs)?;
        let classes = classes(&objective, outputs);
        let mut sets = SetBudget::for_file(bytes.len());
        let mut trees = Vec::with_capacity(lists.trees.len());
        for (index, tree) in lists.trees.iter().enumerate() {
            let factor = learner.gradient_booster.weight_drop.get(index).copied().unwrap_or(1.0);
            trees.push(Nodes { index, lists: tree, factor: factor.into() }.tree(&mut sets)?);
        }
        let inputs = inputs(learner, lists, &trees, bytes.len())?;
        let base_scores = base_scores(param.base_score()?, outputs, base)?;
        let model = Self {
            inputs,
            comparison: Comparison::F32,
            output: Output { objective, link, base_scores, classes, average: false },
            trees: by_rounds(trees, &lists.tree_info, outputs)?,
            metadata: metadata(&file),
        };
        model.check()?;
        Ok(model)
    }
}

fn metadata(file: &file::Model) -> BTreeMap<String, String> {
    let version: Vec<String> = file.version.iter().map(u32::to_string).collect();
    let attributes = file.learner.attributes.iter().map(|(key, value)| (format!("xgboost.{key}"), value.clone()));
    attributes.chain([("source".to_owned(), format!("XGBoost {}", version.join(".")))]).collect()
}

fn base_scores(scores: Vec<f64>, outputs: usize, base: objective::Base) -> Result<Vec<f64>, ImportError> {
    let raw: Vec<f64> = scores.into_iter().map(|score| base.raw(score)).collect();
    match raw[..] {
        [one] => Ok(vec![one; outputs]),
        _ if raw.len() == outputs => Ok(raw),
        _ => Err(unsupported(format!("a base score of {} numbers for {outputs} scores", raw.len()))),
    }
}

fn inputs(
    learner: &Learner,
    lists: &file::BoosterModel,
    trees: &[Tree],
    file_len: usize,
) -> Result<Vec<Input>, ImportError> {
    let (count, names) = (learner.learner_model_param.num_feature()?, &learner.feature_names);
    let limit = if names.is_empty() { UNNAMED.saturating_add(file_len) } else { names.len() };
    if count > limit {
        return Err(ImportError::TooMany { what: "features", found: count as u64, limit: limit as u64 });
    }
    let mut categorical = vec![false; count];
    for (flag, kind) in categorical.iter_mut().zip(&learner.feature_types) {
        *flag = kind == "c";
    }
    for split in trees.iter().flat_map(|tree| &tree.splits) {
        if let (Rule::NotIn(_), Some(flag)) = (&split.rule, categorical.get_mut(split.feature as usize)) {
            *flag = true;
        }
    }
    let labels = |index: usize| lists.cats.enc.get(index).and_then(file::Encoding::labels).unwrap_or_default();
    let input = |(index, is)| Input {
        name: names.get(index).cloned().unwrap_or_else(|| format!("f{index}")),
        kind: match is {
            true => InputKind::Categorical { known: None, labels: labels(index) },
            false => InputKind::Numeric,
        },
    };
    Ok(categorical.into_iter().enumerate().map(input).collect())
}

/// Reorders trees into rounds of one tree per output. Files store all parallel trees of an output before those of the
/// next.
fn by_rounds(trees: Vec<Tree>, info: &[u32], outputs: usize) -> Result<Vec<Tree>, ImportError> {
    let mut counts = vec![0_usize; outputs];
    let mut placed = Vec::with_capacity(trees.len());
    for (index, (tree, &output)) in trees.into_iter().zip(info).enumerate() {
        let count = usize::try_from(output).ok().and_then(|output| counts.get_mut(output));
        let count =
            count.ok_or(ImportError::Node { tree: index, node: 0, wrong: "adds to a score that does not exist" })?;
        placed.push(((*count, output), tree));
        *count += 1;
    }
    if counts.iter().any(|&count| count != counts[0]) {
        return Err(unsupported("an XGBoost model whose scores have different numbers of trees"));
    }
    placed.sort_by_key(|&(place, _)| place);
    Ok(placed.into_iter().map(|(_, tree)| tree).collect())
}

/// Nodes of a tree in the file.
struct Nodes<'a> {
    index: usize,
    lists: &'a file::Tree,
    /// Factor of the leaf values.
    factor: f64,
}

impl Nodes<'_> {
    fn wrong(&self, node: usize, wrong: &'static str) -> ImportError {
        ImportError::Node { tree: self.index, node, wrong }
    }

    /// Converts nodes to splits and leaves in depth-first order, left first. Pruned nodes are skipped.
    fn tree(&self, sets: &mut SetBudget) -> Result<Tree, ImportError> {
        if self.lists.leaf_size()? > 1 {
            return Err(unsupported("an XGBoost model with trees of several outputs"));
        }
        let mut sets = self.category_sets(sets)?;
        let mut tree = Tree { splits: Vec::new(), leaves: Vec::new() };
        let mut met = vec![false; self.lists.left_children.len()];
        // Pending nodes, each with its parent split and side.
        let mut to_come = vec![(0, None)];
        while let Some((node, from)) = to_come.pop() {
            match met.get_mut(node) {
                None => return Err(self.wrong(node, "does not exist")),
                Some(true) => return Err(self.wrong(node, "has two parents")),
                Some(free) => *free = true,
            }
            let children = [self.lists.left_children[node], self.lists.right_children[node]];
            let too_many = |_| self.wrong(node, "exceeds the maximum of 2^32 nodes");
            let place = if children == [-1, -1] {
                tree.leaves.push(self.leaf(node));
                Child::Leaf(u32::try_from(tree.leaves.len() - 1).map_err(too_many)?)
            } else {
                let [Ok(left), Ok(right)] = children.map(usize::try_from) else {
                    return Err(self.wrong(node, "has only one child"));
                };
                let at = tree.splits.len();
                tree.splits.push(self.split(node, &mut sets)?);
                to_come.extend([(right, Some((at, false))), (left, Some((at, true)))]);
                Child::Split(u32::try_from(at).map_err(too_many)?)
            };
            match from {
                Some((parent, true)) => tree.splits[parent].left = place,
                Some((parent, false)) => tree.splits[parent].right = place,
                None => {}
            }
        }
        fill_values(&mut tree);
        Ok(tree)
    }

    fn category_sets(&self, budget: &mut SetBudget) -> Result<BTreeMap<usize, CategorySet>, ImportError> {
        let mut sets = BTreeMap::new();
        for (entry, &node) in self.lists.categories_nodes.iter().enumerate() {
            let node = node as usize;
            let codes = self.lists.categories_of(entry).ok_or_else(|| self.wrong(node, "has no categories"))?;
            if codes.iter().any(|&code| code >= CODES) {
                return Err(self.wrong(node, "has a category code of 2^24 or more"));
            }
            sets.insert(node, budget.set(codes)?);
        }
        Ok(sets)
    }

    fn leaf(&self, node: usize) -> Leaf {
        let weight = self.lists.sum_hessian.get(node).copied().unwrap_or(0.0);
        Leaf { value: f64::from(self.lists.split_conditions[node]) * self.factor, weight: weight.into(), count: 0 }
    }

    fn split(&self, node: usize, sets: &mut BTreeMap<usize, CategorySet>) -> Result<Split, ImportError> {
        let rule = match self.lists.split_type.get(node) {
            // The categories listed in the file go right.
            Some(1) => Rule::NotIn(sets.remove(&node).ok_or_else(|| self.wrong(node, "has no categories"))?),
            Some(0) | None => Rule::AtMost(self.lists.split_conditions[node].next_down().into()),
            Some(_) => return Err(self.wrong(node, "has an unknown split type")),
        };
        Ok(Split {
            feature: self.lists.split_indices[node],
            rule,
            missing: Missing::Nan,
            missing_left: self.lists.default_left()[node],
            // Set when the children are visited.
            left: Child::Leaf(0),
            right: Child::Leaf(0),
            gain: self.lists.loss_changes.get(node).copied().unwrap_or(0.0),
            value: 0.0,
            weight: self.lists.sum_hessian.get(node).copied().unwrap_or(0.0).into(),
            count: 0,
        })
    }
}

/// Sets the value of each split to the weighted mean of its leaves: the values in the file do not include the learning
/// rate.
fn fill_values(tree: &mut Tree) {
    let (mut values, leaves) = (vec![0.0; tree.splits.len()], &tree.leaves);
    for (at, split) in tree.splits.iter().enumerate().rev() {
        let [left, right] = [split.left, split.right].map(|child| match child {
            Child::Split(index) => (values[index as usize], tree.splits[index as usize].weight),
            Child::Leaf(index) => (leaves[index as usize].value, leaves[index as usize].weight),
        });
        let weight = left.1 + right.1;
        let share = if weight > 0.0 { left.1 / weight } else { 0.5 };
        values[at] = left.0 * share + right.0 * (1.0 - share);
    }
    for (split, value) in tree.splits.iter_mut().zip(values) {
        split.value = value;
    }
}
