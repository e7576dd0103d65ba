//! Rows through a tree, on codes of a byte: every split for many rows at once, instead of every row its own way.
//!
//! A tree of `n` splits costs `n` comparisons of whole registers whatever way the rows take. Up to some hundred splits
//! that is far less than following each row, where every step waits for the one before and reads memory of its own.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Rows that are taken through a tree together.
pub const TREE_ROWS: usize = 256;

/// Results of splits that can be kept at a time. A tree of 256 leaves needs 8, if the child that needs more comes first.
pub const TREE_RESULTS: usize = 9;

/// What a split chooses from: a leaf, or the result of a split below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice(u16);

impl Choice {
    /// A leaf.
    #[must_use]
    pub const fn leaf(leaf: u8) -> Self {
        Self(leaf as u16)
    }

    /// The result that was kept at this place, below [`TREE_RESULTS`].
    #[must_use]
    pub const fn result(place: u8) -> Self {
        Self(256 + place as u16)
    }

    const fn is_known(self) -> bool {
        (self.0 as usize) < 256 + TREE_RESULTS
    }

    /// The leaf or the result, for each of the rows.
    #[inline]
    pub(crate) fn rows(self, results: &[Rows; TREE_RESULTS]) -> &Rows {
        let at = usize::from(self.0);
        if at < 256 { &LEAVES[at] } else { &results[at - 256] }
    }
}

/// One split of a tree. Those below come before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeStep {
    /// Which column of codes it looks at.
    pub column: u32,
    /// Codes up to this one choose `left`, others `right`.
    pub at_most: u8,
    /// Where the result is kept, below [`TREE_RESULTS`].
    pub out: u8,
    /// The choice of small codes.
    pub left: Choice,
    /// The choice of large codes.
    pub right: Choice,
}

/// One level of a symmetric tree, where all splits of a level are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLevel {
    /// Which column of codes it looks at.
    pub column: u32,
    /// Codes above this one add `weight` to the number of the leaf.
    pub at_most: u8,
    /// What is added. The sum wraps.
    pub weight: u8,
}

/// A byte for each of some rows.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Rows(pub(crate) [u8; TREE_ROWS]);

/// The number of each leaf, for each of the rows. 64 bytes for each, read again and again, were no faster on AVX-512
/// even with 255 leaves (2026-11-16).
static LEAVES: [Rows; 256] = {
    let mut leaves = [Rows([0; TREE_ROWS]); 256];
    let mut leaf = 0;
    while leaf < 256 {
        leaves[leaf] = Rows([leaf.to_le_bytes()[0]; TREE_ROWS]);
        leaf += 1;
    }
    leaves
};

/// The codes of some rows, column after column.
#[derive(Debug, Clone, Copy)]
pub struct CodeColumns<'a> {
    codes: &'a [u8],
    stride: usize,
}

impl<'a> CodeColumns<'a> {
    /// Columns that begin `stride` codes after one another.
    #[must_use]
    pub fn new(codes: &'a [u8], stride: usize) -> Self {
        Self { codes, stride }
    }

    /// The column's codes of rows `start` to `start + TREE_ROWS`.
    #[inline]
    pub(crate) fn rows(&self, column: u32, start: usize) -> &'a [u8; TREE_ROWS] {
        let codes = &self.codes[column as usize * self.stride + start..];
        codes.first_chunk().unwrap_or_else(|| unreachable!("the caller checked the last column"))
    }

    fn check(&self, columns: impl Iterator<Item = u32>, n_rows: usize) -> Result<(), KernelError> {
        if !n_rows.is_multiple_of(TREE_ROWS) {
            return Err(KernelError::RaggedBlocks { len: n_rows, block: TREE_ROWS });
        }
        let Some(last) = columns.max() else { return Ok(()) };
        let required = (last as usize).saturating_mul(self.stride).saturating_add(n_rows);
        if required > self.codes.len() {
            return Err(KernelError::InputTooSmall { required });
        }
        Ok(())
    }
}

/// The leaf of each row: the result of the last step. `leaves.len()` rows are looked at, from the first on.
///
/// ```
/// use bitgrain_kernels::Backend;
/// use bitgrain_kernels::trees::{Choice, CodeColumns, TREE_ROWS, TreeStep, tree_leaves};
/// let mut codes = [7; TREE_ROWS]; // one column
/// codes[1] = 3;
/// let step = TreeStep { column: 0, at_most: 5, out: 0, left: Choice::leaf(1), right: Choice::leaf(0) };
/// let mut leaves = [9; TREE_ROWS];
/// tree_leaves(Backend::best(), &[step], CodeColumns::new(&codes, TREE_ROWS), &mut leaves)?;
/// assert_eq!(leaves[..3], [0, 1, 0]);
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// [`KernelError::RaggedBlocks`] unless the rows are a multiple of [`TREE_ROWS`], [`KernelError::InputTooSmall`] if a
/// column is not there, or [`KernelError::UnknownPlace`].
pub fn tree_leaves(
    backend: Backend,
    steps: &[TreeStep],
    codes: CodeColumns<'_>,
    leaves: &mut [u8],
) -> Result<(), KernelError> {
    codes.check(steps.iter().map(|step| step.column), leaves.len())?;
    let known = |step: &TreeStep| step.left.is_known() && step.right.is_known() && usize::from(step.out) < TREE_RESULTS;
    if let Some(step) = steps.iter().position(|step| !known(step)) {
        return Err(KernelError::UnknownPlace { step, places: TREE_RESULTS });
    }
    on!(backend, tree_leaves(steps, codes, leaves));
    Ok(())
}

/// The leaf of each row in a symmetric tree: the sum of the weights of the levels whose code is above `at_most`.
///
/// # Errors
/// [`KernelError::RaggedBlocks`] unless the rows are a multiple of [`TREE_ROWS`], or [`KernelError::InputTooSmall`] if a
/// column is not there.
pub fn symmetric_leaves(
    backend: Backend,
    levels: &[TreeLevel],
    codes: CodeColumns<'_>,
    leaves: &mut [u8],
) -> Result<(), KernelError> {
    codes.check(levels.iter().map(|level| level.column), leaves.len())?;
    on!(backend, symmetric_leaves(levels, codes, leaves));
    Ok(())
}

/// Adds the value of its leaf to the sum of each row: `sums[row] += values[leaves[row]]`. Leaves behind the values add 0.
///
/// # Errors
/// [`KernelError::OutputTooSmall`] if there are fewer sums than leaves.
pub fn add_leaf_values(backend: Backend, values: &[f64], leaves: &[u8], sums: &mut [f64]) -> Result<(), KernelError> {
    let required = leaves.len();
    let sums = sums.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, add_leaf_values(values, leaves, sums));
    Ok(())
}
