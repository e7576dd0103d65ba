//! `Zeros`: zero points as a checkpoint stores them, loaded as one f32 per group.

use super::layout::{Layout, unpack_lists};
use super::scales::transposed;
use crate::model::{ModelFileError, ModelTensor};

/// Zero points of a matrix.
#[derive(Debug, Clone)]
pub(super) enum Zeros {
    /// Numbers of any dtype, in the order of the scales.
    Plain(ModelTensor),
    /// Dense codes of one row per group, all of them 1 less than the zero points if `decremented` (GPTQ).
    Words { words: ModelTensor, bits: usize, rows: usize, decremented: bool },
    /// Codes in AWQ's order, one row per group.
    Awq { words: ModelTensor, rows: usize },
    /// Dense codes of one column per group; the code 0 has the value `-offset` (compressed-tensors).
    WordsDown { words: ModelTensor, bits: usize, rows: usize, offset: f32 },
}

impl Zeros {
    pub(super) const fn array(&self) -> &ModelTensor {
        match self {
            Self::Plain(array) => array,
            Self::Words { words, .. } | Self::Awq { words, .. } | Self::WordsDown { words, .. } => words,
        }
    }

    /// Loads the zero points, row by row.
    pub(super) fn load(&self) -> Result<Vec<f32>, ModelFileError> {
        let groups = |words: &ModelTensor| usize::try_from(words.shape[0]).unwrap_or(0);
        Ok(match self {
            Self::Plain(zeros) => zeros.values()?,
            Self::Words { words, bits, rows, decremented } => {
                let words = words.codes.load()?;
                let zeros = match decremented {
                    false => unpack_lists(&words, *bits, *rows),
                    // GPTQModel subtracts from whole words, so a zero point of 0 borrows from its neighbor.
                    true if 32 % bits == 0 => unpack_lists(&incremented(&words, *bits), *bits, *rows),
                    true => {
                        let most = f32::from(u8::MAX >> (8 - bits));
                        let zeros = unpack_lists(&words, *bits, *rows).into_iter();
                        zeros.map(|zero| if zero == most { 0.0 } else { zero + 1.0 }).collect()
                    }
                };
                transposed(&zeros, *rows)
            }
            Self::Awq { words, rows } => {
                let groups = groups(words);
                let mut zeros = vec![0.0; rows * groups];
                Layout::Awq.decode(&words.codes.load()?, (*rows, groups), 0..*rows, &mut zeros);
                zeros
            }
            Self::WordsDown { words, bits, rows, offset } => {
                // A column of words is a list of codes, as for the weights of GPTQ.
                let groups = usize::try_from(words.shape[1]).unwrap_or(0);
                let mut zeros = vec![0.0; rows * groups];
                Layout::WordsDown { bits: *bits }.decode(&words.codes.load()?, (groups, *rows), 0..groups, &mut zeros);
                zeros.iter_mut().for_each(|zero| *zero -= offset);
                transposed(&zeros, *rows)
            }
        })
    }
}

/// Adds 1 to every code of `bits` bits, with a carry into the next code of the word.
fn incremented(words: &[u8], bits: usize) -> Vec<u8> {
    let ones = (0..32 / bits).fold(0_u32, |ones, code| ones | 1 << (code * bits));
    let add = |word: &[u8; 4]| u32::from_le_bytes(*word).wrapping_add(ones).to_le_bytes();
    words.as_chunks().0.iter().flat_map(add).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_point_of_0_borrows_from_its_neighbor() {
        // Zero points 0, 3, 1 and then 7, minus 1 in each of the eight fields.
        let stored = 0x7777_7130_u32.wrapping_sub(0x1111_1111).to_le_bytes();
        assert_eq!(incremented(&stored, 4), 0x7777_7130_u32.to_le_bytes());
        assert_eq!(incremented(&[0xFE; 4], 8), [0xFF; 4]);
    }
}
