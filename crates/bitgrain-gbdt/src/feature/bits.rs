//! Storage widths of bins.

/// Number of bits of a stored bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinBits {
    /// Up to 16 bins, two per byte, the earlier row in the low nibble.
    U4,
    /// Up to 256 bins.
    U8,
    /// Up to 65,536 bins.
    U16,
    /// More than 65,536 bins.
    U32,
}

impl BinBits {
    /// Returns the smallest width for a number of bins, including the missing-value bin.
    ///
    /// ```
    /// use bitgrain_gbdt::feature::BinBits;
    /// assert_eq!([16, 17, 256, 257].map(BinBits::for_bins), [BinBits::U4, BinBits::U8, BinBits::U8, BinBits::U16]);
    /// ```
    #[must_use]
    pub const fn for_bins(n_bins: u32) -> Self {
        match n_bins {
            ..=16 => Self::U4,
            17..=256 => Self::U8,
            257..=65_536 => Self::U16,
            _ => Self::U32,
        }
    }

    /// Size in bytes of a column of `n_rows` bins.
    pub(super) const fn column_bytes(self, n_rows: usize) -> usize {
        match self {
            Self::U4 => n_rows.div_ceil(2),
            Self::U8 => n_rows,
            Self::U16 => n_rows * 2,
            Self::U32 => n_rows * 4,
        }
    }
}
