//! Widths of codes and lengths of blocks, validated on construction.

use crate::KernelError;

/// Width of a signed code, 2 to 8 bits. Codes are symmetric: `-qmax..=qmax`.
///
/// ```
/// use bitgrain_kernels::BitWidth;
/// let w = BitWidth::new(7)?;
/// assert_eq!(w.qmax(), 63);
/// assert_eq!(w.packed_len(8), 7); // eight 7-bit codes fill seven bytes
/// assert!(BitWidth::new(9).is_err());
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitWidth(u8);

impl BitWidth {
    /// 2-bit codes, -1..=1.
    pub const W2: Self = Self(2);
    /// 3-bit codes, -3..=3.
    pub const W3: Self = Self(3);
    /// 4-bit codes, -7..=7.
    pub const W4: Self = Self(4);
    /// 5-bit codes, -15..=15.
    pub const W5: Self = Self(5);
    /// 6-bit codes, -31..=31.
    pub const W6: Self = Self(6);
    /// 7-bit codes, -63..=63.
    pub const W7: Self = Self(7);
    /// 8-bit codes, -127..=127.
    pub const W8: Self = Self(8);
    /// All widths, narrowest first.
    pub const ALL: [Self; 7] = [Self::W2, Self::W3, Self::W4, Self::W5, Self::W6, Self::W7, Self::W8];

    /// Creates a width of `bits`.
    ///
    /// # Errors
    /// Returns [`KernelError::InvalidBitWidth`] unless `bits` is 2 to 8.
    pub const fn new(bits: u8) -> Result<Self, KernelError> {
        if bits < 2 || bits > 8 { Err(KernelError::InvalidBitWidth { bits }) } else { Ok(Self(bits)) }
    }

    /// Returns the number of bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the largest magnitude of a code: 127 at 8 bits, 3 at 3 bits. Also the bias of packed codes.
    #[must_use]
    pub const fn qmax(self) -> u8 {
        (1 << (self.0 - 1)) - 1
    }

    /// Returns the size of `count` packed codes in bytes. Never overflows.
    #[must_use]
    pub const fn packed_len(self, count: usize) -> usize {
        packed_len(self.0, count)
    }
}

/// Width of an unsigned code, 1 to 16 bits: bins, flags, binary weights.
///
/// ```
/// use bitgrain_kernels::UnsignedWidth;
/// assert_eq!(UnsignedWidth::new(12)?.max_code(), 4095);
/// assert!(UnsignedWidth::new(0).is_err());
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnsignedWidth(u8);

impl UnsignedWidth {
    /// Creates a width of `bits`.
    ///
    /// # Errors
    /// Returns [`KernelError::InvalidBitWidth`] unless `bits` is 1 to 16.
    pub const fn new(bits: u8) -> Result<Self, KernelError> {
        if bits < 1 || bits > 16 { Err(KernelError::InvalidBitWidth { bits }) } else { Ok(Self(bits)) }
    }

    /// Returns the number of bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the largest code of this width.
    #[must_use]
    pub const fn max_code(self) -> u16 {
        u16::MAX >> (16 - self.0)
    }

    /// Returns the size of `count` packed codes in bytes; `usize::MAX` if it overflows.
    #[must_use]
    pub const fn packed_len(self, count: usize) -> usize {
        packed_len(self.0, count)
    }
}

/// Values per block: a multiple of 8, so that every full block ends on a byte boundary at every width.
///
/// ```
/// use bitgrain_kernels::BlockLen;
/// assert_eq!(BlockLen::DEFAULT.get(), 64);
/// assert!(BlockLen::new(60).is_err());
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockLen(usize);

impl BlockLen {
    /// Maximum block length: a scale for more values would be too coarse.
    pub const MAX: usize = 65_536;
    /// 64 values, the default block length of all formats.
    pub const DEFAULT: Self = Self(64);

    /// Creates a block length of `len` values.
    ///
    /// # Errors
    /// Returns [`KernelError::InvalidBlockLen`] unless `len` is a multiple of 8 from 8 to [`BlockLen::MAX`].
    pub const fn new(len: usize) -> Result<Self, KernelError> {
        if len == 0 || !len.is_multiple_of(8) || len > Self::MAX {
            Err(KernelError::InvalidBlockLen { len })
        } else {
            Ok(Self(len))
        }
    }

    /// Returns the number of values.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }
}

/// Size of a block's scale in bytes, before its codes.
pub const SCALE_LEN: usize = 4;

/// Returns the size of `count` values in bytes, as blocks of a scale and packed codes; the last block may be shorter.
/// `usize::MAX` if it overflows.
///
/// ```
/// use bitgrain_kernels::{BitWidth, BlockLen};
/// use bitgrain_kernels::blocks::blocks_len;
/// assert_eq!(blocks_len(BitWidth::W5, BlockLen::DEFAULT, 64), 44);
/// assert_eq!(blocks_len(BitWidth::W5, BlockLen::DEFAULT, 65), 44 + 4 + 1);
/// ```
#[must_use]
pub const fn blocks_len(width: BitWidth, block: BlockLen, count: usize) -> usize {
    let full = count / block.0;
    let rest = count % block.0;
    let tail = if rest == 0 { 0 } else { SCALE_LEN + width.packed_len(rest) };
    full.saturating_mul(SCALE_LEN + width.packed_len(block.0)).saturating_add(tail)
}

const fn packed_len(bits: u8, count: usize) -> usize {
    let bits = bits as usize;
    (count / 8).saturating_mul(bits).saturating_add((count % 8 * bits).div_ceil(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qmax_of_eight_bits_does_not_overflow() {
        assert_eq!(BitWidth::ALL.map(BitWidth::qmax), [1, 3, 7, 15, 31, 63, 127]);
    }

    #[test]
    fn lengths_saturate_instead_of_wrapping() {
        let wide = UnsignedWidth::new(16).expect("in range");
        assert_eq!(wide.packed_len(usize::MAX), usize::MAX);
        assert_eq!(blocks_len(BitWidth::W8, BlockLen::new(8).expect("in range"), usize::MAX), usize::MAX);
    }

    #[test]
    fn block_bytes_at_64_values_are_those_of_the_format() {
        let bytes = |w| blocks_len(w, BlockLen::DEFAULT, 64);
        assert_eq!([BitWidth::W8, BitWidth::W7, BitWidth::W5, BitWidth::W3].map(bytes), [68, 60, 44, 28]);
    }
}
