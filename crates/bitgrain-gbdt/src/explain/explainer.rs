//! `Explainer`: SHAP values of a model.

use rayon::prelude::*;

use super::ExplainError;
use super::decisions::{Decisions, Values};
use super::memo::{Explained, Kind, Memo, Table, distinct_rows};
use super::paths::{n_steps, paths};
use super::quadrature::Quadrature;
use crate::feature::Features;
use crate::model::Model;
use crate::predict::{PredictError, check_trees};

/// Number of rows that share the tables of a tree; building the tables takes a fraction of the time of that many rows.
const SHARED_ROWS: usize = 1 << 14;

/// Rows that a thread explains at a time: their decisions for a tree stay in the cache.
const BLOCK_ROWS: usize = 512;

/// Maximum number of steps of the paths of a tree: a balanced tree of a million leaves has a fifth of it. A hostile file
/// could otherwise fill the memory with a chain of splits.
const MAX_STEPS: u64 = 100_000_000;

/// A model prepared for SHAP values. See the [module](super) for the definition.
#[derive(Debug, Clone)]
pub struct Explainer<'a> {
    model: &'a Model,
    /// Leaves of each tree.
    trees: Vec<Vec<Explained>>,
    /// Quadrature rules by degree.
    rules: Vec<Quadrature>,
    expected: Vec<f64>,
}

impl<'a> Explainer<'a> {
    /// Prepares path-dependent explanations: unknown values follow the training rows.
    ///
    /// # Errors
    /// Returns [`ExplainError::Predict`] if the model is invalid, [`ExplainError::Depth`] if a tree is too deep, or
    /// [`ExplainError::NoCover`] if a tree does not record how many training rows reach its nodes.
    pub fn new(model: &'a Model) -> Result<Self, ExplainError> {
        check(model)?;
        let mut trees = Vec::with_capacity(model.trees.len());
        for (tree, of_tree) in model.trees.iter().enumerate() {
            let (paths, has_cover) = paths(of_tree);
            if !has_cover {
                return Err(ExplainError::NoCover { tree });
            }
            trees.push(paths.into_iter().map(|path| Explained { path, background: None }).collect());
        }
        Ok(Self::from_trees(model, trees))
    }

    /// Prepares interventional explanations: unknown values are those of the background rows. The time per row grows
    /// with the number of background rows; 100 rows are a common choice.
    ///
    /// # Errors
    /// Returns [`ExplainError::Predict`] if the model is invalid or the background does not match it, or
    /// [`ExplainError::Depth`] if a tree is too deep.
    pub fn with_background(model: &'a Model, background: &Features<'_>) -> Result<Self, ExplainError> {
        check(model)?;
        check_count(model, background)?;
        let n_rows = background.n_rows();
        let mut values = Values::default();
        values.read(model, background, 0..n_rows);
        let explain = |decisions: &mut Decisions, tree| {
            decisions.evaluate(tree, &values);
            let leaf = |path| Explained { background: Some(distinct_rows(&path, decisions, n_rows)), path };
            paths(tree).0.into_iter().map(leaf).collect()
        };
        let trees = model.trees.par_iter().map_init(Decisions::default, explain).collect();
        Ok(Self::from_trees(model, trees))
    }

    fn from_trees(model: &'a Model, mut trees: Vec<Vec<Explained>>) -> Self {
        let n_outputs = model.n_outputs();
        if model.output.average {
            #[expect(clippy::cast_precision_loss, reason = "the number of rounds is far below 2^53")]
            let rounds = model.n_rounds().max(1) as f64;
            trees.iter_mut().flatten().for_each(|leaf| leaf.path.value /= rounds);
        }
        let mut expected = model.output.base_scores.clone();
        for (tree, leaves) in trees.iter().enumerate() {
            expected[tree % n_outputs] += leaves.iter().map(Explained::expected).sum::<f64>();
        }
        let longest = trees.iter().flatten().map(Explained::len).max().unwrap_or(0);
        Self { model, trees, rules: (0..longest.max(1)).map(Quadrature::for_degree).collect(), expected }
    }

    /// Expected raw score of each output: the score if no feature is known.
    #[must_use]
    pub fn expected(&self) -> &[f64] {
        &self.expected
    }

    /// Number of values per row and output: one per feature, and the expected score.
    #[must_use]
    pub fn n_values(&self) -> usize {
        self.model.n_inputs() + 1
    }

    /// Returns the contribution of each feature to each raw score, row-major: per row and output, one value per feature
    /// and then the expected score. The values of an output sum to its raw score.
    ///
    /// # Errors
    /// Returns [`ExplainError::Predict`] if the number of features differs, or [`ExplainError::Memory`].
    pub fn contributions(&self, features: &Features<'_>) -> Result<Vec<f64>, ExplainError> {
        self.explain(features, Kind::Values)
    }

