//! `Zeros`: zero points as a checkpoint stores them, loaded as one f32 per group.

use super::layout::{Layout, unpack_lists};
use super::scales::transposed;
use crate::model::{ModelFileError, ModelTensor};

/// Zero points of a matrix.
#[derive(Debug, Clone)]
pub(super) enum Zeros {
    /// Numbers of any dtype, in the order of the scales.
    Plain(ModelTensor),
    /// Dense codes of one row per group; `plus` is added to each (GPTQ).
    Words { words: ModelTensor, bits: usize, rows: usize, plus: f32 },
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
            Self::Words { words, bits, rows, plus } => {
                let mut zeros = unpack_lists(&words.codes.load()?, *bits, *rows);
                zeros.iter_mut().for_each(|zero| *zero += plus);
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
