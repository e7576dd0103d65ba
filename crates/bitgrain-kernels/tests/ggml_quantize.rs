//! Formats with a scale search: blocks equal the reference byte for byte, on every backend.
#![expect(clippy::cast_precision_loss, reason = "made-up data")]

mod bits;

use std::path::Path;

use bitgrain_kernels::ggml::{GgmlBlock, quantize_ggml};
use bitgrain_kernels::{Backend, KernelError};
use bits::Bits;

/// Columns of the golden vectors.
const COLUMNS: usize = 512;

/// Every format with a search, without and with importance.
const SEARCHED: [(GgmlBlock, bool); 16] = [
    (GgmlBlock::Q2_K, false),
    (GgmlBlock::Q2_K, true),
    (GgmlBlock::Q3_K, false),
    (GgmlBlock::Q3_K, true),
    (GgmlBlock::Q4_K, false),
    (GgmlBlock::Q4_K, true),
    (GgmlBlock::Q5_K, false),
    (GgmlBlock::Q5_K, true),
    (GgmlBlock::Q6_K, false),
    (GgmlBlock::Q6_K, true),
    (GgmlBlock::IQ4_NL, false),
    (GgmlBlock::IQ4_NL, true),
    (GgmlBlock::Q4_0, true),
    (GgmlBlock::Q4_1, true),
    (GgmlBlock::Q5_0, true),
    (GgmlBlock::Q5_1, true),
];

#[test]
fn every_format_that_uses_importance_is_tested_with_it() {
    for block in GgmlBlock::ALL {
        assert_eq!(SEARCHED.contains(&(block, true)), block.uses_importance(), "{block:?}");
    }
}

fn golden(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/ggml").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn golden_f32(name: &str) -> Vec<f32> {
    golden(name).as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

fn blocks(backend: Backend, block: GgmlBlock, values: &[f32], row_len: usize, importance: Option<&[f32]>) -> Vec<u8> {
    let len = block.bytes_of(values.len()).expect("whole blocks");
    let mut out = vec![0xA5; len + 3];
    assert_eq!(quantize_ggml(backend, block, values, row_len, importance, &mut out), Ok(len));
    assert_eq!(out.split_off(len), [0xA5; 3], "{backend} {block:?}: wrote beyond its blocks");
    out
}

/// Describes the first difference between two runs of blocks.
fn difference(block: GgmlBlock, got: &[u8], want: &[u8]) -> Option<String> {
    let at = got.iter().zip(want).position(|(got, want)| got != want)?;
    let (number, byte) = (at / block.bytes(), at % block.bytes());
    Some(format!("block {number}, byte {byte}: {} instead of {}", got[at], want[at]))
}

/// Checks that all backends agree with scalar, which is the definition.
fn assert_backends_agree(values: &[f32], row_len: usize, importance: &[f32], what: &str) {
    for (block, weighted) in SEARCHED {
        if !row_len.is_multiple_of(block.weights()) {
            continue;
        }
        let importance = weighted.then_some(importance);
        let want = blocks(Backend::scalar(), block, values, row_len, importance);
        for &backend in &Backend::available()[1..] {
            let got = blocks(backend, block, values, row_len, importance);
            if let Some(place) = difference(block, &got, &want) {
                panic!("{backend} {block:?} weighted {weighted}, {what}: {place}");
            }
        }
    }
}

impl Bits {
    /// Returns a number from -1 to 1.
    fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 8_388_608.0 - 1.0
    }

    /// Returns an approximately normal number, like weights.
    fn normal(&mut self) -> f32 {
        self.uniform() + self.uniform() + self.uniform() + self.uniform()
    }

    fn many(&mut self, len: usize, mut value: impl FnMut(&mut Self) -> f32) -> Vec<f32> {
        (0..len).map(|_| value(self)).collect()
    }

    /// Returns an importance per column, one in five zero.
    fn importance(&mut self, len: usize) -> Vec<f32> {
        self.many(len, |random| {
            let root = random.normal();
            if random.next().is_multiple_of(5) { 0.0 } else { root * root }
        })
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "reads files")]
fn golden_vectors_are_reproduced_byte_for_byte() {
    let (values, importance) = (golden_f32("values.f32"), golden_f32("importance.f32"));
    for &backend in Backend::available() {
        for (block, weighted) in SEARCHED {
            let suffix = if weighted { "_importance" } else { "" };
            let want = golden(&format!("{}{suffix}.bin", block.name()));
            let got = blocks(backend, block, &values, COLUMNS, weighted.then_some(&importance));
            assert_eq!(got.len(), want.len(), "{block:?}");
            assert_eq!(difference(block, &got, &want), None, "{backend} {block:?} weighted {weighted}");
        }
    }
}

