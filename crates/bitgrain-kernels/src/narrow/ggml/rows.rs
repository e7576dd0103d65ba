//! Decoding of the K-quants: rows of 16 codes with a scale and a minimum each.

use crate::cast::as_bytes;
use crate::ggml::layout::rows::Rows;
use crate::narrow::quantize::floats16;
use crate::narrow::register::Narrow;

#[inline(always)]
pub(super) fn write<I: Narrow>(isa: I, rows: &Rows, out: &mut [f32; 256]) {
    let codes = as_bytes(rows.codes.as_flattened()).as_chunks::<16>().0;
    for (i, (codes, out)) in codes.iter().zip(out.as_chunks_mut::<16>().0).enumerate() {
        let (scale, min) = (isa.splat(rows.scales[i]), isa.splat(rows.mins[i]));
        for (codes, out) in floats16(isa, isa.codes8(codes)).into_iter().zip(out.as_chunks_mut::<4>().0) {
            // Multiply, then subtract: the reference does not fuse.
            isa.put_floats(scale * codes - min, out);
        }
    }
}