    /// Returns the interaction of each pair of features, row-major: per row and output, a symmetric matrix with
    /// [`n_values`](Self::n_values) rows. Each row of the matrix sums to the contribution of its feature; the last item
    /// of the last row is the expected score.
    ///
    /// # Errors
    /// Returns the errors of [`contributions`](Self::contributions).
    pub fn interactions(&self, features: &Features<'_>) -> Result<Vec<f64>, ExplainError> {
        self.explain(features, Kind::Interactions)
    }

    fn explain(&self, features: &Features<'_>, kind: Kind) -> Result<Vec<f64>, ExplainError> {
        check_count(self.model, features)?;
        let n_rows = features.n_rows();
        let n_columns = match kind {
            Kind::Values => self.n_values(),
            Kind::Interactions => self.n_values() * self.n_values(),
        };
        let per_row = n_columns * self.model.n_outputs();
        let mut out = Vec::new();
        let too_large = ExplainError::Memory { rows: n_rows, values: per_row };
        let total = n_rows.checked_mul(per_row).ok_or_else(|| too_large.clone())?;
        out.try_reserve_exact(total).map_err(|_| too_large)?;
        out.resize(total, 0.0);
        for (at, out) in out.chunks_mut(SHARED_ROWS * per_row).enumerate() {
            self.explain_shared(features, kind, at * SHARED_ROWS, n_columns, out);
        }
        Ok(out)
    }

    /// Explains up to [`SHARED_ROWS`] rows, tree by tree.
    fn explain_shared(&self, features: &Features<'_>, kind: Kind, start: usize, n_columns: usize, out: &mut [f64]) {
        let per_row = n_columns * self.model.n_outputs();
        let n_rows = out.len() / per_row;
        let mut blocks: Vec<Block<'_>> = out
            .par_chunks_mut(BLOCK_ROWS * per_row)
            .enumerate()
            .map(|(at, out)| {
                let (start, mut values) = (start + at * BLOCK_ROWS, Values::default());
                values.read(self.model, features, start..start + out.len() / per_row);
                Block { values, out, decisions: Decisions::default(), memo: Memo::default() }
            })
            .collect();
        for (tree, leaves) in self.trees.iter().enumerate() {
            let table = |leaf| Table::new(leaf, kind, &self.rules, n_rows);
            let tables: Vec<Option<Table>> = leaves.par_iter().with_min_len(4).map(table).collect();
            let output = tree % self.model.n_outputs();
            blocks.par_iter_mut().for_each(|block| {
                let n_rows = block.out.len() / per_row;
                block.decisions.evaluate(&self.model.trees[tree], &block.values);
                for (leaf, table) in leaves.iter().zip(&tables) {
                    let games = (kind, &self.rules[..]);
                    block.memo.explain(leaf, table.as_ref(), games, (&block.decisions, n_rows), |answer, add| {
                        let column = output * n_columns + self.column(leaf, kind, answer);
                        add(&mut block.out[column * n_rows..][..n_rows]);
                    });
                }
            });
        }
        blocks.into_par_iter().for_each(|block| {
            let n_rows = block.out.len() / per_row;
            for (output, &expected) in self.expected.iter().enumerate() {
                block.out[(output * n_columns + n_columns - 1) * n_rows..][..n_rows].fill(expected);
            }
            transpose(block.out, n_rows);
        });
    }

    /// Column of an answer of a leaf within its output.
    fn column(&self, leaf: &Explained, kind: Kind, answer: usize) -> usize {
        let feature = |at: usize| leaf.path.features[at].feature;
        match kind {
            Kind::Values => feature(answer),
            Kind::Interactions => feature(answer / leaf.len()) * self.n_values() + feature(answer % leaf.len()),
        }
    }
}

/// Rows that one thread explains at a time. Results are column-major until all trees are added.
struct Block<'a> {
    values: Values,
    out: &'a mut [f64],
    decisions: Decisions,
    memo: Memo,
}

/// Turns a column-major matrix with `n_rows` rows into a row-major one.
fn transpose(values: &mut [f64], n_rows: usize) {
    let n_columns = values.len() / n_rows;
    let columns = values.to_vec();
    for (row, out) in values.chunks_exact_mut(n_columns).enumerate() {
        out.iter_mut().zip(columns[row..].iter().step_by(n_rows)).for_each(|(out, &value)| *out = value);
    }
}

fn check(model: &Model) -> Result<(), ExplainError> {
    check_trees(model)?;
    for (tree, of_tree) in model.trees.iter().enumerate() {
        let steps = n_steps(of_tree);
        if steps > MAX_STEPS {
            return Err(ExplainError::Depth { tree, steps, limit: MAX_STEPS });
        }
    }
    Ok(())
}

pub(super) fn check_count(model: &Model, features: &Features<'_>) -> Result<(), ExplainError> {
    let (expected, found) = (model.n_inputs(), features.n_features());
    if expected == found { Ok(()) } else { Err(PredictError::FeatureCount { expected, found }.into()) }
}
