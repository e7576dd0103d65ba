//! NEON backend: the kernels of `generic` with four lanes and those of `narrow`, the portable loops, and the scalar code
//! for the rest.

mod lanes;
mod narrow;

pub(super) use lanes::{FourIntegers, Neon};

crate::generic::generic_kernels!(baseline, lanes::Neon);
crate::narrow::narrow_kernels!(lanes::Neon);
crate::portable::portable_kernels!(baseline);

// Not ported yet: the scalar definitions.
pub(crate) use crate::scalar::{add_leaf_values, crc32c};
