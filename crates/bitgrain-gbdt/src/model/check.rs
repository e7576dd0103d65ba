//! Whether the parts of a model fit together.

use std::collections::BTreeSet;

use super::{CategorySet, Child, Comparison, Input, InputKind, Link, Model, Rule, Tree};

/// Codes of categories where values are f32: all whole numbers below are f32 numbers.
const F32_CODES: u32 = 1 << 24;
/// Codes of categories where values are f64.
const F64_CODES: u32 = 1 << 31;

/// What does not fit in a model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Two features of one name.
    #[error("two features are named {name}")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// No base score: then there is no score at all.
    #[error("the model has no base score, one for each score of a row is needed")]
    NoBaseScore,
    /// A number that must be finite, or a threshold that is NaN.
    #[error("{what} is {value}, which is not allowed there")]
    NotFinite {
        /// Which number.
        what: String,
        /// Its value.
        value: f64,
    },
    /// Rounds that are not complete.
    #[error("{trees} trees are not whole rounds of {outputs}")]
    PartialRound {
        /// Trees there are.
        trees: usize,
        /// Trees of a round.
        outputs: usize,
    },
    /// Not as many classes as scores (or two for one score).
    #[error("{classes} classes for {outputs} scores")]
    ClassCount {
        /// Classes there are.
        classes: usize,
        /// Scores there are.
        outputs: usize,
    },
    /// A tree that does not have one leaf more than splits.
    #[error("tree {tree} has {leaves} leaves for {splits} splits, there must be one more")]
    LeafCount {
        /// The tree.
        tree: usize,
        /// Its leaves.
        leaves: usize,
        /// Its splits.
        splits: usize,
    },
    /// A split on a feature that is not there.
    #[error("split {split} of tree {tree} asks for feature {feature}, there are {inputs}")]
    Feature {
        /// The tree.
        tree: usize,
        /// The split.
        split: usize,
        /// The feature it asks for.
        feature: u32,
        /// Features there are.
        inputs: usize,
    },
    /// A threshold for a categorical feature, or categories for a numeric one.
    #[error("split {split} of tree {tree} asks feature {feature} for what it does not have: {asks}")]
    RuleKind {
        /// The tree.
        tree: usize,
        /// The split.
        split: usize,
        /// The feature it asks for.
        feature: u32,
        /// What the split asks for.
        asks: &'static str,
    },
    /// A child that is not there, comes before its parent, or has two parents.
    #[error("split {split} of tree {tree} leads to {child:?}, {wrong}")]
    Child {
        /// The tree.
        tree: usize,
        /// The split.
        split: usize,
        /// Where it leads.
        child: Child,
        /// What is wrong with that.
        wrong: &'static str,
    },
    /// A threshold with more bits than values have.
    #[error(
        "threshold {threshold} of split {split} of tree {tree} is not an f32 number, but values are rounded to f32"
    )]
    Threshold {
        /// The tree.
        tree: usize,
        /// The split.
        split: usize,
        /// The threshold.
        threshold: f64,
    },
    /// A code of a category that values cannot have.
    #[error("category {code} of {place}: codes must be below {limit}")]
    Code {
        /// Where it is.
        place: String,
        /// The code.
        code: u32,
        /// The first that is too large.
        limit: u32,
    },
    /// Known codes that do not ascend.
    #[error("the known codes of feature {name} do not ascend")]
    UnsortedCodes {
        /// The feature.
        name: String,
    },
}

impl Model {
    /// Whether the parts fit together: then every row has scores, and no walk through a tree goes astray.
    ///
    /// # Errors
    /// The first thing that does not fit.
    pub fn check(&self) -> Result<(), ModelError> {
        let mut names = BTreeSet::new();
        for input in &self.inputs {
            if !names.insert(&input.name) {
                return Err(ModelError::DuplicateName { name: input.name.clone() });
            }
            self.check_input(input)?;
        }
        self.check_output()?;
        self.trees.iter().enumerate().try_for_each(|(index, tree)| self.check_tree(index, tree))
    }

    fn check_input(&self, input: &Input) -> Result<(), ModelError> {
        let InputKind::Categorical { known: Some(known), .. } = &input.kind else { return Ok(()) };
        if !known.is_sorted_by(|a, b| a < b) {
            return Err(ModelError::UnsortedCodes { name: input.name.clone() });
        }
        self.check_code(known.last().copied(), || format!("feature {}", input.name))
    }

