//! `View`: a tensor made of rows of other tensors, computed as it is read. Conversions between naming schemes rearrange
//! weights this way without copying the model.

use std::ops::Range;

use bitgrain_codec::weight::{PartsBuf, WeightFormat};

use super::bytes::Bytes;
use super::{ModelTensor, Rows, TensorEncoding};
use crate::model::ModelFileError;
use crate::model::adapter::{LowRank, LowRankRows};

/// Source and arrangement of the rows of a tensor.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// Tensors of equal shape, one above the other.
    pub(crate) parts: Vec<ModelTensor>,
    pub(crate) order: RowOrder,
    /// Constant that is added to every value.
    pub(crate) plus: f32,
    /// Whether conversions keep the tensor's encoding unless a rule names the tensor, as for vectors.
    pub(crate) fixed: bool,
    /// An update by a low-rank matrix, for rows in the order `Same`.
    pub(crate) update: Option<LowRank>,
}

/// Source row of each row. The "rows" of a vector are its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOrder {
    Same,
    /// Within each head of `head` rows, a row of the first half is followed by its partner in the second half: the order
    /// of rotary pairs in GGUF files of the Llama family.
    Interleaved {
        head: usize,
    },
    /// The inverse of `Interleaved`.
    Halved {
        head: usize,
    },
    /// `take` rows of every `of`, after the first `skip`.
    Slice {
        take: usize,
        of: usize,
        skip: usize,
    },
}

impl RowOrder {
    /// Returns the source of a row.
    pub(crate) const fn source(self, row: usize) -> usize {
        match self {
            Self::Same => row,
            Self::Interleaved { head } => {
                let (base, at) = (row / head * head, row % head);
                base + at % 2 * (head / 2) + at / 2
            }
            Self::Halved { head } => {
                let (base, at) = (row / head * head, row % head);
                base + at % (head / 2) * 2 + at / (head / 2)
            }
            Self::Slice { take, of, skip } => row / take * of + skip + row % take,
        }
    }

    /// Returns the number of rows that are read together, because they share their sources.
    const fn group(self) -> usize {
        match self {
            Self::Interleaved { head } | Self::Halved { head } => head,
            Self::Same | Self::Slice { .. } => 1,
        }
    }
}

impl ModelTensor {
    /// Creates a tensor of `shape` whose values are read from others and stored as `format`, a plain float.
    pub(crate) fn of_view(name: String, shape: Vec<u64>, storage: TensorEncoding, view: View) -> Self {
        let codes = Bytes::Owned([].into());
        Self { name, shape, storage, codes, scales: None, zeros: None, view: Some(view.into()), packed: None }
    }

    /// Encodes values that have no stored bytes in `format`.
    pub(super) fn encoded(&self, format: WeightFormat) -> Result<PartsBuf, ModelFileError> {
        let wrong = || ModelFileError::codec(&self.name);
        let (rows, cols) = self.matrix_shape()?;
        let mut parts = PartsBuf::new(format.sizes(rows, cols).map_err(wrong())?);
        format.encode_rows(&self.values()?, cols, None, None, parts.parts_mut()).map_err(wrong())?;
        Ok(parts)
    }
}

/// A loaded view.
#[derive(Debug)]
pub(super) struct ViewRows {
    parts: Vec<Rows>,
    /// Rows per part, and values per row. A vector counts as a column.
    part_rows: usize,
    width: usize,
    order: RowOrder,
    plus: f32,
    update: Option<LowRankRows>,
}

impl ViewRows {
    pub(super) fn load(tensor: &ModelTensor, view: &View) -> Result<Self, ModelFileError> {
        let parts = view.parts.iter().map(Rows::load).collect::<Result<Vec<_>, _>>()?;
        let vector = tensor.shape.len() < 2;
        let first = parts.first().map_or((0, 0), |part| (part.rows(), part.cols()));
        let (part_rows, width) = if vector { (first.0 * first.1, 1) } else { first };
        let update = view.update.as_ref().map(LowRank::load).transpose()?;
        Ok(Self { parts, part_rows: part_rows.max(1), width, order: view.order, plus: view.plus, update })
    }

    /// Returns whether the parts hold every row of a tensor of `len` values.
    pub(super) fn holds(&self, len: usize) -> bool {
        let rows = len.checked_div(self.width).unwrap_or(0);
        let groups = rows.is_multiple_of(self.order.group());
        len == 0 || groups && self.order.source(rows - 1) < self.parts.len() * self.part_rows
    }

