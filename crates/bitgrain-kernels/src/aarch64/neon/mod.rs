//! NEON backend: the kernels of `generic` with four lanes and those of `narrow`, the portable loops, and the scalar code
//! for the rest.

mod lanes;
mod narrow;

pub(super) use lanes::{FourIntegers, Neon};

crate::generic::generic_kernels!(baseline, lanes::Neon);
crate::narrow::narrow_kernels!(lanes::Neon);
crate::generic::elements::element_kernels!(baseline, lanes::Neon, 4);
crate::generic::planes::plane_kernels!(baseline, lanes::Neon, lanes::Neon, 4);
crate::portable::portable_kernels!(baseline);

// Lookups in tables that are larger than registers.
// CRC-32C has an instruction on CPUs with `dotprod`.
pub(crate) use crate::scalar::{add_leaf_values, crc32c};
