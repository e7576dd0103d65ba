//! Export to XGBoost's lists, which `bitgrain_formats::xgboost` writes as JSON or UBJSON.
//!
//! Rows reach the same leaves: XGBoost compares f32 values with f32 thresholds. It stores leaf values as f32 and adds them
//! up in f32, in the order of the trees, so scores are those of f32 sums.

use bitgrain_formats::xgboost::{self as file, Attributes};

use super::categorical::CategoricalSplit;
use super::threshold::{nan_left, narrow};
use super::{ExportError, ModelFormat, folded};
use crate::model::{Child, InputKind, Link, Model, Rule, Split, Tree};

/// Formats that express every model.
const EVERY: &str = "json, c or rust";
/// Upper bound of category codes (exclusive) in XGBoost.
const CODES: u32 = 1 << 24;
/// Version of XGBoost whose layout is written; later versions read it.
const VERSION: [u32; 3] = [2, 1, 4];

/// Converts a model.
pub(super) fn lists(model: &Model, format: ModelFormat) -> Result<file::Model, ExportError> {
    let refuse = |what: String| ExportError::Unsupported { format: format.name(), what, instead: EVERY };
    let outputs = model.n_outputs();
    let (objective, zero) = objective(model).ok_or_else(|| {
        let scores = if outputs > 1 { "several scores" } else { "one score" };
        refuse(format!("the link function {} of {scores}", described(model.output.link)))
    })?;
    #[expect(clippy::cast_precision_loss, reason = "the number of rounds is far below 2^53")]
    let divisor = if model.output.average { model.n_rounds().max(1) as f64 } else { 1.0 };
    let mut own = model.clone();
    own.trees.iter_mut().flat_map(|tree| &mut tree.leaves).for_each(|leaf| leaf.value /= divisor);
    let trees = folded::trees(&own);
    let lists = trees.iter().enumerate().map(|(index, tree)| Nodes::lists(model, index, tree).map_err(refuse));
    let lists = lists.collect::<Result<Vec<_>, _>>()?;
    let tree_info = (0..lists.len()).map(|tree| u32::try_from(tree % outputs).unwrap_or(u32::MAX)).collect();
    let is_multiclass = model.output.link == Link::Softmax;
    let (classes, targets) = if is_multiclass { (outputs, 1) } else { (0, outputs) };
    let type_of = |kind: &InputKind| if *kind == InputKind::Numeric { "float" } else { "c" }.to_owned();
    Ok(file::Model {
        learner: file::Learner {
            attributes: Attributes::new(),
            feature_names: model.inputs.iter().map(|input| input.name.clone()).collect(),
            feature_types: model.inputs.iter().map(|input| type_of(&input.kind)).collect(),
            gradient_booster: file::Booster {
                name: "gbtree".into(),
                model: file::BoosterModel { trees: lists, tree_info, ..file::BoosterModel::default() },
                gbtree: None,
                weight_drop: Vec::new(),
            },
            learner_model_param: file::LearnerParam::new(zero, classes, model.n_inputs(), targets),
            objective,
        },
        version: VERSION.to_vec(),
    })
}

fn described(link: Link) -> String {
    match link {
        Link::Logistic { slope } => format!("logistic with slope {slope}"),
        link => link.name().to_owned(),
    }
}

/// Returns XGBoost's objective and the base score that it converts to a raw score of 0; `None` if it has no such link.
fn objective(model: &Model) -> Option<(file::Objective, f32)> {
    let (outputs, own) = (model.n_outputs(), &*model.output.objective);
    let (name, parameter) = own.split_once(':').unwrap_or((own, ""));
    let pair = |key: &str, value: &str| Attributes::from([(key.to_owned(), value.to_owned())]);
    let mut out = file::Objective { reg_loss_param: pair("scale_pos_weight", "1"), ..file::Objective::default() };
    let (theirs, zero) = match model.output.link {
        Link::Identity => match name {
            "absolute" => ("reg:absoluteerror", 0.0),
            "quantile" if outputs == 1 && !parameter.is_empty() => {
                out.quantile_loss_param = pair("quantile_alpha", &format!("[{parameter}]"));
                ("reg:quantileerror", 0.0)
            }
            _ => ("reg:squarederror", 0.0),
        },
        Link::Logistic { slope: 1.0 } => {
            (if name == "cross_entropy" { "reg:logistic" } else { "binary:logistic" }, 0.5)
        }
        Link::Softmax => {
            out.softmax_multiclass_param = pair("num_class", &outputs.to_string());
            ("multi:softprob", 0.0)
        }
        Link::Exponential => match name {
            "gamma" => ("reg:gamma", 1.0),
            "tweedie" => {
                let power = if parameter.is_empty() { "1.5" } else { parameter };
                out.tweedie_regression_param = pair("tweedie_variance_power", power);
                ("reg:tweedie", 1.0)
            }
            _ => {
                out.poisson_regression_param = pair("max_delta_step", "0.7");
                ("count:poisson", 1.0)
            }
        },
        Link::Step if outputs == 1 => ("binary:hinge", 0.0),
        Link::Logistic { .. } | Link::Softplus | Link::SignedSquare | Link::Step => return None,
    };
    out.name = theirs.into();
    Some((out, zero))
}

