//! `BlockParts`: the codes and scales of a block, separated but not multiplied.

use super::GgmlBlock;
use super::layout::{iq4_nl, mxfp4, part, q2_k, q3_k, q4_k, q5_0, q5_k, q6_k, tq1_0, tq2_0};

/// Codes and scales of a block. What is unused is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockParts {
    /// Unsigned codes in the order of the weights, 32 or 256 of them.
    pub codes: [u8; 256],
    /// The f16 scale, and the f16 minimum or scale of minima.
    pub halves: [u16; 2],
    /// Factors of the scale: one byte per 32 weights for Q4_K and Q5_K, per 16 weights for Q2_K (with the factor of the
    /// minimum in the high nibble), Q3_K and Q6_K (signed), and the exponent of MXFP4.
    pub factors: [u8; 16],
    /// Factors of the minimum, per 32 weights of Q4_K and Q5_K.
    pub min_factors: [u8; 8],
}

/// Bytes of all parts, one after the other.
const FLAT: usize = 256 + 4 + 16 + 8;

/// Bits of the largest block.
const MOST_BITS: usize = 8 * 210;

impl BlockParts {
    fn flat(&self) -> [u8; FLAT] {
        let mut flat = [0; FLAT];
        flat[..256].copy_from_slice(&self.codes);
        let halves = self.halves.map(u16::to_le_bytes);
        flat[256..260].copy_from_slice(halves.as_flattened());
        flat[260..276].copy_from_slice(&self.factors);
        flat[276..].copy_from_slice(&self.min_factors);
        flat
    }
}

/// Joins the parts of blocks: the inverse of [`GgmlBlock::parts`].
///
/// Every bit of a block decides at least one bit of its parts alone, which is found by setting bits one by one.
#[derive(Debug, Clone)]
pub struct BlockJoiner {
    block: GgmlBlock,
    /// Parts of a block of zeros.
    empty: [u8; FLAT],
    /// Byte and mask of the part that tells each bit of the block.
    places: [(u16, u8); MOST_BITS],
}

impl BlockJoiner {
    /// Returns `None` for TQ1_0, whose digits do not determine the bytes.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "an index below 284")]
    pub fn new(block: GgmlBlock) -> Option<Self> {
        if block == GgmlBlock::TQ1_0 {
            return None;
        }
        let mut bytes = [0; MOST_BITS / 8];
        let empty = block.parts(&bytes[..block.bytes()])?.flat();
        let mut places = [(0, 0); MOST_BITS];
        for (bit, place) in places[..8 * block.bytes()].iter_mut().enumerate() {
            bytes[bit / 8] = 1 << (bit % 8);
            let flat = block.parts(&bytes[..block.bytes()])?.flat();
            bytes[bit / 8] = 0;
            let at = flat.iter().zip(&empty).position(|(a, b)| a != b)?;
            let changed = flat[at] ^ empty[at];
            *place = (at as u16, changed & changed.wrapping_neg());
        }
        Some(Self { block, empty, places })
    }

    /// Writes the block with these parts, which must be those of a block.
    pub fn join(&self, parts: &BlockParts, out: &mut [u8]) {
        let flat = parts.flat();
        for (at, out) in out[..self.block.bytes()].iter_mut().enumerate() {
            *out = 0;
            for (bit, &(byte, mask)) in self.places[8 * at..][..8].iter().enumerate() {
                let byte = usize::from(byte);
                *out |= u8::from((flat[byte] ^ self.empty[byte]) & mask != 0) << bit;
            }
        }
    }
}

impl GgmlBlock {
    /// The integer that stands for 0 in the codes of [`BlockParts`], after the table of [`table`](Self::table).
    #[must_use]
    pub const fn zero_code(self) -> u8 {
        match self {
            Self::Q4_0 => 8,
            Self::Q5_0 => 16,
            Self::Q8_0 | Self::IQ4_NL => 128,
            Self::Q3_K => 4,
            Self::Q6_K => 32,
            Self::TQ1_0 | Self::TQ2_0 => 1,
            Self::MXFP4 => 12,
            Self::Q4_1 | Self::Q5_1 | Self::Q2_K | Self::Q4_K | Self::Q5_K => 0,
        }
    }

