//! Guaranteed sizes.

use bitgrain_codec::{BitWidth, BlockFormat, Drift, ScaleType};
use bitgrain_store::temporal::{EncodedFrame, FrameConfig, FrameEncoder, FrameRole};

use super::series::{Random, Temper, encoded};

fn bytes(frames: &[EncodedFrame]) -> usize {
    frames.iter().map(|frame| frame.body.len()).sum()
}

fn roles(frames: &[EncodedFrame], role: FrameRole) -> usize {
    frames.iter().filter(|frame| frame.head.role == role).count()
}

/// Returns the compression ratio relative to plain blocks of the same width; checks that no frame has a larger bound.
fn gain(width: BitWidth, series: &[Vec<f32>]) -> f64 {
    let format = BlockFormat::new(width);
    let frames = encoded(FrameConfig::new(width), series);
    let mut plain = 0;
    for (values, frame) in series.iter().zip(&frames) {
        let bytes = format.encode(values).expect("finite");
        let bound = format.bound(&bytes, values.len()).expect("just written");
        // The scales of key frames are f16, up to 2^-10 larger.
        let slack = if frame.head.role.is_difference() { 1.0 } else { 1.001 };
        assert!(frame.head.bound <= bound * slack, "{:?}, {bound} plain", frame.head);
        plain += bytes.len();
    }
    plain as f64 / bytes(&frames) as f64
}

#[test]
fn a_hundred_stationary_frames_share_scales() {
    // Values are permuted, so each block keeps its maximum.
    let mut random = Random(5);
    let mut level: Vec<f32> = (0..64 * 16).map(|_| random.signed()).collect();
    let series: Vec<Vec<f32>> = (0..100)
        .map(|_| {
            for block in level.chunks_mut(64) {
                (1..64).rev().for_each(|i| block.swap(i, random.below(i as u32 + 1) as usize));
            }
            level.clone()
        })
        .collect();
    let settings = FrameConfig { scale_type: ScaleType::F32, ..FrameConfig::new(BitWidth::W8) };
    let frames = encoded(settings, &series);
    assert_eq!((roles(&frames, FrameRole::Key), roles(&frames, FrameRole::Shared)), (1, 99));
    let raw = 4 * 64 * 16 * 100;
    assert_eq!(bytes(&frames), 16 * (4 + 64 * 100));
    assert_eq!(format!("{:.2}", raw as f64 / bytes(&frames) as f64), "4.00");
    let halves = encoded(FrameConfig::new(BitWidth::W8), &series);
    assert_eq!(bytes(&halves), 16 * (2 + 64 * 100));
}

#[test]
fn differences_make_series_far_from_zero_much_smaller() {
    let kelvin = Temper::Kelvin.series(11, 64 * 16, 100);
    let gains = [BitWidth::W8, BitWidth::W7, BitWidth::W5].map(|width| gain(width, &kelvin));
    assert!(gains[0] > 3.5 && gains[1] > 3.2 && gains[2] > 2.3, "{gains:?}");
}

#[test]
fn differences_save_space_even_if_the_series_drifts() {
    // Half a step of the key frame's scale per frame: a key frame is soon obsolete.
    let series: Vec<Vec<f32>> =
        (0..200).map(|t| (0..1024).map(|i| 290.0 + t as f32 + (i as f32 * 0.1).sin()).collect()).collect();
    let frames = encoded(FrameConfig::new(BitWidth::W8), &series);
    let keys = roles(&frames, FrameRole::Key);
    assert!((5..60).contains(&keys), "{keys} key frames");
    let gain = gain(BitWidth::W8, &series);
    assert!(gain > 1.6, "{gain}");
}

#[test]
fn noise_around_zero_is_no_larger_than_plain_frames() {
    let mut random = Random(1);
    let series: Vec<Vec<f32>> = (0..50).map(|_| (0..640).map(|_| random.signed()).collect()).collect();
    let plain = 50 * BlockFormat::new(BitWidth::W8).encoded_len(640);
    assert!(bytes(&encoded(FrameConfig::new(BitWidth::W8), &series)) < plain);
}

#[test]
fn with_zero_drift_frames_share_scales_that_equal_their_own() {
    let settings = FrameConfig { drift: Drift::new(0.0).expect("in range"), ..FrameConfig::new(BitWidth::W8) };
    // A scale that is rounded up to f16, so that the maximum of the frame is below its range.
    let frame: Vec<f32> = (0..64).map(|i| 1.0001 * (i as f32 / 31.5 - 1.0)).collect();
    let turned: Vec<f32> = frame.iter().map(|value| -value).collect();
    let frames = encoded(settings, &[frame, turned]);
    assert_eq!(roles(&frames, FrameRole::Shared), 1, "{:?}", frames[1].head);
    let frames = encoded(settings, &Temper::Kelvin.series(1, 64, 2));
    assert_eq!((frames[1].head.role, frames[1].head.scale_type), (FrameRole::DifferenceKey, ScaleType::F16));
    assert!(frames[1].head.width <= BitWidth::W3);
}

#[test]
fn runs_end_at_their_cap() {
    let settings = FrameConfig { run_frames: 10, ..FrameConfig::new(BitWidth::W8) };
    let frames = encoded(settings, &vec![vec![290.0; 100]; 95]);
    assert_eq!(roles(&frames, FrameRole::Key), 10);
    assert!(frames.iter().enumerate().all(|(i, frame)| frame.head.key_back as usize == i % 10));
}

#[test]
fn frames_of_a_discarded_clone_are_not_part_of_the_run() {
    let mut encoder = FrameEncoder::new(FrameConfig::new(BitWidth::W8), 64);
    encoder.encode(&[290.0; 64]).expect("finite");
    let mut lost = encoder.clone();
    let first = lost.encode(&[291.0; 64]).expect("finite");
    assert_eq!((first.head.role, first.head.key_back), (FrameRole::DifferenceKey, 1));
    // The frame was never stored, so the next one must not use its scales.
    assert_eq!(encoder.encode(&[291.0; 64]).expect("finite"), first);
    assert_eq!(encoder.encode(&[291.5; 64]).expect("finite").head.role, FrameRole::DifferenceShared);
}
