//! Products with a matrix of packed weights, and lookups of its rows.

use std::sync::Arc;

use super::{DeviceMatrix, Part, groups};
use crate::kernel::Kernel;
use crate::pass::{Pass, Values};
use crate::{Device, GpuError};

/// Most rows of activations for which each output is computed by its own workgroup. From there on, decoding a tile of
/// weights once for 32 rows costs less.
const FEW: usize = 4;

/// Side of a tile of outputs.
const TILE: usize = 32;

/// Shader that runs on the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    Matvec,
    Matmul,
    Rows,
}

impl Program {
    const fn name(self) -> &'static str {
        match self {
            Self::Matvec => "matvec",
            Self::Matmul => "matmul",
            Self::Rows => "rows",
        }
    }

    const fn source(self) -> &'static str {
        match self {
            Self::Matvec => include_str!("../shaders/matvec.wgsl"),
            Self::Matmul => include_str!("../shaders/matmul.wgsl"),
            Self::Rows => include_str!("../shaders/rows.wgsl"),
        }
    }
}

/// Operands of a kernel on weights besides the weights.
struct Operands<'a> {
    x: &'a wgpu::Buffer,
    bias: Option<&'a wgpu::Buffer>,
    out: &'a wgpu::Buffer,
    /// Number of rows of `x`.
    batch: usize,
    range: (f32, f32),
}

/// The range that leaves all finite activations as they are.
pub(crate) const ANY: (f32, f32) = (f32::MIN, f32::MAX);

impl DeviceMatrix {
    /// Computes `x·Wᵀ`, where `x` is batch × columns; the result is batch × rows of the matrix. An `x` or a result that
    /// exceeds the largest array of the device is computed in several steps.
    ///
    /// # Errors
    /// Returns [`GpuError::Length`] if `x` does not consist of whole rows, [`GpuError::NonFiniteInput`], and errors of the
    /// device.
    pub fn multiply(&self, x: &[f32], batch: usize) -> Result<Vec<f32>, GpuError> {
        let (rows, cols) = self.shape();
        let wanted = batch.saturating_mul(cols);
        if x.len() != wanted {
            return Err(GpuError::Length { what: "activations", wanted, found: x.len() });
        }
        if let Some(index) = x.iter().position(|x| !x.is_finite()) {
            return Err(GpuError::NonFiniteInput { index });
        }
        if batch == 0 || rows == 0 || cols == 0 {
            return Ok(vec![0.0; batch * rows]);
        }
        let most = usize::try_from(self.device().max_binding().saturating_sub(8)).unwrap_or(usize::MAX);
        let step = (most / 4 / cols.max(rows)).max(1);
        let mut out = Vec::with_capacity(batch * rows);
        for x in x.chunks(step * cols) {
            let mut pass = Pass::new(self.device())?;
            let x = pass.upload("activations", x)?;
            let y = self.record_product(&mut pass, &x, None, ANY)?;
            out.extend(pass.read(&y)?);
        }
        Ok(out)
    }

    /// Decodes rows of the matrix on the device, as in an embedding lookup.
    ///
    /// # Errors
    /// Returns [`GpuError::NoRow`], [`GpuError::TooLarge`] if the rows exceed the largest array of the device, and errors
    /// of the device.
    pub fn rows(&self, indices: &[u32]) -> Result<Vec<f32>, GpuError> {
        let rows = self.shape().0;
        if let Some(&row) = indices.iter().find(|row| **row as usize >= rows) {
            return Err(GpuError::NoRow { row: row as usize, rows });
        }
        let mut pass = Pass::new(self.device())?;
        let indices = pass.upload_words("row indices", indices)?;
        let y = self.record_rows(&mut pass, &indices, None)?;
        pass.read(&y)
    }

