//! Export to ONNX: a `TreeEnsemble` of operator set 5 of `ai.onnx.ml` in f64, followed by the link function.
//!
//! The input `X` has the precision in which the model compares: f32 or f64. Thresholds and leaf values are f64, and leaves
//! are added up in f64, so scores are the same up to the order of the sum, which a runtime may choose. Category codes
//! must be integers: onnxruntime truncates 2.7 in large sets and compares it in small ones.

use bitgrain_formats::onnx::{Attribute, Graph, Node, Tensor, TensorInfo, TensorKind};

use super::categorical::CategoricalSplit;
use super::threshold::nan_left;
use super::{ExportError, ModelFormat, folded};
use crate::model::{Child, Comparison, Leaf, Link, Model, Output, Rule, Tree};

/// Modes of a node.
const AT_MOST: u8 = 0;
const BELOW: u8 = 1;
const MEMBER: u8 = 6;

/// Number that encodes the sum as the way to combine trees.
const SUM: i64 = 1;

/// Largest score whose exponential is finite.
const MAX_SCORE: f64 = 700.0;

/// Converts a model.
pub(super) fn bytes(model: &Model, format: ModelFormat) -> Result<Vec<u8>, ExportError> {
    let mut own = model.clone();
    if model.output.average {
        // The base score is added after the division.
        own.output.base_scores.iter_mut().for_each(|score| *score = 0.0);
    }
    let mut trees = TreeLists::default();
    for (index, tree) in folded::trees(&own).iter().enumerate() {
        let output = index % model.n_outputs();
        trees.push(model, tree, output).map_err(|(split, what)| ExportError::Unsupported {
            format: format.name(),
            what: format!("split {split} of tree {index}, which {what}"),
            instead: "lightgbm, json, c or rust",
        })?;
    }
    let names: Vec<&str> = model.inputs.iter().map(|input| input.name.as_str()).collect();
    let metadata = [
        ("objective", model.output.objective.clone()),
        ("feature_names", serde_json::json!(names).to_string()),
        ("classes", serde_json::json!(model.output.classes).to_string()),
    ];
    Ok(graph(model, trees).to_model(&metadata))
}

/// Builds the graph: values as f64, trees, mean, link, classes.
fn graph(model: &Model, trees: TreeLists) -> Graph {
    let (outputs, inputs) = (model.n_outputs(), model.n_inputs());
    let kind = match model.comparison {
        Comparison::F32 => TensorKind::F32,
        Comparison::F64 => TensorKind::F64,
    };
    let mut graph = Graph {
        name: "bitgrain".into(),
        nodes: Vec::new(),
        initializers: Vec::new(),
        inputs: vec![TensorInfo::new("X", kind, &[None, Some(inputs)])],
        outputs: vec![
            TensorInfo::new("prediction", TensorKind::F64, &[None, Some(outputs)]),
            TensorInfo::new("raw_score", TensorKind::F64, &[None, Some(outputs)]),
        ],
    };
    let values = if kind == TensorKind::F32 {
        // Every f32 is exact in f64, so that one operator serves both precisions.
        graph.nodes.push(cast("X", "values"));
        "values"
    } else {
        "X"
    };
    let sums = if model.output.average { "sums" } else { "raw_score" };
    graph.nodes.push(trees.node(values, sums, outputs));
    if model.output.average {
        #[expect(clippy::cast_precision_loss, reason = "the number of rounds is far below 2^53")]
        let rounds = model.n_rounds().max(1) as f64;
        constant(&mut graph, "rounds", vec![rounds]);
        constant(&mut graph, "base_scores", model.output.base_scores.clone());
        graph.nodes.push(Node::new("Div", &["sums", "rounds"], "means"));
        graph.nodes.push(Node::new("Add", &["means", "base_scores"], "raw_score"));
    }
    link(&mut graph, model.output.link);
    if model.output.has_probabilities() {
        classes(&mut graph, &model.output);
    }
    graph
}

fn cast(input: &str, output: &str) -> Node {
    const DOUBLE: i64 = 11;
    Node::new("Cast", &[input], output).with("to", Attribute::Integer(DOUBLE))
}

