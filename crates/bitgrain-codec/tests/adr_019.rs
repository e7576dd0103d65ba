//! Names and rules of ADR-019 (tiered quantization formats, of the RuVector project), tested from the reader's side.
#![expect(clippy::cast_possible_truncation, reason = "made-up codes")]

use bitgrain_codec::{
    BitCodec, BitWidth, BlockFormat, BlockLen, BlockQuantizer, CodecErr, Drift, NonFinite, QuantConfig, QuantizedBlock,
    StandardBitCodec, TensorQuantizer, TwoLevel, bound, dequantize, max_abs, pack_bits, quantize_bits, quantize_s8,
    scale_fits, unpack_bits,
};

/// The packer of the design document, with the overflow at 8 bits fixed.
fn pack_by_accumulator(values: &[i8], bits: u8) -> Vec<u8> {
    let qmax = (1_i16 << (bits - 1)) - 1;
    let (mut acc, mut acc_bits, mut out) = (0_u64, 0_u32, Vec::new());
    for &v in values {
        let biased = u64::try_from(i16::from(v) + qmax).expect("in range");
        acc |= biased << acc_bits;
        acc_bits += u32::from(bits);
        while acc_bits >= 8 {
            out.push((acc & 0xFF) as u8);
            acc >>= 8;
            acc_bits -= 8;
        }
    }
    if acc_bits > 0 {
        out.push((acc & 0xFF) as u8);
    }
    out
}

#[test]
fn pack_bits_matches_the_reference_accumulator() {
    for bits in 2..=8_u8 {
        let qmax = i8::MAX >> (8 - bits);
        for len in 0..100 {
            let codes: Vec<i8> =
                (0..len).map(|i: i16| (i * 31 % (2 * i16::from(qmax) + 1) - i16::from(qmax)) as i8).collect();
            let want = pack_by_accumulator(&codes, bits);
            let mut got = vec![0; want.len()];
            assert_eq!(StandardBitCodec.pack(&codes, bits, &mut got), Ok(want.len()));
            assert_eq!(got, want, "{bits} bits, {len} codes");
        }
    }
}

#[test]
fn wrong_widths_and_sizes_are_typed_errors() {
    for bits in [0, 1, 9, 255] {
        assert_eq!(pack_bits(&[0], bits, &mut [0; 8]), Err(CodecErr::InvalidBitWidth { bits }));
        assert_eq!(unpack_bits(&[0; 8], bits, &mut [0]), Err(CodecErr::InvalidBitWidth { bits }));
        assert_eq!(quantize_bits(&[1.0], bits, &QuantConfig::default()), Err(CodecErr::InvalidBitWidth { bits }));
    }
    assert_eq!(pack_bits(&[0; 8], 7, &mut [0; 6]), Err(CodecErr::OutputTooSmall { required: 7 }));
    assert_eq!(unpack_bits(&[0; 6], 7, &mut [0; 8]), Err(CodecErr::InputTooSmall { required: 7 }));
    assert_eq!(pack_bits(&[0, 4], 3, &mut [0; 6]), Err(CodecErr::CodeOutOfRange { index: 1, code: 4 }));
    assert_eq!(pack_bits(&[-128], 8, &mut [0; 6]), Err(CodecErr::CodeOutOfRange { index: 0, code: -128 }));
    assert_eq!(unpack_bits(&[0xFF], 8, &mut [0]), Err(CodecErr::CodeOutOfRange { index: 0, code: 128 }));
    for block_size in [0, 7, 100, 1 << 20] {
        let config = QuantConfig { block_size, ..QuantConfig::default() };
        assert_eq!(quantize_s8(&[1.0], &config), Err(CodecErr::InvalidBlockSize { block_size }));
    }
}

#[test]
fn quantizers_stay_within_the_limits_of_the_design() {
    let values: Vec<f32> = (0..640).map(|i: u16| (f32::from(i) * 0.7).sin() * f32::from(i % 64)).collect();
    for (bits, divisor) in [(8, 254.0), (7, 126.0), (5, 30.0), (3, 6.0)] {
        let blocks = quantize_bits(&values, bits, &QuantConfig::default()).expect("finite");
        for (block, values) in blocks.iter().zip(values.chunks(64)) {
            // "scale" in the design's limits means the largest magnitude.
            let limit = max_abs(values) / divisor * 1.0001;
            assert!(dequantize(block).iter().zip(values).all(|(y, x)| (x - y).abs() <= limit), "{bits} bits");
        }
    }
}

#[test]
fn storage_sizes_are_those_of_the_design() {
    let size = |bits| BlockQuantizer::new(BitWidth::new(bits).expect("in range")).block_storage_size(64);
    assert_eq!([8, 7, 5, 3].map(size), [68, 60, 44, 28]);
    assert_eq!(BlockFormat::two_level().block_bytes(), 40);
    let packed = |bits| BlockQuantizer::new(BitWidth::new(bits).expect("in range")).packed_data_size(13);
    assert_eq!([8, 7, 5, 3].map(packed), [13, 12, 9, 5]);
}

