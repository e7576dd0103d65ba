//! `simd128` backend: the kernels of `generic` with four lanes and those of `narrow`, the portable loops, and the scalar
//! code for the rest. Results of relaxed SIMD depend on the engine, so it is not used.

mod lanes;
mod narrow;

crate::generic::generic_kernels!(baseline, lanes::Simd128);
crate::narrow::narrow_kernels!(lanes::Simd128);
crate::generic::elements::element_kernels!(baseline, lanes::Simd128, 4);
crate::generic::planes::plane_kernels!(baseline, lanes::Simd128, lanes::Simd128, 4);
crate::portable::portable_kernels!(baseline);

// Lookups in tables that are larger than registers.
pub(crate) use crate::scalar::{add_leaf_values, crc32c};
