//! `ScaledFormat`: a dtype, its scaling and its calibration. Spec: `spec/weights.md`.

use alloc::vec::Vec;

use bitgrain_kernels::{Backend, BlockLen};

use super::calibrate::{Calibration, calibrate, of_range};
use super::grid::{CHUNK, Grid, pack};
use super::{DType, Parts, PartsMut, Scaling, Sizes};
use crate::CodecErr;

/// Format of codes with separate scales and zero points.
///
/// ```
/// use bitgrain_codec::weight::{DType, QuantizedTensor, ScaledFormat};
/// let row: Vec<f32> = (0..128).map(|i| (i as f32 - 64.0) / 64.0).collect();
/// let tensor = QuantizedTensor::quantize(ScaledFormat::new(DType::Int4).into(), &row, 128)?;
/// assert_eq!(tensor.bytes(), 64 + 2 * 4); // 4 bits per weight, and one scale per 64 weights
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledFormat {
    /// Number format of a weight.
    pub dtype: DType,
    /// Weights that share a scale.
    pub scaling: Scaling,
    /// Method that finds the scales. Does not change the layout.
    pub calibration: Calibration,
}

impl ScaledFormat {
    /// Creates a format with the dtype's default scaling, calibrated by the largest magnitude.
    #[must_use]
    pub const fn new(dtype: DType) -> Self {
        Self { dtype, scaling: Scaling::default_for(dtype), calibration: Calibration::AbsMax }
    }

    /// Returns the format with one scale per `len` weights.
    #[must_use]
    pub const fn with_group_len(self, len: BlockLen) -> Self {
        Self { scaling: Scaling::Group(len), ..self }
    }

    /// Returns the format with another calibration.
    #[must_use]
    pub const fn with_calibration(self, calibration: Calibration) -> Self {
        Self { calibration, ..self }
    }

    /// Returns the sizes of a matrix's arrays.
    ///
    /// # Errors
    /// Returns [`CodecErr::InvalidScaling`] for a plain float with scales.
    pub fn sizes(self, rows: usize, cols: usize) -> Result<Sizes, CodecErr> {
        if self.dtype.is_plain() && self.scaling != Scaling::None {
            return Err(CodecErr::InvalidScaling { dtype: self.dtype });
        }
        if rows == 0 || cols == 0 {
            return Ok(Sizes { codes: 0, scales: 0, zeros: 0 });
        }
        let codes = self.dtype.packed_len(cols).saturating_mul(rows);
        let (scales, zero_rows, zeros_each) = match self.scaling {
            Scaling::None => (0, 0, 0),
            Scaling::Tensor => (1, 1, 1),
            Scaling::Channel => (rows, rows, 1),
            Scaling::Group(len) => {
                let groups = cols.div_ceil(len.get());
                (rows.saturating_mul(groups), rows, groups)
            }
        };
        let zeros =
            if self.dtype.is_affine() { self.dtype.packed_len(zeros_each).saturating_mul(zero_rows) } else { 0 };
        Ok(Sizes { codes, scales, zeros })
    }

    /// Finds the grid of a tensor with a single grid; `None` for all other scalings. Reads every weight.
    ///
    /// # Errors
    /// Returns [`CodecErr::NonFinite`] or [`CodecErr::InvalidPercentile`].
    pub fn tensor_grid(self, values: &[f32]) -> Result<Option<Grid>, CodecErr> {
        if self.scaling != Scaling::Tensor {
            return Ok(None);
        }
        check_finite(values)?;
        calibrate(self.dtype, self.calibration.checked()?, values, None, &mut Vec::new()).map(Some)
    }

    /// Finds the grid from the range of the weights alone, if the calibration is the largest magnitude. The tensor then
    /// need not be in memory as a whole.
    #[must_use]
    pub fn tensor_grid_of_range(self, lo: f32, hi: f32) -> Option<Grid> {
        let by_range = !matches!(self.dtype, DType::Ternary | DType::Binary) && self.calibration == Calibration::AbsMax;
        (by_range && self.scaling == Scaling::Tensor).then(|| of_range(self.dtype, lo, hi))
    }

