//! Golden vectors, byte for byte. They are written once and never rewritten: a missing vector is written and the test
//! fails, so that it is reviewed before it is committed.
#![expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "made-up data")]

use std::fs;
use std::path::PathBuf;

use bitgrain_codec::{BitWidth, BlockFormat, BlockLen, CodecErr, pack_bits, unpack_bits};
use bitgrain_kernels::codes::{pack_u16, unpack_u16};
use bitgrain_kernels::{Backend, UnsignedWidth};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors")
}

/// Formats by their names in `spec/blocks.md`.
fn formats() -> impl Iterator<Item = (String, BlockFormat)> {
    let plain = BitWidth::ALL.into_iter().map(|w| (format!("b{}", w.bits()), BlockFormat::new(w)));
    plain.chain([("b3x2".to_owned(), BlockFormat::two_level())])
}

/// Inputs that together reach every rule of the specification.
fn inputs() -> Vec<(&'static str, Vec<f32>)> {
    let wave = |i: usize| ((i * 7919 % 1009) as f32 / 504.5 - 1.0) * 1.7;
    let outliers = |i: usize| if i % 23 == 5 { wave(i) * 40.0 } else { wave(i) * 0.3 };
    let mut corners = vec![0.0; 64];
    corners.extend((0..64_u32).map(|k| f32::from_bits(k * 3))); // subnormal maximum
    corners.extend((0..64).map(|k| if k % 2 == 0 { f32::MAX } else { -f32::MAX * (k as f32 / 64.0) }));
    corners.extend((0..64).map(|k| (k as f32 - 32.0) * 0.5)); // ties
    corners.extend((0..64).map(|k| if k == 9 { -0.75 } else { -0.0 }));
    vec![
        ("ramp", (0..130).map(wave).collect()),
        ("outliers", (0..333).map(outliers).collect()),
        ("corners", corners),
        ("single", vec![-1.25]),
        ("empty", vec![]),
    ]
}

fn hex(values: &[f32]) -> Vec<String> {
    values.iter().map(|v| format!("{:08x}", v.to_bits())).collect()
}

fn floats(list: &Value) -> Vec<f32> {
    let digits = list.as_array().expect("a list").iter().map(|v| v.as_str().expect("digits"));
    digits.map(|d| f32::from_bits(u32::from_str_radix(d, 16).expect("eight hexadecimal digits"))).collect()
}

fn load(name: &str) -> Option<(Value, Vec<u8>)> {
    let text = fs::read_to_string(folder().join(name).with_extension("json")).ok()?;
    let bytes = fs::read(folder().join(name).with_extension("bin")).expect("every vector has its bytes");
    Some((serde_json::from_str(&text).expect("a vector is JSON"), bytes))
}

fn write(name: &str, vector: &Value, bytes: &[u8]) {
    let path = folder().join(name);
    let text = serde_json::to_string(vector).expect("plain JSON").replace("],", "],\n") + "\n";
    fs::write(path.with_extension("json"), text).expect("the folder is writable");
    fs::write(path.with_extension("bin"), bytes).expect("the folder is writable");
}

#[test]
fn blocks_are_those_of_the_golden_vectors() {
    let mut missing = Vec::new();
    for (format_name, format) in formats() {
        for (input_name, input) in inputs() {
            for block_len in if input_name == "ramp" { vec![64, 8, 128] } else { vec![64] } {
                let name = format!("v0_1_{format_name}_{input_name}_{block_len}");
                let format = format.with_block_len(BlockLen::new(block_len).expect("a multiple of eight"));
                let Some((vector, bytes)) = load(&name) else {
                    let bytes = format.encode(&input).expect("finite");
                    let decoded = format.decode(&bytes, input.len()).expect("good");
                    let vector = json!({
                        "kind": "blocks", "format": format_name, "block_len": block_len,
                        "values": hex(&input), "decoded": hex(&decoded),
                    });
                    write(&name, &vector, &bytes);
                    missing.push(name);
                    continue;
                };
                let values = floats(&vector["values"]);
                assert_eq!(hex(&values), hex(&input), "{name} is not about this input");
                assert_eq!(format.encode(&values).expect("finite"), bytes, "{name}");
                let decoded = format.decode(&bytes, values.len()).expect("good");
                assert_eq!(hex(&decoded), hex(&floats(&vector["decoded"])), "{name}");
            }
        }
    }
    assert!(missing.is_empty(), "written because they were missing, check and commit them: {missing:?}");
}

