//! Dot products: exact for integers, with a fixed order of summation for floats.

use bitgrain_kernels::blocks::{blocks_len, decode_blocks, dot_blocks, encode_blocks};
use bitgrain_kernels::codes::dot_i8;
use bitgrain_kernels::{Backend, BitWidth, BlockLen, KernelError};

use crate::{Bits, for_hostile, lengths};

#[test]
fn integer_dots_are_exact_at_every_length() {
    let a: Vec<i8> = Bits(1).bytes(600).into_iter().map(|b| b as i8).collect();
    let b: Vec<i8> = Bits(2).bytes(600).into_iter().map(|b| b as i8).collect();
    for &backend in Backend::available() {
        for len in lengths() {
            let want: i64 = a[..len].iter().zip(&b).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum();
            assert_eq!(dot_i8(backend, &a[..len], &b[..len]), Ok(want), "{backend} {len}");
        }
    }
}

#[test]
fn integer_dots_do_not_overflow() {
    let worst = vec![i8::MIN; (4 << 20) + 5];
    for &backend in Backend::available() {
        assert_eq!(dot_i8(backend, &worst, &worst), Ok(worst.len() as i64 * 16_384), "{backend}");
    }
}

#[test]
fn dots_with_blocks_are_the_same_on_every_backend() {
    let weights = Bits(3).normals(600);
    let mut widths = BitWidth::ALL.into_iter().cycle();
    for len in [8, 24, 64, 128] {
        let block = BlockLen::new(len).expect("a multiple of eight");
        for_hostile(|backend, values| {
            let width = widths.next().expect("endless");
            let mut bytes = vec![0; blocks_len(width, block, values.len())];
            encode_blocks(Backend::scalar(), width, block, &weights[..values.len()], &mut bytes).expect("finite");
            let want = dot_blocks(Backend::scalar(), width, block, values, &bytes).expect("good");
            let got = dot_blocks(backend, width, block, values, &bytes).expect("good");
            let same = want.to_bits() == got.to_bits() || want.is_nan() && got.is_nan();
            assert!(same, "{backend} {width:?} block {len}: {want} and {got} for {values:?}");
        });
    }
}

#[test]
fn dot_products_with_blocks_are_close_to_those_of_decoded_values() {
    let (values, weights) = (Bits(4).normals(5000), Bits(5).normals(5000));
    for width in BitWidth::ALL {
        let mut bytes = vec![0; blocks_len(width, BlockLen::DEFAULT, 5000)];
        encode_blocks(Backend::best(), width, BlockLen::DEFAULT, &weights, &mut bytes).expect("finite");
        let mut decoded = vec![0.0; 5000];
        decode_blocks(Backend::best(), width, BlockLen::DEFAULT, &bytes, &mut decoded).expect("good");
        let want: f64 = values.iter().zip(&decoded).map(|(&v, &d)| f64::from(v) * f64::from(d)).sum();
        let got = dot_blocks(Backend::best(), width, BlockLen::DEFAULT, &values, &bytes).expect("good");
        assert!((f64::from(got) - want).abs() < 1e-3, "{width:?}: {got} and {want}");
    }
}

#[test]
fn a_dot_product_with_a_bad_block_is_rejected() {
    let mut bytes = vec![0; blocks_len(BitWidth::W5, BlockLen::DEFAULT, 100)];
    encode_blocks(Backend::best(), BitWidth::W5, BlockLen::DEFAULT, &[1.0; 100], &mut bytes).expect("finite");
    let dot = |bytes: &[u8], backend| dot_blocks(backend, BitWidth::W5, BlockLen::DEFAULT, &[1.0; 100], bytes);
    let mut bad_code = bytes.clone();
    bad_code[4] |= 0b1_1111;
    let mut bad_tail = bytes.clone();
    bad_tail[48] |= 0b1_1111;
    let mut bad_scale = bytes.clone();
    bad_scale[47] |= 0x80;
    for &backend in Backend::available() {
        assert!(dot(&bytes, backend).is_ok(), "{backend}");
        assert_eq!(dot(&bad_code, backend), Err(KernelError::CodeOutOfRange { index: 0, code: 16 }), "{backend}");
        assert_eq!(dot(&bad_tail, backend), Err(KernelError::CodeOutOfRange { index: 64, code: 16 }), "{backend}");
        assert_eq!(dot(&bad_scale, backend), Err(KernelError::InvalidScale { index: 64 }), "{backend}");
    }
}
