//! Values and bytes that are rejected.

use bitgrain_codec::{BitWidth, CodecErr};
use bitgrain_store::StoreError;
use bitgrain_store::temporal::{EncodedFrame, EncodedFrameHead, FrameConfig, FrameEncoder, FrameRole, RunDecoder};

use super::series::{Temper, encoded};

/// Returns a run with every role, and the number of values per frame.
fn run() -> (Vec<EncodedFrame>, usize) {
    let frames = encoded(FrameConfig::new(BitWidth::W8), &Temper::Kelvin.series(3, 100, 6));
    let roles: Vec<FrameRole> = frames.iter().map(|frame| frame.head.role).collect();
    assert_eq!(roles[..3], [FrameRole::Key, FrameRole::DifferenceKey, FrameRole::DifferenceShared]);
    (frames, 100)
}

fn decoder(frames: &[EncodedFrame], count: usize) -> RunDecoder {
    let mut decoder = RunDecoder::new(0, &frames[0].head, &frames[0].body, count).expect("a key frame");
    decoder.load_scales(1, &frames[1].head, &frames[1].body).expect("a difference key");
    decoder
}

#[test]
fn a_frame_of_another_length_is_rejected_and_the_run_continues() {
    let mut encoder = FrameEncoder::new(FrameConfig::new(BitWidth::W8), 8);
    encoder.encode(&[290.0; 8]).expect("eight values");
    let refused = encoder.encode(&[1.0; 9]);
    assert!(matches!(refused, Err(StoreError::FrameShape { expected: 8, got: 9 })));
    let mut odd = [290.0; 8];
    odd[5] = f32::NAN;
    let refused = encoder.encode(&odd);
    assert!(matches!(refused, Err(StoreError::Codec(CodecErr::NonFinite { index: 5 }))));
    assert_eq!(encoder.encode(&[290.0; 8]).expect("eight values").head.key_back, 1);
}

#[test]
fn bodies_of_the_wrong_length_are_rejected() {
    let (frames, count) = run();
    let (decoder, mut out) = (decoder(&frames, count), vec![0.0; count]);
    for (i, EncodedFrame { head, body }) in frames.iter().enumerate() {
        let long = [&body[..], &[0]].concat();
        for wrong in [&body[..body.len() - 1], &[][..], &long[..]] {
            let refused = decoder.decode_into(i as u64, head, wrong, &mut out);
            assert!(matches!(refused, Err(StoreError::FrameBody { .. })), "frame {i}: {refused:?}");
        }
    }
    // A count beyond the available bytes does not cause an allocation.
    assert!(RunDecoder::new(0, &frames[0].head, &frames[0].body, usize::MAX).is_err());
    let refused = decoder.decode_into(2, &frames[2].head, &frames[2].body, &mut out[1..]);
    assert!(matches!(refused, Err(StoreError::FrameShape { expected: 100, got: 99 })));
}

#[test]
fn frames_of_another_run_are_rejected() {
    let (frames, count) = run();
    let (good, mut out) = (decoder(&frames, count), vec![0.0; count]);
    let mut refused = |decoder: &RunDecoder, index: u64, change: &dyn Fn(&mut EncodedFrameHead)| {
        let EncodedFrame { mut head, body } = frames[usize::try_from(index).expect("small")].clone();
        change(&mut head);
        matches!(decoder.decode_into(index, &head, &body, &mut out), Err(StoreError::FrameOutOfRun { .. }))
    };
    for index in 0..3 {
        assert!(!refused(&good, index, &|_| ()), "frame {index}");
        assert!(refused(&good, index, &|head| head.block = bitgrain_codec::BlockLen::new(72).expect("of 8")));
    }
    assert!(refused(&good, 1, &|head| head.key_back = 0));
    assert!(refused(&good, 2, &|head| head.key_back = 1));
    assert!(refused(&good, 2, &|head| head.scales_back = 2));
    // With the width of other scales, and the matching number of bytes.
    let wider = EncodedFrameHead { width: BitWidth::W8, ..frames[2].head };
    let refused_width = good.decode_into(2, &wider, &vec![0; wider.body_len(count)], &mut vec![0.0; count]);
    assert!(matches!(refused_width, Err(StoreError::FrameOutOfRun { index: 2, needed: 1, .. })), "{refused_width:?}");
    // Without the required scales.
    let bare = RunDecoder::new(0, &frames[0].head, &frames[0].body, count).expect("a key frame");
    assert!(refused(&bare, 2, &|_| ()));
    assert!(RunDecoder::new(1, &frames[1].head, &frames[1].body, count).is_err());
    assert!(decoder(&frames, count).load_scales(2, &frames[2].head, &frames[2].body).is_err());
}

#[test]
fn no_flipped_bit_causes_a_panic_or_a_non_finite_value() {
    let (frames, count) = run();
    let mut out = vec![0.0; count];
    for (i, EncodedFrame { head, body }) in frames.iter().enumerate().take(3) {
        for bit in 0..8 * body.len() {
            let mut body = body.clone();
            body[bit / 8] ^= 1 << (bit % 8);
            let mut decoder = decoder(&frames, count);
            if i == 0 {
                let Ok(other) = RunDecoder::new(0, head, &body, count) else { continue };
                decoder = other;
            }
            if i == 1 && decoder.load_scales(1, head, &body).is_err() {
                continue;
            }
            if decoder.decode_into(i as u64, head, &body, &mut out).is_ok() {
                assert!(out.iter().all(|value| value.is_finite()), "frame {i}, bit {bit}");
            }
        }
    }
}

#[test]
fn sums_beyond_f32_are_rejected() {
    let mut encoder = FrameEncoder::new(FrameConfig::new(BitWidth::W8), 8);
    let key = encoder.encode(&[f32::MAX; 8]).expect("finite");
    let decoder = RunDecoder::new(0, &key.head, &key.body, 8).expect("a key frame");
    let head = EncodedFrameHead { role: FrameRole::DifferenceKey, key_back: 1, ..key.head };
    let refused = decoder.decode_into(1, &head, &key.body, &mut [0.0; 8]);
    assert!(matches!(refused, Err(StoreError::Codec(CodecErr::NonFinite { index: 0 }))), "{refused:?}");
}
