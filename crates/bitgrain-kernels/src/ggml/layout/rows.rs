//! `Rows`: a block of 256 weights between bytes and floats, as signed codes with a scale and a minimum for each 16.
//!
//! Codes are taken from bits 32 at a time, with one shift for all: loops of 16 are unrolled before they are vectorised,
//! and then are not.

/// Weight `i` is `scales[i / 16] * codes[i] - mins[i / 16]`.
pub(crate) struct Rows {
    pub(crate) codes: [[i8; 16]; 16],
    pub(crate) scales: [f32; 16],
    /// +0 for formats without minima: taking that off changes nothing, not even the sign of a zero.
    pub(crate) mins: [f32; 16],
}

impl Rows {
    /// `row` makes the codes of 32 weights, eight times.
    #[inline(always)]
    pub(super) fn new(scales: [f32; 16], mins: [f32; 16], mut row: impl FnMut(usize, &mut [i8; 32])) -> Self {
        let mut codes = [[0; 16]; 16];
        for (i, out) in codes.as_flattened_mut().as_chunks_mut::<32>().0.iter_mut().enumerate() {
            row(i, out);
        }
        Self { codes, scales, mins }
    }

    #[inline(always)]
    pub(super) fn write(&self, out: &mut [f32; 256]) {
        for (i, row) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            for (out, &code) in row.iter_mut().zip(&self.codes[i]) {
                *out = self.scales[i] * f32::from(code) - self.mins[i];
            }
        }
    }
}
