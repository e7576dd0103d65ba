//! Properties of every tensor: bounds, round trips, and errors instead of panics.

use bitgrain_codec::{
    BitWidth, BlockFormat, BlockLen, CodecErr, Drift, EncodeOptions, NonFinite, QuantConfig, TwoLevel, bound,
    bound_of_scale, bound_with_drift, dequantize, max_abs, pack_bits, quantize_bits, scale_fits, unpack_bits,
};
use bitgrain_kernels::Backend;
use bitgrain_kernels::blocks::block_scale;
use bitgrain_kernels::codes::{dequantize as decode_codes, quantize};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any finite value, with corner cases overrepresented.
fn finite() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -10.0_f32..10.0,
        1 => any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |v| v.is_finite()),
        1 => (0_u32..4096).prop_map(f32::from_bits), // subnormal
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(f32::MAX), Just(f32::MIN), Just(f32::MIN_POSITIVE)],
    ]
}

/// A tensor of one kind: ordinary, tiny, huge, mixed, or made of exact ties.
fn tensor() -> impl Strategy<Value = Vec<f32>> {
    prop_oneof![
        vec(-1.0_f32..1.0, 0..300),
        vec((0_u32..100_000).prop_map(f32::from_bits), 0..300),
        vec((-1.0_f32..1.0).prop_map(|v| v * f32::MAX), 0..300),
        vec(finite(), 0..300),
        vec((-300_i16..300).prop_map(|k| f32::from(k) * 0.5), 0..300),
    ]
}

fn width() -> impl Strategy<Value = BitWidth> {
    prop::sample::select(BitWidth::ALL.to_vec())
}

fn format() -> impl Strategy<Value = BlockFormat> {
    let block = prop::sample::select(vec![8, 24, 64, 96, 128]);
    (width(), block, any::<bool>()).prop_map(|(width, block, two_level)| {
        let format = if two_level { BlockFormat::two_level() } else { BlockFormat::new(width) };
        format.with_block_len(BlockLen::new(block).expect("a multiple of eight"))
    })
}