    fn check_code(&self, largest: Option<u32>, place: impl Fn() -> String) -> Result<(), ModelError> {
        let limit = match self.comparison {
            Comparison::F32 => F32_CODES,
            Comparison::F64 => F64_CODES,
        };
        match largest {
            Some(code) if code >= limit => Err(ModelError::Code { place: place(), code, limit }),
            _ => Ok(()),
        }
    }

    fn check_output(&self) -> Result<(), ModelError> {
        let (outputs, classes) = (self.n_outputs(), self.output.classes.len());
        if outputs == 0 {
            return Err(ModelError::NoBaseScore);
        }
        for (output, &score) in self.output.base_scores.iter().enumerate() {
            finite(score, || format!("base score {output}"))?;
        }
        if let Link::Logistic { slope } = self.output.link {
            finite(slope, || "the slope of the link".into())?;
        }
        if !self.trees.len().is_multiple_of(outputs) {
            return Err(ModelError::PartialRound { trees: self.trees.len(), outputs });
        }
        if classes != 0 && classes != outputs && !(outputs == 1 && classes == 2) {
            return Err(ModelError::ClassCount { classes, outputs });
        }
        Ok(())
    }

    fn check_tree(&self, index: usize, tree: &Tree) -> Result<(), ModelError> {
        let (splits, leaves) = (tree.splits.len(), tree.leaves.len());
        if leaves != splits + 1 {
            return Err(ModelError::LeafCount { tree: index, leaves, splits });
        }
        // With one leaf more than splits, children that are each reached at most once are all reached.
        let mut reached = [vec![false; splits], vec![false; leaves]];
        for (at, split) in tree.splits.iter().enumerate() {
            self.check_rule(index, at, tree)?;
            let what = |name| move || format!("{name} of split {at} of tree {index}");
            finite(split.gain.into(), what("the gain"))?;
            finite(split.value, what("the value"))?;
            finite(split.weight, what("the weight"))?;
            for child in [split.left, split.right] {
                let (kind, place) = match child {
                    Child::Split(place) => (0, place as usize),
                    Child::Leaf(place) => (1, place as usize),
                };
                let astray = |wrong| Err(ModelError::Child { tree: index, split: at, child, wrong });
                if kind == 0 && place <= at {
                    return astray("which is not behind it");
                }
                match reached[kind].get_mut(place) {
                    None => return astray("which is not there"),
                    Some(true) => return astray("which has another parent"),
                    Some(free) => *free = true,
                }
            }
        }
        for (at, leaf) in tree.leaves.iter().enumerate() {
            finite(leaf.value, || format!("the value of leaf {at} of tree {index}"))?;
            finite(leaf.weight, || format!("the weight of leaf {at} of tree {index}"))?;
        }
        Ok(())
    }

    fn check_rule(&self, tree: usize, split: usize, of: &Tree) -> Result<(), ModelError> {
        let (rule, feature) = (&of.splits[split].rule, of.splits[split].feature);
        let Some(input) = self.inputs.get(feature as usize) else {
            return Err(ModelError::Feature { tree, split, feature, inputs: self.n_inputs() });
        };
        let mismatch = |asks| Err(ModelError::RuleKind { tree, split, feature, asks });
        match (rule, &input.kind) {
            (&Rule::AtMost(threshold), InputKind::Numeric) => {
                // At most infinity is a rule too: all that is not missing goes left.
                if threshold.is_nan() {
                    return Err(ModelError::NotFinite {
                        what: format!("the threshold of split {split} of tree {tree}"),
                        value: threshold,
                    });
                }
                if self.comparison == Comparison::F32 && super::walk::to_f32(threshold) != threshold {
                    return Err(ModelError::Threshold { tree, split, threshold });
                }
                Ok(())
            }
            (Rule::In(set) | Rule::NotIn(set), InputKind::Categorical { .. }) => {
                self.check_code(CategorySet::max(set), || format!("split {split} of tree {tree}"))
            }
            (Rule::AtMost(_), InputKind::Categorical { .. }) => mismatch("a threshold"),
            (Rule::In(_) | Rule::NotIn(_), InputKind::Numeric) => mismatch("categories"),
        }
    }
}

fn finite(value: f64, what: impl FnOnce() -> String) -> Result<(), ModelError> {
    if value.is_finite() { Ok(()) } else { Err(ModelError::NotFinite { what: what(), value }) }
}
