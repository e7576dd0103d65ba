//! Trees on codes, in the representation that suits their shape.

use bitgrain_kernels::trees::{Operand, TreeLevel, TreeStep, TreeSteps};

use super::columns::CodeQuestion;
use crate::model::{Child, Split, Tree};

/// Maximum number of leaves that a byte can number.
const MAX_LEAVES: usize = 256;

/// Tree whose splits compare codes.
#[derive(Debug, Clone)]
pub(super) struct CodeTree {
    pub(super) shape: Shape,
    /// Leaf values, in the shape's numbering of leaves.
    pub(super) values: Vec<f64>,
    /// Category-set splits, evaluated before the tree into columns of 0 and 1 after the columns of the model.
    pub(super) answers: Vec<Answers>,
}

/// Representation of a tree.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// A single leaf.
    Leaf,
    /// All splits of a level are equal. Leaves are numbered by their path; the second field maps these numbers to
    /// leaves.
    Symmetric(Vec<TreeLevel>, Vec<u32>),
    /// Every split is evaluated for all rows, without branches.
    Steps(TreeSteps<Vec<TreeStep>>),
    /// Each row is walked separately: the tree has more leaves than a byte can number.
    Walk(Vec<WalkNode>),
}

/// Category-set split as a lookup table over the classes of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answers {
    pub(super) column: u32,
    pub(super) goes_right: Box<[u8; 256]>,
}

/// Split of a tree that is walked.
#[derive(Debug, Clone, Copy)]
pub(super) struct WalkNode {
    pub(super) column: u32,
    pub(super) code: u8,
    /// Left and right child: index of a node, or complement of a leaf.
    pub(super) children: [i32; 2],
}

/// Split that compares a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CodeSplit {
    column: u32,
    code: u8,
}

impl CodeTree {
    /// Converts a tree that was checked. Columns of category-set splits start at `n_columns`.
    pub(super) fn new<'a>(
        tree: &'a Tree,
        n_columns: usize,
        question: &mut impl FnMut(&'a Split) -> CodeQuestion,
    ) -> Self {
        let mut answers: Vec<Answers> = Vec::new();
        let splits = tree.splits.iter().map(|split| match question(split) {
            CodeQuestion::AtMost { column, code } => CodeSplit { column, code },
            CodeQuestion::Table { column, goes_right } => {
                let answer = Answers { column, goes_right };
                let at = answers.iter().position(|other| *other == answer).unwrap_or_else(|| {
                    answers.push(answer);
                    answers.len() - 1
                });
                CodeSplit { column: index(n_columns + at), code: 0 }
            }
        });
        let splits: Vec<CodeSplit> = splits.collect();
        let shape = shape(tree, &splits);
        let value = |leaf: usize| tree.leaves[leaf].value;
        let values = match &shape {
            Shape::Symmetric(_, leaves) => leaves.iter().map(|&leaf| value(leaf as usize)).collect(),
            _ => (0..tree.leaves.len()).map(value).collect(),
        };
        Self { shape, values, answers }
    }
}

fn shape(tree: &Tree, splits: &[CodeSplit]) -> Shape {
    if splits.is_empty() {
        return Shape::Leaf;
    }
    if tree.leaves.len() > MAX_LEAVES {
        return Shape::Walk(walk(tree, splits));
    }
    match symmetric(tree, splits) {
        Some((levels, leaves)) => Shape::Symmetric(levels, leaves),
        None => {
            let mut steps = Vec::with_capacity(splits.len());
            push_steps(tree, splits, &places(tree), Child::Split(0), 0, &mut steps);
            let steps = TreeSteps::new(steps);
            Shape::Steps(steps.unwrap_or_else(|error| unreachable!("children come before their parents: {error}")))
        }
    }
}

/// Returns the levels of a symmetric tree, and its leaves indexed by the sum of the weights of the levels at which
/// their path goes right. Returns `None` if the tree is not symmetric.
fn symmetric(tree: &Tree, splits: &[CodeSplit]) -> Option<(Vec<TreeLevel>, Vec<u32>)> {
    let mut levels = Vec::new();
    // Nodes of the level, indexed by the weights of the levels above.
    let mut nodes = vec![Child::Split(0)];
    while let Child::Split(first) = nodes[0] {
        let same = splits[first as usize];
        let mut below = vec![Child::Leaf(0); nodes.len() * 2];
        for (at, node) in nodes.iter().enumerate() {
            match *node {
                Child::Split(node) if splits[node as usize] == same => {
                    below[at] = tree.splits[node as usize].left;
                    below[at + nodes.len()] = tree.splits[node as usize].right;
                }
                _ => return None,
            }
        }
        // The shift cannot overflow: 256 leaves are at most 8 levels.
        levels.push(TreeLevel { column: same.column, at_most: same.code, weight: 1 << levels.len() });
        nodes = below;
    }
    let leaf = |node: Child| match node {
        Child::Leaf(leaf) => Some(leaf),
        Child::Split(_) => None,
    };
    Some((levels, nodes.into_iter().map(leaf).collect::<Option<_>>()?))
}

/// Returns the number of registers that the evaluation of each split needs (its Sethi-Ullman number).
fn places(tree: &Tree) -> Vec<u8> {
    let mut places = vec![0_u8; tree.splits.len()];
    for (at, split) in tree.splits.iter().enumerate().rev() {
        let [left, right] = [split.left, split.right].map(|child| needed(&places, child));
        places[at] = if left == right { left + 1 } else { left.max(right) };
    }
    places
}

fn needed(places: &[u8], child: Child) -> u8 {
    match child {
        Child::Leaf(_) => 0,
        Child::Split(split) => places[split as usize],
    }
}

/// Appends the steps of a node. The child that needs more registers is evaluated first, so that only its result is live
/// during the other. Results are stored in registers from `free` on.
fn push_steps(
    tree: &Tree,
    splits: &[CodeSplit],
    places: &[u8],
    node: Child,
    free: u8,
    steps: &mut Vec<TreeStep>,
) -> Operand {
    let split = match node {
        #[expect(clippy::cast_possible_truncation, reason = "at most 256 leaves")]
        Child::Leaf(leaf) => return Operand::leaf(leaf as u8),
        Child::Split(split) => split as usize,
    };
    let Split { left, right, .. } = tree.splits[split];
    let swapped = needed(places, left) < needed(places, right);
    let (first, second) = if swapped { (right, left) } else { (left, right) };
    let kept = free + u8::from(matches!(first, Child::Split(_)));
    let first = push_steps(tree, splits, places, first, free, steps);
    let second = push_steps(tree, splits, places, second, kept, steps);
    let (left, right) = if swapped { (second, first) } else { (first, second) };
    let CodeSplit { column, code } = splits[split];
    steps.push(TreeStep { column, at_most: code, out: free, left, right });
    Operand::result(free)
}

fn walk(tree: &Tree, splits: &[CodeSplit]) -> Vec<WalkNode> {
    let nodes = tree.splits.iter().zip(splits).map(|(split, &CodeSplit { column, code })| {
        let children = [split.left, split.right].map(child_index);
        WalkNode { column, code, children }
    });
    nodes.collect()
}

/// Returns the index of a split, or the complement of the index of a leaf.
#[expect(clippy::cast_possible_wrap, reason = "trees were checked to have fewer than 2^31 leaves")]
pub(super) fn child_index(child: Child) -> i32 {
    match child {
        Child::Split(split) => split as i32,
        Child::Leaf(leaf) => !(leaf as i32),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "there are fewer columns than splits, whose number fits u32")]
fn index(column: usize) -> u32 {
    column as u32
}
