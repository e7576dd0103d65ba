//! Properties of every series of frames.

use bitgrain_codec::{
    BitWidth, BlockLen, Drift, ScaleType, block_scale, bound, bound_of_scale, bound_with_drift, max_abs,
};
use bitgrain_store::temporal::{EncodedFrameHead, FrameConfig, FrameEncoder, FrameRole, RunDecoder};
use proptest::prelude::*;

use super::series::{Temper, decoded, encoded};

fn settings() -> impl Strategy<Value = FrameConfig> {
    let width = prop::sample::select(BitWidth::ALL.to_vec());
    let block = prop::sample::select(vec![8, 24, 64, 4096]);
    let scale_type = prop::sample::select(vec![ScaleType::F16, ScaleType::F32]);
    let drift = prop::sample::select(vec![0.0, 0.1, 0.5]);
    let run_frames = prop::sample::select(vec![0, 1, 5, 256]);
    (width, block, scale_type, drift, run_frames).prop_map(|(width, block, scale_type, drift, run_frames)| {
        let (block, drift) = (BlockLen::new(block).expect("a multiple of 8"), Drift::new(drift).expect("in range"));
        FrameConfig { width, block, scale_type, drift, run_frames }
    })
}

fn temper() -> impl Strategy<Value = Temper> {
    prop::sample::select(Temper::ALL.to_vec())
}

fn error(x: &[f32], y: &[f32]) -> f64 {
    x.iter().zip(y).map(|(&x, &y)| (f64::from(x) - f64::from(y)).abs()).fold(0.0, f64::max)
}