/// Bytes that a reader must reject, with the reason.
fn refused() -> Vec<(&'static str, &'static str, BlockFormat, usize, Vec<u8>)> {
    let (b8, b5, b3x2) = (BlockFormat::new(BitWidth::W8), BlockFormat::new(BitWidth::W5), BlockFormat::two_level());
    let good = |format: BlockFormat| format.encode(&inputs()[0].1).expect("finite");
    let with_scale = |format: BlockFormat, at: usize, scale: f32| {
        let mut bytes = good(format);
        bytes[at..at + 4].copy_from_slice(&scale.to_le_bytes());
        bytes
    };
    let with_bits = |format: BlockFormat, at: usize, bits: u8| {
        let mut bytes = good(format);
        bytes[at] |= bits;
        bytes
    };
    let raw_minus_128 = {
        let mut bytes = good(b8);
        bytes[80] = 0x80;
        bytes
    };
    let truncated = |format: BlockFormat| good(format).split_last().expect("some bytes").1.to_vec();
    vec![
        ("negative", "scale", b5, 130, with_scale(b5, 0, -1.0)),
        ("minus_zero", "scale", b5, 130, with_scale(b5, 44, -0.0)),
        ("nan", "scale", b8, 130, with_scale(b8, 68, f32::NAN)),
        ("infinite", "scale", b8, 130, with_scale(b8, 0, f32::INFINITY)),
        ("overflows", "scale", b8, 130, with_scale(b8, 0, 3e38)),
        ("secondary", "scale", b3x2, 130, with_scale(b3x2, 4, f32::NAN)),
        ("all_ones", "code", b5, 130, with_bits(b5, 4, 0b1_1111)),
        ("last_block", "code", b5, 130, with_bits(b5, 92, 0b1_1111)),
        ("minus_128", "code", b8, 130, raw_minus_128),
        ("two_level_all_ones", "code", b3x2, 130, with_bits(b3x2, 16, 0b111)),
        ("one_byte", "truncated", b5, 130, truncated(b5)),
        ("two_level_one_byte", "truncated", b3x2, 130, truncated(b3x2)),
    ]
}

#[test]
fn invalid_blocks_are_rejected() {
    let mut missing = Vec::new();
    for (what, reason, format, count, made) in refused() {
        let format_name = formats().find(|(_, f)| *f == format).expect("a known format").0;
        let name = format!("v0_1_{format_name}_refused_{reason}_{what}");
        let Some((vector, bytes)) = load(&name) else {
            let vector = json!({
                "kind": "refused", "format": format_name, "block_len": 64, "count": count, "reason": reason,
            });
            write(&name, &vector, &made);
            missing.push(name);
            continue;
        };
        assert_eq!((&vector["count"], bytes.as_slice()), (&json!(count), made.as_slice()), "{name}");
        let error = format.decode(&bytes, count).expect_err(&name);
        let fits = match reason {
            "scale" => matches!(error, CodecErr::InvalidScale { .. }),
            "code" => matches!(error, CodecErr::CodeOutOfRange { .. }),
            _ => matches!(error, CodecErr::InputTooSmall { .. }),
        };
        assert!(fits, "{name}: {error}");
    }
    assert!(missing.is_empty(), "written because they were missing, check and commit them: {missing:?}");
}

#[test]
fn packed_codes_are_those_of_the_golden_vectors() {
    let mut missing = Vec::new();
    for bits in 2..=8_u8 {
        let qmax = (1_i16 << (bits - 1)) - 1;
        let codes: Vec<i8> = (0..77).map(|i| (i * 37 % (2 * qmax + 1) - qmax) as i8).collect();
        let name = format!("v0_1_packed_signed_{bits}");
        let mut packed = vec![0; codes.len()];
        let len = pack_bits(&codes, bits, &mut packed).expect("in range");
        let Some((vector, bytes)) = load(&name) else {
            write(&name, &json!({ "kind": "packed", "bits": bits, "bias": qmax, "codes": codes }), &packed[..len]);
            missing.push(name);
            continue;
        };
        assert_eq!(vector["codes"], json!(codes), "{name} is not about these codes");
        assert_eq!(packed[..len], bytes, "{name}");
        let mut back = vec![0; codes.len()];
        assert_eq!(unpack_bits(&bytes, bits, &mut back), Ok(bytes.len()), "{name}");
        assert_eq!(back, codes, "{name}");
    }
    for bits in 1..=16_u8 {
        let width = UnsignedWidth::new(bits).expect("in range");
        let codes: Vec<u16> = (0..77_u16).map(|i| i.wrapping_mul(40_503) & width.max_code()).collect();
        let name = format!("v0_1_packed_unsigned_{bits}");
        let mut packed = vec![0; 2 * codes.len()];
        let len = pack_u16(Backend::best(), width, &codes, &mut packed).expect("in range");
        let Some((vector, bytes)) = load(&name) else {
            write(&name, &json!({ "kind": "packed", "bits": bits, "bias": 0, "codes": codes }), &packed[..len]);
            missing.push(name);
            continue;
        };
        assert_eq!(vector["codes"], json!(codes), "{name} is not about these codes");
        assert_eq!(packed[..len], bytes, "{name}");
        let mut back = vec![0; codes.len()];
        assert_eq!(unpack_u16(Backend::best(), width, &bytes, &mut back), Ok(bytes.len()), "{name}");
        assert_eq!(back, codes, "{name}");
    }
    assert!(missing.is_empty(), "written because they were missing, check and commit them: {missing:?}");
}
