//! Consistency checks of a model.

use std::collections::BTreeSet;

use super::{CategorySet, Child, Comparison, Input, InputKind, Link, Model, Rule, Tree};

/// Upper bound of category codes (exclusive) if values are f32: all smaller integers are exact.
const F32_CODES: u32 = 1 << 24;
/// Upper bound of category codes (exclusive) if values are f64.
const F64_CODES: u32 = 1 << 31;

/// Inconsistency of a model. Indices are 0-based.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Two features with the same name.
    #[error("two features are named `{name}`")]
    DuplicateName {
        /// The duplicate name.
        name: String,
    },
    /// A model without base scores, and thus without outputs.
    #[error("the model has no base score; it needs one per output")]
    NoBaseScore,
    /// A number that must be finite, or a threshold that is NaN.
    #[error("invalid {what}: {value}")]
    NotFinite {
        /// Description of the number.
        what: String,
        /// The number.
        value: f64,
    },
    /// A number of trees that is not a multiple of the number of outputs.
    #[error("{trees} trees cannot be divided into rounds of {outputs}")]
    PartialRound {
        /// Number of trees.
        trees: usize,
        /// Number of trees per round.
        outputs: usize,
    },
    /// A number of class labels that does not match the outputs: one per output, or two for one output.
    #[error("{classes} class labels for {outputs} outputs")]
    ClassCount {
        /// Number of class labels.
        classes: usize,
        /// Number of outputs.
        outputs: usize,
    },
    /// A tree that does not have one more leaf than splits.
    #[error("tree {tree} has {leaves} leaves and {splits} splits; expected one more leaf than splits")]
    LeafCount {
        /// Index of the tree.
        tree: usize,
        /// Number of leaves.
        leaves: usize,
        /// Number of splits.
        splits: usize,
    },
    /// A split on a feature that is out of range.
    #[error("split {split} of tree {tree} uses feature {feature}, but there are {inputs} features")]
    Feature {
        /// Index of the tree.
        tree: usize,
        /// Index of the split.
        split: usize,
        /// Feature index of the split.
        feature: u32,
        /// Number of features.
        inputs: usize,
    },
    /// A threshold on a categorical feature, or a category set on a numeric one.
    #[error("split {split} of tree {tree} has {asks}, which does not match the kind of feature {feature}")]
    RuleKind {
        /// Index of the tree.
        tree: usize,
        /// Index of the split.
        split: usize,
        /// Feature index of the split.
        feature: u32,
        /// Rule of the split.
        asks: &'static str,
    },
    /// A child that does not exist, precedes its parent, or has two parents.
    #[error("child {child:?} of split {split} of tree {tree} {wrong}")]
    Child {
        /// Index of the tree.
        tree: usize,
        /// Index of the split.
        split: usize,
        /// The invalid child.
        child: Child,
        /// Description of the problem.
        wrong: &'static str,
    },
    /// A threshold that is not exact in f32 although values are.
    #[error("threshold {threshold} of split {split} of tree {tree} is not exact in f32, but values are rounded to f32")]
    Threshold {
        /// Index of the tree.
        tree: usize,
        /// Index of the split.
        split: usize,
        /// The threshold.
        threshold: f64,
    },
    /// A category code that values cannot have.
    #[error("category code {code} of {place} is too large; codes must be below {limit}")]
    Code {
        /// Location of the code.
        place: String,
        /// The code.
        code: u32,
        /// Upper bound of codes, exclusive.
        limit: u32,
    },
    /// Known codes that are not strictly ascending.
    #[error("the known category codes of feature `{name}` are not strictly ascending")]
    UnsortedCodes {
        /// Name of the feature.
        name: String,
    },
}

impl Model {
    /// Checks that the model is consistent, so that every row has scores and every tree traversal ends in a leaf.
    ///
    /// # Errors
    /// Returns the first inconsistency.
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
        self.check_code(known.last().copied(), || format!("feature `{}`", input.name))
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
            finite(slope, || "slope of the link function".into())?;
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
        // With one more leaf than splits, if no child is reached twice, all are reached.
        let mut reached = [vec![false; splits], vec![false; leaves]];
        for (at, split) in tree.splits.iter().enumerate() {
            self.check_rule(index, at, tree)?;
            let what = |name| move || format!("{name} of split {at} of tree {index}");
            finite(split.gain.into(), what("gain"))?;
            finite(split.value, what("value"))?;
            finite(split.weight, what("weight"))?;
            for child in [split.left, split.right] {
                let (kind, place) = match child {
                    Child::Split(place) => (0, place as usize),
                    Child::Leaf(place) => (1, place as usize),
                };
                let astray = |wrong| Err(ModelError::Child { tree: index, split: at, child, wrong });
                if kind == 0 && place <= at {
                    return astray("does not come after its parent");
                }
                match reached[kind].get_mut(place) {
                    None => return astray("does not exist"),
                    Some(true) => return astray("has another parent"),
                    Some(free) => *free = true,
                }
            }
        }
        for (at, leaf) in tree.leaves.iter().enumerate() {
            finite(leaf.value, || format!("value of leaf {at} of tree {index}"))?;
            finite(leaf.weight, || format!("weight of leaf {at} of tree {index}"))?;
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
                // An infinite threshold is valid: it sends all non-missing values left.
                if threshold.is_nan() {
                    return Err(ModelError::NotFinite {
                        what: format!("threshold of split {split} of tree {tree}"),
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
            (Rule::In(_) | Rule::NotIn(_), InputKind::Numeric) => mismatch("a category set"),
        }
    }
}

fn finite(value: f64, what: impl FnOnce() -> String) -> Result<(), ModelError> {
    if value.is_finite() { Ok(()) } else { Err(ModelError::NotFinite { what: what(), value }) }
}
