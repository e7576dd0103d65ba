//! Histograms, row flags and row swaps, compared with simple loops.
#![expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "made-up data")]

use bitgrain_kernels::histograms::{CodeSum, Pair4, Pair8, PairF32, SLOT_CELLS, add_pairs, flag_rows, swap_rows};
use bitgrain_kernels::{Backend, KernelError};

fn bytes(len: usize) -> Vec<u8> {
    let mut state = 0x1234_5678_9ABC_DEF0_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(next).collect()
}

const WIDTHS: [usize; 4] = [4, 8, 12, 16];

#[test]
fn sums_of_codes_are_the_sums_of_their_parts() {
    for width in WIDTHS {
        let rows = bytes(width * 1000);
        let codes = bytes(2000);
        let pairs: Vec<Pair8> = codes.chunks(2).map(|c| Pair8 { grad: c[0] as i8, hess: c[1] }).collect();
        let mut cells = vec![[CodeSum::default(); SLOT_CELLS]; width];
        add_pairs(&rows, &pairs, &mut cells).expect("whole rows");
        for (slot, cells) in cells.iter().enumerate() {
            for byte in 0..=255_u8 {
                let there = || pairs.iter().zip(rows.chunks(width)).filter(|(_, row)| row[slot] == byte);
                let grad: i64 = there().map(|(pair, _)| i64::from(pair.grad)).sum();
                let hess: i64 = there().map(|(pair, _)| i64::from(pair.hess)).sum();
                let cell = cells[usize::from(byte)];
                assert_eq!((cell.grad(), cell.hess()), (grad, hess), "slot {slot} of {width}, byte {byte}");
            }
            assert!(cells[256..].iter().all(|cell| *cell == CodeSum::default()), "cells of no byte stay empty");
        }
    }
}

#[test]
fn four_bits_represent_every_code() {
    for grad in -8..8 {
        for hess in 0..16 {
            let pair = Pair4::new(grad, hess);
            assert_eq!((pair.grad(), pair.hess()), (grad, hess));
            let mut cells = vec![[CodeSum::default(); SLOT_CELLS]; 4];
            add_pairs(&[9; 4], &[pair], &mut cells).expect("a row");
            assert_eq!(cells[3][9], CodeSum::of(grad, hess));
        }
    }
}

#[test]
fn floats_are_added_in_the_order_of_rows() {
    let rows = bytes(4 * 3000).iter().map(|byte| byte % 7).collect::<Vec<_>>();
    let pairs: Vec<PairF32> =
        bytes(3000).iter().map(|&b| PairF32 { grad: f32::from(b) * 0.37 - 40.0, hess: f32::from(b) * 1e-3 }).collect();
    let mut cells = vec![[PairF32::default(); SLOT_CELLS]; 4];
    add_pairs(&rows, &pairs, &mut cells).expect("whole rows");
    for (slot, cells) in cells.iter().enumerate() {
        for (byte, got) in cells[..7].iter().enumerate() {
            let mut want = PairF32::default();
            for (pair, _) in pairs.iter().zip(rows.chunks(4)).filter(|(_, row)| usize::from(row[slot]) == byte) {
                want = PairF32 { grad: want.grad + pair.grad, hess: want.hess + pair.hess };
            }
            assert_eq!((got.grad.to_bits(), got.hess.to_bits()), (want.grad.to_bits(), want.hess.to_bits()));
        }
    }
}

#[test]
fn every_row_has_a_flag() {
    let mut table = [0; 256];
    // Scattered over every quarter of the table.
    (0..256).for_each(|byte| table[byte] = u8::from(byte * 7 % 11 < 5));
    for width in WIDTHS {
        for n_rows in [0, 1, 63, 64, 65, 127, 128, 129, 200, 1000] {
            let rows = bytes(width * n_rows);
            for slot in 0..width {
                let want: Vec<bool> = rows.chunks(width).map(|row| table[usize::from(row[slot])] == 1).collect();
                for &backend in Backend::available() {
                    let mut flags = vec![0; n_rows.div_ceil(64)];
                    let count = flag_rows(backend, &rows, width, slot, &table, &mut flags).expect("whole rows");
                    let got: Vec<bool> = (0..n_rows).map(|row| flags[row / 64] >> (row % 64) & 1 == 1).collect();
                    assert_eq!(got, want, "{backend}: slot {slot} of {width}, {n_rows} rows");
                    assert_eq!(count, want.iter().filter(|left| **left).count());
                }
            }
        }
    }
}

#[test]
fn misplaced_rows_are_swapped() {
    for width in WIDTHS {
        let (mut left, mut right) = (bytes(width * 10), bytes(width * 20)[width * 5..].to_vec());
        let (old_left, old_right) = (left.clone(), right.clone());
        swap_rows(width, &mut left, &mut right, &[0, 7], &[3, 14]).expect("a width of ours");
        let row = |rows: &[u8], at: usize| rows[at * width..(at + 1) * width].to_vec();
        assert_eq!((row(&left, 0), row(&left, 7)), (row(&old_right, 3), row(&old_right, 14)));
        assert_eq!((row(&right, 3), row(&right, 14)), (row(&old_left, 0), row(&old_left, 7)));
        assert_eq!((row(&left, 1), row(&right, 0)), (row(&old_left, 1), row(&old_right, 0)));
    }
}

#[test]
fn rows_of_another_width_are_rejected() {
    let mut cells = vec![[CodeSum::default(); SLOT_CELLS]; 5];
    assert_eq!(add_pairs(&[0; 5], &[Pair8::default()], &mut cells), Err(KernelError::SlotCount { slots: 5 }));
    let few = add_pairs(&[0; 7], &[Pair8::default(); 2], &mut cells[..4]);
    assert_eq!(few, Err(KernelError::RowCount { bytes: 7, expected: 8 }));
    assert_eq!(
        flag_rows(Backend::best(), &[0; 8], 4, 4, &[0; 256], &mut [0]),
        Err(KernelError::SlotCount { slots: 4 })
    );
    assert_eq!(
        flag_rows(Backend::best(), &[0; 9], 4, 0, &[0; 256], &mut [0]),
        Err(KernelError::RowCount { bytes: 9, expected: 8 })
    );
    assert_eq!(
        flag_rows(Backend::best(), &[0; 8], 4, 0, &[0; 256], &mut []),
        Err(KernelError::OutputTooSmall { required: 1 })
    );
    assert_eq!(swap_rows(6, &mut [], &mut [], &[], &[]), Err(KernelError::SlotCount { slots: 6 }));
}
