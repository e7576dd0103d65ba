//! Precision classes, from lossless to absent.

use bitgrain_codec::BitWidth;

/// Precision of a tensor's values, ordered from most to fewest bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// 32 bits: the original values.
    Lossless,
    /// 16 bits: half-precision floats. Values that exceed their range are stored as f32.
    F16,
    /// 8 bits.
    Hot,
    /// 7 bits.
    Warm,
    /// 6 bits.
    B6,
    /// 5 bits: replaces `Warm` when warm tensors exceed their size limit.
    WarmAggressive,
    /// 4 bits.
    B4,
    /// 3 bits.
    Cold,
    /// No data, only metadata and optionally a reconstruction.
    Absent,
}

impl Tier {
    /// Number of tiers.
    pub const COUNT: usize = 9;

    /// All tiers, from most bits to fewest.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Lossless,
        Self::F16,
        Self::Hot,
        Self::Warm,
        Self::B6,
        Self::WarmAggressive,
        Self::B4,
        Self::Cold,
        Self::Absent,
    ];

    /// Tiers in the order of their numbers in records. The numbers follow the order in which tiers were introduced.
    const BY_CODE: [Self; Self::COUNT] = [
        Self::Lossless,
        Self::Hot,
        Self::Warm,
        Self::WarmAggressive,
        Self::Cold,
        Self::Absent,
        Self::F16,
        Self::B6,
        Self::B4,
    ];

    /// Returns the bits per value.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Lossless => 32,
            Self::F16 => 16,
            Self::Hot => 8,
            Self::Warm => 7,
            Self::B6 => 6,
            Self::WarmAggressive => 5,
            Self::B4 => 4,
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
            Self::B6 => Some(BitWidth::W6),
            Self::WarmAggressive => Some(BitWidth::W5),
            Self::B4 => Some(BitWidth::W4),
            Self::Cold => Some(BitWidth::W3),
            Self::Lossless | Self::F16 | Self::Absent => None,
        }
    }

    /// Returns the lower-case name, as used by the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::F16 => "f16",
            Self::Hot => "hot",
            Self::Warm => "warm",
            Self::B6 => "b6",
            Self::WarmAggressive => "warm-aggressive",
            Self::B4 => "b4",
            Self::Cold => "cold",
            Self::Absent => "absent",
        }
    }

    /// Returns the index in [`ALL`](Self::ALL).
    pub(crate) const fn rank(self) -> usize {
        self as usize
    }

    /// Returns the number stored in records (`spec/segment.md#tensor`).
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Lossless => 0,
            Self::Hot => 1,
            Self::Warm => 2,
            Self::WarmAggressive => 3,
            Self::Cold => 4,
            Self::Absent => 5,
            Self::F16 => 6,
            Self::B6 => 7,
            Self::B4 => 8,
        }
    }

    /// Returns the tier for a number stored in records.
    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::BY_CODE.get(usize::from(code)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_ordered_by_bits_and_keep_their_numbers() {
        assert!(Tier::ALL.is_sorted_by_key(|tier| std::cmp::Reverse(tier.bits())));
        for (rank, tier) in Tier::ALL.into_iter().enumerate() {
            assert_eq!((tier.rank(), Tier::of_code(tier.code())), (rank, Some(tier)));
        }
        assert_eq!(Tier::of_code(9), None);
        // The numbers of `spec/segment.md`, which stores have on disk.
        let numbers = [(0, "lossless"), (1, "hot"), (2, "warm"), (3, "warm-aggressive"), (4, "cold"), (5, "absent")];
        let later = [(6, "f16"), (7, "b6"), (8, "b4")];
        for (code, name) in numbers.into_iter().chain(later) {
            assert_eq!(Tier::of_code(code).map(Tier::name), Some(name));
        }
    }
}
