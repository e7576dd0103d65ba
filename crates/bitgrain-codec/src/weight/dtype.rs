//! `DType`: the 21 number formats of weights, each stored at its true width.

use core::fmt;
use core::str::FromStr;

use crate::CodecErr;

/// Number format of a weight. [`Scaling`](crate::weight::Scaling) determines which weights share a scale.
///
/// ```
/// use bitgrain_codec::weight::DType;
/// assert_eq!(DType::ALL.len(), 21);
/// assert_eq!("fp8_e4m3".parse(), Ok(DType::Fp8E4M3));
/// assert_eq!(DType::Int4.packed_len(5), 3); // five 4-bit codes fill two and a half bytes
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// IEEE double precision.
    Float64,
    /// IEEE single precision.
    Float32,
    /// IEEE half precision.
    Float16,
    /// bfloat16: the upper half of an f32.
    BFloat16,
    /// OCP FP8 with 4 exponent bits: up to 448, no infinities, saturating.
    Fp8E4M3,
    /// OCP FP8 with 5 exponent bits: up to 57344, saturating.
    Fp8E5M2,
    /// OCP FP4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
    Fp4,
    /// Signed, symmetric: `-(2^63 - 1)..=2^63 - 1`.
    Int64,
    /// Signed, symmetric: `-(2^31 - 1)..=2^31 - 1`.
    Int32,
    /// Signed, symmetric: -32767 to 32767.
    Int16,
    /// Signed, symmetric: -127 to 127.
    Int8,
    /// Signed: -8 to 7.
    Int4,
    /// Signed: -2 to 1.
    Int2,
    /// Unsigned with a scale and a zero point, as all `Uint` dtypes.
    Uint64,
    /// Unsigned, 32 bits, with a zero point.
    Uint32,
    /// Unsigned, 16 bits, with a zero point.
    Uint16,
    /// Unsigned: 0 to 255 with a zero point.
    Uint8,
    /// Unsigned: 0 to 15 with a zero point.
    Uint4,
    /// Unsigned: 0 to 3 with a zero point.
    Uint2,
    /// -1, 0 or 1 in two bits; the scale minimizes the squared error.
    Ternary,
    /// The sign in one bit; the scale is the mean magnitude.
    Binary,
}

/// Conversion of weights to codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The weight in a float format that needs no scale.
    Float,
    /// A minifloat with a scale; `max` is its largest value.
    Mini { max: u16 },
    /// A signed code of at most 8 bits in `lo..=hi`.
    Signed { lo: i8, hi: i8 },
    /// An unsigned code of at most 8 bits with a zero point.
    Affine { max: u8 },
    /// A signed code of more than 8 bits.
    Wide,
    /// An unsigned code of more than 8 bits with a zero point.
    WideAffine,
    /// The sign bit.
    Sign,
}

impl DType {
    /// All dtypes, widest first within each family.
    pub const ALL: [Self; 21] = [
        Self::Float64,
        Self::Float32,
        Self::Float16,
        Self::BFloat16,
        Self::Fp8E4M3,
        Self::Fp8E5M2,
        Self::Fp4,
        Self::Int64,
        Self::Int32,
        Self::Int16,
        Self::Int8,
        Self::Int4,
        Self::Int2,
        Self::Uint64,
        Self::Uint32,
        Self::Uint16,
        Self::Uint8,
        Self::Uint4,
        Self::Uint2,
        Self::Ternary,
        Self::Binary,
    ];

