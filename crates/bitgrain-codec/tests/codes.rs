//! Codes without scales equal those of blocks with scales.

use bitgrain_codec::{
    BitWidth, BlockFormat, BlockLen, CodecErr, ScaleType, block_maxima, block_scale, decode_codes, encode_codes,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn scales(width: BitWidth, block: BlockLen, values: &[f32]) -> Vec<f32> {
    let mut maxima = vec![0.0; values.len().div_ceil(block.get())];
    block_maxima(block, values, &mut maxima).expect("finite");
    maxima.iter().map(|&max| block_scale(width, max)).collect()
}

proptest! {
    #[test]
    fn scales_and_codes_apart_are_the_bytes_of_the_blocks(
        values in vec(prop_oneof![-1.0_f32..1.0, (0_u32..3000).prop_map(f32::from_bits)], 0..300),
        width in prop::sample::select(BitWidth::ALL.to_vec()), block in prop::sample::select(vec![8, 24, 64]),
    ) {
        let block = BlockLen::new(block).expect("a multiple of eight");
        let scales = scales(width, block, &values);
        let mut codes = vec![0xAA; width.packed_len(values.len()) + 1];
        let written = encode_codes(width, block, &scales, &values, &mut codes).expect("it fits");
        prop_assert_eq!((written, codes[written]), (codes.len() - 1, 0xAA));
        let mut stored = vec![0; 4 * scales.len()];
        ScaleType::F32.write(&scales, &mut stored).expect("it fits");
        let format = BlockFormat::new(width).with_block_len(block);
        let blocks = format.encode(&values).expect("finite");
        let (mut scale_at, mut code_at) = (&stored[..], &codes[..written]);
        for block in blocks.chunks(format.block_bytes()) {
            let (scale, codes) = block.split_at(4);
            prop_assert_eq!(scale, scale_at.split_off(..4).expect("a scale"));
            prop_assert_eq!(codes, code_at.split_off(..codes.len()).expect("codes"));
        }
        prop_assert!(scale_at.is_empty() && code_at.is_empty());
        let mut back = vec![0.0; values.len()];
        prop_assert_eq!(decode_codes(width, block, &scales, &codes, &mut back), Ok(written));
        prop_assert_eq!(back, format.decode(&blocks, values.len()).expect("just written"));
    }
}

#[test]
fn too_few_scales_or_bytes_are_rejected() {
    let (width, block) = (BitWidth::W5, BlockLen::new(8).expect("a multiple of eight"));
    let mut bytes = [0; 6];
    let encode = |scales: &[f32], out: &mut [u8]| encode_codes(width, block, scales, &[0.5; 9], out);
    assert_eq!(encode(&[0.1], &mut bytes), Err(CodecErr::InputTooSmall { required: 2 }));
    assert_eq!(encode(&[0.1; 2], &mut bytes[1..]), Err(CodecErr::OutputTooSmall { required: 6 }));
    assert_eq!(encode(&[0.1; 2], &mut bytes), Ok(6));
    let mut out = [0.0; 9];
    assert_eq!(decode_codes(width, block, &[0.1], &bytes, &mut out), Err(CodecErr::InputTooSmall { required: 2 }));
    assert!(decode_codes(width, block, &[0.1; 2], &bytes[1..], &mut out).is_err());
    bytes[5] = 0x1F;
    let refused = decode_codes(width, block, &[0.1; 2], &bytes, &mut out);
    assert_eq!(refused, Err(CodecErr::CodeOutOfRange { index: 8, code: 16 }));
}

#[test]
fn the_first_non_finite_value_is_reported() {
    let block = BlockLen::new(8).expect("a multiple of eight");
    for odd in [f32::NAN, f32::INFINITY] {
        let mut values = [1.0; 20];
        (values[13], values[17]) = (odd, odd);
        assert_eq!(block_maxima(block, &values, &mut [0.0; 3]), Err(CodecErr::NonFinite { index: 13 }));
    }
    assert_eq!(block_maxima(block, &[1.0; 20], &mut [0.0; 2]), Err(CodecErr::OutputTooSmall { required: 3 }));
}