/// Nodes of a tree, level by level. The children of a split are neighbors: XGBoost takes the node after the left child for
/// the right one.
struct Nodes {
    tree: file::Tree,
    default_left: Vec<bool>,
}

impl Nodes {
    /// Converts a tree; the error describes the part that cannot be expressed.
    fn lists(model: &Model, index: usize, tree: &Tree) -> Result<file::Tree, String> {
        let nodes = tree.splits.len() + tree.leaves.len();
        let lists = file::Tree::for_nodes(nodes);
        let mut nodes = Self { tree: lists, default_left: Vec::with_capacity(nodes) };
        let mut order = vec![if tree.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) }];
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            match node {
                Child::Leaf(leaf) => {
                    let leaf = &tree.leaves[leaf as usize];
                    let value = to_f32(leaf.value);
                    nodes.push([-1, -1], 0, value, false, (0.0, leaf.weight, value));
                }
                Child::Split(split) => {
                    let children = nodes.push_split(model, &tree.splits[split as usize], order.len());
                    let wrong = |what: &str| format!("split {split} of tree {index}, which {what}");
                    order.extend(children.map_err(wrong)?);
                }
            }
            at += 1;
        }
        let Self { mut tree, default_left } = nodes;
        tree.set_default_left(default_left);
        Ok(tree)
    }

    /// Adds a split whose children become node `next` and the one after it; returns the children in this order.
    fn push_split(&mut self, model: &Model, split: &Split, next: usize) -> Result<[Child; 2], &'static str> {
        let node = u32::try_from(self.default_left.len()).map_err(|_| "is beyond 2^32 nodes")?;
        let ends = (split.gain, split.weight, to_f32(split.value));
        let next = i32::try_from(next).ok().filter(|&next| next < i32::MAX).ok_or("is beyond 2^31 nodes")?;
        let places = [next, next + 1];
        let Some(CategoricalSplit { listed, listed_left, missing_left }) = CategoricalSplit::new(model, split) else {
            let Rule::AtMost(threshold) = split.rule else { return Err("has no rule") };
            let missing_left = nan_left(split, threshold)?;
            // Values below the condition go left: `value <= threshold` is `value < next f32`.
            self.push(places, split.feature, narrow(threshold).next_up(), missing_left, ends);
            return Ok([split.left, split.right]);
        };
        if listed.last().is_some_and(|&code| code >= CODES) {
            return Err("has a category code of 2^24 or more");
        }
        // Listed categories go right.
        let children = if listed_left { [split.right, split.left] } else { [split.left, split.right] };
        self.push(places, split.feature, 0.0, missing_left != listed_left, ends);
        if let Some(kind) = self.tree.split_type.last_mut() {
            *kind = 1;
        }
        self.tree.categories_nodes.push(node);
        self.tree.categories_segments.push(self.tree.categories.len() as u64);
        self.tree.categories_sizes.push(listed.len() as u64);
        self.tree.categories.extend(listed);
        Ok(children)
    }

    /// Adds a node with its gain, weight and value.
    fn push(&mut self, children: [i32; 2], feature: u32, condition: f32, left: bool, ends: (f32, f64, f32)) {
        let tree = &mut self.tree;
        tree.left_children.push(children[0]);
        tree.right_children.push(children[1]);
        tree.split_indices.push(feature);
        tree.split_conditions.push(condition);
        tree.loss_changes.push(ends.0);
        tree.sum_hessian.push(to_f32(ends.1));
        tree.base_weights.push(ends.2);
        tree.split_type.push(0);
        self.default_left.push(left);
    }
}

/// Rounds to the nearest finite f32.
#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
fn to_f32(value: f64) -> f32 {
    value.clamp(f32::MIN.into(), f32::MAX.into()) as f32
}
