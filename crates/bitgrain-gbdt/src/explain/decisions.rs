//! Decisions of all splits of a tree for a block of rows.

use std::ops::Range;

use crate::feature::Features;
use crate::model::{Missing, Model, Rule, Split, Tree};

/// Values of a block of rows as splits compare them, column-major.
#[derive(Debug, Default)]
pub(super) struct Values {
    columns: Vec<f64>,
    n_rows: usize,
}

impl Values {
    /// Reads a block of rows.
    pub(super) fn read(&mut self, model: &Model, features: &Features<'_>, rows: Range<usize>) {
        self.n_rows = rows.len();
        self.columns.resize(self.n_rows * model.inputs.len(), 0.0);
        features.read_f64(0..model.inputs.len(), rows, &mut self.columns, self.n_rows);
        for (input, column) in model.inputs.iter().zip(self.columns.chunks_exact_mut(self.n_rows)) {
            column.iter_mut().for_each(|value| *value = input.normalize(*value, model.comparison));
        }
    }

    fn column(&self, feature: usize) -> &[f64] {
        &self.columns[feature * self.n_rows..][..self.n_rows]
    }
}

/// Whether each row of a block goes left at each split of a tree, as bytes of 0 or 1.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    left: Vec<u8>,
    n_rows: usize,
}

impl Decisions {
    /// Evaluates all splits, whether or not a row reaches them.
    pub(super) fn evaluate(&mut self, tree: &Tree, values: &Values) {
        self.n_rows = values.n_rows;
        self.left.resize(tree.splits.len() * self.n_rows, 0);
        for (split, left) in tree.splits.iter().zip(self.left.chunks_exact_mut(self.n_rows)) {
            evaluate(split, values.column(split.feature as usize), left);
        }
    }

    /// Clears each byte of `met` whose row does not take this step.
    pub(super) fn keep_if_taken(&self, (split, is_left): (usize, bool), met: &mut [u8]) {
        let left = &self.left[split * self.n_rows..][..self.n_rows];
        let other = u8::from(!is_left);
        met.iter_mut().zip(left).for_each(|(met, left)| *met &= left ^ other);
    }
}

fn evaluate(split: &Split, values: &[f64], left: &mut [u8]) {
    let pairs = left.iter_mut().zip(values);
    match split.rule {
        // The common case, without a branch per row. NaN fails every comparison.
        Rule::AtMost(threshold) if split.missing == Missing::Nan => {
            let missing = split.missing_left;
            pairs.for_each(|(left, &value)| *left = u8::from(value <= threshold) | u8::from(value.is_nan() && missing));
        }
        _ => pairs.for_each(|(left, &value)| *left = u8::from(split.goes_left(value))),
    }
}
