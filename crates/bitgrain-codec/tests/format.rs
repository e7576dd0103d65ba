//! Tensors: base of error indices, settings that reach the bytes, and several invalid blocks in one tensor.

use bitgrain_codec::{
    BitWidth, BlockFormat, BlockLen, CodecErr, EncodeOptions, NonFinite, QuantConfig, QuantizedBlock, TwoLevel, bound,
    bound_of_scale, quantize_bits,
};

fn values(count: u16) -> Vec<f32> {
    (0..count).map(|i| (f32::from(i) * 0.37).sin() + 0.01).collect()
}

/// Encodes two hundred values at 8 bits and replaces the code at `index` with a pattern that no encoder writes.
fn with_bad_code(index: usize) -> (BlockFormat, Vec<u8>) {
    let format = BlockFormat::new(BitWidth::W8);
    let mut bytes = format.encode(&values(200)).expect("finite");
    bytes[index / 64 * 68 + 4 + index % 64] = 0x80;
    (format, bytes)
}

#[test]
fn errors_of_a_range_are_counted_in_the_whole_tensor() {
    let (format, bytes) = with_bad_code(150);
    let want = Err(CodecErr::CodeOutOfRange { index: 150, code: -128 });
    for range in [0..200, 128..200, 140..160, 150..151, 128..192] {
        assert_eq!(format.decode_range(&bytes, 200, range.clone(), &mut [0.0; 200]), want, "{range:?}");
    }
    assert_eq!(format.decode_range(&bytes, 200, 0..128, &mut [0.0; 200]), Ok(()), "its block was not touched");
}

#[test]
fn errors_of_two_level_blocks_are_counted_in_the_whole_tensor() {
    let format = BlockFormat::two_level();
    let good = format.encode(&values(200)).expect("finite");
    let mut bad_code = good.clone();
    bad_code[2 * 40 + 16] |= 0b111;
    assert_eq!(format.decode(&bad_code, 200), Err(CodecErr::CodeOutOfRange { index: 128, code: 4 }));
    let mut bad_scale = good;
    bad_scale[2 * 40..2 * 40 + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(format.decode(&bad_scale, 200), Err(CodecErr::InvalidScale { index: 128 }));
    assert_eq!(format.bound(&bad_scale, 200), Err(CodecErr::InvalidScale { index: 128 }));
}

#[test]
fn a_bound_is_rejected_exactly_where_decoding_is() {
    let format = BlockFormat::new(BitWidth::W8);
    for bad in [-1.0, -0.0, f32::NAN, f32::INFINITY, 3e38] {
        let mut bytes = format.encode(&values(200)).expect("finite");
        bytes[68..72].copy_from_slice(&f32::to_le_bytes(bad));
        assert_eq!(format.bound(&bytes, 200), Err(CodecErr::InvalidScale { index: 64 }), "{bad}");
        assert_eq!(format.decode(&bytes, 200), Err(CodecErr::InvalidScale { index: 64 }), "{bad}");
    }
}

#[test]
fn the_bound_of_a_two_level_tensor_is_that_of_its_widest_scale() {
    let format = BlockFormat::two_level();
    let mut spike = vec![0.0; 64];
    spike[7] = 2.9;
    let bytes = format.encode(&spike).expect("finite");
    assert_eq!(format.bound(&bytes, 64), Ok(bound(BitWidth::W3, 2.9)), "one scale, the primary one");
    let bytes = format.encode(&values(64)).expect("finite");
    let secondary = f32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    assert_eq!(format.bound(&bytes, 64), Ok(bound_of_scale(BitWidth::W3, secondary)));
}

#[test]
fn non_finite_blocks_are_clamped_independently() {
    let mut dirty = values(700);
    for at in [3, 70, 71, 300, 639, 640, 699] {
        dirty[at] = if at % 2 == 0 { f32::NAN } else { f32::NEG_INFINITY };
    }
    for non_finite in [NonFinite::Zero, NonFinite::Clamp] {
        let options = EncodeOptions { non_finite, ..EncodeOptions::default() };
        for format in [BlockFormat::new(BitWidth::W6), BlockFormat::two_level()] {
            let mut together = vec![0; format.encoded_len(700)];
            format.encode_into(&dirty, &options, &mut together).expect("the policy takes it");
            let mut alone = Vec::new();
            for block in dirty.chunks(64) {
                let largest = block.iter().filter(|v| v.is_finite()).fold(0.0, |max: f32, v| max.max(v.abs()));
                let clean = |v: &f32| match non_finite {
                    _ if v.is_finite() => *v,
                    NonFinite::Clamp if v.is_infinite() => largest.copysign(*v),
                    _ => 0.0,
                };
                let clean: Vec<f32> = block.iter().map(clean).collect();
                alone.extend(format.encode(&clean).expect("clean"));
            }
            assert_eq!(together, alone, "{non_finite:?} {format:?}");
        }
    }
}

#[test]
fn short_outputs_say_how_many_bytes_or_values_are_needed() {
    for (format, required) in [(BlockFormat::new(BitWidth::W5), 44 + 4 + 4), (BlockFormat::two_level(), 40 + 8 + 1 + 3)]
    {
        let got = format.encode_into(&values(70), &EncodeOptions::default(), &mut vec![0; required - 1]);
        assert_eq!(got, Err(CodecErr::OutputTooSmall { required }));
    }
}

#[test]
fn lengths_beyond_memory_are_rejected_without_allocating() {
    for format in [BlockFormat::new(BitWidth::W2), BlockFormat::two_level()] {
        let format = format.with_block_len(BlockLen::new(8).expect("a multiple of eight"));
        let required = format.encoded_len(usize::MAX);
        // Eight values take 6 bytes at 2 bits, and 12 with two levels, which no memory holds.
        assert_eq!(required == usize::MAX, format.is_two_level());
        assert_eq!(format.decode(&[0; 100], usize::MAX), Err(CodecErr::InputTooSmall { required }));
    }
}

#[test]
fn the_outlier_fraction_reaches_the_bytes() {
    let format = BlockFormat::two_level();
    let flags = |outlier_fraction| {
        let options = EncodeOptions { outlier_fraction, ..EncodeOptions::default() };
        let mut bytes = [0; 40];
        format.encode_into(&values(64), &options, &mut bytes).map(|_| bytes[8..16].iter().map(|b| b.count_ones()).sum())
    };
    assert_eq!((flags(0.05), flags(0.25), flags(0.0), flags(1.0)), (Ok(4), Ok(16), Ok(0), Ok(0)));
    for odd in [-0.1, 1.1, f32::NAN] {
        assert!(matches!(flags(odd), Err(CodecErr::InvalidTwoLevel { .. })), "{odd}");
    }
}

#[test]
fn half_a_block_of_zeros_or_a_bulk_of_zeros_leaves_one_scale() {
    let block = |nonzero: usize| -> Vec<f32> {
        (0..64_u8).map(|i| if usize::from(i) < nonzero { 1.0 + f32::from(i) } else { 0.0 }).collect()
    };
    let secondary = |nonzero, outlier_fraction| {
        let options = EncodeOptions { outlier_fraction, ..EncodeOptions::default() };
        let mut bytes = [0; 40];
        BlockFormat::two_level().encode_into(&block(nonzero), &options, &mut bytes).expect("finite");
        f32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])
    };
    assert_eq!(secondary(32, 0.05), 0.0, "the middle magnitude is zero");
    assert!(secondary(33, 0.05) > 0.0);
    assert_eq!(secondary(40, 0.9), 0.0, "the primary maximum would be zero");
}