fn constant(graph: &mut Graph, name: &str, values: Vec<f64>) {
    graph.initializers.push((name.to_owned(), Tensor::F64(values)));
}

/// Adds the link function from `raw_score` to `prediction`.
fn link(graph: &mut Graph, link: Link) {
    match link {
        Link::Identity => graph.nodes.push(Node::new("Identity", &["raw_score"], "prediction")),
        Link::Logistic { slope } => {
            constant(graph, "slope", vec![slope]);
            graph.nodes.push(Node::new("Mul", &["raw_score", "slope"], "logits"));
            graph.nodes.push(Node::new("Sigmoid", &["logits"], "prediction"));
        }
        Link::Softmax => {
            let node = Node::new("Softmax", &["raw_score"], "prediction");
            graph.nodes.push(node.with("axis", Attribute::Integer(1)));
        }
        Link::Exponential => {
            constant(graph, "largest", vec![MAX_SCORE]);
            graph.nodes.push(Node::new("Min", &["raw_score", "largest"], "clipped"));
            graph.nodes.push(Node::new("Exp", &["clipped"], "prediction"));
        }
        Link::Softplus => {
            // The maximum of 0 and the score, plus a rest whose exponential cannot overflow.
            constant(graph, "one", vec![1.0]);
            constant(graph, "zero", vec![0.0]);
            graph.nodes.push(Node::new("Abs", &["raw_score"], "magnitudes"));
            graph.nodes.push(Node::new("Neg", &["magnitudes"], "negative"));
            graph.nodes.push(Node::new("Exp", &["negative"], "exponentials"));
            graph.nodes.push(Node::new("Add", &["exponentials", "one"], "above_one"));
            graph.nodes.push(Node::new("Log", &["above_one"], "rest"));
            graph.nodes.push(Node::new("Max", &["raw_score", "zero"], "positive"));
            graph.nodes.push(Node::new("Add", &["positive", "rest"], "prediction"));
        }
        Link::SignedSquare => {
            graph.nodes.push(Node::new("Abs", &["raw_score"], "magnitudes"));
            graph.nodes.push(Node::new("Mul", &["raw_score", "magnitudes"], "prediction"));
        }
        Link::Step => {
            constant(graph, "zero", vec![0.0]);
            graph.nodes.push(Node::new("Greater", &["raw_score", "zero"], "is_above"));
            graph.nodes.push(cast("is_above", "prediction"));
        }
    }
}

/// Adds the outputs of a classifier: `probabilities` of all classes, and the `label` of the most probable one.
fn classes(graph: &mut Graph, output: &Output) {
    let outputs = output.base_scores.len();
    let count = outputs.max(2);
    if outputs == 1 {
        constant(graph, "whole", vec![1.0]);
        graph.nodes.push(Node::new("Sub", &["whole", "prediction"], "rest"));
        let both = Node::new("Concat", &["rest", "prediction"], "probabilities");
        graph.nodes.push(both.with("axis", Attribute::Integer(1)));
    } else {
        graph.nodes.push(Node::new("Identity", &["prediction"], "probabilities"));
    }
    let most = Node::new("ArgMax", &["probabilities"], "class_index");
    graph.nodes.push(most.with("axis", Attribute::Integer(1)).with("keepdims", Attribute::Integer(0)));
    let labels: Vec<String> = (0..count).map(|class| output.class_label(class).into_owned()).collect();
    graph.initializers.push(("labels".into(), Tensor::Text(labels)));
    graph.nodes.push(Node::new("Gather", &["labels", "class_index"], "label"));
    graph.outputs.push(TensorInfo::new("probabilities", TensorKind::F64, &[None, Some(count)]));
    graph.outputs.push(TensorInfo::new("label", TensorKind::Text, &[None]));
}

