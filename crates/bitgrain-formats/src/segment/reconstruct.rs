//! `Reconstruct`: how a tensor whose data is gone comes back from another one.

use bitgrain_codec::BlockFormat;

use super::{IdRef, SegmentError};

/// How to compute a tensor from another one. What it takes is in the body, behind the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reconstruct<'a> {
    /// The base and blocks that are added to it. The blocks have as many values as the tensor.
    Delta {
        /// The tensor it is the difference to.
        base: IdRef<'a>,
        /// Layout of the difference.
        format: BlockFormat,
    },
    /// Another tensor, permuted, projected and scaled, in this order.
    Factor {
        /// The tensor it is made of.
        source: IdRef<'a>,
        /// What every value is multiplied with.
        scale: f32,
        /// Length of the permutation: as many u32 are in the body.
        permutation: Option<usize>,
        /// Rows and columns of the projection: as many f32 are in the body, row by row.
        projection: Option<(usize, usize)>,
    },
}

impl<'a> Reconstruct<'a> {
    /// The tensor it needs.
    #[must_use]
    pub const fn needs(&self) -> IdRef<'a> {
        match *self {
            Self::Delta { base, .. } => base,
            Self::Factor { source, .. } => source,
        }
    }
}
