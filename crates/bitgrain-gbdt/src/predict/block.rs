//! Prediction of a block of rows: encodes them, then evaluates every tree.

use std::hint::select_unpredictable;
use std::ops::Range;

use bitgrain_kernels::trees::{
    CodeColumns, TREE_ROWS, add_leaf_values, symmetric_leaves, tree_leaves, two_tree_leaves,
};
use bitgrain_kernels::{Backend, KernelError};

use super::code_tree::{CodeTree, Shape, WalkNode};
use super::columns::{Columns, Raw};
use crate::feature::Features;

/// Rows that pass through all trees together: their codes fit in L1.
const SLAB: usize = 512;

/// Approximate maximum size of the codes of a block in bytes.
const BLOCK_BYTES: usize = 1 << 19;

/// Maximum number of rows of a block: enough to amortize the setup of a search among a feature's thresholds.
const MAX_BLOCK: usize = 4 * SLAB;

/// Blocks of several threads have multiples of this number of rows.
const SHARE: usize = SLAB / 2;

/// Maximum number of rows of a slab for which trees are evaluated two at a time.
const IN_PAIRS: usize = 2 * TREE_ROWS;

/// Rows that are walked in parallel, to overlap their memory latencies.
const LANES: usize = 8;

/// Returns the number of rows of a block, given the number of columns and the threads that share the rows.
pub(super) fn block_rows(n_rows: usize, n_columns: usize, threads: usize) -> usize {
    let shared = n_rows.div_ceil(threads.max(1)).next_multiple_of(SHARE);
    let cached = (BLOCK_BYTES / n_columns.max(1)) / SHARE * SHARE;
    shared.min(cached).clamp(SHARE, MAX_BLOCK)
}

/// Codes of a block; the buffers are reused for the next block.
#[derive(Debug, Default)]
pub(super) struct Block {
    raw: Raw,
    codes: Vec<u8>,
    stride: usize,
    n_rows: usize,
}

