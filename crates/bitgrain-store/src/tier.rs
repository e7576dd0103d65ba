//! Precision classes, from lossless to absent.

use bitgrain_codec::BitWidth;

/// How many bits a tensor's values get. Ordered from most to fewest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// 32 bits: the values as they came.
    Lossless,
    /// 8 bits.
    Hot,
    /// 7 bits.
    Warm,
    /// 5 bits: a warm tensor when the warm ones are too many.
    WarmAggressive,
    /// 3 bits.
    Cold,
    /// No data, only what is known about the tensor and perhaps how to reconstruct it.
    Absent,
}

impl Tier {
    /// All tiers, from most bits to fewest.
    pub const ALL: [Self; 6] = [Self::Lossless, Self::Hot, Self::Warm, Self::WarmAggressive, Self::Cold, Self::Absent];

    /// Bits of a value.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Lossless => 32,
            Self::Hot => 8,
            Self::Warm => 7,
            Self::WarmAggressive => 5,
            Self::Cold => 3,
            Self::Absent => 0,
        }
    }

    /// Width of the codes, for the tiers that have codes.
    #[must_use]
    pub const fn width(self) -> Option<BitWidth> {
        match self {
            Self::Hot => Some(BitWidth::W8),
            Self::Warm => Some(BitWidth::W7),
            Self::WarmAggressive => Some(BitWidth::W5),
            Self::Cold => Some(BitWidth::W3),
            Self::Lossless | Self::Absent => None,
        }
    }

    /// Name in lower case, as the command line and reports have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::Hot => "hot",
            Self::Warm => "warm",
            Self::WarmAggressive => "warm-aggressive",
            Self::Cold => "cold",
            Self::Absent => "absent",
        }
    }

    /// Its number in records: its place in [`ALL`](Self::ALL).
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }

    /// The tier of a number in records.
    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}
