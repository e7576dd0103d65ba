//! Packing, compared with a bit-by-bit writer that follows the specification.

use bitgrain_kernels::codes::{pack_i8, pack_u8, pack_u16, unpack_i8, unpack_u8, unpack_u16};
use bitgrain_kernels::{Backend, BitWidth, KernelError, UnsignedWidth};

use crate::{Bits, lengths};

/// Packs bit by bit as specified: least significant bit first.
fn naive_pack(codes: impl Iterator<Item = u16>, bits: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    for code in codes {
        for bit in 0..usize::from(bits) {
            if at % 8 == 0 {
                out.push(0);
            }
            *out.last_mut().expect("pushed") |= ((code >> bit & 1) as u8) << (at % 8);
            at += 1;
        }
    }
    out
}

#[test]
fn bytes_of_every_width_and_length_are_those_of_the_specification() {
    let mut random = Bits(1);
    for bits in 1..=16 {
        let width = UnsignedWidth::new(bits).expect("in range");
        for len in lengths() {
            let codes: Vec<u16> = (0..len).map(|_| random.next() as u16 & width.max_code()).collect();
            let want = naive_pack(codes.iter().copied(), bits);
            for &backend in Backend::available() {
                // Longer than needed: the bytes after the result must not change.
                let mut got = vec![0xA5; want.len() + 40];
                assert_eq!(pack_u16(backend, width, &codes, &mut got), Ok(want.len()));
                assert_eq!(got[..want.len()], want, "{backend} u16 {bits} bits, {len}");
                assert!(got[want.len()..].iter().all(|&b| b == 0xA5), "{backend} wrote past its output");
                let mut back = vec![0xFFFF; len];
                assert_eq!(unpack_u16(backend, width, &want, &mut back), Ok(want.len()));
                assert_eq!(back, codes, "{backend} u16 {bits} bits, {len}");
                if bits <= 8 {
                    let codes: Vec<u8> = codes.iter().map(|&c| c as u8).collect();
                    let mut got = vec![0xA5; want.len() + 40];
                    assert_eq!(pack_u8(backend, width, &codes, &mut got), Ok(want.len()));
                    assert_eq!(got[..want.len()], want, "{backend} u8 {bits} bits, {len}");
                    assert!(got[want.len()..].iter().all(|&b| b == 0xA5), "{backend} wrote past its output");
                    let mut back = vec![0xFF; len];
                    assert_eq!(unpack_u8(backend, width, &want, &mut back), Ok(want.len()));
                    assert_eq!(back, codes, "{backend} u8 {bits} bits, {len}");
                }
            }
        }
    }
}

#[test]
fn signed_codes_round_trip_at_every_width_and_length() {
    let mut random = Bits(2);
    for width in BitWidth::ALL {
        let qmax = i16::from(width.qmax());
        for len in lengths() {
            let codes: Vec<i8> =
                (0..len).map(|_| ((random.next() % (2 * qmax as u64 + 1)) as i16 - qmax) as i8).collect();
            let want = naive_pack(codes.iter().map(|&c| (i16::from(c) + qmax) as u16), width.bits());
            for &backend in Backend::available() {
                let mut got = vec![0; want.len()];
                assert_eq!(pack_i8(backend, width, &codes, &mut got), Ok(want.len()));
                assert_eq!(got, want, "{backend} {width:?} {len}");
                let mut back = vec![0x55; len];
                assert_eq!(unpack_i8(backend, width, &want, &mut back), Ok(want.len()));
                assert_eq!(back, codes, "{backend} {width:?} {len}");
            }
        }
    }
}

