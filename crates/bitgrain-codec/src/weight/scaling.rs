//! `Scaling`: the weights that share a scale.

use bitgrain_kernels::BlockLen;

use super::DType;

/// Weights of a matrix that share a scale. A row is contiguous in memory and belongs to one output channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scaling {
    /// No scale: codes are the rounded and clamped weights.
    None,
    /// One scale per tensor.
    Tensor,
    /// One scale per row.
    Channel,
    /// One scale per group of this many weights in a row; the last group of a row may be shorter.
    Group(BlockLen),
}

impl Scaling {
    /// Returns the default of a dtype: no scale for plain floats, a scale per row for at least 8 bits, and a scale per
    /// 64 weights below, because a single outlier would coarsen its whole row.
    #[must_use]
    pub const fn default_for(dtype: DType) -> Self {
        if dtype.is_plain() {
            Self::None
        } else if dtype.bits() >= 8 {
            Self::Channel
        } else {
            Self::Group(BlockLen::DEFAULT)
        }
    }

    /// Returns the number of weights that share a scale within a row of `cols`.
    pub(crate) const fn group(self, cols: usize) -> usize {
        match self {
            Self::Group(len) => len.get(),
            Self::None | Self::Tensor | Self::Channel => cols,
        }
    }
}
