//! Scores of encoded rows: dot products of 8-bit queries with the codes of many rows, read in place.

use crate::backend::on;
use crate::dot::sum_in_halves;
use crate::width::blocks_len;
use crate::{Backend, BitWidth, BlockLen, KernelError};

/// Codes per line: one AVX-512 register.
pub const LINE: usize = 64;
/// Maximum number of planes that are scored at once: their sums fit in the registers.
pub const MAX_PLANES: usize = 8;

/// 64 codes of a plane, from -127 to 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct QueryLine(pub [i8; LINE]);

impl QueryLine {
    /// Codes of value 0, with which the last line of a block is padded.
    pub const ZERO: Self = Self([0; LINE]);
}

/// Initial values of a block's sixteen sums. Stored codes are unsigned, so their products with the query contain the bias
/// times the sum of the query's codes; the start value cancels it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct StartLine(pub [i32; 16]);

impl StartLine {
    /// Start value of a block without codes.
    pub const ZERO: Self = Self([0; 16]);
}

/// Memory layout of the rows of a matrix: blocks of the same width and length, the last of which may be shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLayout {
    /// Width of the codes.
    pub width: BitWidth,
    /// Values per block.
    pub block: BlockLen,
    /// Values per row.
    pub columns: usize,
}

impl RowLayout {
    /// Returns the size of a row in bytes.
    #[must_use]
    pub const fn row_bytes(&self) -> usize {
        blocks_len(self.width, self.block, self.columns)
    }

    /// Returns the number of blocks per row.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.columns.div_ceil(self.block.get())
    }

    /// Returns the number of lines per plane: each block starts with a new line.
    #[must_use]
    pub const fn lines(&self) -> usize {
        let (block, rest) = (self.block.get(), self.columns % self.block.get());
        self.columns / block * block.div_ceil(LINE) + rest.div_ceil(LINE)
    }

    /// Returns the numbers of values of all blocks of a row.
    pub(crate) fn block_lens(&self) -> impl Iterator<Item = usize> {
        let (block, columns) = (self.block.get(), self.columns);
        (0..self.blocks()).map(move |i| block.min(columns - i * block))
    }
}

/// Queries in the order in which [`score_rows`] reads them. A plane is a query of 8-bit codes with a scale per block; a
/// query of higher precision is the sum of two planes.
#[derive(Debug, Clone, Copy)]
pub struct RowQuery<'a> {
    pub(crate) layout: RowLayout,
    pub(crate) planes: usize,
    pub(crate) lines: &'a [QueryLine],
    pub(crate) starts: &'a [StartLine],
    pub(crate) scales: &'a [f32],
}

impl<'a> RowQuery<'a> {
    /// Lays out `planes` planes in the memory of the caller: line `i` of plane `p` is `lines[i * planes + p]`, and block
    /// `i` of plane `p` has `starts[i * planes + p]` and `scales[i * planes + p]`. `codes` has one row of codes per
    /// plane; the caller fills the scales.
    ///
    /// # Errors
    /// Returns [`KernelError::RowCount`] unless there are 1, 2, 4 or 8 planes, [`KernelError::InputTooSmall`] if codes
    /// are missing, [`KernelError::OutputTooSmall`] if lines, starts or scales are missing, or
    /// [`KernelError::CodeOutOfRange`] for -128.
    pub fn lay_out(
        layout: RowLayout,
        codes: &[&[i8]],
        lines: &'a mut [QueryLine],
        starts: &'a mut [StartLine],
        scales: &'a [f32],
    ) -> Result<Self, KernelError> {
        let planes = codes.len();
        if !matches!(planes, 1 | 2 | 4 | 8) {
            return Err(KernelError::RowCount { bytes: planes, expected: MAX_PLANES });
        }
        if lines.len() != layout.lines() * planes {
            return Err(KernelError::OutputTooSmall { required: layout.lines() * planes });
        }
        let required = layout.blocks() * planes;
        if starts.len() != required || scales.len() != required {
            return Err(KernelError::OutputTooSmall { required });
        }
        lines.fill(QueryLine::ZERO);
        starts.fill(StartLine::ZERO);
        let bias = stored_bias(layout.width);
        for (plane, &row) in codes.iter().enumerate() {
            if row.len() != layout.columns {
                return Err(KernelError::InputTooSmall { required: layout.columns });
            }
            if let Some(index) = row.iter().position(|&code| code == i8::MIN) {
                return Err(KernelError::CodeOutOfRange { index, code: -128 });
            }
            let mut line = 0;
            for (block, codes) in row.chunks(layout.block.get()).enumerate() {
                let start = &mut starts[block * planes + plane].0;
                for codes in codes.chunks(LINE) {
                    lines[line * planes + plane].0[..codes.len()].copy_from_slice(codes);
                    for (i, &code) in codes.iter().enumerate() {
                        start[i / 4] -= bias * i32::from(code);
                    }
                    line += 1;
                }
            }
        }
        Ok(Self { layout, planes, lines, starts, scales })
    }