/// Leaf of each row of a slab, in the numbering of the tree's shape.
enum Leaves<'a> {
    Only,
    Bytes(&'a [u8]),
    Words(&'a [u32]),
}

impl Block {
    /// Reads and encodes rows.
    pub(super) fn read(
        &mut self,
        backend: Backend,
        columns: &Columns,
        trees: &[CodeTree],
        source: &Features<'_>,
        rows: Range<usize>,
    ) {
        self.n_rows = rows.len();
        // Avoid multiples of 4096: the same row of all columns would fall into one cache set.
        self.stride = self.padded();
        if self.stride.is_multiple_of(2 * SLAB) {
            self.stride += SLAB;
        }
        let answers = trees.iter().map(|tree| tree.answers.len()).max().unwrap_or(0);
        self.codes.resize((columns.len() + answers) * self.stride, 0);
        columns.fill(backend, source, rows, (&mut self.codes, self.stride), &mut self.raw);
    }

    /// Adds the leaf values of each tree to the sums of its output. `sums` is grouped by output, each with
    /// [`Block::padded`] rows.
    pub(super) fn add_values(&mut self, backend: Backend, columns: &Columns, trees: &[CodeTree], sums: &mut [f64]) {
        let (padded, used, n_outputs) = (self.padded(), self.n_rows, sums.len() / self.padded());
        self.for_leaves(backend, columns, trees, |tree, start, n_rows, leaves| {
            let n_rows = n_rows.min(used - start);
            let sums = &mut sums[tree % n_outputs * padded + start..][..n_rows];
            let values = &trees[tree].values;
            match leaves {
                Leaves::Only => sums.iter_mut().for_each(|sum| *sum += values[0]),
                Leaves::Bytes(leaves) => {
                    add_leaf_values(backend, values, &leaves[..n_rows], sums).unwrap_or_else(refused);
                }
                Leaves::Words(leaves) => {
                    sums.iter_mut().zip(leaves).for_each(|(sum, &leaf)| *sum += values[leaf as usize]);
                }
            }
        });
    }

    /// Writes the leaf of each row in each tree, row-major.
    pub(super) fn write_leaves(&mut self, backend: Backend, columns: &Columns, trees: &[CodeTree], out: &mut [u32]) {
        let n_trees = trees.len();
        self.for_leaves(backend, columns, trees, |tree, start, _, leaves| {
            let out = out.chunks_exact_mut(n_trees).skip(start).map(|row| &mut row[tree]);
            match (leaves, &trees[tree].shape) {
                (Leaves::Only, _) => out.for_each(|out| *out = 0),
                (Leaves::Bytes(leaves), Shape::Symmetric(_, names)) => {
                    out.zip(leaves).for_each(|(out, &leaf)| *out = names[usize::from(leaf)]);
                }
                (Leaves::Bytes(leaves), _) => out.zip(leaves).for_each(|(out, &leaf)| *out = leaf.into()),
                (Leaves::Words(leaves), _) => out.zip(leaves).for_each(|(out, &leaf)| *out = leaf),
            }
        });
    }

    /// Number of rows rounded up to the kernel's batch size. The sums of padding rows are ignored.
    pub(super) fn padded(&self) -> usize {
        self.n_rows.next_multiple_of(TREE_ROWS)
    }

    /// Calls `found` with each tree, the first row of a slab, its number of rows, and their leaves; trees are in order.
    fn for_leaves(
        &mut self,
        backend: Backend,
        columns: &Columns,
        trees: &[CodeTree],
        mut found: impl FnMut(usize, usize, usize, Leaves<'_>),
    ) {
        let padded = self.padded();
        let mut bytes = [[0; SLAB]; 2];
        let mut words = [0; SLAB];
        for start in (0..padded).step_by(SLAB) {
            let n_rows = SLAB.min(padded - start);
            let ([bytes, more], words) = (bytes.each_mut().map(|bytes| &mut bytes[..n_rows]), &mut words[..n_rows]);
            let mut at = 0;
            while let Some(tree) = trees.get(at) {
                if n_rows <= IN_PAIRS
                    && let [first, second, ..] = &trees[at..]
                    && let (Shape::Steps(one), Shape::Steps(two)) = (&first.shape, &second.shape)
                    && first.answers.is_empty()
                    && second.answers.is_empty()
                {
                    two_tree_leaves(backend, [one, two], self.columns(start), [bytes, more]).unwrap_or_else(refused);
                    found(at, start, n_rows, Leaves::Bytes(bytes));
                    found(at + 1, start, n_rows, Leaves::Bytes(more));
                    at += 2;
                    continue;
                }
                self.answer(columns.len(), tree, start, n_rows);
                let leaves = match &tree.shape {
                    Shape::Leaf => Leaves::Only,
                    Shape::Symmetric(levels, _) => {
                        symmetric_leaves(backend, levels, self.columns(start), bytes).unwrap_or_else(refused);
                        Leaves::Bytes(bytes)
                    }
                    Shape::Steps(steps) => {
                        tree_leaves(backend, steps, self.columns(start), bytes).unwrap_or_else(refused);
                        Leaves::Bytes(bytes)
                    }
                    Shape::Walk(nodes) => {
                        walk(nodes, &self.codes[start..], self.stride, words);
                        Leaves::Words(words)
                    }
                };
                found(at, start, n_rows, leaves);
                at += 1;
            }
        }
    }

    /// Returns the codes from row `start` on. A model without splits has no columns, so `start` may be past the end of
    /// its codes: call this only for trees that read a column.
    fn columns(&self, start: usize) -> CodeColumns<'_> {
        CodeColumns::new(&self.codes[start..], self.stride)
    }

    /// Evaluates the category sets of a tree's splits into columns of 0 and 1.
    fn answer(&mut self, n_columns: usize, tree: &CodeTree, start: usize, n_rows: usize) {
        let (codes, answers) = self.codes.split_at_mut(n_columns * self.stride);
        for (answer, out) in tree.answers.iter().zip(answers.chunks_exact_mut(self.stride)) {
            let codes = &codes[answer.column as usize * self.stride + start..][..n_rows];
            for (out, &code) in out[start..].iter_mut().zip(codes) {
                *out = answer.goes_right[usize::from(code)];
            }
        }
    }
}

/// Returns the leaf of each row, walking several rows at once.
fn walk(nodes: &[WalkNode], codes: &[u8], stride: usize, leaves: &mut [u32]) {
    for (leaves, first) in leaves.as_chunks_mut::<LANES>().0.iter_mut().zip((0..).step_by(LANES)) {
        let mut at = [0_i32; LANES];
        while at.iter().any(|&at| at >= 0) {
            for (lane, at) in at.iter_mut().enumerate() {
                let node = &nodes[usize::try_from(*at).unwrap_or(0)];
                let right = codes[node.column as usize * stride + first + lane] > node.code;
                // Finished lanes re-read node 0 and keep their leaf: a branch per lane would be mispredicted.
                *at = select_unpredictable(*at >= 0, node.children[usize::from(right)], *at);
            }
        }
        *leaves = at.map(|at| (!at).cast_unsigned());
    }
}

fn refused(error: KernelError) {
    unreachable!("tree steps refer to existing columns: {error}");
}