#[test]
fn a_code_out_of_range_is_reported_at_any_position() {
    for &backend in Backend::available() {
        for width in BitWidth::ALL {
            let qmax = width.qmax() as i8;
            for len in [1, 7, 31, 32, 33, 64, 65, 130] {
                for at in 0..len {
                    for odd in [i8::MIN, -qmax - 1, qmax.wrapping_add(1), i8::MAX] {
                        if (-qmax..=qmax).contains(&odd) {
                            continue;
                        }
                        let mut codes = vec![qmax; len];
                        codes[at] = odd;
                        let mut out = vec![0; len];
                        let want = Err(KernelError::CodeOutOfRange { index: at, code: i32::from(odd) });
                        assert_eq!(pack_i8(backend, width, &codes, &mut out), want, "{backend} {width:?}");
                    }
                }
            }
        }
        for bits in 1..16 {
            let width = UnsignedWidth::new(bits).expect("in range");
            for at in 0..70 {
                let mut codes = vec![width.max_code(); 70];
                codes[at] += 1;
                let mut out = vec![0; 140];
                let want = Err(KernelError::CodeOutOfRange { index: at, code: i32::from(codes[at]) });
                assert_eq!(pack_u16(backend, width, &codes, &mut out), want, "{backend} {bits}");
                if bits < 8 {
                    let codes: Vec<u8> = codes.iter().map(|&c| c as u8).collect();
                    assert_eq!(pack_u8(backend, width, &codes, &mut out), want, "{backend} {bits}");
                }
            }
        }
    }
}

/// Longer than the chunk between two range checks.
#[test]
fn thousands_of_codes_pack_and_unpack_the_same_on_every_backend() {
    let mut random = Bits(3);
    for bits in [1, 3, 7, 8, 11, 16] {
        let width = UnsignedWidth::new(bits).expect("in range");
        let codes: Vec<u16> = (0..10_007).map(|_| random.next() as u16 & width.max_code()).collect();
        let want = naive_pack(codes.iter().copied(), bits);
        for &backend in Backend::available() {
            let mut got = vec![0; want.len()];
            assert_eq!(pack_u16(backend, width, &codes, &mut got), Ok(want.len()));
            assert!(got == want, "{backend} u16 {bits} bits");
            let mut back = vec![0; codes.len()];
            assert_eq!(unpack_u16(backend, width, &want, &mut back), Ok(want.len()));
            assert!(back == codes, "{backend} u16 {bits} bits");
            if bits <= 8 {
                let codes: Vec<u8> = codes.iter().map(|&c| c as u8).collect();
                assert_eq!(pack_u8(backend, width, &codes, &mut got), Ok(want.len()));
                assert!(got == want, "{backend} u8 {bits} bits");
                let mut back = vec![0; codes.len()];
                assert_eq!(unpack_u8(backend, width, &want, &mut back), Ok(want.len()));
                assert!(back == codes, "{backend} u8 {bits} bits");
            }
        }
    }
    for &backend in Backend::available() {
        for at in [0, 4095, 4096, 5000, 9999] {
            let mut wide = vec![7_u16; 10_000];
            wide[at] = 8;
            let three = UnsignedWidth::new(3).expect("in range");
            let want = Err(KernelError::CodeOutOfRange { index: at, code: 8 });
            assert_eq!(pack_u16(backend, three, &wide, &mut vec![0; 10_000]), want, "{backend}");
            let mut codes = vec![3_i8; 10_000];
            codes[at] = 4;
            let want = Err(KernelError::CodeOutOfRange { index: at, code: 4 });
            assert_eq!(pack_i8(backend, BitWidth::W3, &codes, &mut vec![0; 10_000]), want, "{backend}");
            let bytes = naive_pack(codes.iter().map(|&c| (c + 3) as u16), 3);
            assert_eq!(unpack_i8(backend, BitWidth::W3, &bytes, &mut vec![0; 10_000]), want, "{backend}");
        }
    }
}

#[test]
fn the_unused_pattern_is_rejected_at_any_position() {
    for &backend in Backend::available() {
        for width in BitWidth::ALL {
            let all_ones = (1_u16 << width.bits()) - 1;
            for len in [1, 8, 31, 32, 33, 64, 65, 130] {
                for at in 0..len {
                    let bytes =
                        naive_pack((0..len).map(|i| if i == at { all_ones } else { all_ones - 1 }), width.bits());
                    let want = KernelError::CodeOutOfRange { index: at, code: i32::from(width.qmax()) + 1 };
                    let got = unpack_i8(backend, width, &bytes, &mut vec![0; len]);
                    assert_eq!(got, Err(want), "{backend} {width:?} {at} of {len}");
                }
            }
        }
    }
}
