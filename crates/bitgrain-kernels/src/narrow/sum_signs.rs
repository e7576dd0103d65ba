//! Sums over sign codes: sixteen table look-ups per instruction.

use crate::narrow::register::{Bits, Dwords, Narrow};
use crate::sum_signs::{SIGN_GROUP, TABLES_PER_RUN};

#[inline(always)]
pub(crate) fn sum_signs<I: Narrow>(isa: I, tables: &[[u8; 16]], codes: &[u8], out: &mut [u32]) {
    let groups = codes.chunks_exact(tables.len() * 16).zip(out.as_chunks_mut::<SIGN_GROUP>().0);
    for (codes, out) in groups {
        let runs = tables.chunks(TABLES_PER_RUN).zip(codes.as_chunks::<16>().0.chunks(TABLES_PER_RUN));
        for (tables, codes) in runs {
            let (mut low, mut high) = ([isa.integer(0); 2], [isa.integer(0); 2]);
            for (table, codes) in tables.iter().zip(codes) {
                let (table, codes) = (isa.codes8(table), isa.codes8(codes));
                low = add_entries(isa, low, isa.lookup(table, isa.and_bits(codes, isa.code8(15))));
                high = add_entries(isa, high, isa.lookup(table, isa.shr8(codes, 4)));
            }
            let (low_out, high_out) = out.split_at_mut(SIGN_GROUP / 2);
            add_sums(isa, low, low_out);
            add_sums(isa, high, high_out);
        }
    }
}

/// Adds the even and the odd bytes to two sums of 16-bit lanes. No lane overflows within a run, so 32-bit additions do.
#[inline(always)]
fn add_entries<I: Narrow>(isa: I, sums: [Dwords<I>; 2], entries: Bits<I>) -> [Dwords<I>; 2] {
    let even = isa.dwords(isa.and_bits(entries, isa.splat16(255)));
    let odd = isa.dwords(isa.shr16(entries, 8));
    [sums[0] + even, sums[1] + odd]
}

/// Adds the sums of sixteen vectors to `out`.
#[inline(always)]
fn add_sums<I: Narrow>(isa: I, sums: [Dwords<I>; 2], out: &mut [u32]) {
    let mut bytes = [[0; 16]; 2];
    isa.put_codes8(isa.bits_of(sums[0]), &mut bytes[0]);
    isa.put_codes8(isa.bits_of(sums[1]), &mut bytes[1]);
    let lanes = bytes[0].as_chunks::<2>().0.iter().zip(bytes[1].as_chunks::<2>().0);
    for (out, (even, odd)) in out.as_chunks_mut::<2>().0.iter_mut().zip(lanes) {
        out[0] = out[0].wrapping_add(u32::from(u16::from_le_bytes(*even)));
        out[1] = out[1].wrapping_add(u32::from(u16::from_le_bytes(*odd)));
    }
}
