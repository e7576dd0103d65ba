//! Arrays of unsigned integers in 8, 16 or 32 bits: row-major bins and the entries of sparse rows.

/// Unsigned integers in the smallest width that holds the largest possible one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    /// Codes up to 255.
    U8(Box<[u8]>),
    /// Codes up to 65,535.
    U16(Box<[u16]>),
    /// Larger codes.
    U32(Box<[u32]>),
}

impl Codes {
    /// Size in bytes of a code if the largest one is `max`.
    pub(super) const fn width(max: u32) -> usize {
        match max {
            ..=0xFF => 1,
            0x100..=0xFFFF => 2,
            _ => 4,
        }
    }

    pub(super) fn zeros(len: usize, max: u32) -> Self {
        match Self::width(max) {
            1 => Self::U8(vec![0; len].into()),
            2 => Self::U16(vec![0; len].into()),
            _ => Self::U32(vec![0; len].into()),
        }
    }

    /// Returns the code at a position.
    ///
    /// # Panics
    /// If `at` is out of range.
    #[must_use]
    pub fn get(&self, at: usize) -> u32 {
        match self {
            Self::U8(codes) => codes[at].into(),
            Self::U16(codes) => codes[at].into(),
            Self::U32(codes) => codes[at],
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::U8(codes) => codes.len(),
            Self::U16(codes) => codes.len() * 2,
            Self::U32(codes) => codes.len() * 4,
        }
    }

    pub(super) fn as_mut(&mut self) -> CodesMut<'_> {
        match self {
            Self::U8(codes) => CodesMut::U8(codes),
            Self::U16(codes) => CodesMut::U16(codes),
            Self::U32(codes) => CodesMut::U32(codes),
        }
    }
}

/// Mutable view of codes.
pub(super) enum CodesMut<'a> {
    U8(&'a mut [u8]),
    U16(&'a mut [u16]),
    U32(&'a mut [u32]),
}

impl CodesMut<'_> {
    /// Splits off the first `len` codes, so that another thread can write them.
    pub(super) fn take(&mut self, len: usize) -> Self {
        match self {
            Self::U8(codes) => Self::U8(codes.split_off_mut(..len).unwrap_or_default()),
            Self::U16(codes) => Self::U16(codes.split_off_mut(..len).unwrap_or_default()),
            Self::U32(codes) => Self::U32(codes.split_off_mut(..len).unwrap_or_default()),
        }
    }

    /// Writes codes from the start of the view. All codes must fit the width.
    #[expect(clippy::cast_possible_truncation, reason = "the width was chosen for the largest code")]
    pub(super) fn write(&mut self, codes: impl Iterator<Item = u32>) {
        match self {
            Self::U8(out) => out.iter_mut().zip(codes).for_each(|(out, code)| *out = code as u8),
            Self::U16(out) => out.iter_mut().zip(codes).for_each(|(out, code)| *out = code as u16),
            Self::U32(out) => out.iter_mut().zip(codes).for_each(|(out, code)| *out = code),
        }
    }
}
