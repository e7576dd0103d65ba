//! Kernels written once for instruction sets with 128-bit registers, NEON and wasm `simd128`, over the trait of
//! [`register`].
//!
//! Wider instruction sets have permutes and products that change the algorithm, not only the number of lanes, so that
//! AVX2 and AVX-512 have files of the same names instead. Each kernel is defined by the file of the same name in `scalar`.

pub(crate) mod activations;
pub(crate) mod bin;
pub(crate) mod blocks;
pub(crate) mod dot;
pub(crate) mod floats;
pub(crate) mod ggml;
pub(crate) mod lanes;
pub(crate) mod pack;
pub(crate) mod planes;
pub(crate) mod product;
pub(crate) mod quantize;
pub(crate) mod register;
pub(crate) mod score_rows;
pub(crate) mod sum_signs;
pub(crate) mod unpack;

/// Defines the kernels in the module of an instruction set that every CPU of the target has, given its token.
macro_rules! narrow_kernels {
    ($token:ty) => {
        $crate::generic::shims! { baseline;
            pack_bytes(bits: u8, bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool =
                $crate::narrow::pack::pack_bytes(<$token>::new(), bits, bias, max, codes, out);
            pack_words(width: $crate::UnsignedWidth, codes: &[u16], out: &mut [u8]) -> bool =
                $crate::narrow::pack::pack_words(<$token>::new(), width, codes, out);
            unpack_bytes(bits: u8, bias: u8, max: u8, bytes: &[u8], out: &mut [u8]) -> bool =
                $crate::narrow::unpack::unpack_bytes(<$token>::new(), bits, bias, max, bytes, out);
            unpack_words(width: $crate::UnsignedWidth, bytes: &[u8], out: &mut [u16]) =
                $crate::narrow::unpack::unpack_words(<$token>::new(), width, bytes, out);
            quantize(width: $crate::BitWidth, values: &[f32], scale: f32, codes: &mut [i8]) =
                $crate::narrow::quantize::quantize(<$token>::new(), width, values, scale, codes);
            dequantize(codes: &[i8], scale: f32, out: &mut [f32]) =
                $crate::narrow::quantize::dequantize(<$token>::new(), codes, scale, out);
            quantize_pack(width: $crate::BitWidth, values: &[f32], scale: f32, out: &mut [u8]) =
                $crate::narrow::blocks::quantize_pack(<$token>::new(), width, values, scale, out);
            unpack_dequantize(width: $crate::BitWidth, bytes: &[u8], scale: f32, out: &mut [f32]) -> bool =
                $crate::narrow::blocks::unpack_dequantize(<$token>::new(), width, bytes, scale, out);
            encode_blocks(
                width: $crate::BitWidth, block: usize, values: &[f32], out: &mut [u8],
            ) -> Result<(), $crate::KernelError> =
                $crate::narrow::blocks::encode_blocks(<$token>::new(), width, block, values, out);
            decode_blocks(width: $crate::BitWidth, block: usize, bytes: &[u8], out: &mut [f32]) -> bool =
                $crate::narrow::blocks::decode_blocks(<$token>::new(), width, block, bytes, out);
            dot_i8(a: &[i8], b: &[i8]) -> i64 = $crate::narrow::dot::dot_i8(<$token>::new(), <$token>::new(), a, b);
            dot_blocks(width: $crate::BitWidth, block: usize, values: &[f32], bytes: &[u8]) -> Option<f32> =
                $crate::narrow::dot::dot_blocks(<$token>::new(), width, block, values, bytes);
            multiply_strips(
                strips: $crate::product::Strips<'_>, tiles: &[$crate::product::Tile<'_>],
                out: &mut [$crate::product::FloatLine],
            ) = $crate::narrow::product::multiply_strips(<$token>::new(), <$token>::new(), strips, tiles, out);
            multiply_floats(
                cols: usize, strips: &[$crate::product::FloatLine], tiles: &[$crate::product::FloatTile<'_>],
                out: &mut [$crate::product::FloatLine],
            ) = $crate::narrow::floats::multiply_floats(<$token>::new(), cols, strips, tiles, out);
            pack_floats(values: &[f32], step: usize, rows: usize, out: &mut [$crate::product::FloatLine]) =
                $crate::narrow::floats::pack_floats(<$token>::new(), values, step, rows, out);
            quantize_activations(
                values: &[f32], place: $crate::product::Place, codes: &mut [i32], scales: &mut [f32], sums: &mut [i32],
            ) -> bool = $crate::narrow::activations::quantize_activations(
                <$token>::new(), values, place, codes, scales, sums
            );
            dequantize_ggml(block: $crate::ggml::GgmlBlock, bytes: &[u8], out: &mut [f32]) =
                $crate::narrow::ggml::dequantize_ggml(<$token>::new(), block, bytes, out);
            round_ggml(format: $crate::ggml::rounded::Rounded, values: &[f32], out: &mut [u8]) =
                $crate::narrow::ggml::round_ggml(<$token>::new(), format, values, out);
            score_rows(query: &$crate::search::RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) =
                $crate::narrow::score_rows::score_rows(<$token>::new(), <$token>::new(), query, bytes, rows, out);
            sum_signs(tables: &[[u8; 16]], codes: &[u8], out: &mut [u32]) =
                $crate::narrow::sum_signs::sum_signs(<$token>::new(), tables, codes, out);
            bin_f32<C: $crate::bin::BinCode>(cuts: &[f32], values: &[f32], nan: C, out: &mut [C]) =
                $crate::narrow::bin::bin_f32(<$token>::new(), cuts, values, nan, out);
        }
    };
}

pub(crate) use narrow_kernels;