/// Returns sixty values near 1 and four of 50: heavy-tailed at a threshold of 5.
fn heavy_tailed() -> Vec<f32> {
    (0..64_u8).map(|i| if i % 16 == 3 { 50.0 } else { 0.5 + f32::from(i) / 128.0 }).collect()
}

#[test]
fn two_level_mode_starts_above_the_threshold() {
    let config = |threshold| QuantConfig {
        two_level: TwoLevel::Auto { threshold, outlier_fraction: 0.05 },
        ..QuantConfig::default()
    };
    let values = heavy_tailed();
    let ratio = 50.0 / 0.75;
    for (threshold, expected) in [(5.0, true), (ratio * 0.9, true), (ratio * 1.1, false)] {
        let block = &quantize_bits(&values, 3, &config(threshold)).expect("finite")[0];
        assert_eq!(block.secondary_scale.is_some(), expected, "threshold {threshold}");
    }
    assert_eq!(quantize_bits(&values, 3, &QuantConfig::default()).expect("finite")[0].flags, None, "off by default");
    assert_eq!(quantize_bits(&values, 5, &config(5.0)).expect("finite")[0].flags, None, "only at three bits");
}

#[test]
fn two_level_mode_helps_the_bulk() {
    let values = heavy_tailed();
    let bulk_error = |format: BlockFormat| {
        let back = format.decode(&format.encode(&values).expect("finite"), 64).expect("just written");
        let bulk = values.iter().zip(&back).filter(|(x, _)| **x < 2.0);
        bulk.map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
    };
    assert!(bulk_error(BlockFormat::two_level()) < 0.2);
    assert!(bulk_error(BlockFormat::new(BitWidth::W3)) > 0.4);
}

#[test]
fn a_tensor_is_two_level_if_most_of_its_blocks_are_heavy_tailed() {
    let (heavy, light) = (heavy_tailed(), vec![1.0; 64]);
    let choose =
        |values: &[f32], width| BlockFormat::choose(width, BlockLen::DEFAULT, TwoLevel::AUTO, values).expect("valid");
    assert!(choose(&[&heavy[..], &heavy, &light].concat(), BitWidth::W3).is_two_level());
    assert!(!choose(&[&heavy[..], &light, &light].concat(), BitWidth::W3).is_two_level());
    assert!(!choose(&heavy, BitWidth::W4).is_two_level());
    assert!(!choose(&[], BitWidth::W3).is_two_level());
    let mut odd = heavy.clone();
    odd[0] = f32::NAN;
    assert!(!choose(&odd, BitWidth::W3).is_two_level());
}

#[test]
fn degenerate_blocks_fall_back_to_one_scale() {
    let mut one_spike = vec![0.0; 64];
    one_spike[7] = 3.0;
    for values in [vec![0.0; 64], vec![2.5], one_spike, vec![]] {
        let format = BlockFormat::two_level();
        let bytes = format.encode(&values).expect("finite");
        assert_eq!(format.decode(&bytes, values.len()).expect("just written"), values);
        if !values.is_empty() {
            assert_eq!(bytes[4..8], [0; 4], "no secondary scale");
        }
        let config = QuantConfig { two_level: TwoLevel::AUTO, ..QuantConfig::default() };
        let blocks = quantize_bits(&values, 3, &config).expect("finite");
        assert!(blocks.iter().all(|b| b.secondary_scale.is_none()));
    }
}

#[test]
fn two_level_settings_outside_their_range_are_rejected() {
    for (threshold, outlier_fraction) in [(0.5, 0.05), (f32::NAN, 0.05), (5.0, -0.1), (5.0, 1.5), (5.0, f32::NAN)] {
        let two_level = TwoLevel::Auto { threshold, outlier_fraction };
        let config = QuantConfig { two_level, ..QuantConfig::default() };
        assert!(matches!(quantize_bits(&[1.0], 3, &config), Err(CodecErr::InvalidTwoLevel { .. })));
        assert!(BlockFormat::choose(BitWidth::W3, BlockLen::DEFAULT, two_level, &[1.0]).is_err());
    }
}

#[test]
fn ranges_outside_the_tensor_are_rejected() {
    let format = BlockFormat::new(BitWidth::W8);
    let bytes = format.encode(&[1.0; 100]).expect("finite");
    for (start, end) in [(60, 3), (90, 101), (usize::MAX, usize::MAX)] {
        let got = format.decode_range(&bytes, 100, start..end, &mut [0.0; 100]);
        assert_eq!(got, Err(CodecErr::InvalidRange { start, end, count: 100 }));
    }
    let got = format.decode_range(&bytes, 100, 0..50, &mut [0.0; 49]);
    assert_eq!(got, Err(CodecErr::OutputTooSmall { required: 50 }));
}

#[test]
fn zero_blocks_decode_to_exact_zeros() {
    for width in BitWidth::ALL {
        let format = BlockFormat::new(width);
        let bytes = format.encode(&[0.0; 70]).expect("finite");
        assert_eq!(bytes[..4], [0; 4]);
        assert!(format.decode(&bytes, 70).expect("just written").iter().all(|v| v.to_bits() == 0));
    }
}

