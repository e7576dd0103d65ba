//! Wrong sizes are typed errors with the required size; empty slices are accepted.

use bitgrain_kernels::bins::bin_f32;
use bitgrain_kernels::blocks::{decode_blocks, dot_blocks, encode_blocks, quantize_pack, unpack_dequantize};
use bitgrain_kernels::codes::{
    dequantize, dot_i8, pack_i8, pack_u8, pack_u16, quantize, unpack_i8, unpack_u8, unpack_u16,
};
use bitgrain_kernels::floats::{e2m1_to_f32, e4m3_from_f32, exp, f16_from_f32, f16_to_f32, sigmoid};
use bitgrain_kernels::gradients::{logistic_gradients, softmax_gradients};
use bitgrain_kernels::{Backend, BitWidth, BlockLen, KernelError, UnsignedWidth, max_abs};

const WIDTH: BitWidth = BitWidth::W5;
const BLOCK: BlockLen = BlockLen::DEFAULT;

#[test]
fn short_outputs_say_how_much_is_needed() {
    for &b in Backend::available() {
        let twelve = UnsignedWidth::new(12).expect("in range");
        let five = UnsignedWidth::new(5).expect("in range");
        let values = [1.0; 70];
        let small = |required| Err(KernelError::OutputTooSmall { required });
        assert_eq!(quantize(b, WIDTH, &values, 1.0, &mut [0; 69]), small(70));
        assert_eq!(dequantize(b, &[0; 70], 1.0, &mut [0.0; 69]), small(70));
        assert_eq!(pack_i8(b, WIDTH, &[0; 70], &mut [0; 43]), small(44));
        assert_eq!(pack_u8(b, five, &[0; 70], &mut [0; 43]), small(44));
        assert_eq!(pack_u16(b, twelve, &[0; 70], &mut [0; 104]), small(105));
        assert_eq!(quantize_pack(b, WIDTH, &values, 1.0, &mut [0; 43]), small(44));
        assert_eq!(encode_blocks(b, WIDTH, BLOCK, &values, &mut [0; 51]), small(44 + 4 + 4));
        assert_eq!(f16_from_f32(b, &values, &mut [0; 69]), small(70));
        assert_eq!(f16_to_f32(b, &[0; 70], &mut [0.0; 69]), small(70));
        assert_eq!(e4m3_from_f32(b, &values, &mut [0; 69]), small(70));
        assert_eq!(e2m1_to_f32(b, &[0; 70], &mut [0.0; 69]), small(70));
        assert_eq!(bin_f32(b, &[0.0], &values, 1_u8, &mut [0; 69]), small(70));
        assert_eq!(exp(b, &values, &mut [0.0; 69]), small(70));
        assert_eq!(sigmoid(b, &values, &mut [0.0; 69]), small(70));
        let (mut full, mut short) = ([0.0; 70], [0.0; 69]);
        let softmax = |grads: &mut [&mut [f32]], hess: &mut [&mut [f32]]| {
            softmax_gradients(b, &[&values], &values, 1.0, grads, hess)
        };
        assert_eq!(softmax(&mut [&mut full], &mut []), small(1));
        assert_eq!(softmax(&mut [&mut full], &mut [&mut short]), small(70));
        assert_eq!(softmax(&mut [&mut short], &mut [&mut full]), small(70));
        assert_eq!(logistic_gradients(b, &values, &values, &mut [0.0; 69], &mut [0.0; 70]), small(70));
        assert_eq!(logistic_gradients(b, &values, &values, &mut [0.0; 70], &mut [0.0; 69]), small(70));
    }
}