    /// Returns the bits of one code in memory and on disk.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Float64 | Self::Int64 | Self::Uint64 => 64,
            Self::Float32 | Self::Int32 | Self::Uint32 => 32,
            Self::Float16 | Self::BFloat16 | Self::Int16 | Self::Uint16 => 16,
            Self::Fp8E4M3 | Self::Fp8E5M2 | Self::Int8 | Self::Uint8 => 8,
            Self::Fp4 | Self::Int4 | Self::Uint4 => 4,
            Self::Int2 | Self::Uint2 | Self::Ternary => 2,
            Self::Binary => 1,
        }
    }

    /// Returns the size of `count` packed codes in bytes; `usize::MAX` if it overflows.
    #[must_use]
    pub const fn packed_len(self, count: usize) -> usize {
        let bits = self.bits() as usize;
        (count / 8).saturating_mul(bits).saturating_add((count % 8 * bits).div_ceil(8))
    }

    /// Returns the number of distinct values of a code: 3 for ternary, `2^bits` for most dtypes.
    #[must_use]
    pub fn levels(self) -> f64 {
        match self {
            Self::Ternary => 3.0,
            Self::Int8 => 255.0,
            Self::Fp4 => 15.0,
            _ => libm::exp2(f64::from(self.bits())),
        }
    }

    /// Returns whether this is a float format that stores weights without a scale.
    #[must_use]
    pub const fn is_plain(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Returns whether every scale comes with a zero point.
    #[must_use]
    pub const fn is_affine(self) -> bool {
        matches!(self.kind(), Kind::Affine { .. } | Kind::WideAffine)
    }

    /// Returns the name on the command line and in files: `int4`, `fp8_e4m3`, `bfloat16`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float64 => "float64",
            Self::Float32 => "float32",
            Self::Float16 => "float16",
            Self::BFloat16 => "bfloat16",
            Self::Fp8E4M3 => "fp8_e4m3",
            Self::Fp8E5M2 => "fp8_e5m2",
            Self::Fp4 => "fp4",
            Self::Int64 => "int64",
            Self::Int32 => "int32",
            Self::Int16 => "int16",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
            Self::Int2 => "int2",
            Self::Uint64 => "uint64",
            Self::Uint32 => "uint32",
            Self::Uint16 => "uint16",
            Self::Uint8 => "uint8",
            Self::Uint4 => "uint4",
            Self::Uint2 => "uint2",
            Self::Ternary => "ternary",
            Self::Binary => "binary",
        }
    }

    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Float64 | Self::Float32 | Self::Float16 | Self::BFloat16 => Kind::Float,
            Self::Fp8E4M3 => Kind::Mini { max: 448 },
            Self::Fp8E5M2 => Kind::Mini { max: 57_344 },
            Self::Fp4 => Kind::Mini { max: 6 },
            Self::Int64 | Self::Int32 | Self::Int16 => Kind::Wide,
            Self::Int8 => Kind::Signed { lo: -127, hi: 127 },
            Self::Int4 => Kind::Signed { lo: -8, hi: 7 },
            Self::Int2 => Kind::Signed { lo: -2, hi: 1 },
            Self::Ternary => Kind::Signed { lo: -1, hi: 1 },
            Self::Uint64 | Self::Uint32 | Self::Uint16 => Kind::WideAffine,
            Self::Uint8 => Kind::Affine { max: 255 },
            Self::Uint4 => Kind::Affine { max: 15 },
            Self::Uint2 => Kind::Affine { max: 3 },
            Self::Binary => Kind::Sign,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = CodecErr;

    /// Parses a name of [`DType::name`] or a short form: `f32`, `f16`, `bf16`, `i8`, `u4`.
    fn from_str(name: &str) -> Result<Self, CodecErr> {
        const SHORT: [(&str, DType); 7] = [
            ("f64", DType::Float64),
            ("f32", DType::Float32),
            ("f16", DType::Float16),
            ("bf16", DType::BFloat16),
            ("fp8", DType::Fp8E4M3),
            ("fp8_e4m3fn", DType::Fp8E4M3),
            ("fp4_e2m1", DType::Fp4),
        ];
        let long = |d: &Self| d.name() == name || integer_short_name(d.name(), name);
        let found = Self::ALL.into_iter().find(long);
        found.or_else(|| SHORT.iter().find(|(short, _)| *short == name).map(|&(_, d)| d)).ok_or(CodecErr::UnknownFormat)
    }
}

/// Returns whether `short` is `i8` for `int8` or `u8` for `uint8`.
fn integer_short_name(long: &str, short: &str) -> bool {
    let digits =
        |prefix, letter| long.strip_prefix(prefix).is_some_and(|d: &str| short.strip_prefix(letter) == Some(d));
    digits("int", "i") || digits("uint", "u")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_parse_back() {
        for (i, dtype) in DType::ALL.into_iter().enumerate() {
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert!(DType::ALL[..i].iter().all(|other| other.name() != dtype.name()));
        }
        assert_eq!("i4".parse(), Ok(DType::Int4));
        assert_eq!("u16".parse(), Ok(DType::Uint16));
        assert_eq!("bf16".parse(), Ok(DType::BFloat16));
        assert_eq!("int3".parse::<DType>(), Err(CodecErr::UnknownFormat));
    }

    #[test]
    fn codes_are_stored_at_their_true_width() {
        let bytes = DType::ALL.map(|d| d.packed_len(64));
        assert_eq!(
            bytes,
            [512, 256, 128, 128, 64, 64, 32, 512, 256, 128, 64, 32, 16, 512, 256, 128, 64, 32, 16, 16, 8]
        );
        assert_eq!(DType::Float64.packed_len(usize::MAX), usize::MAX);
    }
}