#[test]
fn a_non_finite_value_is_reported_with_its_index_in_the_tensor() {
    let mut values = vec![1.0; 200];
    values[150] = f32::INFINITY;
    let want = Err(CodecErr::NonFinite { index: 150 });
    assert_eq!(quantize_s8(&values, &QuantConfig::default()), want);
    let config = QuantConfig { non_finite: NonFinite::Zero, ..QuantConfig::default() };
    assert_eq!(quantize_s8(&values, &config).expect("the policy takes it")[2].codes[150 - 128], 0);
}

#[test]
fn blocks_with_changed_fields_are_rejected_and_never_panic() {
    let block =
        QuantizedBlock { scale: 1.0, secondary_scale: Some(2.0), flags: Some(vec![]), codes: vec![1, -3, 3], bits: 3 };
    assert_eq!(dequantize(&block), [1.0, -3.0, 3.0], "flags that are not there count as not set");
    assert_eq!(block.to_bytes(), Err(CodecErr::InputTooSmall { required: 1 }));
    assert_eq!(QuantizedBlock { bits: 0, ..block.clone() }.to_bytes(), Err(CodecErr::InvalidBitWidth { bits: 0 }));
    let wide = QuantizedBlock { codes: vec![100], flags: Some(vec![0]), ..block.clone() };
    assert_eq!(wide.to_bytes(), Err(CodecErr::CodeOutOfRange { index: 0, code: 100 }));
    let refused = |block: QuantizedBlock| block.to_bytes().expect_err("no format has it");
    assert_eq!(refused(QuantizedBlock { bits: 5, ..block.clone() }), CodecErr::InvalidBitWidth { bits: 5 });
    assert_eq!(refused(QuantizedBlock { flags: None, ..block.clone() }), CodecErr::InputTooSmall { required: 1 });
    assert_eq!(refused(QuantizedBlock { scale: f32::NAN, ..block.clone() }), CodecErr::InvalidScale { index: 0 });
    let quantizer = BlockQuantizer::new(BitWidth::W3);
    assert_eq!(quantizer.dequantize_block(&block, &mut [0.0; 2]), Err(CodecErr::OutputTooSmall { required: 3 }));
}

#[test]
fn drift_is_allowed_until_values_would_be_clamped() {
    let (scale, tenth) = (1.0, Drift::new(0.1).expect("in range"));
    assert!(scale_fits(BitWidth::W8, scale, 127.0, tenth));
    assert!(scale_fits(BitWidth::W8, scale, 127.5, tenth));
    assert!(!scale_fits(BitWidth::W8, scale, 127.6, tenth), "would be clamped");
    assert!(scale_fits(BitWidth::W8, scale, 114.4, tenth));
    assert!(!scale_fits(BitWidth::W8, scale, 114.2, tenth), "wastes the range");
    assert!(scale_fits(BitWidth::W8, 0.0, 0.0, tenth), "a block that stays zero keeps its scale");
    assert!(!scale_fits(BitWidth::W8, scale, f32::NAN, tenth));
    assert!(bound(BitWidth::W8, 127.0) < 0.501);
}

/// One bit per value: the sign, with the mean magnitude as the scale. Implemented outside the codec.
struct SignQuantizer;

impl TensorQuantizer for SignQuantizer {
    fn bit_width(&self) -> u8 {
        1
    }

    fn quantize_block(&self, values: &[f32], _config: &QuantConfig) -> Result<QuantizedBlock, CodecErr> {
        let count = f32::from(u16::try_from(values.len().max(1)).expect("a short block"));
        let scale = values.iter().map(|v| v.abs()).sum::<f32>() / count;
        let codes = values.iter().map(|&v| if v >= 0.0 { 1 } else { -1 }).collect();
        Ok(QuantizedBlock { scale, secondary_scale: None, flags: None, codes, bits: 1 })
    }

    fn dequantize_block(&self, block: &QuantizedBlock, out: &mut [f32]) -> Result<(), CodecErr> {
        let required = block.codes.len();
        let out = out.get_mut(..required).ok_or(CodecErr::OutputTooSmall { required })?;
        out.copy_from_slice(&dequantize(block));
        Ok(())
    }

    fn block_storage_size(&self, block_size: usize) -> usize {
        4 + self.packed_data_size(block_size)
    }
}

#[test]
fn a_new_width_needs_no_change_to_the_codec() {
    let quantizers: [&dyn TensorQuantizer; 2] = [&SignQuantizer, &BlockQuantizer::new(BitWidth::W2)];
    for (quantizer, bytes) in quantizers.into_iter().zip([12, 20]) {
        assert_eq!(quantizer.block_storage_size(64), bytes);
        let block = quantizer.quantize_block(&[2.0, -1.0, 3.0], &QuantConfig::default()).expect("finite");
        let mut back = [0.0; 3];
        quantizer.dequantize_block(&block, &mut back).expect("room");
        assert!(back[0] >= 0.0 && back[1] <= 0.0 && back[2] > 0.0, "{back:?}");
    }
    let block = SignQuantizer.quantize_block(&[2.0, -1.0, 3.0], &QuantConfig::default()).expect("short");
    assert_eq!(dequantize(&block), [2.0, -2.0, 2.0]);
}
