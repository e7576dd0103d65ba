//! `Packed`: a weight matrix as another quantizer stored it, decoded by rows.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::CheckpointError;
use super::groups::Groups;
use super::layout::Layout;
use super::scales::Scales;
use super::zeros::Zeros;
use crate::model::file::Loaded;
use crate::model::{ModelFileError, ModelTensor, Rows, TensorEncoding};

/// Arrays of a weight matrix. A weight is `(code - zero) * scale * factor`.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    /// Method and width for display: `gptq int4/128`.
    pub(super) kind: String,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) codes: ModelTensor,
    pub(super) layout: Layout,
    pub(super) scales: Scales,
    pub(super) zeros: Option<Zeros>,
    pub(super) groups: Groups,
    /// Group of each column, if it is stored.
    pub(super) order: Option<ModelTensor>,
    /// Factor of all weights, applied last.
    pub(super) factor: f32,
}

impl Packed {
    /// Returns the size of the arrays in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.arrays().iter().map(|array| array.bytes()).sum()
    }

    /// Returns the files that hold the arrays.
    pub(crate) fn paths(&self) -> Vec<&Path> {
        self.arrays().into_iter().flat_map(ModelTensor::paths).collect()
    }

    fn arrays(&self) -> Vec<&ModelTensor> {
        let zeros = self.zeros.as_ref().map(Zeros::array);
        [&self.codes].into_iter().chain(self.scales.arrays()).chain(zeros).chain(&self.order).collect()
    }
}

impl ModelTensor {
    /// Creates a tensor whose values are decoded from packed arrays.
    pub(super) fn of_packed(name: String, shape: Vec<u64>, packed: Packed) -> Self {
        let storage = TensorEncoding::Packed { kind: Arc::from(packed.kind.as_str()) };
        let codes = packed.codes.codes.clone();
        Self { name, shape, storage, codes, scales: None, zeros: None, view: None, packed: Some(Arc::new(packed)) }
    }
}

/// A loaded [`Packed`].
#[derive(Debug)]
pub(crate) struct PackedRows {
    rows: usize,
    cols: usize,
    source: Source,
    layout: Layout,
    scales: Vec<f32>,
    /// Empty without zero points.
    zeros: Vec<f32>,
    groups: Groups,
    factor: f32,
}

#[derive(Debug)]
enum Source {
    /// Codes that are numbers of a dtype.
    Plain(Box<Rows>),
    Bytes(Loaded),
}

impl PackedRows {
    pub(crate) fn load(packed: &Packed) -> Result<Self, ModelFileError> {
        let value = |tensor: &ModelTensor, reason: String| {
            let tensor = tensor.name.clone();
            ModelFileError::Checkpoint(Box::new(CheckpointError::Value { tensor, reason }))
        };
        let (rows, cols) = (packed.rows, packed.cols);
        let (source, enough) = if packed.layout == Layout::Plain {
            let codes = Rows::load(&packed.codes)?;
            let enough = codes.rows() == rows && codes.cols() == cols;
            (Source::Plain(codes.into()), enough)
        } else {
            let bytes = packed.codes.codes.load()?;
            let enough = packed.layout.bytes(rows, cols).is_some_and(|wanted| bytes.len() >= wanted);
            (Source::Bytes(bytes), enough)
        };
        let groups = match (&packed.order, &packed.groups) {
            (Some(order), Groups::Columns { count, .. }) => {
                let bytes = order.codes.load()?;
                let of: Vec<u32> = bytes.as_chunks().0.iter().map(|group| u32::from_le_bytes(*group)).collect();
                if let Some(col) = of.iter().position(|group| *group as usize >= *count) {
                    return Err(value(order, format!("group {} of column {col} is not below {count}", of[col])));
                }
                Groups::Columns { of, count: *count }
            }
            (_, groups) => groups.clone(),
        };
        let scales = packed.scales.load()?;
        let zeros = packed.zeros.as_ref().map_or(Ok(Vec::new()), Zeros::load)?;
        let wanted = groups.count(rows, cols);
        let columns = !matches!(&groups, Groups::Columns { of, .. } if of.len() != cols);
        if !enough || !columns || scales.len() < wanted || packed.zeros.is_some() && zeros.len() < wanted {
            return Err(value(&packed.codes, "its arrays are shorter than its shape requires".to_owned()));
        }
        let (layout, factor) = (packed.layout.clone(), packed.factor);
        Ok(Self { rows, cols, source, layout, scales, zeros, groups, factor })
    }

    /// Returns whether a matrix of this shape can be decoded.
    pub(crate) const fn has_shape(&self, rows: usize, cols: usize) -> bool {
        self.rows == rows && self.cols == cols
    }

    pub(crate) fn decode(&self, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelFileError> {
        match &self.source {
            Source::Plain(codes) => codes.decode(rows.clone(), out)?,
            Source::Bytes(bytes) => self.layout.decode(bytes, (self.rows, self.cols), rows.clone(), out),
        }
        for (row, values) in rows.zip(out.chunks_exact_mut(self.cols.max(1))) {
            self.groups.for_each(row, values, |group, run| {
                let scale = self.scales[group];
                match self.zeros.get(group) {
                    Some(zero) => run.iter_mut().for_each(|code| *code = (*code - zero) * scale),
                    None => run.iter_mut().for_each(|code| *code *= scale),
                }
            });
            if self.factor != 1.0 {
                values.iter_mut().for_each(|value| *value *= self.factor);
            }
        }
        Ok(())
    }
}
