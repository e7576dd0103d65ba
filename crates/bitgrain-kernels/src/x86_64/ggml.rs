//! llama.cpp's blocks on x86-64: the kernel of each format, common to both instruction sets.

/// Defines `dequantize_ggml` and `round_ggml` in the module `ggml` of an instruction set, from the kernels in scope.
macro_rules! ggml_kernels {
    ($isa:ident) => {
        use $crate::ggml::GgmlBlock;
        use $crate::ggml::layout::{self, q2_k, q3_k, q4_k, q5_k, q6_k, tq1_0, tq2_0};
        use $crate::ggml::rounded::Rounded;
        use $crate::x86_64::ggml::{decode_rows, encode_ternary};
        use $crate::x86_64::stream;

        #[bitgrain_isa::$isa]
        pub(crate) fn dequantize_ggml(block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
            stream::in_stages(block.weights(), block.bytes(), bytes, out, |bytes, out| decode(block, bytes, out));
        }

        #[inline(never)]
        #[bitgrain_isa::$isa]
        fn decode(block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
            match block {
                GgmlBlock::Q4_0 => nibbles::decode_q4_0(bytes, out),
                GgmlBlock::Q4_1 => nibbles::decode_q4_1(bytes, out),
                GgmlBlock::Q5_0 => nibbles::decode_q5_0(bytes, out),
                GgmlBlock::Q5_1 => nibbles::decode_q5_1(bytes, out),
                GgmlBlock::IQ4_NL => nibbles::decode_iq4_nl(bytes, out),
                GgmlBlock::MXFP4 => nibbles::decode_mxfp4(bytes, out),
                GgmlBlock::Q8_0 => q8_0::decode(bytes, out),
                GgmlBlock::Q2_K => decode_rows!(q2_k, bytes, out),
                GgmlBlock::Q3_K => decode_rows!(q3_k, bytes, out),
                GgmlBlock::Q4_K => decode_rows!(q4_k, bytes, out),
                GgmlBlock::Q5_K => decode_rows!(q5_k, bytes, out),
                GgmlBlock::Q6_K => decode_rows!(q6_k, bytes, out),
                GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0 => layout::decode(block, bytes, out),
            }
        }

        #[bitgrain_isa::$isa]
        pub(crate) fn round_ggml(format: Rounded, values: &[f32], out: &mut [u8]) {
            match format {
                Rounded::Q4_0 => pairs::encode::<18, 4, true>(format, values, out),
                Rounded::Q4_1 => pairs::encode::<20, 4, false>(format, values, out),
                Rounded::Q5_0 => pairs::encode::<22, 5, true>(format, values, out),
                Rounded::Q5_1 => pairs::encode::<24, 5, false>(format, values, out),
                Rounded::Q8_0 => q8_0::encode(values, out),
                Rounded::TQ1_0 => encode_ternary!(TQ1_0, tq1_0, values, out),
                Rounded::TQ2_0 => encode_ternary!(TQ2_0, tq2_0, values, out),
                Rounded::MXFP4 => mxfp4::encode(values, out),
            }
        }

        /// Encodes the remainder: unusual blocks, and fewer blocks than lanes at the end.
        #[cold]
        #[inline(never)]
        #[bitgrain_isa::$isa]
        fn encode_portably(format: Rounded, values: &[f32], out: &mut [u8]) {
            layout::encode(format, values, out);
        }
    };
}

/// Decodes each block of two slices with the layout's `unpack` and the `rows` in scope. A macro, so that it is inlined;
/// see `layout`.
macro_rules! decode_rows {
    ($layout:ident, $bytes:ident, $out:ident) => {
        for (bytes, out) in $bytes.as_chunks().0.iter().zip($out.as_chunks_mut().0) {
            rows::write(&$layout::unpack(bytes), out);
        }
    };
}

/// Encodes each block of two slices with the `ternary` in scope and the layout's `pack`, or portably.
macro_rules! encode_ternary {
    ($format:ident, $layout:ident, $values:ident, $out:ident) => {
        for (values, out) in $values.as_chunks().0.iter().zip($out.as_chunks_mut().0) {
            match ternary::round(values) {
                Some((codes, scale)) => $layout::pack(&codes, scale, out),
                None => encode_portably(Rounded::$format, values, out),
            }
        }
    };
}

/// Encodes MXFP4, `$lanes` blocks at a time, with the `codes` of a block in scope, which `$store` writes.
macro_rules! encode_mxfp4 {
    ($lanes:literal, $store:ident, $values:ident, $out:ident) => {
        let (groups, rest) = $values.as_chunks::<32>().0.as_chunks::<$lanes>();
        let (outs, out_rest) = $out.as_chunks_mut::<17>().0.as_chunks_mut::<$lanes>();
        for (blocks, out) in groups.iter().zip(outs) {
            for block in blocks {
                prefetch_ahead(block);
            }
            let magnitudes = magnitudes(blocks);
            if !all_ordinary(magnitudes) {
                encode_portably(Rounded::MXFP4, blocks.as_flattened(), out.as_flattened_mut());
                continue;
            }
            let mut largest = [0.0; $lanes];
            store_f32(&mut largest, magnitudes);
            for ((block, out), largest) in blocks.iter().zip(out).zip(largest) {
                let [head, pairs @ ..] = out;
                *head = exponent(largest);
                $store(pairs, codes(block, step(*head)));
            }
        }
        if !rest.is_empty() {
            encode_portably(Rounded::MXFP4, rest.as_flattened(), out_rest.as_flattened_mut());
        }
    };
}

pub(super) use {decode_rows, encode_mxfp4, encode_ternary, ggml_kernels};