/// Sorted magnitudes 10, 4, 3, 2.5, 2, 1, 1, 1: the largest is exactly 5 times the one in the middle, at position 4.
#[test]
fn two_level_starts_above_the_threshold_and_not_at_it() {
    let values = [1.0, -2.0, 10.0, 4.0, -1.0, 2.5, 3.0, 1.0];
    let is_two_level = |threshold, outlier_fraction| {
        let two_level = TwoLevel::Auto { threshold, outlier_fraction };
        let block = BlockLen::new(8).expect("a multiple of eight");
        let config = QuantConfig { block_size: 8, two_level, ..QuantConfig::default() };
        let blocks = quantize_bits(&values, 3, &config).expect("finite");
        let format = BlockFormat::choose(BitWidth::W3, block, two_level, &values).expect("valid");
        assert_eq!(blocks[0].secondary_scale.is_some(), format.is_two_level(), "one rule for blocks and tensors");
        format.is_two_level()
    };
    assert!(is_two_level(4.99, 0.05));
    assert!(!is_two_level(5.0, 0.05));
    assert!(!is_two_level(4.99, 0.0), "no outliers, no second scale");
}

#[test]
fn blocks_and_tensors_agree_on_two_levels_at_any_fraction() {
    for outlier_fraction in [0.05, 0.2, 0.5] {
        let two_level = TwoLevel::Auto { threshold: 1.0, outlier_fraction };
        let config = QuantConfig { two_level, ..QuantConfig::default() };
        let values = values(300);
        let blocks = quantize_bits(&values, 3, &config).expect("finite");
        let joined: Vec<u8> = blocks.iter().flat_map(|b| b.to_bytes().expect("just made")).collect();
        let format = BlockFormat::choose(BitWidth::W3, BlockLen::DEFAULT, two_level, &values).expect("valid");
        assert!(format.is_two_level());
        let mut bytes = vec![0; format.encoded_len(300)];
        format.encode_into(&values, &EncodeOptions::from(&config), &mut bytes).expect("finite");
        assert_eq!(joined, bytes, "{outlier_fraction}");
    }
}

#[test]
fn surplus_flags_do_not_reach_the_bytes() {
    let block = QuantizedBlock {
        scale: 1.0,
        secondary_scale: Some(2.0),
        flags: Some(vec![0b1111_1101, 0xFF, 0xFF]),
        codes: vec![1, -3, 3],
        bits: 3,
    };
    let bytes = block.to_bytes().expect("a good block");
    assert_eq!(bytes.len(), BlockFormat::two_level().encoded_len(3));
    assert_eq!(bytes[8], 0b101, "spare bits are zero");
    assert_eq!(BlockFormat::two_level().decode(&bytes, 3), Ok(vec![2.0, -3.0, 6.0]));
}
