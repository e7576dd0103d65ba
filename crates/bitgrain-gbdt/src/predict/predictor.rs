//! `Predictor`: a model compiled for fast prediction.

use bitgrain_kernels::Backend;
use rayon::prelude::*;

use super::block::{Block, block_rows};
use super::code_tree::CodeTree;
use super::columns::Columns;
use super::row_trees::RowTrees;
use super::{PredictError, TreeProblem, link};
use crate::feature::Features;
use crate::model::{Child, Model, Output, Rule, Tree};
use crate::narrow::narrow;

/// Minimum number of rows that are predicted together; fewer are faster one at a time.
const FEW: usize = 8;

/// Maximum number of rows that are predicted on the calling thread: waking another takes as long as predicting them.
const ONE_THREAD: usize = 512;

/// Model compiled for fast prediction.
#[derive(Debug, Clone)]
pub struct Predictor {
    columns: Columns,
    code_trees: Vec<CodeTree>,
    row_trees: RowTrees,
    output: Output,
    rounds: usize,
    backend: Backend,
}

impl Predictor {
    /// Compiles a model.
    ///
    /// # Errors
    /// Returns [`PredictError::NoOutput`] or [`PredictError::Tree`] if the model is invalid.
    pub fn new(model: &Model) -> Result<Self, PredictError> {
        check_trees(model)?;
        let columns = Columns::new(model);
        let mut question = columns.questions(model);
        let code_trees = model.trees.iter().map(|tree| CodeTree::new(tree, columns.len(), &mut question)).collect();
        let rounds = model.trees.len().div_ceil(model.output.base_scores.len());
        let row_trees = RowTrees::new(model);
        drop(question);
        Ok(Self { columns, code_trees, row_trees, output: model.output.clone(), rounds, backend: Backend::best() })
    }

