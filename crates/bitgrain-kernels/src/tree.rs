//! Tree evaluation on byte codes: evaluates every split for many rows at once instead of following each row.
//!
//! A tree of `n` splits costs `n` register comparisons, whichever way the rows go. Up to a few hundred splits this is
//! far less than following each row, where every step depends on the previous one and reads different memory.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Rows are evaluated in multiples of this number.
pub const TREE_ROWS: usize = 64;

/// Number of rows evaluated together if the batch is large enough; otherwise [`TREE_ROWS`]. Large groups load a step once for many rows.
pub(crate) const GROUP: usize = 256;

/// Number of intermediate results. A tree of 256 leaves needs 8 if the child that needs more is evaluated first.
pub const TREE_RESULTS: usize = 9;

/// Operand of a split: a leaf, or the result of a split below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand(u16);

impl Operand {
    /// Creates the operand for a leaf.
    #[must_use]
    pub const fn leaf(leaf: u8) -> Self {
        Self(leaf as u16)
    }

    /// Creates the operand for the result in slot `slot`, below [`TREE_RESULTS`].
    #[must_use]
    pub const fn result(slot: u8) -> Self {
        Self(256 + slot as u16)
    }

    /// Returns the leaf or the result for each row. A branchless choice was 20 % slower on AVX-512 (2026-11-18).
    #[inline]
    pub(crate) fn rows<const N: usize>(self, results: &[Rows<N>; TREE_RESULTS]) -> &[u8; N] {
        let at = usize::from(self.0);
        if at >= 256 {
            return &results[at - 256].0;
        }
        LEAVES[at].0.first_chunk().unwrap_or_else(|| unreachable!("groups have at most {GROUP} rows"))
    }

    /// Returns the slot of a result, or `None` for a leaf.
    fn slot(self) -> Option<usize> {
        usize::from(self.0).checked_sub(256)
    }
}

/// One split of a tree. Splits below it must come earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeStep {
    /// Index of the column that is compared.
    pub column: u32,
    /// Codes up to this one select `left`, larger codes `right`.
    pub at_most: u8,
    /// Slot that receives the result, below [`TREE_RESULTS`].
    pub out: u8,
    /// Operand for small codes.
    pub left: Operand,
    /// Operand for large codes.
    pub right: Operand,
}

/// One level of a symmetric tree, in which all splits of a level are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLevel {
    /// Index of the column that is compared.
    pub column: u32,
    /// Codes above this one add `weight` to the leaf index.
    pub at_most: u8,
    /// Amount added to the leaf index; the sum wraps.
    pub weight: u8,
}

/// One byte per row of a group.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Rows<const N: usize>(pub(crate) [u8; N]);

/// Each leaf index repeated for every row of a group. Sharing 64 bytes per leaf was no faster on AVX-512, even with 255
/// leaves (2026-11-16).
static LEAVES: [Rows<GROUP>; 256] = {
    let mut leaves = [Rows([0; GROUP]); 256];
    let mut leaf = 0;
    while leaf < 256 {
        leaves[leaf] = Rows([leaf.to_le_bytes()[0]; GROUP]);
        leaf += 1;
    }
    leaves
};

/// Codes of a group of rows, column by column.
#[derive(Debug, Clone, Copy)]
pub struct CodeColumns<'a> {
    codes: &'a [u8],
    stride: usize,
}

impl<'a> CodeColumns<'a> {
    /// Creates columns that start `stride` codes apart.
    #[must_use]
    pub fn new(codes: &'a [u8], stride: usize) -> Self {
        Self { codes, stride }
    }

    /// Returns the column's codes of rows `start` to `start + N`.
    #[inline]
    pub(crate) fn rows<const N: usize>(&self, column: u32, start: usize) -> &'a [u8; N] {
        let codes = &self.codes[column as usize * self.stride + start..];
        codes.first_chunk().unwrap_or_else(|| unreachable!("the caller checked the last column"))
    }

    fn check(&self, last_column: Option<u32>, n_rows: usize) -> Result<(), KernelError> {
        if !n_rows.is_multiple_of(TREE_ROWS) {
            return Err(KernelError::RaggedBlocks { len: n_rows, block: TREE_ROWS });
        }
        let Some(last) = last_column else { return Ok(()) };
        let required = (last as usize).saturating_mul(self.stride).saturating_add(n_rows);
        if required > self.codes.len() {
            return Err(KernelError::InputTooSmall { required });
        }
        Ok(())
    }
}