    /// Quantizes complete rows. `grid` is the result of [`tensor_grid`](Self::tensor_grid) for the whole tensor;
    /// without it, these rows are treated as the whole tensor. `importance` has a number per column that weights its
    /// squared errors; only the search by squared error uses it.
    ///
    /// # Errors
    /// Returns [`CodecErr::NonFinite`] unless the dtype is a plain float, [`CodecErr::OutputTooSmall`] if `out` does
    /// not have the [`sizes`](Self::sizes) of these rows, or an error for settings out of range.
    pub fn encode_rows(
        self,
        values: &[f32],
        cols: usize,
        grid: Option<Grid>,
        importance: Option<&[f32]>,
        out: PartsMut<'_>,
    ) -> Result<(), CodecErr> {
        let rows = whole_rows(values.len(), cols)?;
        let sizes = self.sizes(rows, cols)?;
        let calibration = self.calibration.checked()?;
        if !self.dtype.is_plain() {
            check_finite(values)?;
        }
        if importance.is_some_and(|all| all.len() != cols) {
            return Err(CodecErr::InputTooSmall { required: cols });
        }
        let fits = out.codes.len() == sizes.codes && out.scales.len() == sizes.scales && out.zeros.len() == sizes.zeros;
        if !fits {
            return Err(CodecErr::OutputTooSmall { required: sizes.bytes() });
        }
        let mut scratch = Vec::new();
        let whole = match self.scaling {
            Scaling::None => Some(Grid::UNIT),
            Scaling::Tensor => {
                let grid = match grid {
                    Some(grid) => grid,
                    None => calibrate(self.dtype, calibration, values, None, &mut scratch)?,
                };
                if let Some(scale) = out.scales.first_mut() {
                    *scale = grid.scale;
                    self.store_zeros(&[grid.zero], out.zeros)?;
                }
                Some(grid)
            }
            Scaling::Channel | Scaling::Group(_) => None,
        };
        let (group, row_bytes) = (self.scaling.group(cols).max(1), self.dtype.packed_len(cols));
        if let Some(grid) = whole {
            for (row, codes) in values.chunks(cols.max(1)).zip(out.codes.chunks_mut(row_bytes.max(1))) {
                grid.encode(self.dtype, row, codes)?;
            }
            return Ok(());
        }
        let groups = cols.div_ceil(group);
        let zeros_bytes = if self.dtype.is_affine() { self.dtype.packed_len(groups) } else { 0 };
        let mut zeros = Vec::with_capacity(groups);
        for (i, row) in values.chunks(cols.max(1)).enumerate() {
            let codes = &mut out.codes[i * row_bytes..][..row_bytes];
            zeros.clear();
            let pieces = row.chunks(group).zip(codes.chunks_mut(self.dtype.packed_len(group)));
            for (j, (values, codes)) in pieces.enumerate() {
                let importance = importance.map(|all| &all[j * group..][..values.len()]);
                let grid = calibrate(self.dtype, calibration, values, importance, &mut scratch)?;
                out.scales[i * groups + j] = grid.scale;
                zeros.push(grid.zero);
                grid.encode(self.dtype, values, codes)?;
            }
            self.store_zeros(&zeros, &mut out.zeros[i * zeros_bytes..][..zeros_bytes])?;
        }
        Ok(())
    }

    /// Quantizes complete rows in groups whose scales are limited to some numbers, as in formats with 8-bit scales. Each
    /// scale is first found as by [`encode_rows`](Self::encode_rows); `round` returns the two permitted ones next to it, of
    /// which the one with the smaller squared error is used, or the first if both errors are equal.
    ///
    /// # Errors
    /// Returns the errors of [`encode_rows`](Self::encode_rows), and [`CodecErr::InvalidScaling`] for a format with zero
    /// points or without groups.
    pub fn encode_rows_rounded(
        self,
        values: &[f32],
        cols: usize,
        importance: Option<&[f32]>,
        round: impl Fn(f32) -> [f32; 2],
        out: PartsMut<'_>,
    ) -> Result<(), CodecErr> {
        let Scaling::Group(len) = self.scaling else { return Err(CodecErr::InvalidScaling { dtype: self.dtype }) };
        if self.dtype.is_affine() || !cols.is_multiple_of(len.get()) {
            return Err(CodecErr::InvalidScaling { dtype: self.dtype });
        }
        let PartsMut { codes, scales, zeros } = out;
        self.encode_rows(values, cols, None, importance, PartsMut { codes, scales, zeros })?;
        let mut decoded = [0.0; CHUNK];
        let groups = values.chunks(len.get()).zip(codes.chunks_mut(self.dtype.packed_len(len.get())));
        for (i, ((values, codes), scale)) in groups.zip(scales).enumerate() {
            let weights = importance.map(|all| &all[i * len.get() % cols..][..values.len()]);
            let mut best = (f64::INFINITY, *scale);
            for scale in round(*scale) {
                let grid = Grid { scale, zero: 0 };
                let mut error = 0.0;
                for (j, values) in values.chunks(CHUNK).enumerate() {
                    let decoded = &mut decoded[..values.len()];
                    grid.round_trip(self.dtype, values, decoded)?;
                    for (k, (x, y)) in values.iter().zip(&*decoded).enumerate() {
                        let weight = weights.map_or(1.0, |all| f64::from(all[j * CHUNK + k]));
                        error += weight * f64::from(x - y) * f64::from(x - y);
                    }
                }
                if error < best.0 {
                    best = (error, scale);
                }
            }
            *scale = best.1;
            Grid { scale: best.1, zero: 0 }.encode(self.dtype, values, codes)?;
        }
        Ok(())
    }

