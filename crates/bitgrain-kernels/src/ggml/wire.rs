//! Block structs with the layout of files; their sizes are asserted. Spec: `spec/ggml.md`.

/// A block of Q4_0: 32 weights, an f16 scale and two 4-bit codes per byte.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockQ4_0 {
    /// Scale as little-endian f16.
    pub scale: [u8; 2],
    /// Byte `i` holds weight `i` in its low nibble and weight `i + 16` in its high nibble. Code 8 stands for zero.
    pub codes: [u8; 16],
}

const _: () = assert!(size_of::<BlockQ4_0>() == 18 && align_of::<BlockQ4_0>() == 1);

impl BlockQ4_0 {
    /// Size of a block in bytes.
    pub const BYTES: usize = size_of::<Self>();

    /// Reads a block from its bytes.
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

/// A block of Q8_0: 32 weights, an f16 scale and one two's complement code per byte.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockQ8_0 {
    /// Scale as little-endian f16.
    pub scale: [u8; 2],
    /// Codes in the order of the weights.
    pub codes: [u8; 32],
}

const _: () = assert!(size_of::<BlockQ8_0>() == 34 && align_of::<BlockQ8_0>() == 1);

impl BlockQ8_0 {
    /// Size of a block in bytes.
    pub const BYTES: usize = size_of::<Self>();

    /// Reads a block from its bytes.
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
