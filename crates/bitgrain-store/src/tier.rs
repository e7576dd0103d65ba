//! Precision classes, from lossless to absent.

use bitgrain_codec::BitWidth;

/// Precision of a tensor's values, ordered from most to fewest bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// 32 bits: the original values.
    Lossless,
    /// 8 bits.
    Hot,
    /// 7 bits.
    Warm,
    /// 5 bits: replaces `Warm` when warm tensors exceed their size limit.
    WarmAggressive,
    /// 3 bits.
    Cold,
    /// No data, only metadata and optionally a reconstruction.
    Absent,
}

impl Tier {
    /// All tiers, from most bits to fewest.
    pub const ALL: [Self; 6] = [Self::Lossless, Self::Hot, Self::Warm, Self::WarmAggressive, Self::Cold, Self::Absent];

    /// Returns the bits per value.
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

    /// Returns the width of the codes, for tiers that have codes.
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

    /// Returns the lower-case name, as used by the command line and in reports.
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

    /// Returns the number stored in records: the index in [`ALL`](Self::ALL).
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the tier for a number stored in records.
    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}