    /// Returns the unsigned integers that the codes of a format with a table stand for.
    #[must_use]
    pub fn table(self) -> Option<[u8; 16]> {
        let shifted = |table: [i8; 16]| table.map(|value| value.cast_unsigned().wrapping_add(self.zero_code()));
        match self {
            Self::IQ4_NL => Some(shifted(iq4_nl::TABLE)),
            Self::MXFP4 => Some(shifted(mxfp4::TABLE)),
            _ => None,
        }
    }

    /// Separates the parts of a block. Returns `None` if the length is not that of a block.
    #[must_use]
    pub fn parts(self, bytes: &[u8]) -> Option<BlockParts> {
        let mut parts = BlockParts { codes: [0; 256], halves: [0; 2], factors: [0; 16], min_factors: [0; 8] };
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        if bytes.len() != self.bytes() {
            return None;
        }
        match self {
            Self::Q4_0 | Self::IQ4_NL => {
                parts.halves[0] = half(0);
                pairs(&bytes[2..], &mut parts.codes);
            }
            Self::Q4_1 => {
                parts.halves = [half(0), half(2)];
                pairs(&bytes[4..], &mut parts.codes);
            }
            Self::MXFP4 => {
                parts.factors[0] = bytes[0];
                pairs(&bytes[1..], &mut parts.codes);
            }
            Self::Q5_0 => {
                let bytes: &[u8; 22] = bytes.try_into().ok()?;
                parts.halves[0] = half(0);
                parts.codes[..32].copy_from_slice(&q5_0::codes(q5_0::fifths(bytes, 2), bytes, 6));
            }
            Self::Q5_1 => {
                let bytes: &[u8; 24] = bytes.try_into().ok()?;
                parts.halves = [half(0), half(2)];
                parts.codes[..32].copy_from_slice(&q5_0::codes(q5_0::fifths(bytes, 4), bytes, 8));
            }
            Self::Q8_0 => {
                parts.halves[0] = half(0);
                parts.codes.iter_mut().zip(&bytes[2..]).for_each(|(code, byte)| *code = byte ^ 0x80);
            }
            Self::Q2_K => {
                let bytes: &[u8; 84] = bytes.try_into().ok()?;
                (parts.halves, parts.factors) = ([half(80), half(82)], *part(bytes, 0));
                self.copy_rows(&q2_k::unpack(bytes).codes, &mut parts.codes);
            }
            Self::Q3_K => {
                let bytes: &[u8; 110] = bytes.try_into().ok()?;
                parts.halves[0] = half(108);
                parts.factors = core::array::from_fn(|i| q3_k::scale_code(bytes, i).cast_unsigned());
                self.copy_rows(&q3_k::unpack(bytes).codes, &mut parts.codes);
            }
            Self::Q4_K | Self::Q5_K => {
                parts.halves = [half(0), half(2)];
                let packed: &[u8; 12] = bytes[4..].first_chunk()?;
                for i in 0..8 {
                    (parts.factors[i], parts.min_factors[i]) = q4_k::scale_and_min(packed, i);
                }
                if self == Self::Q4_K {
                    self.copy_rows(&q4_k::unpack(bytes.try_into().ok()?).codes, &mut parts.codes);
                } else {
                    self.copy_rows(&q5_k::unpack(bytes.try_into().ok()?).codes, &mut parts.codes);
                }
            }
            Self::Q6_K => {
                let bytes: &[u8; 210] = bytes.try_into().ok()?;
                (parts.halves[0], parts.factors) = (half(208), *part(bytes, 192));
                self.copy_rows(&q6_k::unpack(bytes).codes, &mut parts.codes);
            }
            Self::TQ1_0 => {
                parts.halves[0] = half(52);
                tq1_0::digits(bytes.try_into().ok()?, &mut parts.codes);
            }
            Self::TQ2_0 => {
                parts.halves[0] = half(64);
                tq2_0::digits(bytes.try_into().ok()?, &mut parts.codes);
            }
        }
        Some(parts)
    }

    /// Copies signed codes with the offset that makes them unsigned.
    fn copy_rows(self, rows: &[[i8; 16]; 16], out: &mut [u8; 256]) {
        let codes = rows.as_flattened().iter();
        out.iter_mut().zip(codes).for_each(|(out, code)| *out = code.cast_unsigned().wrapping_add(self.zero_code()));
    }
}

/// Unpacks bytes with the codes of weights `i` and `i + 16`.
fn pairs(bytes: &[u8], out: &mut [u8; 256]) {
    for (i, pair) in bytes.iter().take(16).enumerate() {
        (out[i], out[16 + i]) = (pair & 15, pair >> 4);
    }
}