/// FNV-1a hashes of the blocks that the reference makes from [`varied`], in the order of [`SEARCHED`].
const REFERENCE: [u64; 16] = [
    0x2438_7CEA_E300_A29E,
    0x3C83_079E_2F4E_FAF0,
    0xEF0E_31B0_3227_5A87,
    0xCE63_39F7_6AFF_8729,
    0xA885_F4EC_2E84_BADC,
    0xC635_6727_25DF_C4E1,
    0x74B8_FABA_E794_2C0F,
    0x6F52_5374_2488_DFEF,
    0xC003_518E_6EA7_8A02,
    0xE315_F123_7AC4_2C85,
    0x150E_7D80_9BFF_B557,
    0xDC87_E2DB_08D8_D763,
    0x47CE_2230_2557_264F,
    0x59B5_403F_2FEC_99E8,
    0x3D73_6BF7_28D8_88F6,
    0x6723_E50A_DA4A_DCE1,
];

/// Returns 128 rows of 1024 weights, computed with operations that round the same everywhere, and an importance per
/// column.
fn varied() -> (Vec<f32>, Vec<f32>) {
    let mut random = Bits(5);
    let mut values = Vec::new();
    for row in 0..128 {
        for i in 0..1024 {
            let normal = random.normal();
            let other = random.uniform();
            values.push(match row % 8 {
                0 => normal * 0.02,
                1 => normal / (other.abs() + 0.01),
                2 => normal * other * other,
                3 => normal + 3.0,
                4 => normal * 0.001 - 5.0,
                5 if other < 0.8 => 0.0,
                5 => normal,
                6 => normal * f32::from_bits((100 + i / 16 % 40) << 23),
                _ => (normal * 5.0).round_ties_even(),
            });
        }
    }
    (values, random.importance(1024))
}

#[test]
fn more_blocks_have_the_hashes_of_the_reference() {
    let (values, importance) = varied();
    let hash = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
    };
    for &backend in Backend::available() {
        let got = SEARCHED
            .map(|(block, weighted)| hash(&blocks(backend, block, &values, 1024, weighted.then_some(&importance))));
        assert_eq!(got, REFERENCE, "{backend}");
    }
}

#[test]
fn backends_agree_at_every_number_of_blocks() {
    let mut random = Bits(1);
    for count in 1..=40 {
        let importance = random.importance(256 * count);
        let values = random.many(256 * count, |random| random.normal() * 0.02);
        // All blocks in one row, and one row per block.
        assert_backends_agree(&values, 256 * count, &importance, "one row");
        assert_backends_agree(&values, 256, &importance, "one block a row");
        assert_backends_agree(&values[..32 * count], 32, &importance, "32 a row");
    }
}

