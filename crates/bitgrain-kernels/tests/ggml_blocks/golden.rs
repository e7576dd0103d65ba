//! Output of the reference implementations, written by `spec/make_ggml_vectors.py`.

use std::path::Path;

use bitgrain_kernels::Backend;
use bitgrain_kernels::ggml::GgmlBlock;

use super::{ROUNDED, bits, dequantized, quantized};

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/ggml").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn floats(name: &str) -> Vec<f32> {
    bytes(name).as_chunks().0.iter().map(|&le| f32::from_le_bytes(le)).collect()
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "reads files")]
fn weights_encode_to_the_bytes_of_the_reference() {
    let values = floats("values.f32");
    for block in ROUNDED {
        let want = bytes(&format!("{}.bin", block.name()));
        for &backend in Backend::available() {
            assert!(quantized(backend, block, &values) == want, "{backend} {block:?}");
        }
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "reads files")]
fn blocks_decode_to_the_weights_of_the_reference() {
    for block in GgmlBlock::ALL {
        // Four rows of weights, and four blocks of noise: scales that are not finite, codes that no encoder writes.
        for kind in ["", "_noise"] {
            let blocks = bytes(&format!("{}{kind}.bin", block.name()));
            let want = bits(&floats(&format!("{}{kind}.f32", block.name())));
            let blocks = &blocks[..want.len() / block.weights() * block.bytes()];
            for &backend in Backend::available() {
                assert!(dequantized(backend, block, blocks) == want, "{backend} {block:?}{kind}");
            }
        }
    }
}
