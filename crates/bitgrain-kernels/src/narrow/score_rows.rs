//! Scores of encoded rows: 16 products at a time, up to eight planes per pass over a row.

use super::unpack::{REACH, factors, unpack16};
use crate::blocks::{bias_of, read_scale};
use crate::cast::as_bytes;
use crate::narrow::register::{Bits, ByteProducts, Floats, Narrow, load_at};
use crate::score_rows::{LINE, QueryLine, RowQuery};
use crate::width::SCALE_LEN;

/// Rows to score, with the query.
#[derive(Clone, Copy)]
struct Scan<'a> {
    query: RowQuery<'a>,
    bytes: &'a [u8],
    rows: &'a [usize],
}

#[inline(always)]
pub(crate) fn score_rows<I: Narrow, U: ByteProducts<I>>(
    isa: I,
    products: U,
    query: &RowQuery<'_>,
    bytes: &[u8],
    rows: &[usize],
    out: &mut [f32],
) {
    let scan = Scan { query: *query, bytes, rows };
    match query.layout.width.bits() {
        2 => score_rows_of::<2, _, _>(isa, products, scan, out),
        3 => score_rows_of::<3, _, _>(isa, products, scan, out),
        4 => score_rows_of::<4, _, _>(isa, products, scan, out),
        5 => score_rows_of::<5, _, _>(isa, products, scan, out),
        6 => score_rows_of::<6, _, _>(isa, products, scan, out),
        7 => score_rows_of::<7, _, _>(isa, products, scan, out),
        _ => score_rows_of::<8, _, _>(isa, products, scan, out),
    }
}

#[inline(always)]
fn score_rows_of<const W: u32, I: Narrow, U: ByteProducts<I>>(isa: I, products: U, scan: Scan<'_>, out: &mut [f32]) {
    match scan.query.planes {
        1 => planes::<W, 1, _, _>(isa, products, scan, out),
        2 => planes::<W, 2, _, _>(isa, products, scan, out),
        4 => planes::<W, 4, _, _>(isa, products, scan, out),
        _ => planes::<W, 8, _, _>(isa, products, scan, out),
    }
}

#[inline(always)]
fn planes<const W: u32, const P: usize, I: Narrow, U: ByteProducts<I>>(
    isa: I,
    products: U,
    Scan { query, bytes, rows }: Scan<'_>,
    out: &mut [f32],
) {
    let block = query.layout.block.get();
    let scales = query.scales.as_chunks::<P>().0;
    let factors = factors::<W, _>(isa);
    for (i, &row) in rows.iter().enumerate() {
        // The loads of 64 codes reach beyond their bytes, so the slice continues to the end of the rows.
        let mut rest = &bytes[row..];
        let mut lines = query.lines.as_chunks::<P>().0;
        let mut left = query.layout.columns;
        let mut totals = [[isa.splat(0.0); 4]; P];
        for scales in scales {
            let len = left.min(block);
            left -= len;
            let scale = read_scale(rest);
            let mut codes = &rest[SCALE_LEN..];
            let mut sums = [[products.zero(); 4]; P];
            let (block_lines, later) = lines.split_at(len.div_ceil(LINE));
            lines = later;
            let mut missing = len;
            for lines in block_lines {
                let count = missing.min(LINE);
                missing -= count;
                let used = (count * W as usize).div_ceil(8);
                let mut padded;
                let reach = match codes.first_chunk::<REACH>() {
                    // Codes after the last one are multiplied with zeros of the query.
                    Some(reach) => reach,
                    None => {
                        padded = [0; REACH];
                        padded[..used].copy_from_slice(&codes[..used]);
                        &padded
                    }
                };
                add_products::<W, P, _, _>(isa, products, reach, factors, lines, &mut sums);
                codes = &codes[used..];
            }
            rest = codes;
            for ((totals, sums), query_scale) in totals.iter_mut().zip(sums).zip(scales) {
                let scale = isa.splat(scale * query_scale);
                for (total, sum) in totals.iter_mut().zip(sums) {
                    // Not fused: the definition rounds the product first.
                    *total = *total + isa.to_floats(products.sums(sum)) * scale;
                }
            }
        }
        for (out, totals) in out.chunks_exact_mut(rows.len()).zip(totals) {
            out[i] = sum_sixteen(isa, totals);
        }
    }
}

/// Adds the products of 64 codes with a line of each plane. The codes are signed here, so the start values of the
/// planes are not needed.
#[inline(always)]
fn add_products<const W: u32, const P: usize, I: Narrow, U: ByteProducts<I>>(
    isa: I,
    products: U,
    bytes: &[u8; REACH],
    factors: Bits<I>,
    lines: &[QueryLine; P],
    sums: &mut [[U::Sums; 4]; P],
) {
    for quarter in 0..4 {
        let stored = unpack16::<W, _>(isa, load_at(isa, bytes, quarter * 2 * W as usize), factors);
        let codes = isa.sub8(stored, isa.code8(bias_of(W)));
        for (sums, line) in sums.iter_mut().zip(lines) {
            let query = isa.codes8(&as_bytes(&line.0).as_chunks().0[quarter]);
            sums[quarter] = products.add(sums[quarter], codes, query);
        }
    }
}

/// Adds sixteen totals in halves: 8, 4, 2, 1.
#[inline(always)]
fn sum_sixteen<I: Narrow>(isa: I, [a, b, c, d]: [Floats<I>; 4]) -> f32 {
    let mut four = [0.0; 4];
    isa.put_floats((a + c) + (b + d), &mut four);
    (four[0] + four[2]) + (four[1] + four[3])
}