    /// Decodes values `start..` of the flattened tensor, which begins and ends at a row of a matrix.
    pub(super) fn decode(&self, start: usize, out: &mut [f32]) -> Result<(), ModelFileError> {
        let rows = start / self.width..(start + out.len()) / self.width;
        match self.order {
            RowOrder::Same => self.decode_run(rows, out)?,
            RowOrder::Slice { take, .. } => {
                let mut row = rows.start;
                let mut rest = &mut *out;
                while row < rows.end {
                    let end = rows.end.min((row / take + 1) * take);
                    let (here, after) = rest.split_at_mut((end - row) * self.width);
                    let first = self.order.source(row);
                    self.decode_run(first..first + (end - row), here)?;
                    (row, rest) = (end, after);
                }
            }
            RowOrder::Interleaved { head } | RowOrder::Halved { head } => {
                let around = rows.start / head * head..rows.end.div_ceil(head) * head;
                let mut all = vec![0.0; around.len() * self.width];
                self.decode_run(around.clone(), &mut all)?;
                for (row, out) in rows.zip(out.chunks_exact_mut(self.width)) {
                    out.copy_from_slice(&all[(self.order.source(row) - around.start) * self.width..][..self.width]);
                }
            }
        }
        if let Some(update) = &self.update {
            update.apply(start / self.width, self.width, out);
        }
        if self.plus != 0.0 {
            out.iter_mut().for_each(|value| *value += self.plus);
        }
        Ok(())
    }

    /// Decodes consecutive rows of the stacked parts.
    fn decode_run(&self, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelFileError> {
        let (mut row, mut rest) = (rows.start, out);
        while row < rows.end {
            let (part, first) = (&self.parts[row / self.part_rows], row % self.part_rows);
            let count = (self.part_rows - first).min(rows.end - row);
            let (here, after) = rest.split_at_mut(count * self.width);
            if self.width == part.cols() {
                part.decode(first..first + count, here)?;
            } else {
                // A vector, whose single row holds all elements.
                let mut all = vec![0.0; part.len()];
                part.decode(0..part.rows(), &mut all)?;
                here.copy_from_slice(&all[first..first + count]);
            }
            (row, rest) = (row + count, after);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitgrain_codec::weight::DType;

    fn floats(name: &str, shape: Vec<u64>, values: &[f32]) -> ModelTensor {
        let codes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let parts = PartsBuf { codes, scales: Vec::new(), zeros: Vec::new() };
        ModelTensor::new(name, shape, TensorEncoding::Weights(DType::Float32.into()), parts).expect("sizes match")
    }

    fn viewed(parts: Vec<ModelTensor>, shape: Vec<u64>, order: RowOrder, plus: f32) -> ModelTensor {
        let view = View { parts, order, plus, fixed: false, update: None };
        ModelTensor::of_view("view".into(), shape, TensorEncoding::Weights(DType::Float32.into()), view)
    }

    #[test]
    fn rotary_orders_are_inverse() {
        let head = 6;
        let order: Vec<usize> = (0..12).map(|row| RowOrder::Interleaved { head }.source(row)).collect();
        assert_eq!(order, [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]);
        for row in 0..12 {
            assert_eq!(RowOrder::Halved { head }.source(RowOrder::Interleaved { head }.source(row)), row);
        }
    }

    #[test]
    fn rows_and_vectors_follow_the_order() {
        let ramp: Vec<f32> = (0_u8..8).map(f32::from).collect();
        let matrix = floats("m", vec![4, 2], &ramp);
        let vector = floats("v", vec![8], &ramp);
        let interleaved = RowOrder::Interleaved { head: 4 };
        let rows = viewed(vec![matrix.clone()], vec![4, 2], interleaved, 0.0);
        assert_eq!(rows.values().expect("reads"), [0.0, 1.0, 4.0, 5.0, 2.0, 3.0, 6.0, 7.0]);
        let elements = viewed(vec![vector], vec![8], interleaved, 1.0);
        assert_eq!(elements.values().expect("reads"), [1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0]);
        let cut = viewed(vec![matrix.clone()], vec![3, 2], RowOrder::Same, 0.0);
        assert_eq!(cut.values().expect("reads"), ramp[..6]);
        let stacked = viewed(vec![matrix.clone(), matrix.clone()], vec![2, 4, 2], RowOrder::Same, 0.0);
        assert_eq!(stacked.values().expect("reads"), [&ramp[..], &ramp[..]].concat());
        let slice = RowOrder::Slice { take: 1, of: 2, skip: 1 };
        let odd = viewed(vec![matrix.clone()], vec![2, 1, 2], slice, 0.0);
        assert_eq!(odd.values().expect("reads"), [2.0, 3.0, 6.0, 7.0]);
        assert!(viewed(vec![matrix], vec![5, 2], RowOrder::Same, 0.0).values().is_err());
    }
}
