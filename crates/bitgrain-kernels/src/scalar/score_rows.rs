//! Scores of encoded rows: the definition, which includes the order of the float sums.

use super::unpack::unpack_run;
use crate::backend::for_width;
use crate::blocks::read_scale;
use crate::dot::sum_in_halves;
use crate::score_rows::{LINE, MAX_PLANES, RowQuery};
use crate::width::SCALE_LEN;

pub(crate) fn score_rows(query: &RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    for_width!([2 3 4 5 6 7 8], query.layout.width.bits(), score_rows_of(query, bytes, rows, out));
}

fn score_rows_of<const W: u32>(query: &RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    let planes = query.planes;
    for (i, &row) in rows.iter().enumerate() {
        let mut totals = [[0.0_f32; 16]; MAX_PLANES];
        let mut lines = query.lines.chunks_exact(planes);
        let mut rest = &bytes[row..row + query.layout.row_bytes()];
        let blocks = query.starts.chunks_exact(planes).zip(query.scales.chunks_exact(planes));
        for (len, (starts, scales)) in query.layout.block_lens().zip(blocks) {
            let (scale, codes) = (read_scale(rest), &rest[SCALE_LEN..]);
            let mut sums = [[0; 16]; MAX_PLANES];
            for (sums, start) in sums.iter_mut().zip(starts) {
                *sums = start.0;
            }
            for (at, lines) in (0..len).step_by(LINE).zip(&mut lines) {
                let codes = stored_codes::<W>(&codes[at / 8 * W as usize..], LINE.min(len - at));
                for (sums, line) in sums.iter_mut().zip(lines) {
                    for (i, (&code, &query)) in codes.iter().zip(&line.0).enumerate() {
                        sums[i / 4] += i32::from(code) * i32::from(query);
                    }
                }
            }
            for ((totals, sums), query_scale) in totals.iter_mut().zip(sums).zip(scales) {
                add_scaled(totals, &sums, scale * query_scale);
            }
            rest = &codes[(len * W as usize).div_ceil(8)..];
        }
        for (out, totals) in out.chunks_exact_mut(rows.len()).zip(totals) {
            out[i] = sum_in_halves(totals);
        }
    }
}

/// Unpacks at most 64 codes as they are scored: unsigned, with the bias of `stored_bias`. The rest is 0.
#[inline]
pub(crate) fn stored_codes<const W: u32>(bytes: &[u8], len: usize) -> [u8; LINE] {
    let mut codes = [0; LINE];
    unpack_run::<W>(0, bytes, &mut codes[..len]);
    if W == 8 {
        codes[..len].iter_mut().for_each(|code| *code ^= 0x80);
    }
    codes
}

#[expect(clippy::cast_precision_loss, reason = "part of the definition: rounded to the nearest f32")]
fn add_scaled(totals: &mut [f32; 16], sums: &[i32; 16], scale: f32) {
    for (total, &sum) in totals.iter_mut().zip(sums) {
        *total += sum as f32 * scale;
    }
}

pub(crate) fn score_f32_rows(query: &[f32], bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    crate::score_rows::score_f32_rows_body(query, bytes, rows, out);
}
