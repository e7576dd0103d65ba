//! Sums over sign codes: exact on every backend, for any bytes and any number of tables.

use bitgrain_kernels::search::{SIGN_GROUP, set_signs, sign_group_bytes, sign_tables, sum_signs};
use bitgrain_kernels::{Backend, KernelError};

use crate::Bits;

#[test]
fn sums_are_the_same_on_every_backend_for_any_bytes() {
    let mut bits = Bits(21);
    for count in (0..=20).chain([63, 64, 96, 255, 256, 257, 259, 600]) {
        // Also the largest entries everywhere, which must not overflow a lane.
        for largest in [false, true] {
            let entries = if largest { vec![255; 16 * count] } else { bits.bytes(16 * count) };
            let tables = entries.as_chunks::<16>().0;
            let codes = bits.bytes(3 * 16 * count);
            let before: Vec<u32> = (0..3 * SIGN_GROUP as u32).collect();
            let sum = |backend| {
                let mut out = before.clone();
                sum_signs(backend, tables, &codes, &mut out).expect("good sizes");
                out
            };
            let want = sum(Backend::scalar());
            for &backend in &Backend::available()[1..] {
                assert_eq!(sum(backend), want, "{backend} with {count} tables");
            }
            if largest {
                let all = |v: u32| v + 255 * u32::try_from(count).expect("small");
                assert_eq!(want, before.iter().map(|&v| all(v)).collect::<Vec<_>>(), "{count} tables");
            }
        }
    }
}

#[test]
fn sums_add_the_entry_of_each_four_signs() {
    let mut bits = Bits(22);
    for columns in [1, 4, 7, 100, 384] {
        let tables = bits.bytes(16 * sign_tables(columns));
        let tables = tables.as_chunks::<16>().0;
        let vectors: Vec<Vec<f32>> = (0..SIGN_GROUP).map(|_| bits.normals(columns)).collect();
        let mut group = vec![0; sign_group_bytes(columns)];
        for (i, vector) in vectors.iter().enumerate() {
            set_signs(vector, i, &mut group).expect("good sizes");
        }
        let mut out = [0; SIGN_GROUP];
        sum_signs(Backend::best(), tables, &group, &mut out).expect("good sizes");
        for (vector, sum) in vectors.iter().zip(out) {
            let nibble = |four: &[f32]| four.iter().rev().fold(0, |nibble, v| 2 * nibble + usize::from(*v >= 0.0));
            let entry = |(table, four): (&[u8; 16], &[f32])| u32::from(table[nibble(four)]);
            assert_eq!(sum, tables.iter().zip(vector.chunks(4)).map(entry).sum::<u32>(), "{columns} columns");
        }
    }
}

#[test]
fn wrong_sizes_are_errors() {
    let tables = [[1; 16]; 3];
    for &backend in Backend::available() {
        let sum = |codes: &[u8], out: &mut [u32]| sum_signs(backend, &tables, codes, out);
        assert_eq!(sum(&[0; 48], &mut [0; 32]), Ok(()));
        assert_eq!(sum(&[], &mut []), Ok(()));
        assert_eq!(sum(&[0; 47], &mut [0; 32]), Err(KernelError::InputTooSmall { required: 48 }));
        assert_eq!(sum(&[0; 48], &mut [0; 31]), Err(KernelError::OutputTooSmall { required: 32 }));
        assert_eq!(sum_signs(backend, &[], &[], &mut [5; 32]), Ok(()));
    }
    assert_eq!(set_signs(&[1.0; 5], 0, &mut [0; 16]), Err(KernelError::OutputTooSmall { required: 32 }));
    let outside = set_signs(&[1.0; 4], 32, &mut [0; 16]);
    assert_eq!(outside, Err(KernelError::RowCount { bytes: 32, expected: 32 }));
}
