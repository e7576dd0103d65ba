//! `Layout`: the arrangement of codes in memory, and their decoding to numbers.

use std::ops::Range;

/// Values of the 4-bit float E2M1 without its sign bit.
const E2M1: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// Columns of the eight codes in a word of AWQ, lowest bits first.
const AWQ_ORDER: [usize; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

/// Arrangement of the codes of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Layout {
    /// Numbers of the array's own dtype, row by row.
    Plain,
    /// 32-bit words with dense codes along each row; the code 0 has the value `-offset`.
    WordsAcross { bits: usize, offset: f32 },
    /// 32-bit words with dense codes along each column; the words themselves are row by row (GPTQ).
    WordsDown { bits: usize },
    /// 32-bit words with eight codes of a column each in AWQ's order. The matrix is stored transposed.
    Awq,
    /// Two E2M1 floats per byte, low nibble first.
    E2m1,
    /// Two integers per byte, low nibble first, in two's complement if signed (ONNX).
    Nibbles { signed: bool },
    /// Two indices into a table per byte, high nibble first.
    Table(Box<[f32; 16]>),
    /// Codes in planes: element `e` of the flattened matrix is in item `e % stride`, and plane `e / stride` has the
    /// highest bits first. Items are bytes, or 32-bit words with ten codes of 3 bits (HQQ).
    Planes { bits: usize, stride: usize },
}

impl Layout {
    /// Returns the size of the codes of a matrix in bytes.
    pub(super) fn bytes(&self, rows: usize, cols: usize) -> Option<usize> {
        let values = rows.checked_mul(cols)?;
        match self {
            Self::Plain => Some(values),
            Self::WordsAcross { bits, .. } => cols.checked_mul(*bits)?.div_ceil(32).checked_mul(rows)?.checked_mul(4),
            Self::WordsDown { bits } => cols.checked_mul(*bits)?.div_ceil(32).checked_mul(rows)?.checked_mul(4),
            Self::Awq => Some(rows.div_ceil(8).checked_mul(cols)?.checked_mul(4)?),
            Self::E2m1 | Self::Nibbles { .. } | Self::Table(_) => Some(values.div_ceil(2)),
            Self::Planes { bits: 3, stride } => stride.checked_mul(4),
            Self::Planes { stride, .. } => Some(*stride),
        }
    }

    /// Decodes the codes of some rows of a matrix with `shape` rows and columns.
    pub(super) fn decode(&self, bytes: &[u8], shape: (usize, usize), rows: Range<usize>, out: &mut [f32]) {
        let (all, cols) = shape;
        match self {
            // The caller decodes these through the array itself.
            Self::Plain => {}
            Self::WordsAcross { bits, offset } => {
                let words = (cols * bits).div_ceil(32);
                for (row, out) in rows.zip(out.chunks_exact_mut(cols)) {
                    let stored = bytes[row * words * 4..][..words * 4].chunks(4 * bits);
                    for (stored, out) in stored.zip(out.chunks_mut(32)) {
                        unpack(words_of(stored), *bits, |i, code| {
                            if let Some(out) = out.get_mut(i) {
                                *out = code - offset;
                            }
                        });
                    }
                }
            }
            Self::WordsDown { bits } => {
                for block in 0..cols.div_ceil(32) {
                    for (row, out) in rows.clone().zip(out.chunks_exact_mut(cols)) {
                        let mut words = [0; 8];
                        for (i, word) in words[..*bits].iter_mut().enumerate() {
                            *word = word_at(bytes, (block * bits + i) * all + row);
                        }
                        unpack(words, *bits, |i, code| {
                            if let Some(out) = out.get_mut(block * 32 + i) {
                                *out = code;
                            }
                        });
                    }
                }
            }
            Self::Awq => {
                let width = all.div_ceil(8);
                for (row, out) in rows.zip(out.chunks_exact_mut(cols)) {
                    let shift = 4 * AWQ_ORDER.iter().position(|at| *at == row % 8).unwrap_or(0);
                    for (col, out) in out.iter_mut().enumerate() {
                        *out = number(word_at(bytes, col * width + row / 8) >> shift & 15);
                    }
                }
            }
            Self::E2m1 => {
                let value = |code: u8| {
                    let magnitude = E2M1[usize::from(code & 7)];
                    if code & 8 == 0 { magnitude } else { -magnitude }
                };
                nibbles(rows.start * cols, out, |at, high| {
                    let byte = bytes[at];
                    value(if high { byte >> 4 } else { byte & 15 })
                });
            }
            Self::Nibbles { signed } => nibbles(rows.start * cols, out, |at, high| {
                let byte = bytes[at];
                let code = if high { byte >> 4 } else { byte & 15 };
                // Adding 8 to a two's complement code flips its sign bit.
                if *signed { f32::from(code ^ 8) - 8.0 } else { f32::from(code) }
            }),
            Self::Table(table) => nibbles(rows.start * cols, out, |at, second| {
                let byte = bytes[at];
                table[usize::from(if second { byte & 15 } else { byte >> 4 })]
            }),
            Self::Planes { bits, stride } => {
                let (planes, mask) = (if *bits == 3 { 10 } else { 8 / bits }, (1_u32 << bits) - 1);
                for (element, out) in (rows.start * cols..).zip(out) {
                    let (plane, item) = (element / stride, element % stride);
                    let item = if *bits == 3 { word_at(bytes, item) } else { u32::from(bytes[item]) };
                    *out = number(item >> (bits * (planes - 1 - plane)) & mask);
                }
            }
        }
    }
}

