//! llama.cpp's codebook formats: bytes and values equal the reference.
#![expect(clippy::unwrap_used, reason = "made-up data")]

use std::path::Path;

use bitgrain_kernels::KernelError;
use bitgrain_kernels::ggml::{CodebookBlock, dequantize_codebook, quantize_codebook};

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/ggml").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn floats(name: &str) -> Vec<f32> {
    bytes(name).as_chunks().0.iter().map(|&le| f32::from_le_bytes(le)).collect()
}

/// Returns bits with one pattern for all NaN, whose payload is unspecified.
fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() }).collect()
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "reads files")]
fn blocks_decode_to_the_weights_of_the_reference() {
    for block in CodebookBlock::ALL {
        let noise = bytes(&format!("{}_noise.bin", block.name()));
        let want = floats(&format!("{}_noise.f32", block.name()));
        let mut out = vec![7.0; want.len()];
        assert_eq!(dequantize_codebook(block, &noise, &mut out), Ok(noise.len()));
        assert!(bits(&out) == bits(&want), "{block:?}");
    }
}

/// Moves the codes and signs in a block of IQ3_S to their groups. The reference does not advance its output after a group
/// of 32 zeros.
fn in_place(block: &[u8], weights: &[f32]) -> Vec<u8> {
    let mut out = block.to_vec();
    out[2..66].fill(0);
    out[74..106].fill(0);
    let groups = weights.chunks(32).enumerate().filter(|(_, group)| group.iter().any(|x| *x != 0.0));
    for (stored, (group, _)) in groups.enumerate() {
        out[2 + 8 * group..][..8].copy_from_slice(&block[2 + 8 * stored..][..8]);
        out[74 + 4 * group..][..4].copy_from_slice(&block[74 + 4 * stored..][..4]);
    }
    out
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "reads files")]
fn weights_encode_to_the_bytes_of_the_reference() {
    let (values, importance) = (floats("values.f32"), floats("importance.f32"));
    let mut moved = 0;
    for block in CodebookBlock::ALL.into_iter().filter(|block| block.is_encodable()) {
        for weighted in [false, true] {
            if !weighted && block.requires_importance() {
                continue;
            }
            let want = bytes(&format!("{}{}.bin", block.name(), if weighted { "_importance" } else { "" }));
            // Twice: the second time, the lists of neighbors are stored.
            for _ in 0..2 {
                let mut out = vec![0xA5; want.len()];
                let given = weighted.then_some(&importance[..]);
                assert_eq!(quantize_codebook(block, &values, 512, given, &mut out), Ok(want.len()));
                for (i, (found, reference)) in out.chunks(block.bytes()).zip(want.chunks(block.bytes())).enumerate() {
                    let weights = &values[256 * i..][..256];
                    let iq3_s = block == CodebookBlock::IQ3_S;
                    let want = if iq3_s { in_place(reference, weights) } else { reference.to_vec() };
                    moved += usize::from(want != reference);
                    assert_eq!(found, want, "{block:?} {weighted} {i}");
                }
            }
        }
    }
    assert!(moved > 0, "no block has a group after a group of zeros");
}

#[test]
fn any_finite_weights_and_importances_encode() {
    for block in CodebookBlock::ALL.into_iter().filter(|block| block.is_encodable()) {
        for scale in [0.0, -0.0, 1e-45, 1e-38, 1e-20, 1.0, 1e20, 3e38] {
            let values: Vec<f32> = (0..256_u16).map(|i| scale * (f32::from(i) - 128.0) / 128.0).collect();
            for weight in [0.0, 1e-40, 1.0, 1e38] {
                let mut out = vec![0; block.bytes()];
                quantize_codebook(block, &values, 256, Some(&[weight; 256]), &mut out).unwrap();
                let mut back = vec![0.0; 256];
                dequantize_codebook(block, &out, &mut back).unwrap();
            }
        }
    }
}

#[test]
fn unsuitable_arguments_are_rejected() {
    let (values, mut out) = ([0.5; 512], [0; 1024]);
    for block in CodebookBlock::ALL {
        let given = Some(&values[..]);
        let odd = quantize_codebook(block, &values[..300], 300, given, &mut out);
        assert!(matches!(odd, Err(KernelError::RaggedBlocks { len: 300, .. })), "{odd:?}");
        let short = quantize_codebook(block, &values, 512, given, &mut out[..10]);
        assert!(matches!(short, Err(KernelError::OutputTooSmall { .. })), "{short:?}");
        assert!(matches!(
            dequantize_codebook(block, &[0; 17], &mut [0.0; 256]),
            Err(KernelError::InputTooSmall { .. })
        ));
        let full = quantize_codebook(block, &values, 512, None, &mut out);
        match (block.is_encodable(), block.requires_importance()) {
            (false, _) => assert_eq!(full, Err(KernelError::DecodeOnly { format: block.name() })),
            (true, true) => assert_eq!(full, Err(KernelError::MissingImportance { format: block.name() })),
            (true, false) => assert_eq!(full, Ok(512 / 256 * block.bytes())),
        }
        if block.is_encodable() {
            let few = quantize_codebook(block, &values, 512, Some(&values[..511]), &mut out);
            assert_eq!(few, Err(KernelError::InputTooSmall { required: 512 }));
        }
    }
}

#[test]
fn the_table_of_the_specification_lists_every_format() {
    let text = include_str!("../../../spec/codebooks.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("| format | weights |")).skip(2);
    let listed: Vec<String> = rows.take_while(|line| line.starts_with('|')).map(str::to_owned).collect();
    let known = CodebookBlock::ALL.map(|block| {
        let bits = block.bytes() as f64 * 8.0 / block.weights() as f64;
        format!("| `{}` | {} | {} | {bits} |", block.name().to_uppercase(), block.weights(), block.bytes())
    });
    assert_eq!(listed, known);
}