    /// Uses only the first `rounds` rounds, or all if there are fewer.
    #[must_use]
    pub fn with_rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds.min(self.code_trees.len().div_ceil(self.n_outputs()));
        self
    }

    /// Uses another backend. Results are bit-identical.
    #[must_use]
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Number of features per row.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.columns.names().len()
    }

    /// Number of scores and predictions per row.
    #[must_use]
    pub fn n_outputs(&self) -> usize {
        self.output.base_scores.len()
    }

    /// Number of probabilities per row: two for a model of one score, which is that of the second class.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.n_outputs().max(2)
    }

    /// Number of trees in use; see [`with_rounds`](Self::with_rounds).
    #[must_use]
    pub fn n_trees(&self) -> usize {
        self.code_trees.len().min(self.rounds.saturating_mul(self.n_outputs()))
    }

    /// Returns whether a batch of `n_rows` is predicted on the calling thread, without a thread pool.
    #[must_use]
    pub fn is_small(&self, n_rows: usize) -> bool {
        n_rows <= ONE_THREAD
    }

    /// Returns the raw scores before the link function, row-major.
    ///
    /// # Errors
    /// Returns [`PredictError::FeatureCount`] if the number of features differs.
    pub fn raw(&self, features: &Features<'_>) -> Result<Vec<f64>, PredictError> {
        self.each_row(features, self.n_outputs(), |scores, out| out.copy_from_slice(scores))
    }

    /// Returns the predictions, row-major: the probability of class 1 for a binary classifier, one probability per
    /// class for several classes.
    ///
    /// # Errors
    /// Returns [`PredictError::FeatureCount`] if the number of features differs.
    pub fn predict(&self, features: &Features<'_>) -> Result<Vec<f64>, PredictError> {
        self.each_row(features, self.n_outputs(), |scores, out| {
            link::apply(self.output.link, scores);
            out.copy_from_slice(scores);
        })
    }

    /// Returns the probability of [each class](Self::n_classes) of a classifier, row-major.
    ///
    /// # Errors
    /// Returns [`PredictError::FeatureCount`] if the number of features differs.
    pub fn probabilities(&self, features: &Features<'_>) -> Result<Vec<f64>, PredictError> {
        self.each_row(features, self.n_classes(), |scores, out| {
            link::apply(self.output.link, scores);
            share(scores, out);
        })
    }

    /// Returns the index of the most likely class of each row: the class with the largest score, the first of equal
    /// ones. With one score, the second class if the score is above 0.
    ///
    /// # Errors
    /// Returns [`PredictError::FeatureCount`] if the number of features differs.
    pub fn class_indices(&self, features: &Features<'_>) -> Result<Vec<u32>, PredictError> {
        self.each_row(features, 1, |scores, out| out.fill(choice(scores)))
    }

    /// Returns the leaf of each row in each tree, row-major.
    ///
    /// # Errors
    /// Returns [`PredictError::FeatureCount`] if the number of features differs.
    pub fn leaves(&self, features: &Features<'_>) -> Result<Vec<u32>, PredictError> {
        self.check_count(features.n_features())?;
        let (n_rows, trees) = (features.n_rows(), &self.code_trees[..self.n_trees()]);
        let mut out = vec![0; n_rows * trees.len()];
        if out.is_empty() {
            return Ok(out);
        }
        if n_rows < FEW {
            let mut values = vec![0.0; self.n_features()];
            for (row, out) in out.chunks_exact_mut(trees.len()).enumerate() {
                features.read_row(row, &mut values);
                self.row_trees.walk(&self.columns, &values, trees.len(), |tree, leaf, _| out[tree] = leaf);
            }
            return Ok(out);
        }
        let rows = self.block_rows(n_rows);
        let part = |block: &mut Block, (at, out): (usize, &mut [u32])| {
            let start = at * rows;
            block.read(self.backend, &self.columns, trees, features, start..start + out.len() / trees.len());
            block.write_leaves(self.backend, &self.columns, trees, out);
        };
        self.for_parts(n_rows, &mut out, rows * trees.len(), part);
        Ok(out)
    }

    /// Predicts one row without heap allocation. Bit-identical to batch prediction.
    ///
    /// # Errors
    /// Returns [`PredictError::FeatureCount`], or [`PredictError::OutputLength`] if `out` does not have one item per
    /// prediction.
    pub fn row(&self, row: &[f64], out: &mut [f64]) -> Result<(), PredictError> {
        self.row_raw(row, out)?;
        link::apply(self.output.link, out);
        Ok(())
    }

    /// Writes the raw scores of one row, before the link function.
    ///
    /// # Errors
    /// Returns the errors of [`row`](Self::row).
    pub fn row_raw(&self, row: &[f64], out: &mut [f64]) -> Result<(), PredictError> {
        self.check_count(row.len())?;
        let expected = self.n_outputs();
        if out.len() != expected {
            return Err(PredictError::OutputLength { expected, found: out.len() });
        }
        self.walk_row(row, out);
        Ok(())
    }

    /// Writes the class probabilities of one row.
    ///
    /// # Errors
    /// Returns the errors of [`row`](Self::row).
    pub fn row_probabilities(&self, row: &[f64], out: &mut [f64]) -> Result<(), PredictError> {
        if out.len() != self.n_classes() {
            return Err(PredictError::OutputLength { expected: self.n_classes(), found: out.len() });
        }
        // With one score, `out` has one more item than the row has scores.
        let (scores, _) = out.split_at_mut(self.n_outputs());
        self.row(row, scores)?;
        if let [second, last] = out
            && self.n_outputs() == 1
        {
            (*second, *last) = (1.0 - *second, *second);
        }
        Ok(())
    }

    /// Returns the index of the most likely class of one row; see [`class_indices`](Self::class_indices).
    ///
    /// # Errors
    /// Returns [`PredictError::FeatureCount`] if the number of features differs.
    pub fn row_class_index(&self, row: &[f64]) -> Result<u32, PredictError> {
        let mut scores = vec![0.0; self.n_outputs()];
        self.row_raw(row, &mut scores)?;
        Ok(choice(&scores))
    }

    /// Computes a fixed number of values per row; `finish` derives them from the row's scores.
    fn each_row<T: Copy + Default + Send>(
        &self,
        features: &Features<'_>,
        width: usize,
        finish: impl Fn(&mut [f64], &mut [T]) + Sync,
    ) -> Result<Vec<T>, PredictError> {
        self.check_count(features.n_features())?;
        let (n_rows, n_outputs) = (features.n_rows(), self.n_outputs());
        let mut out = vec![T::default(); n_rows * width];
        if n_rows < FEW {
            let (mut values, mut scores) = (vec![0.0; self.n_features()], vec![0.0; n_outputs]);
            for (row, out) in out.chunks_exact_mut(width).enumerate() {
                features.read_row(row, &mut values);
                self.walk_row(&values, &mut scores);
                finish(&mut scores, out);
            }
            return Ok(out);
        }
        let (rows, trees) = (self.block_rows(n_rows), &self.code_trees[..self.n_trees()]);
        type Buffers = (Block, Vec<f64>, Vec<f64>);
        let part = |(block, sums, scores): &mut Buffers, (at, out): (usize, &mut [T])| {
            let start = at * rows;
            block.read(self.backend, &self.columns, trees, features, start..start + out.len() / width);
            let padded = block.padded();
            sums.clear();
            (0..n_outputs).for_each(|output| sums.resize((output + 1) * padded, self.begin(output)));
            block.add_values(self.backend, &self.columns, trees, sums);
            scores.resize(n_outputs, 0.0);
            for (row, out) in out.chunks_exact_mut(width).enumerate() {
                scores.iter_mut().zip(sums[row..].iter().step_by(padded)).for_each(|(score, &sum)| *score = sum);
                self.end(scores);
                finish(scores, out);
            }
        };
        self.for_parts(n_rows, &mut out, rows * width, part);
        Ok(out)
    }

    /// Calls `part` with the index of each chunk of `out` and the chunk, in parallel unless there are few rows.
    fn for_parts<B: Default, T: Send>(
        &self,
        n_rows: usize,
        out: &mut [T],
        chunk: usize,
        part: impl Fn(&mut B, (usize, &mut [T])) + Sync + Send,
    ) {
        if self.is_small(n_rows) {
            let mut buffers = B::default();
            out.chunks_mut(chunk).enumerate().for_each(|each| part(&mut buffers, each));
        } else {
            out.par_chunks_mut(chunk).enumerate().for_each_init(B::default, part);
        }
    }

    fn walk_row(&self, row: &[f64], out: &mut [f64]) {
        let n_outputs = out.len();
        out.iter_mut().enumerate().for_each(|(output, out)| *out = self.begin(output));
        self.row_trees.walk(&self.columns, row, self.n_trees(), |tree, _, value| out[tree % n_outputs] += value);
        self.end(out);
    }

    /// Initial value of the sum of an output.
    fn begin(&self, output: usize) -> f64 {
        if self.output.average { 0.0 } else { self.output.base_scores[output] }
    }

    /// Converts the sums of a row to scores.
    fn end(&self, sums: &mut [f64]) {
        if self.output.average {
            #[expect(clippy::cast_precision_loss, reason = "the number of rounds is far below 2^53")]
            let rounds = self.rounds.max(1) as f64;
            sums.iter_mut().zip(&self.output.base_scores).for_each(|(sum, base)| *sum = base + *sum / rounds);
        }
    }

    fn block_rows(&self, n_rows: usize) -> usize {
        let threads = if self.is_small(n_rows) { 1 } else { rayon::current_num_threads() };
        block_rows(n_rows, self.columns.len(), threads)
    }

    fn check_count(&self, found: usize) -> Result<(), PredictError> {
        let expected = self.n_features();
        if found == expected { Ok(()) } else { Err(PredictError::FeatureCount { expected, found }) }
    }
}

