//! IQ4_NL: the layout of Q4_0, with codes that index a table of unevenly spaced values.

use super::half_at;

/// Values of the codes, in units of the scale.
pub(crate) const TABLE: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 18], out: &mut [f32; 32]) {
    let scale = half_at(bytes, 0);
    let values = TABLE.map(|value| scale * f32::from(value));
    for i in 0..16 {
        let pair = bytes[2 + i];
        out[i] = values[usize::from(pair & 15)];
        out[16 + i] = values[usize::from(pair >> 4)];
    }
}