/// Lists of the nodes and leaves of all trees.
#[derive(Debug, Default)]
struct TreeLists {
    roots: Vec<i64>,
    features: Vec<i64>,
    modes: Vec<u8>,
    splits: Vec<f64>,
    missing: Vec<i64>,
    /// Node or leaf, and whether it is a leaf, for each outcome.
    when_true: (Vec<i64>, Vec<i64>),
    when_false: (Vec<i64>, Vec<i64>),
    /// Categories of each set in order, each list ended by NaN.
    members: Vec<f64>,
    targets: Vec<i64>,
    weights: Vec<f64>,
}

impl TreeLists {
    /// Adds a tree; the error is a split and the reason why it cannot be expressed.
    fn push(&mut self, model: &Model, tree: &Tree, output: usize) -> Result<(), (usize, &'static str)> {
        let (first_node, first_leaf) = (index(self.features.len()), index(self.weights.len()));
        self.roots.push(first_node);
        let place = |child: Child| match child {
            Child::Split(at) => (first_node + i64::from(at), 0),
            Child::Leaf(at) => (first_leaf + i64::from(at), 1),
        };
        if tree.splits.is_empty() {
            // A tree starts with a node: both outcomes are its only leaf.
            self.push_node(0, (AT_MOST, 0.0), false, (first_leaf, 1), (first_leaf, 1));
        }
        for (at, split) in tree.splits.iter().enumerate() {
            let (left, right) = (place(split.left), place(split.right));
            let feature = i64::from(split.feature);
            let Some(set) = CategoricalSplit::new(model, split) else {
                let Rule::AtMost(threshold) = split.rule else { continue };
                let missing_left = nan_left(split, threshold).map_err(|what| (at, what))?;
                self.push_node(feature, (AT_MOST, threshold), missing_left, left, right);
                continue;
            };
            let (inside, outside) = if set.listed_left { (left, right) } else { (right, left) };
            // An empty set has no members to list: no value is below minus infinity.
            let test = if set.listed.is_empty() { (BELOW, f64::NEG_INFINITY) } else { (MEMBER, 0.0) };
            self.push_node(feature, test, set.missing_left == set.listed_left, inside, outside);
            if !set.listed.is_empty() {
                self.members.extend(set.listed.iter().copied().map(f64::from));
                self.members.push(f64::NAN);
            }
        }
        self.targets.extend(tree.leaves.iter().map(|_| index(output)));
        self.weights.extend(tree.leaves.iter().map(|leaf: &Leaf| leaf.value));
        Ok(())
    }

    fn push_node(&mut self, feature: i64, test: (u8, f64), missing: bool, yes: (i64, i64), no: (i64, i64)) {
        self.features.push(feature);
        self.modes.push(test.0);
        self.splits.push(test.1);
        self.missing.push(missing.into());
        self.when_true.0.push(yes.0);
        self.when_true.1.push(yes.1);
        self.when_false.0.push(no.0);
        self.when_false.1.push(no.1);
    }

    fn node(self, input: &str, output: &str, outputs: usize) -> Node {
        let integers = Attribute::Integers;
        let floats = |values| Attribute::Tensor(Tensor::F64(values));
        let mut node = Node::new("TreeEnsemble", &[input], output)
            .with("aggregate_function", Attribute::Integer(SUM))
            .with("leaf_targetids", integers(self.targets))
            .with("leaf_weights", floats(self.weights))
            .with("n_targets", Attribute::Integer(index(outputs)))
            .with("nodes_falseleafs", integers(self.when_false.1))
            .with("nodes_falsenodeids", integers(self.when_false.0))
            .with("nodes_featureids", integers(self.features))
            .with("nodes_missing_value_tracks_true", integers(self.missing))
            .with("nodes_modes", Attribute::Tensor(Tensor::U8(self.modes)))
            .with("nodes_splits", floats(self.splits))
            .with("nodes_trueleafs", integers(self.when_true.1))
            .with("nodes_truenodeids", integers(self.when_true.0))
            .with("post_transform", Attribute::Integer(0))
            .with("tree_roots", integers(self.roots));
        if !self.members.is_empty() {
            node = node.with("membership_values", floats(self.members));
        }
        node.domain = "ai.onnx.ml";
        node
    }
}

fn index(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}
