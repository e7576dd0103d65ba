//! Products of floats of 8, 16 and 64 bits and integers of 16, 32 and 64 bits, converted to f32 in registers.
//!
//! A strip has one line per column of sixteen rows, as a strip of f32 has. Each output is a chain of fused multiply-adds
//! of dequantized weights in column order: the same bits as a product of the dequantized matrix.

use super::planes::ByteLine;
use super::{DoubleLine, FloatLine, FloatTile, HalfLine, STRIP_ROWS, WordLine};
use crate::backend::on;
use crate::scalar::element_weight;
use crate::{Backend, KernelError};

/// Lines of weights.
#[derive(Debug, Clone, Copy)]
pub enum ElementLines<'a> {
    /// IEEE half precision.
    F16(&'a [HalfLine]),
    /// The upper halves of f32.
    BF16(&'a [HalfLine]),
    /// Unsigned integers with a zero point.
    U16(&'a [HalfLine]),
    /// FP8 with 4 exponent bits.
    E4M3(&'a [ByteLine]),
    /// FP8 with 5 exponent bits.
    E5M2(&'a [ByteLine]),
    /// Signed integers of 32 bits with a zero point.
    I32(&'a [WordLine]),
    /// Signed integers of 64 bits with a zero point: `high * 2^32 + low + 2^31`. Low words are signed, because vector units
    /// convert signed integers.
    I64(&'a [[WordLine; 2]]),
    /// Double precision, rounded to single precision.
    F64(&'a [DoubleLine]),
}

impl ElementLines<'_> {
    /// Returns the number of lines.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::F16(lines) | Self::BF16(lines) | Self::U16(lines) => lines.len(),
            Self::E4M3(lines) | Self::E5M2(lines) => lines.len(),
            Self::I32(lines) => lines.len(),
            Self::I64(lines) => lines.len(),
            Self::F64(lines) => lines.len(),
        }
    }

    /// Returns whether there are no lines.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn range(self, from: usize, to: usize) -> Self {
        match self {
            Self::F16(lines) => Self::F16(&lines[from..to]),
            Self::BF16(lines) => Self::BF16(&lines[from..to]),
            Self::U16(lines) => Self::U16(&lines[from..to]),
            Self::E4M3(lines) => Self::E4M3(&lines[from..to]),
            Self::E5M2(lines) => Self::E5M2(&lines[from..to]),
            Self::I32(lines) => Self::I32(&lines[from..to]),
            Self::I64(lines) => Self::I64(&lines[from..to]),
            Self::F64(lines) => Self::F64(&lines[from..to]),
        }
    }
}

/// Scales and zero points of integers of 32 and 64 bits in a group of columns. `f32` would not hold zero points, nor
/// the products of scales before they are rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WideGrid {
    /// Scale of each row.
    pub scales: DoubleLine,
    /// Zero point of each row, as the elements: high word, low word. Only the low one counts for 32 bits.
    pub zeros: [DoubleLine; 2],
}

impl WideGrid {
    /// Scales and zero points of 0.
    pub const ZERO: Self = Self { scales: DoubleLine::ZERO, zeros: [DoubleLine::ZERO; 2] };
}

/// Scales and zero points of each group of columns of each strip.
#[derive(Debug, Clone, Copy)]
pub enum ElementGrids<'a> {
    /// Weights are the elements themselves.
    None,
    /// A weight is `(element - zero) * scale` in f32. Only U16 has zero points.
    Floats(&'a [[FloatLine; 2]]),
    /// A weight is `(element - zero) * scale`, each rounded in f64, and then rounded to f32.
    Wide(&'a [WideGrid]),
}

impl ElementGrids<'_> {
    /// Returns the number of groups of all strips, or `None` without grids.
    const fn count(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Floats(grids) => Some(grids.len()),
            Self::Wide(grids) => Some(grids.len()),
        }
    }

    fn range(self, from: usize, to: usize) -> Self {
        match self {
            Self::None => Self::None,
            Self::Floats(grids) => Self::Floats(&grids[from..to]),
            Self::Wide(grids) => Self::Wide(&grids[from..to]),
        }
    }
}

/// Strips of `cols` columns, with a scale and a zero point per group of columns.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a> {
    pub(crate) lines: ElementLines<'a>,
    pub(crate) cols: usize,
    pub(crate) grids: ElementGrids<'a>,
    /// Columns per group.
    pub(crate) group: usize,
}

impl<'a> Elements<'a> {
    /// Creates strips. Integers of 32 and 64 bits have wide grids, f64 does not have a grid, and others may have grids of floats.
    ///
    /// # Errors
    /// Returns [`KernelError::InvalidBlockLen`] for 0 columns, groups of 0 columns or grids of another kind, or
    /// [`KernelError::InputTooSmall`] if the lines or grids do not fill whole strips.
    pub fn new(
        lines: ElementLines<'a>,
        cols: usize,
        grids: ElementGrids<'a>,
        group: usize,
    ) -> Result<Self, KernelError> {
        let fits = match lines {
            ElementLines::I32(_) | ElementLines::I64(_) => matches!(grids, ElementGrids::Wide(_)),
            ElementLines::F64(_) => matches!(grids, ElementGrids::None),
            _ => !matches!(grids, ElementGrids::Wide(_)),
        };
        if cols == 0 || group == 0 || !fits {
            return Err(KernelError::InvalidBlockLen { len: 0 });
        }
        let required = lines.len() / cols * cols.div_ceil(group);
        if !lines.len().is_multiple_of(cols) || grids.count().is_some_and(|count| count != required) {
            return Err(KernelError::InputTooSmall { required });
        }
        Ok(Self { lines, cols, grids, group })
    }

    /// Returns the number of strips.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.lines.len() / self.cols
    }

    /// Returns the strips `from..to`.
    ///
    /// # Panics
    /// Panics if the range is out of bounds.
    #[must_use]
    pub fn range(&self, from: usize, to: usize) -> Self {
        let groups = self.cols.div_ceil(self.group);
        let lines = self.lines.range(from * self.cols, to * self.cols);
        Self { lines, grids: self.grids.range(from * groups, to * groups), ..*self }
    }

    /// Writes `out.len()` weights of a row.
    ///
    /// # Errors
    /// Returns [`KernelError::InputTooSmall`] if the row does not exist or has fewer weights.
    pub fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), KernelError> {
        let (strip, lane) = (row / STRIP_ROWS, row % STRIP_ROWS);
        if strip >= self.count() || out.len() > self.cols {
            return Err(KernelError::InputTooSmall { required: out.len() });
        }
        let strip = self.range(strip, strip + 1);
        out.iter_mut().enumerate().for_each(|(column, out)| *out = element_weight(&strip, column, lane));
        Ok(())
    }
}

/// Multiplies every strip with every tile. `out` receives, strip by strip, one line per row of each tile.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if a tile has another number of columns, or [`KernelError::OutputTooSmall`].
pub fn multiply_elements(
    backend: Backend,
    elements: Elements<'_>,
    tiles: &[FloatTile<'_>],
    out: &mut [FloatLine],
) -> Result<(), KernelError> {
    if tiles.iter().any(|tile| tile.cols() != elements.cols) {
        return Err(KernelError::InputTooSmall { required: elements.cols });
    }
    let lines = tiles.iter().map(FloatTile::width).sum::<usize>();
    let required = elements.count().saturating_mul(lines);
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, multiply_elements(elements, tiles, out));
    Ok(())
}
