//! Sums over sign codes: the definition.

use crate::sum_signs::SIGN_GROUP;

pub(crate) fn sum_signs(tables: &[[u8; 16]], codes: &[u8], out: &mut [u32]) {
    let groups = codes.chunks_exact(tables.len() * 16).zip(out.as_chunks_mut::<SIGN_GROUP>().0);
    for (codes, out) in groups {
        let (low, high) = out.split_at_mut(SIGN_GROUP / 2);
        for (table, codes) in tables.iter().zip(codes.as_chunks::<16>().0) {
            for ((low, high), code) in low.iter_mut().zip(&mut *high).zip(codes) {
                *low = low.wrapping_add(u32::from(table[usize::from(code & 15)]));
                *high = high.wrapping_add(u32::from(table[usize::from(code >> 4)]));
            }
        }
    }
}
