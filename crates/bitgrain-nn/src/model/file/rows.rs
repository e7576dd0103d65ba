//! `Rows`: a loaded tensor, decoded by rows.

use std::ops::Range;

use bitgrain_codec::weight::{Parts, Scaling, WeightFormat};

use super::ModelTensor;
use super::bytes::{Bytes, Loaded};
use super::view::ViewRows;
use crate::model::ModelFileError;
use crate::model::checkpoint::PackedRows;

/// Size in bytes above which a tensor is mapped piece by piece, because mapped pages count as memory of the process.
const WHOLE: u64 = 64 << 20;

/// A loaded tensor. Any run of rows can be decoded from any thread.
#[derive(Debug)]
pub(crate) struct Rows {
    name: String,
    rows: usize,
    cols: usize,
    source: Source,
}

/// Source of the values.
#[derive(Debug)]
enum Source {
    Stored { format: WeightFormat, codes: Codes, scales: Vec<f32>, zeros: Loaded },
    View(ViewRows),
    Packed(PackedRows),
}

#[derive(Debug)]
enum Codes {
    Whole(Loaded),
    Pieces(Bytes),
}

impl Codes {
    fn load(bytes: &Bytes) -> Result<Self, ModelFileError> {
        if bytes.len() > WHOLE { Ok(Self::Pieces(bytes.clone())) } else { Ok(Self::Whole(bytes.load()?)) }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Whole(loaded) => loaded.len() as u64,
            Self::Pieces(bytes) => bytes.len(),
        }
    }
}

impl Rows {
    pub(crate) fn load(tensor: &ModelTensor) -> Result<Self, ModelFileError> {
        let name = tensor.name.clone();
        let unreadable = || ModelFileError::Unreadable { tensor: name.clone(), kind: tensor.storage.to_string() };
        let format = tensor.storage.decoder().ok_or_else(unreadable)?;
        let size = |count: u64| usize::try_from(count).map_err(|_| unreadable());
        let (rows, cols) = (size(tensor.rows())?, size(tensor.cols())?);
        if let Some(view) = &tensor.view {
            let view = ViewRows::load(tensor, view)?;
            let whole = rows.checked_mul(cols).is_some_and(|len| view.holds(len));
            let source = Source::View(view);
            return if whole { Ok(Self { name, rows, cols, source }) } else { Err(unreadable()) };
        }
        if let Some(packed) = &tensor.packed {
            let packed = PackedRows::load(packed)?;
            let whole = packed.has_shape(rows, cols);
            return if whole {
                Ok(Self { name, rows, cols, source: Source::Packed(packed) })
            } else {
                Err(unreadable())
            };
        }
        let scales = match &tensor.scales {
            Some(scales) => scales.load()?.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            None => Vec::new(),
        };
        let zeros = tensor.zeros.as_ref().map_or_else(|| Ok(Loaded::Owned([].into())), Bytes::load)?;
        let codes = Codes::load(&tensor.codes)?;
        // Check sizes once, so that decoding any run of rows stays within the arrays.
        let sizes = format.sizes(rows, cols).map_err(ModelFileError::codec(&name))?;
        let enough = codes.len() >= sizes.codes as u64 && scales.len() >= sizes.scales && zeros.len() >= sizes.zeros;
        let source = Source::Stored { format, codes, scales, zeros };
        if enough { Ok(Self { name: name.clone(), rows, cols, source }) } else { Err(unreadable()) }
    }

    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) const fn cols(&self) -> usize {
        self.cols
    }

    pub(crate) const fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// Decodes a run of rows into `out`, whose length must match exactly.
    pub(crate) fn decode(&self, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelFileError> {
        let wrong = || ModelFileError::codec(&self.name);
        if self.cols == 0 || rows.is_empty() {
            return Ok(());
        }
        let (format, codes, scales, zeros) = match &self.source {
            Source::Stored { format, codes, scales, zeros } => (format, codes, scales, zeros),
            Source::View(view) => return view.decode(rows.start * self.cols, out),
            Source::Packed(packed) => return packed.decode(rows, out),
        };
        let sizes = |rows| format.sizes(rows, self.cols).map_err(wrong());
        let (before, here) = (sizes(rows.start)?, sizes(rows.len())?);
        let per_tensor = matches!(format, WeightFormat::Scaled(format) if format.scaling == Scaling::Tensor);
        let (first_scale, first_zero) = if per_tensor { (0, 0) } else { (before.scales, before.zeros) };
        let (scales, zeros) = (&scales[first_scale..][..here.scales], &zeros[first_zero..][..here.zeros]);
        let decode = |codes: &[u8], out: &mut [f32]| {
            format.decode_rows(Parts { codes, scales, zeros }, self.cols, out).map_err(wrong())
        };
        match codes {
            Codes::Whole(loaded) => decode(&loaded[before.codes..][..here.codes], out),
            Codes::Pieces(bytes) => {
                let start = before.codes as u64;
                decode(&bytes.window(start..start + here.codes as u64)?, out)
            }
        }
    }
}