    /// Returns the number of planes.
    #[must_use]
    pub const fn planes(&self) -> usize {
        self.planes
    }
}

/// Returns the number that the scan adds to a code to make it unsigned: the bias of packed codes; 128 at 8 bits.
pub(crate) const fn stored_bias(width: BitWidth) -> i32 {
    if width.bits() == 8 { 128 } else { width.qmax() as i32 }
}

/// Writes the dot product of plane `p` with the row at byte `rows[i]` of `bytes` to `out[p * rows.len() + i]`.
///
/// The sums of each block are integers and exact: lane `l` of sixteen adds the products of the codes `4 * l` to
/// `4 * l + 3` of each line of 64. Then the block's sums, as f32, times the product of both scales are added to sixteen
/// totals, which are added in halves (8, 4, 2, 1). No float operation is fused, so every backend returns the same bits,
/// except for the payload of a NaN. Codes and scales are not checked: rows must have been decoded once before.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if a row exceeds `bytes`, or [`KernelError::OutputTooSmall`] unless `out` has
/// one score per row and plane.
pub fn score_rows(
    backend: Backend,
    query: &RowQuery<'_>,
    bytes: &[u8],
    rows: &[usize],
    out: &mut [f32],
) -> Result<(), KernelError> {
    check_rows(bytes, rows, query.layout.row_bytes())?;
    let required = rows.len() * query.planes;
    if out.len() != required {
        return Err(KernelError::OutputTooSmall { required });
    }
    match backend.isa() {
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        // SAFETY: `Isa::Dotprod` and `Isa::I8mm` are only handed out by `Backend::available` after CPU detection.
        crate::backend::Isa::Dotprod | crate::backend::Isa::I8mm => unsafe {
            crate::aarch64::dotprod::score_rows(query, bytes, rows, out);
        },
        _ => on!(backend, score_rows(query, bytes, rows, out)),
    }
    Ok(())
}

/// Writes the dot product of a query with the row of little-endian f32 values at byte `rows[i]` of `bytes` to `out[i]`.
/// Lane `i % 16` adds the products in order; the sixteen sums are added in halves (8, 4, 2, 1); no operation is fused.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if a row exceeds `bytes`, or [`KernelError::OutputTooSmall`] unless `out` has
/// one score per row.
pub fn score_f32_rows(
    backend: Backend,
    query: &[f32],
    bytes: &[u8],
    rows: &[usize],
    out: &mut [f32],
) -> Result<(), KernelError> {
    check_rows(bytes, rows, query.len().saturating_mul(4))?;
    if out.len() != rows.len() {
        return Err(KernelError::OutputTooSmall { required: rows.len() });
    }
    on!(backend, score_f32_rows(query, bytes, rows, out));
    Ok(())
}

fn check_rows(bytes: &[u8], rows: &[usize], row_bytes: usize) -> Result<(), KernelError> {
    let last = rows.iter().max().map_or(0, |last| last.saturating_add(row_bytes));
    if last > bytes.len() { Err(KernelError::InputTooSmall { required: last }) } else { Ok(()) }
}

/// The loop of [`score_f32_rows`], which every backend compiles.
#[inline(always)]
pub(crate) fn score_f32_rows_body(query: &[f32], bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    let (chunks, rest) = query.as_chunks::<16>();
    for (out, &row) in out.iter_mut().zip(rows) {
        let row = &bytes[row..row + 4 * query.len()];
        let (values, values_rest) = row.as_chunks::<64>();
        let mut sums = [0.0_f32; 16];
        for (query, values) in chunks.iter().zip(values) {
            for ((sum, query), value) in sums.iter_mut().zip(query).zip(values.as_chunks::<4>().0) {
                *sum += query * f32::from_le_bytes(*value);
            }
        }
        for ((sum, query), value) in sums.iter_mut().zip(rest).zip(values_rest.as_chunks::<4>().0) {
            *sum += query * f32::from_le_bytes(*value);
        }
        *out = sum_in_halves(sums);
    }
}