    /// Dequantizes complete rows into `out`. With one scale per tensor, `parts.scales` and `parts.zeros` have one
    /// element.
    ///
    /// # Errors
    /// Returns [`CodecErr::InputTooSmall`], or [`CodecErr::InvalidScale`] if a scale is not finite.
    pub fn decode_rows(self, parts: Parts<'_>, cols: usize, out: &mut [f32]) -> Result<(), CodecErr> {
        let rows = whole_rows(out.len(), cols)?;
        let sizes = self.sizes(rows, cols)?;
        let there =
            parts.codes.len() >= sizes.codes && parts.scales.len() >= sizes.scales && parts.zeros.len() >= sizes.zeros;
        if !there {
            return Err(CodecErr::InputTooSmall { required: sizes.bytes() });
        }
        let (group, row_bytes) = (self.scaling.group(cols).max(1), self.dtype.packed_len(cols));
        let groups = cols.div_ceil(group);
        let zeros_bytes = if self.dtype.is_affine() { self.dtype.packed_len(groups) } else { 0 };
        let affine = self.dtype.is_affine() && self.scaling != Scaling::None;
        for (i, out) in out.chunks_mut(cols.max(1)).enumerate() {
            let codes = &parts.codes[i * row_bytes..][..row_bytes];
            let zeros =
                if affine && self.scaling != Scaling::Tensor { &parts.zeros[i * zeros_bytes..] } else { parts.zeros };
            for (j, (codes, out)) in codes.chunks(self.dtype.packed_len(group)).zip(out.chunks_mut(group)).enumerate() {
                let scale = match self.scaling {
                    Scaling::None => 1.0,
                    Scaling::Tensor => parts.scales[0],
                    Scaling::Channel | Scaling::Group(_) => parts.scales[i * groups + j],
                };
                if !scale.is_finite() {
                    return Err(CodecErr::InvalidScale { index: i * cols + j * group });
                }
                let zero = if affine { self.zero_at(zeros, j) } else { 0 };
                Grid { scale, zero }.decode(self.dtype, codes, out)?;
            }
        }
        Ok(())
    }

    fn store_zeros(self, zeros: &[u64], out: &mut [u8]) -> Result<(), CodecErr> {
        if !self.dtype.is_affine() {
            return Ok(());
        }
        let bytes = usize::from(self.dtype.bits()).div_ceil(8);
        if self.dtype.bits() >= 8 {
            for (zero, out) in zeros.iter().zip(out.chunks_exact_mut(bytes)) {
                out.copy_from_slice(&zero.to_le_bytes()[..bytes]);
            }
            return Ok(());
        }
        let codes: Vec<u8> = zeros.iter().map(|zero| zero.to_le_bytes()[0]).collect();
        pack(Backend::best(), self.dtype, &codes, out)
    }

    /// Returns the zero point at `index`; zero points are packed least significant bit first.
    fn zero_at(self, bytes: &[u8], index: usize) -> u64 {
        let bits = usize::from(self.dtype.bits());
        if bits >= 8 {
            let mut zero = [0; 8];
            zero[..bits / 8].copy_from_slice(&bytes[index * bits / 8..][..bits / 8]);
            return u64::from_le_bytes(zero);
        }
        u64::from(bytes[index * bits / 8] >> (index * bits % 8) & (u8::MAX >> (8 - bits)))
    }
}

/// Returns the number of rows of `cols` columns in `len` weights.
pub(crate) fn whole_rows(len: usize, cols: usize) -> Result<usize, CodecErr> {
    match len.checked_div(cols) {
        Some(rows) if rows * cols == len => Ok(rows),
        None if len == 0 => Ok(0),
        _ => Err(CodecErr::RaggedBlocks { len, block: cols }),
    }
}

/// Rejects NaN and infinities.
///
/// # Errors
/// Returns [`CodecErr::NonFinite`] with the index of the first one.
pub fn check_finite(values: &[f32]) -> Result<(), CodecErr> {
    /// Values checked per branch, so that the inner loop vectorizes.
    const RUN: usize = 1024;
    for (i, run) in values.chunks(RUN).enumerate() {
        if run.iter().fold(false, |odd, x| odd | !x.is_finite()) {
            let index = i * RUN + run.iter().position(|x| !x.is_finite()).unwrap_or(0);
            return Err(CodecErr::NonFinite { index });
        }
    }
    Ok(())
}