/// Returns the guaranteed error of a block with largest magnitude `max`, by the role of its frame.
fn allowed(settings: &FrameConfig, role: FrameRole, max: f32) -> f64 {
    let FrameConfig { width, drift, .. } = *settings;
    // A scale stored as f16 is up to 2^-10 larger than the exact one.
    let halved = f64::from(bound(width, max)) * (1.0 + 1.0 / 1024.0) + f64::from(f32::from_bits(1));
    match role {
        FrameRole::Key => halved,
        FrameRole::Shared => halved.max(f64::from(bound_with_drift(width, max, drift))),
        FrameRole::DifferenceKey | FrameRole::DifferenceShared => f64::from(bound(width, max)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_frame_of_every_series_keeps_its_bound(
        settings in settings(), temper in temper(), seed in any::<u64>(), count in 0..200_usize, frames in 1..14_usize,
    ) {
        let series = temper.series(seed, count, frames);
        let encoded = encoded(settings, &series);
        for (i, (values, frame)) in series.iter().zip(&encoded).enumerate() {
            let head = frame.head;
            let back = decoded(&encoded, i, count);
            prop_assert_eq!(frame.body.len(), head.body_len(count));
            prop_assert!(back.iter().all(|value| value.is_finite()));
            prop_assert!(head.measured <= head.bound && head.bound.is_finite(), "{head:?}");
            prop_assert!(error(values, &back) <= f64::from(head.measured), "{head:?}");
            prop_assert!(head.key_back < settings.run_frames.max(1), "{head:?}");
            if head.role == FrameRole::Key {
                // Stored scales are at least those of the values, so the largest value does not saturate.
                let mut scales = vec![0.0; count.div_ceil(settings.block.get())];
                head.scale_type.read(head.width, &frame.body, &mut scales).expect("just written");
                let least = values.chunks(settings.block.get()).map(|block| block_scale(head.width, max_abs(block)));
                prop_assert!(scales.iter().zip(least).all(|(&scale, least)| scale >= least), "{head:?}");
            }
            let mut promised = 0.0_f64;
            for (values, back) in values.chunks(settings.block.get()).zip(back.chunks(settings.block.get())) {
                let allowed = allowed(&settings, head.role, max_abs(values));
                prop_assert!(error(values, back) <= allowed, "{head:?}: {values:?} came back as {back:?}");
                promised = promised.max(allowed);
                // A nonzero block of a key frame does not decode to zeros.
                if head.role == FrameRole::Key && max_abs(values) > 0.0 {
                    prop_assert!(max_abs(back) > 0.0, "{values:?}");
                }
            }
            prop_assert!(f64::from(head.bound) <= promised, "{head:?}, {promised:e} promised");
        }
    }

    #[test]
    fn the_same_frames_give_the_same_bytes_and_values(
        settings in settings(), temper in temper(), seed in any::<u64>(), count in 1..200_usize,
    ) {
        let series = temper.series(seed, count, 10);
        let frames = encoded(settings, &series);
        prop_assert_eq!(&frames, &encoded(settings, &series));
        // Decoding the series in order gives the same bits as decoding each frame on its own.
        let mut decoder: Option<RunDecoder> = None;
        let mut out = vec![0.0; count];
        for (i, frame) in frames.iter().enumerate() {
            let index = i as u64;
            if frame.head.role == FrameRole::Key {
                decoder = Some(RunDecoder::new(index, &frame.head, &frame.body, count).expect("a key frame"));
            }
            let decoder = decoder.as_mut().expect("the first frame is a key frame");
            if frame.head.role == FrameRole::DifferenceKey {
                decoder.load_scales(index, &frame.head, &frame.body).expect("a difference key");
            }
            decoder.decode_into(index, &frame.head, &frame.body, &mut out).expect("of this run");
            let alone = decoded(&frames, i, count);
            prop_assert!(out.iter().zip(&alone).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }

    #[test]
    fn a_run_continues_after_it_is_read_back(
        settings in settings(), other in settings(), temper in temper(), seed in any::<u64>(), count in 1..200_usize,
    ) {
        let series = temper.series(seed, count, 8);
        let mut frames = encoded(settings, &series[..4]);
        let last = &frames[3].head;
        let (key, scales) = (last.key_index(3) as usize, last.scales_index(3) as usize);
        let mut decoder = RunDecoder::new(key as u64, &frames[key].head, &frames[key].body, count).expect("a key frame");
        if frames[scales].head.role == FrameRole::DifferenceKey {
            decoder.load_scales(scales as u64, &frames[scales].head, &frames[scales].body).expect("a difference key");
        }
        // Other settings, such as those of another tier, can continue the run.
        let mut encoder = FrameEncoder::resume(other, &decoder, 4);
        for values in &series[4..] {
            frames.push(encoder.encode(values).expect("finite"));
        }
        for (i, values) in series.iter().enumerate() {
            let (head, back) = (frames[i].head, decoded(&frames, i, count));
            prop_assert!(error(values, &back) <= f64::from(head.measured) && head.measured <= head.bound, "{i}: {head:?}");
        }
    }
}

#[test]
fn every_role_occurs_in_the_series_that_are_tested() {
    let mut seen = std::collections::HashSet::new();
    for temper in Temper::ALL {
        let series = temper.series(7, 200, 14);
        for (scale_type, drift) in [(ScaleType::F16, 0.5), (ScaleType::F32, 0.5)] {
            let drift = Drift::new(drift).expect("in range");
            let settings = FrameConfig { scale_type, drift, ..FrameConfig::new(BitWidth::W8) };
            seen.extend(encoded(settings, &series).iter().map(|frame| (frame.head.role, frame.head.scale_type)));
        }
    }
    for role in FrameRole::ALL {
        for scale_type in [ScaleType::F16, ScaleType::F32] {
            assert!(seen.contains(&(role, scale_type)), "{role:?} with {scale_type:?} never occurred");
        }
    }
}

#[test]
fn scales_out_of_the_range_of_f16_are_stored_as_f32() {
    for size in [1e-40, 1e-7, 1e7, 3e38] {
        let values: Vec<f32> = (0..64).map(|i| size * ((i as f32 - 31.0) / 32.0)).collect();
        let mut encoder = FrameEncoder::new(FrameConfig::new(BitWidth::W3), 64);
        assert_eq!(encoder.encode(&values).expect("finite").head.scale_type, ScaleType::F32, "{size:e}");
    }
    let mut encoder = FrameEncoder::new(FrameConfig::new(BitWidth::W3), 64);
    assert_eq!(encoder.encode(&[0.0; 64]).expect("finite").head.scale_type, ScaleType::F16);
}

#[test]
fn a_small_block_next_to_a_large_one_is_as_accurate_as_alone() {
    // Only the large block changes little enough; a bound for the whole frame would not protect the small one.
    let frame =
        |t: f32| -> Vec<f32> { (0..128).map(|i| if i < 64 { 1e6 + t } else { (i as f32 + t).sin() }).collect() };
    let mut encoder = FrameEncoder::new(FrameConfig::new(BitWidth::W8), 128);
    let series: Vec<Vec<f32>> = (0..20).map(|t| frame(t as f32)).collect();
    let frames: Vec<_> = series.iter().map(|frame| encoder.encode(frame).expect("finite")).collect();
    for (i, values) in series.iter().enumerate() {
        let back = decoded(&frames, i, 128);
        assert!(error(&values[64..], &back[64..]) <= 1.2 * f64::from(bound(BitWidth::W8, 1.0)), "frame {i}");
    }
}

#[test]
fn the_rounding_of_the_sum_is_in_the_bound_of_a_difference() {
    let settings = FrameConfig { scale_type: ScaleType::F32, ..FrameConfig::new(BitWidth::W8) };
    let mut shown = 0;
    for level in (0..200).map(|k| 256.0 + 0.173 * k as f32) {
        let first: Vec<f32> = (0..64).map(|i| level + 0.4 * i as f32).collect();
        let mut frames = encoded(settings, &[first.clone(), first]);
        let head = frames[1].head;
        assert_eq!((head.role, head.width), (FrameRole::DifferenceKey, BitWidth::W2));
        let mut scale = [0.0];
        head.scale_type.read(head.width, &frames[1].body, &mut scale).expect("just written");
        // Midway between two codes, where the error is half a step plus rounding.
        let key = decoded(&frames, 0, 64);
        let values: Vec<f32> = key.iter().map(|&key| (f64::from(key) + 0.5 * f64::from(scale[0])) as f32).collect();
        let mut decoder = RunDecoder::new(0, &frames[0].head, &frames[0].body, 64).expect("a key frame");
        decoder.load_scales(1, &head, &frames[1].body).expect("a difference key");
        frames.push(FrameEncoder::resume(settings, &decoder, 2).encode(&values).expect("finite"));
        let EncodedFrameHead { role, width, bound, .. } = frames[2].head;
        assert_eq!((role, width), (FrameRole::DifferenceShared, BitWidth::W2));
        let error = error(&values, &decoded(&frames, 2, 64));
        assert!(error <= f64::from(bound), "{error} beyond {bound}");
        shown += i32::from(error > f64::from(bound_of_scale(width, scale[0])));
    }
    assert!(shown > 10, "the sum's rounding was seen {shown} times");
}

#[test]
fn scales_of_another_width_are_never_shared() {
    let drift = Drift::new(0.99).expect("in range");
    let [narrow, wide] = [BitWidth::W3, BitWidth::W8].map(|width| FrameConfig { drift, ..FrameConfig::new(width) });
    let values: Vec<f32> = (0..64).map(|i| (i as f32 - 31.0) / 32.0).collect();
    let mut encoder = FrameEncoder::new(narrow, 64);
    encoder.encode(&values).expect("finite");
    encoder.set_config(wide);
    // The sign is flipped, so that a difference does not help.
    let values: Vec<f32> = values.iter().map(|value| -value).collect();
    assert!(encoder.encode(&values).expect("finite").head.bound <= 1.001 * bound(BitWidth::W8, 1.0));
}
