//! `Scaling`: which weights share a scale.

use bitgrain_kernels::BlockLen;

use super::DType;

/// Which weights of a matrix share a scale. A row is what lies contiguous in memory: one output channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scaling {
    /// No scale: codes are the weights themselves, rounded and clamped.
    None,
    /// One for the whole tensor.
    Tensor,
    /// One per row.
    Channel,
    /// One per so many weights of a row; a row's last group may be shorter.
    Group(BlockLen),
}

impl Scaling {
    /// What a dtype has unless told otherwise: none for the plain floats, a scale per row down to 8 bits, and one per
    /// 64 weights below, where a single far-out weight would ruin its whole row.
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

    /// Weights that share a scale within a row of `cols`.
    pub(crate) const fn group(self, cols: usize) -> usize {
        match self {
            Self::Group(len) => len.get(),
            Self::None | Self::Tensor | Self::Channel => cols,
        }
    }
}
