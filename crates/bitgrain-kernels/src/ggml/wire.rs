//! Blocks as they lie in memory and in files: structs of bytes whose sizes are asserted. Spec: `spec/ggml.md`.

/// A block of Q4_0: 32 weights, an f16 scale and two 4-bit codes per byte.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockQ4_0 {
    /// The f16 scale, little-endian.
    pub scale: [u8; 2],
    /// Byte `i` holds weight `i` in its low half and weight `i + 16` in its high half. Code 8 is zero.
    pub codes: [u8; 16],
}

const _: () = assert!(size_of::<BlockQ4_0>() == 18 && align_of::<BlockQ4_0>() == 1);

impl BlockQ4_0 {
    /// Bytes of a block.
    pub const BYTES: usize = size_of::<Self>();

    /// Reads a block.
    #[must_use]
    pub const fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let [s0, s1, codes @ ..] = *bytes;
        Self { scale: [s0, s1], codes }
    }

    /// Returns the codes as signed integers in the order of the weights.
    #[must_use]
    pub fn signed_codes(&self) -> [i8; 32] {
        core::array::from_fn(|i| {
            let pair = self.codes[i % 16];
            (if i < 16 { pair & 15 } else { pair >> 4 }).cast_signed() - 8
        })
    }
}

/// A block of Q8_0: 32 weights, an f16 scale and a code of two's complement per byte.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockQ8_0 {
    /// The f16 scale, little-endian.
    pub scale: [u8; 2],
    /// The codes in the order of the weights.
    pub codes: [u8; 32],
}

const _: () = assert!(size_of::<BlockQ8_0>() == 34 && align_of::<BlockQ8_0>() == 1);

impl BlockQ8_0 {
    /// Bytes of a block.
    pub const BYTES: usize = size_of::<Self>();

    /// Reads a block.
    #[must_use]
    pub const fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let [s0, s1, codes @ ..] = *bytes;
        Self { scale: [s0, s1], codes }
    }

    /// Returns the codes as signed integers.
    #[must_use]
    pub fn signed_codes(&self) -> [i8; 32] {
        self.codes.map(u8::cast_signed)
    }
}