    /// Records the product with rows of activations, clamped to `range`, plus an optional bias.
    pub(crate) fn record_product(
        &self,
        pass: &mut Pass<'_>,
        x: &Values,
        bias: Option<&Values>,
        range: (f32, f32),
    ) -> Result<Values, GpuError> {
        let (rows, cols) = self.shape();
        let batch = x.len / cols.max(1);
        let out = pass.allocate("outputs", batch * rows)?;
        let program = if batch <= FEW { Program::Matvec } else { Program::Matmul };
        let operands = Operands { x: &x.buffer, bias: bias.map(|bias| &bias.buffer), out: &out.buffer, batch, range };
        // Tiles of the batch dimension beyond the largest number of workgroups go to further dispatches.
        let step = pass.device().max_groups() as usize * TILE;
        for part in &self.parts {
            for first in (0..batch).step_by(step) {
                let some = step.min(batch - first);
                let groups = match program {
                    Program::Matvec => line(pass.device(), part.rows, some),
                    _ => [count(part.rows.div_ceil(TILE)), count(some.div_ceil(TILE)), 1],
                };
                // Weights are read again for each row or tile of activations, which caches hold.
                let tiles = if program == Program::Matvec { some } else { some.div_ceil(TILE) };
                let moved = part.bytes * tiles + 4 * some * (cols + part.rows);
                self.record(pass, program, part, &operands, first, groups, moved as u64);
            }
        }
        Ok(out)
    }

    /// Records the lookup of the rows `indices`, an array of words, plus optional values.
    pub(crate) fn record_rows(
        &self,
        pass: &mut Pass<'_>,
        indices: &Values,
        more: Option<&Values>,
    ) -> Result<Values, GpuError> {
        let cols = self.shape().1;
        let out = pass.allocate("rows", indices.len * cols)?;
        let bias = more.map(|more| &more.buffer);
        let operands = Operands { x: &indices.buffer, bias, out: &out.buffer, batch: indices.len, range: ANY };
        for part in &self.parts {
            let groups = line(pass.device(), indices.len, 1);
            let row = part.bytes / part.rows.max(1) + 4 * cols * if more.is_some() { 2 } else { 1 };
            self.record(pass, Program::Rows, part, &operands, 0, groups, (indices.len * row) as u64);
        }
        Ok(out)
    }

    #[expect(clippy::too_many_arguments, reason = "one place that knows the layout of the parameters")]
    fn record(
        &self,
        pass: &mut Pass<'_>,
        program: Program,
        part: &Part,
        operands: &Operands<'_>,
        first_batch: usize,
        workgroups: [u32; 3],
        moved: u64,
    ) {
        let kernel = self.kernel(pass.device(), program);
        let (group, per_row) = groups(self.stored, self.cols);
        let whole = self.stored.needs_tensor_grid();
        let parameters = [
            count(part.rows),
            count(self.cols),
            count(operands.batch),
            count(self.strides.codes),
            count(group),
            count(per_row),
            count(self.strides.zeros),
            u32::from(whole),
            count(part.first),
            count(self.rows),
            u32::from(operands.bias.is_some()),
            count(first_batch),
            operands.range.0.to_bits(),
            operands.range.1.to_bits(),
            0,
            0,
        ];
        // Without a bias, any array may stand in its place: the kernel does not read it.
        let bias = operands.bias.unwrap_or(operands.x);
        let reads = [&part.codes, &part.scales, &part.zeros, operands.x, bias];
        pass.dispatch(&kernel, &parameters, &reads, operands.out, workgroups, moved);
    }

    fn kernel(&self, device: &Device, program: Program) -> Arc<Kernel> {
        let name = format!("{} {}", program.name(), self.decoder.name);
        device.kernel(&name, || Kernel::new(device, &name, &self.decoder.with(program.source()), 5))
    }
}

/// Returns a grid of at least `items` workgroups in the first two dimensions.
pub(crate) fn line(device: &Device, items: usize, layers: usize) -> [u32; 3] {
    let most = device.max_groups() as usize;
    let down = items.div_ceil(most).max(1);
    [count(items.div_ceil(down).max(1)), count(down), count(layers)]
}

/// Converts a number for the device. Arrays are checked to have less than 2^32 bytes.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
