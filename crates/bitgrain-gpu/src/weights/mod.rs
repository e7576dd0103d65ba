//! `DeviceMatrix`: a matrix of packed weights in the memory of a device.

mod bound;
mod decoder;
mod product;

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{DType, QuantizedTensor, ScaledFormat, Scaling, WeightFormat, check_finite};

use crate::device::padded;
use crate::{Device, GpuError};
use decoder::Decoder;
pub(crate) use product::{ANY, count, line};

/// Most rows in one part of a matrix: one workgroup computes 32 rows, and 65,535 workgroups fit one dimension.
const MOST_ROWS: usize = 1 << 20;

/// A matrix of packed weights in the memory of a device: the codes, scales and zero points of a [`QuantizedTensor`], byte
/// for byte. Kernels unpack eight weights at a time in their inner loop; the weights are never stored as f32.
///
/// A matrix that exceeds the largest array of the device is split by rows.
#[derive(Debug, Clone)]
pub struct DeviceMatrix {
    device: Device,
    format: WeightFormat,
    stored: WeightFormat,
    decoder: Decoder,
    rows: usize,
    cols: usize,
    bytes: usize,
    strides: Strides,
    parts: Vec<Part>,
}

/// Consecutive rows of a matrix.
#[derive(Debug, Clone)]
struct Part {
    first: usize,
    rows: usize,
    codes: wgpu::Buffer,
    scales: wgpu::Buffer,
    zeros: wgpu::Buffer,
    bytes: usize,
}

/// Strides of the arrays of a matrix.
#[derive(Debug, Clone, Copy)]
struct Strides {
    codes: usize,
    scales: usize,
    zeros: usize,
}

impl DeviceMatrix {
    /// Copies a matrix to the device. Formats without a kernel are uploaded by [`upload_f32`](Self::upload_f32).
    ///
    /// # Errors
    /// Returns [`GpuError::NonFiniteWeight`], [`GpuError::TooLarge`] if a single row exceeds the largest array of the
    /// device, and errors of the device.
    pub fn upload(device: &Device, tensor: &QuantizedTensor) -> Result<Self, GpuError> {
        check_weights(tensor)?;
        match Decoder::of(tensor.format()) {
            Some(decoder) => Self::split(device, tensor, decoder),
            None => Self::upload_f32(device, tensor),
        }
    }

    /// Copies the decoded weights of a matrix to the device: the values are those of the format, but each takes four
    /// bytes.
    ///
    /// # Errors
    /// Same as [`upload`](Self::upload).
    pub fn upload_f32(device: &Device, tensor: &QuantizedTensor) -> Result<Self, GpuError> {
        let (format, cols) = (tensor.format(), tensor.shape().1);
        let matrix = Self::from_values(device, &tensor.dequantize()?, cols)?;
        Ok(Self { format, ..matrix })
    }

    /// Copies f32 weights in rows of `cols` to the device.
    ///
    /// # Errors
    /// Same as [`upload`](Self::upload), and [`GpuError::Codec`] if `cols` does not divide the number of weights.
    pub fn from_values(device: &Device, weights: &[f32], cols: usize) -> Result<Self, GpuError> {
        Self::upload(device, &QuantizedTensor::quantize(DType::Float32.into(), weights, cols)?)
    }

    fn split(device: &Device, tensor: &QuantizedTensor, decoder: Decoder) -> Result<Self, GpuError> {
        let (format, (rows, cols)) = (tensor.format(), tensor.shape());
        let strides = Strides::of(tensor)?;
        let limit = device.max_binding();
        // The padding of a part is at most seven bytes.
        let room = usize::try_from(limit.saturating_sub(8)).unwrap_or(usize::MAX);
        let widest = strides.codes.max(4 * strides.scales).max(strides.zeros);
        let each = room.checked_div(widest).unwrap_or(MOST_ROWS).min(MOST_ROWS);
        if each == 0 {
            return Err(GpuError::TooLarge { what: "the codes of one row", bytes: padded(widest), limit });
        }
        let parts =
            (0..rows).step_by(each).map(|first| Part::new(device, tensor, strides, first, each.min(rows - first)));
        let parts = parts.collect::<Result<_, _>>()?;
        let device = device.clone();
        Ok(Self { device, format, stored: format, decoder, rows, cols, bytes: tensor.bytes(), strides, parts })
    }

    /// Returns the format of the weights.
    #[must_use]
    pub const fn format(&self) -> WeightFormat {
        self.format
    }

    /// Returns the format in the memory of the device: float32 for formats without a kernel, else
    /// [`format`](Self::format).
    #[must_use]
    pub const fn stored(&self) -> WeightFormat {
        self.stored
    }

    /// Returns the number of rows (outputs) and columns (inputs).
    #[must_use]
    pub const fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Returns the size in bytes of codes, scales and zero points on the device.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of arrays that the codes are split into.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the device.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }
}

impl Strides {
    fn of(tensor: &QuantizedTensor) -> Result<Self, GpuError> {
        let one = tensor.format().sizes(1, tensor.shape().1)?;
        let whole = tensor.format().needs_tensor_grid();
        Ok(Self {
            codes: one.codes,
            scales: if whole { 0 } else { one.scales },
            zeros: if whole { 0 } else { one.zeros },
        })
    }
}

impl Part {
    fn new(
        device: &Device,
        tensor: &QuantizedTensor,
        strides: Strides,
        first: usize,
        rows: usize,
    ) -> Result<Self, GpuError> {
        let all = tensor.parts();
        let codes = &all.codes[first * strides.codes..][..rows * strides.codes];
        let (scales, zeros) = if tensor.format().needs_tensor_grid() {
            (all.scales, all.zeros)
        } else {
            (
                &all.scales[first * strides.scales..][..rows * strides.scales],
                &all.zeros[first * strides.zeros..][..rows * strides.zeros],
            )
        };
        Ok(Self {
            first,
            rows,
            codes: device.upload("codes", codes)?,
            scales: device.upload("scales", bytemuck::cast_slice(scales))?,
            zeros: device.upload("zero points", zeros)?,
            bytes: codes.len() + 4 * scales.len() + zeros.len(),
        })
    }
}

/// Returns the weights per scale and the scales per row.
fn groups(format: WeightFormat, cols: usize) -> (usize, usize) {
    match format {
        WeightFormat::Scaled(ScaledFormat { scaling: Scaling::Group(len), .. }) => {
            (len.get(), cols.div_ceil(len.get()))
        }
        _ => (cols.max(1), 1),
    }
}

/// Checks that all weights are finite.
fn check_weights(tensor: &QuantizedTensor) -> Result<(), GpuError> {
    let (rows, cols) = tensor.shape();
    let mut row = vec![0.0; cols];
    for at in 0..rows {
        tensor.columns_into(at, 0, &mut row)?;
        if let Err(CodecErr::NonFinite { index }) = check_finite(&row) {
            return Err(GpuError::NonFiniteWeight { index: at * cols + index, format: tensor.format() });
        }
    }
    Ok(())
}