/// Writes the probability of each class. A single score is that of the second class.
fn share(predictions: &[f64], out: &mut [f64]) {
    match (predictions, &mut *out) {
        (&[second], [first, last]) => (*first, *last) = (1.0 - second, second),
        _ => out.copy_from_slice(predictions),
    }
}

/// Returns the index of the most likely class.
fn choice(scores: &[f64]) -> u32 {
    if let [score] = *scores {
        return u32::from(score > 0.0);
    }
    let larger = |best: usize, place: usize| if scores[place] > scores[best] { place } else { best };
    narrow((1..scores.len()).fold(0, larger))
}

/// Checks a model; the compiled forms rely on it.
///
/// # Errors
/// Returns [`PredictError::NoOutput`] or [`PredictError::Tree`].
pub(crate) fn check_trees(model: &Model) -> Result<(), PredictError> {
    if model.output.base_scores.is_empty() {
        return Err(PredictError::NoOutput);
    }
    for (at, tree) in model.trees.iter().enumerate() {
        check(tree, model.inputs.len()).map_err(|problem| PredictError::Tree { tree: at, problem })?;
    }
    Ok(())
}

/// Checks a tree.
fn check(tree: &Tree, features: usize) -> Result<(), TreeProblem> {
    let (n_splits, n_leaves) = (tree.splits.len(), tree.leaves.len());
    if n_leaves != n_splits + 1 || i32::try_from(n_leaves).is_err() {
        return Err(TreeProblem::LeafCount { splits: n_splits, leaves: n_leaves });
    }
    let (mut splits, mut leaves) = (vec![false; n_splits], vec![false; n_leaves]);
    for (at, split) in tree.splits.iter().enumerate() {
        if split.feature as usize >= features {
            return Err(TreeProblem::Feature { split: at, feature: split.feature, features });
        }
        if matches!(split.rule, Rule::AtMost(threshold) if threshold.is_nan()) {
            return Err(TreeProblem::Threshold { split: at });
        }
        for child in [split.left, split.right] {
            let seen = match child {
                Child::Split(child) if child as usize <= at => None,
                Child::Split(child) => splits.get_mut(child as usize),
                Child::Leaf(leaf) => leaves.get_mut(leaf as usize),
            };
            if seen.is_none_or(|seen| std::mem::replace(seen, true)) {
                return Err(TreeProblem::Child { split: at });
            }
        }
    }
    Ok(())
}