fn error(a: f32, b: f32) -> f64 {
    (f64::from(a) - f64::from(b)).abs()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_value_is_within_the_error_of_its_block(values in tensor(), width in width()) {
        let format = BlockFormat::new(width);
        let bytes = format.encode(&values).expect("finite");
        let back = format.decode(&bytes, values.len()).expect("just written");
        for (block, back) in values.chunks(64).zip(back.chunks(64)) {
            let allowed = f64::from(bound(width, max_abs(block)));
            for (x, y) in block.iter().zip(back) {
                prop_assert!(error(*x, *y) <= allowed, "{x:e} came back as {y:e}, {allowed:e} allowed");
            }
        }
    }

    #[test]
    fn every_value_is_within_the_bound_of_its_bytes(values in tensor(), format in format()) {
        let bytes = format.encode(&values).expect("finite");
        prop_assert_eq!(bytes.len(), format.encoded_len(values.len()));
        let back = format.decode(&bytes, values.len()).expect("just written");
        let allowed = f64::from(format.bound(&bytes, values.len()).expect("just written"));
        for (x, y) in values.iter().zip(&back) {
            prop_assert!(y.is_finite());
            prop_assert!(error(*x, *y) <= allowed, "{x:e} came back as {y:e}, {allowed:e} allowed");
        }
    }

    #[test]
    fn a_reused_scale_that_fits_keeps_the_bound(
        old in 1e-3_f32..1e3, place in 0.0_f32..=1.0, shape in vec(-1.0_f32..=1.0, 1..100), width in width(),
        drift in 0.0_f32..0.5,
    ) {
        let scale = block_scale(width, old);
        // A frame whose maximum lies between the two limits of the rule.
        let qmax = f32::from(width.qmax());
        let target = scale * ((1.0 - drift) * qmax * (1.0 - place) + (qmax + 0.5) * place);
        let frame: Vec<f32> = shape.iter().map(|v| v / max_abs(&shape) * target).collect();
        let largest = max_abs(&frame);
        let drift = Drift::new(drift).expect("in range");
        prop_assume!(scale_fits(width, scale, largest, drift));
        let mut codes = vec![0; frame.len()];
        quantize(Backend::best(), width, &frame, scale, &mut codes).expect("room");
        let mut back = vec![0.0; frame.len()];
        decode_codes(Backend::best(), &codes, scale, &mut back).expect("room");
        let by_scale = bound_of_scale(width, scale);
        let by_maximum = bound_with_drift(width, largest, drift);
        prop_assert!(by_scale <= by_maximum, "{by_scale:e} and {by_maximum:e}");
        for (x, y) in frame.iter().zip(&back) {
            prop_assert!(error(*x, *y) <= f64::from(by_scale), "{x:e} came back as {y:e} at scale {scale:e}");
        }
    }

    #[test]
    fn inspected_blocks_equal_the_blocks_of_the_tensor(values in tensor(), width in width()) {
        let blocks = quantize_bits(&values, width.bits(), &QuantConfig::default()).expect("finite");
        let format = BlockFormat::new(width);
        let bytes = format.encode(&values).expect("finite");
        let joined: Vec<u8> = blocks.iter().flat_map(|b| b.to_bytes().expect("just made")).collect();
        prop_assert_eq!(joined, bytes.clone());
        let back: Vec<f32> = blocks.iter().flat_map(dequantize).collect();
        prop_assert_eq!(back, format.decode(&bytes, values.len()).expect("just written"));
    }

    #[test]
    fn any_range_reads_like_the_whole(values in tensor(), format in format(), ends in any::<[prop::sample::Index; 2]>()) {
        let bytes = format.encode(&values).expect("finite");
        let whole = format.decode(&bytes, values.len()).expect("just written");
        let ends = ends.map(|end| end.index(values.len() + 1));
        let range = ends[0].min(ends[1])..ends[0].max(ends[1]);
        let mut part = vec![0.0; range.len()];
        format.decode_range(&bytes, values.len(), range.clone(), &mut part).expect("inside");
        prop_assert_eq!(&part, &whole[range]);
    }

    #[test]
    fn any_bytes_decode_to_finite_values_or_an_error(bytes in vec(any::<u8>(), 0..400), format in format(), count in 0_usize..400) {
        match format.decode(&bytes, count) {
            Ok(values) => {
                prop_assert!(values.iter().all(|v| v.is_finite()));
                prop_assert!(format.bound(&bytes, count).is_ok());
            }
            Err(CodecErr::InputTooSmall { required }) => prop_assert!(required > bytes.len()),
            Err(CodecErr::InvalidScale { index } | CodecErr::CodeOutOfRange { index, .. }) => prop_assert!(index < count),
            Err(other) => prop_assert!(false, "unexpected {other}"),
        }
    }

    #[test]
    fn every_truncation_is_rejected(values in tensor(), format in format(), cut in any::<prop::sample::Index>()) {
        let bytes = format.encode(&values).expect("finite");
        prop_assume!(!bytes.is_empty());
        let short = &bytes[..cut.index(bytes.len())];
        prop_assert_eq!(format.decode(short, values.len()), Err(CodecErr::InputTooSmall { required: bytes.len() }));
    }

    #[test]
    fn the_policy_decides_about_non_finite_values(
        mut values in vec(-5.0_f32..5.0, 1..200), at in any::<prop::sample::Index>(), format in format(),
        odd in prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY]),
    ) {
        let at = at.index(values.len());
        values[at] = odd;
        let mut bytes = vec![0; format.encoded_len(values.len())];
        let rejected = format.encode_into(&values, &EncodeOptions::default(), &mut bytes);
        prop_assert_eq!(rejected, Err(CodecErr::NonFinite { index: at }));
        for non_finite in [NonFinite::Zero, NonFinite::Clamp] {
            let options = EncodeOptions { non_finite, ..EncodeOptions::default() };
            format.encode_into(&values, &options, &mut bytes).expect("the policy takes it");
            let back = format.decode(&bytes, values.len()).expect("just written");
            let allowed = f64::from(format.bound(&bytes, values.len()).expect("just written"));
            for (x, y) in values.iter().zip(&back).filter(|(x, _)| x.is_finite()) {
                prop_assert!(error(*x, *y) <= allowed);
            }
            if non_finite == NonFinite::Zero || odd.is_nan() {
                prop_assert_eq!(back[at], 0.0);
            } else {
                let start = at / format.block_len().get() * format.block_len().get();
                let block = &values[start..values.len().min(start + format.block_len().get())];
                let largest = max_abs(&block.iter().copied().filter(|v| v.is_finite()).collect::<Vec<_>>());
                prop_assert!(error(back[at], largest.copysign(odd)) <= allowed);
            }
        }
    }

    #[test]
    fn unpacking_inverts_packing(bits in 2_u8..=8, seeds in vec(any::<i8>(), 0..300)) {
        let qmax = i8::MAX >> (8 - bits);
        let codes: Vec<i8> = seeds.iter().map(|&s| s.clamp(-qmax, qmax)).collect();
        let mut bytes = vec![0; codes.len()];
        let len = pack_bits(&codes, bits, &mut bytes).expect("in range");
        prop_assert_eq!(len, (codes.len() * usize::from(bits)).div_ceil(8));
        let mut back = vec![99; codes.len()];
        prop_assert_eq!(unpack_bits(&bytes[..len], bits, &mut back), Ok(len));
        prop_assert_eq!(back, codes);
    }

    #[test]
    fn two_level_blocks_hold_both_bounds(values in tensor()) {
        let config = QuantConfig { two_level: TwoLevel::AUTO, ..QuantConfig::default() };
        for (block, values) in quantize_bits(&values, 3, &config).expect("finite").iter().zip(values.chunks(64)) {
            let back = dequantize(block);
            for (i, (x, y)) in values.iter().zip(&back).enumerate() {
                let flagged = block.flags.as_ref().is_some_and(|flags| flags[i / 8] >> (i % 8) & 1 == 1);
                let scale = if flagged { block.secondary_scale.expect("two levels") } else { block.scale };
                prop_assert!(error(*x, *y) <= f64::from(bound_of_scale(BitWidth::W3, scale)));
            }
        }
    }
}
