//! One-line summary of a model.

use std::fmt;

use super::Model;

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaves: usize = self.trees.iter().map(|tree| tree.leaves.len()).sum();
        let count = |number: usize, one: &str, more: &str| format!("{number} {}", if number == 1 { one } else { more });
        write!(
            f,
            "{}: {}, {}, {}, {} with {}",
            self.output.objective,
            count(self.n_inputs(), "feature", "features"),
            count(self.n_outputs(), "score", "scores"),
            count(self.n_rounds(), "round", "rounds"),
            count(self.trees.len(), "tree", "trees"),
            count(leaves, "leaf", "leaves"),
        )
    }
}
