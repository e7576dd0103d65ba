//! `Projection`: matrices that multiply the same inputs, joined where their formats agree.

use std::sync::Arc;

use bitgrain_codec::weight::{PartsBuf, QuantizedTensor, WeightFormat};

use super::LanguageError;
use super::loader::Loader;
use super::pass::Pass;
use crate::ModelTensor;
use crate::network::product::PackedMatrix;

/// Matrices with the same inputs, for example those of queries, keys and values. Joined matrices quantize their inputs
/// once, and give threads more work per product.
#[derive(Debug)]
pub(super) struct Projection {
    matrices: Vec<Matrix>,
    /// Lengths of the outputs.
    widths: Vec<usize>,
}

#[derive(Debug)]
struct Matrix {
    /// Names of the tensors, in the order of their rows.
    tensors: Vec<String>,
    packed: Arc<PackedMatrix>,
    /// One value per row, or empty.
    bias: Vec<f32>,
}

impl Projection {
    /// Loads one tensor, or several with as many rows as `widths` says. A single tensor may hold all outputs.
    pub(super) fn load(
        loader: Loader<'_>,
        names: &[String],
        widths: &[usize],
        cols: usize,
    ) -> Result<Self, LanguageError> {
        let all = [widths.iter().sum()];
        let rows = if names.len() == 1 { &all[..] } else { widths };
        let mut groups: Vec<Group<'_>> = Vec::new();
        for (name, rows) in names.iter().zip(rows) {
            let tensor = loader.tensor(&format!("{name}.weight"), &[*rows as u64, cols as u64])?;
            let format = loader.substitute(tensor).or(tensor.storage.format());
            let bias = bias(loader, &format!("{name}.bias"), *rows)?;
            match groups.last_mut().filter(|last| last.format == format) {
                Some(last) => last.push(tensor, *rows, &bias),
                None => groups.push(Group { tensors: vec![tensor], format, rows: *rows, bias }),
            }
        }
        let matrix = |group: Group<'_>| {
            let tensors = group.tensors.iter().map(|tensor| tensor.name.clone()).collect();
            Ok(Matrix { tensors, packed: loader.packed(&group.tensors)?, bias: group.bias })
        };
        let matrices = groups.into_iter().map(matrix).collect::<Result<_, LanguageError>>()?;
        Ok(Self { matrices, widths: widths.to_vec() })
    }

    /// Loads the matrices of all experts from one tensor.
    pub(super) fn load_experts(
        loader: Loader<'_>,
        name: &str,
        [experts, rows, cols]: [usize; 3],
    ) -> Result<Vec<Self>, LanguageError> {
        let tensor = loader.tensor(&format!("{name}.weight"), &[experts as u64, rows as u64, cols as u64])?;
        let all = loader.codes(tensor)?;
        let bytes = all.parts().codes.len() / experts;
        let expert = |at: usize| {
            let codes = all.parts().codes[at * bytes..][..bytes].to_vec();
            let parts = PartsBuf { codes, scales: Vec::new(), zeros: Vec::new() };
            let one = QuantizedTensor::from_parts(all.format(), rows, cols, parts).map_err(Into::into);
            let packed = one.and_then(PackedMatrix::new).map_err(LanguageError::weights(&tensor.name))?;
            let matrix = Matrix { tensors: vec![tensor.name.clone()], packed: packed.into(), bias: Vec::new() };
            Ok(Self { matrices: vec![matrix], widths: vec![rows] })
        };
        (0..experts).map(expert).collect()
    }

    /// Returns the size in memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.matrices.iter().map(|matrix| matrix.packed.bytes() + size_of_val(&matrix.bias[..])).sum()
    }

    /// Multiplies rows of inputs; returns one array per output. `expert` is reported to the observer.
    pub(super) fn multiply(
        &self,
        x: &[f32],
        batch: usize,
        expert: usize,
        pass: &mut Pass<'_>,
    ) -> Result<Vec<Vec<f32>>, LanguageError> {
        let mut outputs: Vec<Vec<f32>> = self.widths.iter().map(|width| Vec::with_capacity(width * batch)).collect();
        // The outputs of a matrix may cover several outputs, or a part of one.
        let mut first = 0;
        for matrix in &self.matrices {
            matrix.tensors.iter().for_each(|tensor| pass.see(tensor, expert, x, batch));
            let rows = matrix.packed.shape().0;
            let mut out = vec![0.0; batch * rows];
            matrix.packed.multiply(x, batch, &mut out).map_err(LanguageError::weights(&matrix.tensors[0]))?;
            if !matrix.bias.is_empty() {
                for row in out.chunks_exact_mut(rows) {
                    row.iter_mut().zip(&matrix.bias).for_each(|(out, bias)| *out += bias);
                }
            }
            if self.matrices.len() == 1 && self.widths.len() == 1 {
                return Ok(vec![out]);
            }
            let mut start = 0;
            for (width, output) in self.widths.iter().zip(&mut outputs) {
                let range = start.max(first)..(start + width).min(first + rows);
                if !range.is_empty() {
                    let range = range.start - first..range.end - first;
                    out.chunks_exact(rows).for_each(|row| output.extend_from_slice(&row[range.clone()]));
                }
                start += width;
            }
            first += rows;
        }
        Ok(outputs)
    }

    /// Multiplies with a projection of one output.
    pub(super) fn apply(
        &self,
        x: &[f32],
        batch: usize,
        expert: usize,
        pass: &mut Pass<'_>,
    ) -> Result<Vec<f32>, LanguageError> {
        Ok(self.multiply(x, batch, expert, pass)?.swap_remove(0))
    }

    /// Decodes a row of the first matrix, as in an embedding lookup.
    pub(super) fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), LanguageError> {
        let matrix = &self.matrices[0];
        matrix.packed.row_into(row, out).map_err(LanguageError::weights(&matrix.tensors[0]))
    }
}

/// Tensors that become one matrix.
struct Group<'a> {
    tensors: Vec<&'a ModelTensor>,
    format: Option<WeightFormat>,
    rows: usize,
    /// One value per row, or empty.
    bias: Vec<f32>,
}

impl<'a> Group<'a> {
    fn push(&mut self, tensor: &'a ModelTensor, rows: usize, bias: &[f32]) {
        self.tensors.push(tensor);
        if !(self.bias.is_empty() && bias.is_empty()) {
            self.bias.resize(self.rows, 0.0);
            self.bias.extend(bias);
            self.bias.resize(self.rows + rows, 0.0);
        }
        self.rows += rows;
    }
}

/// Returns the values of the vector `name`, or none if the model lacks it.
fn bias(loader: Loader<'_>, name: &str, len: usize) -> Result<Vec<f32>, LanguageError> {
    if loader.model.tensor(name).is_err() { Ok(Vec::new()) } else { loader.vector(name, len) }
}
