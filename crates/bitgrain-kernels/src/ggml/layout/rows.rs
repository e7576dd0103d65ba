//! `Rows`: a decoded block of 256 weights, as signed codes with a scale and a minimum per 16 weights.
//!
//! Codes are extracted 32 at a time with a common shift: loops of 16 are unrolled before vectorization, which then does
//! not happen.

/// Weight `i` is `scales[i / 16] * codes[i] - mins[i / 16]`.
pub(crate) struct Rows {
    pub(crate) codes: [[i8; 16]; 16],
    pub(crate) scales: [f32; 16],
    /// +0 for formats without minima: subtracting it changes nothing, not even the sign of a zero.
    pub(crate) mins: [f32; 16],
}

impl Rows {
    /// Builds the codes: `row` makes 32 of them, eight times.
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