/// Fills `out` with the elements from `start` of an array with two elements per byte. `value` returns the first or the
/// second element of a byte.
#[inline]
fn nibbles(start: usize, out: &mut [f32], value: impl Fn(usize, bool) -> f32) {
    for (element, out) in (start..).zip(out) {
        *out = value(element / 2, element % 2 == 1);
    }
}

/// Decodes 32 codes from as many words as a code has bits.
#[inline]
fn unpack(words: [u32; 8], bits: usize, mut put: impl FnMut(usize, f32)) {
    let mask = u32::MAX >> (32 - bits);
    for i in 0..32 {
        let (word, shift) = (i * bits / 32, i * bits % 32);
        let high = words.get(word + 1).copied().unwrap_or(0);
        let both = u64::from(high) << 32 | u64::from(words[word]);
        put(i, number(low(both >> shift) & mask));
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
const fn low(both: u64) -> u32 {
    both as u32
}

/// Converts a code of at most 8 bits.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "at most 255")]
const fn number(code: u32) -> f32 {
    code as f32
}

/// Reads at most eight words; missing ones are 0.
fn words_of(bytes: &[u8]) -> [u32; 8] {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// Reads a word; one after the end, which the last codes of a column do not reach, is 0.
#[inline]
fn word_at(bytes: &[u8], index: usize) -> u32 {
    bytes.get(4 * index..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

/// Unpacks dense codes of several words, each list of `count` codes starting in a new word.
pub(super) fn unpack_lists(bytes: &[u8], bits: usize, count: usize) -> Vec<f32> {
    let words = (count * bits).div_ceil(32).max(1);
    let lists = bytes.len() / 4 / words;
    let mut out = vec![0.0; lists * count];
    Layout::WordsAcross { bits, offset: 0.0 }.decode(bytes, (lists, count), 0..lists, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn decoded(layout: &Layout, bytes: &[u8], shape: (usize, usize)) -> Vec<f32> {
        assert_eq!(layout.bytes(shape.0, shape.1), Some(bytes.len()), "{layout:?}");
        let mut out = vec![f32::NAN; shape.0 * shape.1];
        layout.decode(bytes, shape, 0..shape.0, &mut out);
        // Any run of rows gives the same values.
        for row in 0..shape.0 {
            let mut one = vec![f32::NAN; shape.1];
            layout.decode(bytes, shape, row..row + 1, &mut one);
            assert_eq!(one, out[row * shape.1..][..shape.1], "{layout:?} row {row}");
        }
        out
    }

    #[test]
    fn words_hold_codes_from_their_low_bits() {
        let across = Layout::WordsAcross { bits: 4, offset: 8.0 };
        assert_eq!(decoded(&across, &bytes_of(&[0x0000_0321]), (1, 3)), [-7.0, -6.0, -5.0]);
        // Code 10 of 3 bits covers bits 30 to 32: it starts in the first word and ends in the second.
        let three = decoded(&Layout::WordsAcross { bits: 3, offset: 0.0 }, &bytes_of(&[1 << 31, 1]), (1, 12));
        assert_eq!((three[10], three[11]), (6.0, 0.0));
        let down = decoded(&Layout::WordsDown { bits: 8 }, &bytes_of(&[0x0403_0201, 0x0807_0605]), (2, 4));
        assert_eq!(down, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    }

    #[test]
    fn awq_interleaves_the_codes_of_a_word() {
        let values = decoded(&Layout::Awq, &bytes_of(&[0x7654_3210]), (8, 1));
        assert_eq!(values, [0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]);
    }

    #[test]
    fn nibbles_and_planes_have_their_own_orders() {
        assert_eq!(decoded(&Layout::E2m1, &[0xF2], (1, 2)), [1.0, -6.0]);
        assert_eq!(decoded(&Layout::Nibbles { signed: true }, &[0xF2, 0x08], (1, 3)), [2.0, -1.0, -8.0]);
        assert_eq!(decoded(&Layout::Nibbles { signed: false }, &[0xF2, 0x08], (1, 3)), [2.0, 15.0, 8.0]);
        let table: [f32; 16] = std::array::from_fn(|i| u8::try_from(i).map_or(f32::NAN, f32::from));
        assert_eq!(decoded(&Layout::Table(table.into()), &[0x12, 0x34], (2, 2)), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(decoded(&Layout::Planes { bits: 4, stride: 2 }, &[0x12, 0x34], (1, 4)), [1.0, 3.0, 2.0, 4.0]);
        let three = decoded(&Layout::Planes { bits: 3, stride: 1 }, &bytes_of(&[1 << 27 | 2 << 24 | 7]), (1, 10));
        assert_eq!((three[0], three[1], three[9]), (1.0, 2.0, 7.0));
    }
}