#[test]
fn backends_agree_on_every_kind_of_row() {
    type Kind = (&'static str, fn(&mut Bits, usize) -> f32);
    let kinds: [Kind; 14] = [
        ("heavy tails", |random, _| random.normal() / (random.uniform().abs() + 1e-3)),
        ("sparse", |random, _| if random.next().is_multiple_of(20) { random.normal() } else { 0.0 }),
        ("positive", |random, _| random.normal().abs() + 0.05),
        ("negative", |random, _| -random.normal().abs() - 0.05),
        ("far below zero", |random, _| random.normal() * 1e-6 - 5.0),
        ("far above zero", |random, _| random.normal() * 1e-6 + 5.0),
        ("zeros", |_, _| 0.0),
        ("equal", |_, _| -0.7),
        ("equal within 16", |_, i| (i / 16) as f32 - 7.0),
        ("two values", |random, _| if random.next().is_multiple_of(2) { 0.3 } else { -0.3 }),
        ("around the least", |random, _| random.normal() * 1e-15),
        ("subnormal", |random, _| random.normal() * 1e-40),
        ("huge", |random, _| random.normal() * 1e4),
        ("every magnitude", |random, i| random.normal() * 10_f32.powf((i / 32 % 12) as f32 - 8.0)),
    ];
    let mut random = Bits(2);
    for (what, kind) in kinds {
        let mut i = 0;
        let values = random.many(19 * 768, |random| {
            i += 1;
            kind(random, i)
        });
        let importance = random.importance(768);
        assert_backends_agree(&values, 768, &importance, what);
        assert_backends_agree(&values, 768, &[0.0; 768], what);
    }
}

#[test]
fn backends_agree_on_values_that_blocks_cannot_represent() {
    // The reference's result for these values has no meaning; here it is at least equal on all backends, without a
    // panic.
    let odd_values =
        [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, f32::MAX, f32::MIN, 1e-45, -0.0];
    let mut random = Bits(3);
    let plain = random.many(3 * 256, Bits::normal);
    let importance = random.importance(3 * 256);
    for odd in odd_values {
        for at in (0..256).step_by(5) {
            let mut values = plain.clone();
            values[256 + at] = odd;
            assert_backends_agree(&values, 768, &importance, &format!("{odd} at {at}"));
        }
        assert_backends_agree(&[odd; 512], 256, &importance, &format!("nothing but {odd}"));
        // The contents of a lane must not affect its neighbors.
        let mut values = random.many(40 * 256, |random| random.normal() * 1e-6 - 5.0);
        values[7 * 256 + 3] = odd;
        assert_backends_agree(&values, 256, &importance, &format!("{odd} among small steps"));
    }
}

#[test]
fn rows_do_not_touch_each_other() {
    let mut random = Bits(4);
    let values = random.many(23 * 512, |random| random.normal() * random.uniform());
    let importance = random.importance(512);
    for &backend in Backend::available() {
        for (block, weighted) in SEARCHED {
            let importance = weighted.then_some(importance.as_slice());
            let together = blocks(backend, block, &values, 512, importance);
            let alone = values.chunks(512).flat_map(|row| blocks(backend, block, row, 512, importance));
            assert!(alone.eq(together), "{backend} {block:?} weighted {weighted}");
        }
    }
}

#[test]
fn wrong_sizes_are_errors_that_state_the_right_size() {
    let (values, importance) = ([0.5; 512], [1.0; 512]);
    let mut out = [0; 1024];
    for &backend in Backend::available() {
        for (block, weighted) in SEARCHED {
            let required = block.bytes_of(512).expect("whole blocks");
            let weights = weighted.then_some(importance.as_slice());
            let short = quantize_ggml(backend, block, &values, 512, weights, &mut out[..required - 1]);
            assert_eq!(short, Err(KernelError::OutputTooSmall { required }));
            for row_len in [0, block.weights() - 1, block.weights() / 2, 3 * block.weights()] {
                let ragged = Err(KernelError::RaggedBlocks { len: row_len, block: block.weights() });
                assert_eq!(quantize_ggml(backend, block, &values, row_len, weights, &mut out), ragged);
            }
            if weighted {
                let short = quantize_ggml(backend, block, &values, 512, Some(&importance[..511]), &mut out);
                assert_eq!(short, Err(KernelError::InputTooSmall { required: 512 }));
            }
            assert_eq!(quantize_ggml(backend, block, &[], block.weights(), weights, &mut []), Ok(0));
        }
    }
}
