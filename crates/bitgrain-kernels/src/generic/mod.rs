//! Kernels written once for all instruction sets, over the traits of [`registers`].
//!
//! Each instruction set implements the traits in its `lanes.rs` and defines all functions with `generic_kernels!`. Each
//! kernel is defined by the file of the same name in `scalar`; results are equal bit by bit.

pub(crate) mod convert;
pub(crate) mod cut_groups;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) mod elements;
pub(crate) mod error_sums;
pub(crate) mod ggml;
pub(crate) mod max_abs;
pub(crate) mod max_difference;
pub(crate) mod minifloat;
pub(crate) mod pair;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) mod planes;
pub(crate) mod registers;
pub(crate) mod tree;

/// Compiles functions for an instruction set, named by its attribute in `bitgrain_isa`:
/// `shims! { avx2; max_abs(values: &[f32]) -> f32 = generic::max_abs(values); }`.
macro_rules! shims {
    ($isa:ident; $(
        $name:ident $(<$format:ident: $bound:path>)? ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:expr;
    )*) => {$(
        #[bitgrain_isa::$isa]
        pub(crate) fn $name $(<$format: $bound>)? ($($argument: $type),*) $(-> $result)? {
            $body
        }
    )*};
}

/// Defines the generic kernels in the module of an instruction set, given its attribute in `bitgrain_isa` and its
/// token.
macro_rules! generic_kernels {
    ($isa:ident, $token:ty) => {
        $crate::generic::shims! { $isa;
            max_abs(values: &[f32]) -> f32 = $crate::generic::max_abs::max_abs(<$token>::new(), values);
            max_difference(a: &[f32], b: &[f32]) -> f32 =
                $crate::generic::max_difference::max_difference(<$token>::new(), a, b);
            error_sums(original: &[f32], decoded: &[f32]) -> $crate::ErrorSums =
                $crate::generic::error_sums::error_sums(<$token>::new(), original, decoded);
            f16_from_f32(values: &[f32], out: &mut [u16]) =
                $crate::generic::convert::f16_from_f32(<$token>::new(), values, out);
            f16_to_f32(codes: &[u16], out: &mut [f32]) =
                $crate::generic::convert::f16_to_f32(<$token>::new(), codes, out);
            bf16_from_f32(values: &[f32], out: &mut [u16]) =
                $crate::generic::convert::bf16_from_f32(<$token>::new(), values, out);
            bf16_to_f32(codes: &[u16], out: &mut [f32]) =
                $crate::generic::convert::bf16_to_f32(<$token>::new(), codes, out);
            minifloat_from_f32<F: $crate::minifloat::Minifloat>(values: &[f32], out: &mut [u8]) =
                $crate::generic::minifloat::minifloat_from_f32::<F, _, _>(<$token>::new(), values, out);
            minifloat_to_f32<F: $crate::minifloat::Minifloat>(codes: &[u8], out: &mut [f32]) =
                $crate::generic::minifloat::minifloat_to_f32::<F, _, _>(<$token>::new(), codes, out);
            tree_leaves(steps: &[$crate::tree::TreeStep], codes: $crate::tree::CodeColumns<'_>, leaves: &mut [u8]) =
                $crate::generic::tree::tree_leaves(<$token>::new(), steps, codes, leaves);
            two_tree_leaves(
                trees: [&[$crate::tree::TreeStep]; 2], codes: $crate::tree::CodeColumns<'_>, leaves: [&mut [u8]; 2],
            ) = $crate::generic::tree::two_tree_leaves(<$token>::new(), trees, codes, leaves);
            symmetric_leaves(
                levels: &[$crate::tree::TreeLevel], codes: $crate::tree::CodeColumns<'_>, leaves: &mut [u8],
            ) = $crate::generic::tree::symmetric_leaves(<$token>::new(), levels, codes, leaves);
            scale_search<B: $crate::ggml::scale_search::BlockSearch>(
                rows: $crate::ggml::scale_search::Rows<'_>, out: &mut [u8],
            ) = $crate::ggml::scale_search::quantize_rows::<_, B>(
                $crate::generic::pair::Pair(<$token>::new()), rows, out
            );
        }
    };
}

pub(crate) use {generic_kernels, shims};