/// Steps of a tree in the order of evaluation, checked once for many calls.
#[derive(Debug, Clone)]
pub struct TreeSteps<S> {
    steps: S,
    last_column: Option<u32>,
}

impl<S: AsRef<[TreeStep]>> TreeSteps<S> {
    /// Checks the steps of a tree.
    ///
    /// # Errors
    /// Returns [`KernelError::UnknownSlot`] if a slot is out of range, or is read before a step has written it.
    pub fn new(steps: S) -> Result<Self, KernelError> {
        let mut written = [false; TREE_RESULTS];
        for (at, step) in steps.as_ref().iter().enumerate() {
            let known = |choice: Operand| choice.slot().is_none_or(|slot| written.get(slot) == Some(&true));
            let known = known(step.left) && known(step.right);
            match written.get_mut(usize::from(step.out)).filter(|_| known) {
                Some(written) => *written = true,
                None => return Err(KernelError::UnknownSlot { step: at, slots: TREE_RESULTS }),
            }
        }
        let last_column = steps.as_ref().iter().map(|step| step.column).max();
        Ok(Self { steps, last_column })
    }
}

/// Computes the leaf of each row: the result of the last step. Evaluates the first `leaves.len()` rows.
///
/// ```
/// use bitgrain_kernels::Backend;
/// use bitgrain_kernels::trees::{Operand, CodeColumns, TREE_ROWS, TreeStep, TreeSteps, tree_leaves};
/// let mut codes = [7; TREE_ROWS]; // one column
/// codes[1] = 3;
/// let step = TreeStep { column: 0, at_most: 5, out: 0, left: Operand::leaf(1), right: Operand::leaf(0) };
/// let steps = TreeSteps::new([step])?;
/// let mut leaves = [9; TREE_ROWS];
/// tree_leaves(Backend::best(), &steps, CodeColumns::new(&codes, TREE_ROWS), &mut leaves)?;
/// assert_eq!(leaves[..3], [0, 1, 0]);
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::RaggedBlocks`] unless the number of rows is a multiple of [`TREE_ROWS`], or
/// [`KernelError::InputTooSmall`] if a column is missing.
pub fn tree_leaves<S: AsRef<[TreeStep]>>(
    backend: Backend,
    steps: &TreeSteps<S>,
    codes: CodeColumns<'_>,
    leaves: &mut [u8],
) -> Result<(), KernelError> {
    codes.check(steps.last_column, leaves.len())?;
    on!(backend, tree_leaves(steps.steps.as_ref(), codes, leaves));
    Ok(())
}

/// Computes the leaves of two trees, each like [`tree_leaves`]. Few rows are faster this way: the steps of one tree run
/// while those of the other wait for their operands.
///
/// # Errors
/// Returns the errors of [`tree_leaves`], or [`KernelError::OutputTooSmall`] if `leaves` have different lengths.
pub fn two_tree_leaves<S: AsRef<[TreeStep]>>(
    backend: Backend,
    trees: [&TreeSteps<S>; 2],
    codes: CodeColumns<'_>,
    leaves: [&mut [u8]; 2],
) -> Result<(), KernelError> {
    let [first, second] = leaves;
    if first.len() != second.len() {
        return Err(KernelError::OutputTooSmall { required: first.len().max(second.len()) });
    }
    codes.check(trees[0].last_column.max(trees[1].last_column), first.len())?;
    on!(backend, two_tree_leaves(trees.map(|tree| tree.steps.as_ref()), codes, [first, second]));
    Ok(())
}

/// Computes the leaf of each row in a symmetric tree: the sum of the weights of the levels whose code is above
/// `at_most`.
///
/// # Errors
/// Returns [`KernelError::RaggedBlocks`] unless the number of rows is a multiple of [`TREE_ROWS`], or
/// [`KernelError::InputTooSmall`] if a column is missing.
pub fn symmetric_leaves(
    backend: Backend,
    levels: &[TreeLevel],
    codes: CodeColumns<'_>,
    leaves: &mut [u8],
) -> Result<(), KernelError> {
    codes.check(levels.iter().map(|level| level.column).max(), leaves.len())?;
    on!(backend, symmetric_leaves(levels, codes, leaves));
    Ok(())
}

/// Adds the value of each row's leaf: `sums[row] += values[leaves[row]]`. Leaves beyond the values add 0.
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`] if there are fewer sums than leaves.
pub fn add_leaf_values(backend: Backend, values: &[f64], leaves: &[u8], sums: &mut [f64]) -> Result<(), KernelError> {
    let required = leaves.len();
    let sums = sums.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, add_leaf_values(values, leaves, sums));
    Ok(())
}
