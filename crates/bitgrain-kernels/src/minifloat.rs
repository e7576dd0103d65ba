//! 8- and 4-bit float formats of the OCP, as parameters of one rounding rule and one widening rule.

/// A float format of at most 8 bits with sign, exponent, mantissa and subnormals; conversions saturate.
pub(crate) trait Minifloat {
    /// Mantissa bits.
    const MANTISSA: u32;
    /// Exponent bias.
    const BIAS: u32;
    /// Total bits.
    const BITS: u32;
    /// Largest finite value.
    const MAX: f32;
    /// Code of NaN without its sign; 0 if the format has no NaN.
    const NAN: u32;
    /// First magnitude code that is an infinity, if the format has them; the codes above are NaN.
    const INFINITY: Option<u32>;

    /// Position of the format's last mantissa bit in an f32.
    const SHIFT: u32 = 23 - Self::MANTISSA;
    /// Subtracted from a shifted f32 to re-bias its exponent.
    const REBIAS: u32 = (127 - Self::BIAS) << Self::MANTISSA;
    /// Smallest normal value.
    const MIN_NORMAL: f32 = f32::from_bits((128 - Self::BIAS) << 23);
    /// Step between subnormals.
    const STEP: f32 = f32::from_bits((128 - Self::BIAS - Self::MANTISSA) << 23);
    /// Adding this to a smaller value rounds it to a multiple of `STEP`, ties to even, and leaves the multiple in the
    /// low bits.
    const SUBNORMAL_MAGIC: f32 = f32::from_bits((128 - Self::BIAS - Self::MANTISSA + 23) << 23);
    /// Sign bit of a code.
    const SIGN: u32 = 1 << (Self::BITS - 1);
}

/// FP8 E4M3 ("fn": no infinities, one NaN per sign).
pub(crate) struct E4M3;
impl Minifloat for E4M3 {
    const MANTISSA: u32 = 3;
    const BIAS: u32 = 7;
    const BITS: u32 = 8;
    const MAX: f32 = 448.0;
    const NAN: u32 = 0x7F;
    const INFINITY: Option<u32> = None;
}

/// FP8 E5M2 (IEEE-like: infinities and NaNs).
pub(crate) struct E5M2;
impl Minifloat for E5M2 {
    const MANTISSA: u32 = 2;
    const BIAS: u32 = 15;
    const BITS: u32 = 8;
    const MAX: f32 = 57_344.0;
    const NAN: u32 = 0x7E;
    const INFINITY: Option<u32> = Some(0x7C);
}

/// FP4 E2M1 (no infinities, no NaN).
pub(crate) struct E2M1;
impl Minifloat for E2M1 {
    const MANTISSA: u32 = 1;
    const BIAS: u32 = 1;
    const BITS: u32 = 4;
    const MAX: f32 = 6.0;
    const NAN: u32 = 0;
    const INFINITY: Option<u32> = None;
}
