//! Levels of IQ4_NL, and the integer rounding of the reference, one value at a time.

use crate::lanes::ROUNDER;

/// Levels of IQ4_NL.
pub(crate) const LEVELS: [f32; 16] =
    [-127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0];

/// Start of each level but the first: the midpoints between neighbors, exact in f32.
pub(crate) const LEVEL_STARTS: [f32; 15] = {
    let mut starts = [0.0; 15];
    let mut i = 0;
    while i < 15 {
        starts[i] = (LEVELS[i] + LEVELS[i + 1]) / 2.0;
        i += 1;
    }
    starts
};

/// Rounds to an integer like the reference: nearest, ties to even, wrapping around beyond 2^22. NaN gives 0.
pub(crate) fn nearest(value: f32) -> i32 {
    if value.is_nan() {
        return 0;
    }
    ((value + ROUNDER).to_bits() & 0x007F_FFFF).cast_signed() - 0x0040_0000
}

/// Returns the index of the IQ4_NL level nearest to a value, the upper one on ties.
#[inline(always)]
pub(crate) fn nearest_level_code(value: f32) -> u8 {
    let mut code = 0;
    for start in LEVEL_STARTS {
        code += u8::from(value >= start);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rounds_ties_to_even_and_wraps() {
        assert_eq!([0.5, 1.5, 2.5, -0.5, -1.5, 7.49].map(nearest), [0, 2, 2, 0, -2, 7]);
        assert_eq!([4_194_303.0, 4_194_304.0, f32::NAN].map(nearest), [4_194_303, -4_194_304, 0]);
    }

    #[test]
    fn level_codes_change_at_the_midpoints() {
        assert_eq!([-1e9, -115.51, -115.5, 6.9, 7.0, 101.0, 1e9].map(nearest_level_code), [0, 0, 1, 8, 9, 15, 15]);
    }
}
