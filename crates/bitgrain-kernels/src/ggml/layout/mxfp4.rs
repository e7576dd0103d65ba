//! MXFP4: an exponent, then byte `i` with the FP4 codes of weights `i` and `i + 16`.

use super::extremes;

/// Values of the codes, in units of half the scale, so that all are integers.
pub(crate) const TABLE: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// Midpoints between neighbors of the table.
pub(crate) const MIDDLES: [f32; 7] = [0.5, 1.5, 2.5, 3.5, 5.0, 7.0, 10.0];

/// Returns the step of an exponent byte: `2^(byte - 128)`, a subnormal for 0 and 1.
#[inline(always)]
pub(crate) fn step(exponent: u8) -> f32 {
    let bits = if exponent < 2 { 0x0020_0000 << exponent } else { u32::from(exponent - 1) << 23 };
    f32::from_bits(bits)
}

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 17], out: &mut [f32; 32]) {
    let step = step(bytes[0]);
    let values = TABLE.map(|value| step * f32::from(value));
    for i in 0..16 {
        let pair = bytes[1 + i];
        out[i] = values[usize::from(pair & 15)];
        out[16 + i] = values[usize::from(pair >> 4)];
    }
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; 32], out: &mut [u8; 17]) {
    let magnitude = extremes::magnitude(values);
    out[0] = exponent(magnitude);
    let step = step(out[0]);
    if magnitude == f32::INFINITY {
        return encode_beside_infinity(values, step, out);
    }
    // Up to 16 steps, the distances that the reference compares are exact, so comparisons with the midpoints find the
    // nearest value. On ties the smaller magnitude wins, and +0 over -0.
    let middles = MIDDLES.map(|middle| middle * step);
    let code = |x: f32| {
        let nearest: u8 = middles.iter().map(|&middle| u8::from(x.abs() > middle)).sum();
        nearest | if x < -middles[0] { 8 } else { 0 }
    };
    for i in 0..16 {
        out[1 + i] = code(values[i]) | code(values[16 + i]) << 4;
    }
}

/// Returns `floor(log2(magnitude)) + 125`, modulo 256. The logarithm is rounded to f32 before the floor, so magnitudes
/// a few units below a power of two count as that power. 0 for zero and for infinity.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the reference's cast wraps")]
pub(crate) fn exponent(magnitude: f32) -> u8 {
    if magnitude == 0.0 || magnitude == f32::INFINITY {
        return 0;
    }
    // Multiplying by 2^24 makes a subnormal normal without losing bits.
    let (scaled, offset) =
        if magnitude < f32::MIN_POSITIVE { (magnitude * 16_777_216.0, 151) } else { (magnitude, 127) };
    let floor = (scaled.to_bits() >> 23).cast_signed() - offset;
    let units_to_next = 0x80_0000 - (scaled.to_bits() & 0x7F_FFFF);
    (floor + i32::from(units_to_next <= rounded_away(floor + 1)) + 125) as u8
}

/// Returns the number of f32 below `2^power` whose logarithm rounds to `power`: `ln 2` times half the spacing of f32
/// below `power`, in units of 2^-24.
#[inline(always)]
fn rounded_away(power: i32) -> u32 {
    const UNITS: [u32; 9] = [0, 0, 1, 2, 5, 11, 22, 44, 88];
    // Below a positive power, f32 are spaced as in the binade that ends there.
    let binade = if power > 0 { power - 1 } else { -power };
    let bits = i32::BITS - binade.leading_zeros();
    UNITS[(bits as usize).min(8)]
}

/// Runs the search of the reference without changes: with an infinity the exponent is 0, and distances are too large to
/// differ.
#[cold]
#[inline(never)]
fn encode_beside_infinity(values: &[f32; 32], step: f32, out: &mut [u8; 17]) {
    let code = |x: f32| {
        let distance = |code: u8| (f32::from(TABLE[usize::from(code)]) * step - x).abs();
        (1..16).fold(0, |best, code| if distance(code) < distance(best) { code } else { best })
    };
    for i in 0..16 {
        out[1 + i] = code(values[i]) | code(values[16 + i]) << 4;
    }
}