#[test]
fn short_inputs_say_how_much_is_needed() {
    for &b in Backend::available() {
        let twelve = UnsignedWidth::new(12).expect("in range");
        let five = UnsignedWidth::new(5).expect("in range");
        let small = KernelError::InputTooSmall { required: 44 };
        assert_eq!(unpack_i8(b, WIDTH, &[0; 43], &mut [0; 70]), Err(small));
        assert_eq!(unpack_u8(b, five, &[0; 43], &mut [0; 70]), Err(small));
        assert_eq!(unpack_u16(b, twelve, &[0; 104], &mut [0; 70]), Err(KernelError::InputTooSmall { required: 105 }));
        assert_eq!(unpack_dequantize(b, WIDTH, &[0; 43], 1.0, &mut [0.0; 70]), Err(small));
        let small = KernelError::InputTooSmall { required: 52 };
        assert_eq!(decode_blocks(b, WIDTH, BLOCK, &[0; 51], &mut [0.0; 70]), Err(small));
        assert_eq!(dot_blocks(b, WIDTH, BLOCK, &[0.0; 70], &[0; 51]), Err(small));
        assert_eq!(dot_i8(b, &[0; 3], &[0; 4]), Err(KernelError::InputTooSmall { required: 4 }));
        let small = KernelError::InputTooSmall { required: 70 };
        assert_eq!(softmax_gradients(b, &[&[0.0; 69]], &[0.0; 70], 1.0, &mut [], &mut []), Err(small));
        assert_eq!(logistic_gradients(b, &[0.0; 70], &[0.0; 69], &mut [0.0; 70], &mut [0.0; 70]), Err(small));
    }
}

#[test]
fn widths_outside_the_range_are_rejected() {
    for bits in [0, 1, 9, 255] {
        assert_eq!(BitWidth::new(bits), Err(KernelError::InvalidBitWidth { bits }));
    }
    for bits in [0, 17, 255] {
        assert_eq!(UnsignedWidth::new(bits), Err(KernelError::InvalidBitWidth { bits }));
    }
    let nine = UnsignedWidth::new(9).expect("in range");
    let refused = Err(KernelError::InvalidBitWidth { bits: 9 });
    assert_eq!(pack_u8(Backend::best(), nine, &[1], &mut [0; 9]), refused);
    assert_eq!(unpack_u8(Backend::best(), nine, &[1; 9], &mut [0]), refused);
    for len in [0, 1, 63, 65_544, usize::MAX] {
        assert_eq!(BlockLen::new(len), Err(KernelError::InvalidBlockLen { len }));
    }
}

#[test]
fn empty_slices_give_nothing() {
    for &b in Backend::available() {
        assert_eq!(max_abs(b, &[]), 0.0);
        assert_eq!(pack_i8(b, WIDTH, &[], &mut []), Ok(0));
        assert_eq!(unpack_i8(b, WIDTH, &[], &mut []), Ok(0));
        assert_eq!(encode_blocks(b, WIDTH, BLOCK, &[], &mut []), Ok(0));
        assert_eq!(decode_blocks(b, WIDTH, BLOCK, &[], &mut []), Ok(0));
        assert_eq!(bin_f32::<u8>(b, &[], &[], 0, &mut []), Ok(0));
        assert_eq!(exp(b, &[], &mut []), Ok(0));
        assert_eq!(dot_i8(b, &[], &[]), Ok(0));
        assert_eq!(dot_blocks(b, WIDTH, BLOCK, &[], &[]), Ok(0.0));
    }
}

#[test]
fn messages_state_cause_position_and_size() {
    assert_eq!(
        KernelError::OutputTooSmall { required: 44 }.to_string(),
        "output too small: it needs at least 44 elements"
    );
    assert_eq!(
        KernelError::CodeOutOfRange { index: 7, code: 4 }.to_string(),
        "code 4 at index 7 (0-based) is out of range"
    );
}

#[test]
fn cuts_that_do_not_ascend_or_cannot_be_counted_are_rejected() {
    for &b in Backend::available() {
        let refused = |cuts: &[f32]| bin_f32(b, cuts, &[1.0; 70], 0_u16, &mut [0; 70]);
        for (cuts, index) in
            [(&[1.0, 1.0][..], 1), (&[0.0, -0.0], 1), (&[1.0, 2.0, 0.5], 2), (&[f32::NAN], 0), (&[1.0, f32::NAN], 1)]
        {
            assert_eq!(refused(cuts), Err(KernelError::UnsortedCuts { index }), "{b} {cuts:?}");
        }
        let cuts: Vec<f32> = (0..=255_u16).map(f32::from).collect();
        let many = Err(KernelError::TooManyCuts { cuts: 256, max: 255 });
        assert_eq!(bin_f32(b, &cuts, &[1.0; 70], 0_u8, &mut [0; 70]), many);
        assert_eq!(bin_f32(b, &cuts, &[255.5; 70], 0_u16, &mut [0; 70]), Ok(70));
    }
}
