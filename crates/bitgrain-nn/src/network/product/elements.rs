//! `ElementMatrix`: floats of 8, 16 and 64 bits and integers of 16, 32 and 64 bits in strips, converted to f32 in
//! registers.

use bitgrain_codec::weight::{DType, Parts, PartsBuf, QuantizedTensor, ScaledFormat, Scaling, WeightFormat};
use bitgrain_kernels::Backend;
use bitgrain_kernels::product::{
    ByteLine, DoubleLine, ElementGrids, ElementLines, Elements, FloatLine, HalfLine, STRIP_ROWS, WideGrid, WordLine,
    multiply_elements,
};

use super::activations::{Floats, lines};
use super::places::{Work, compute};
use super::tensor::place;
use super::{View, WeightsError};

/// Bytes of weights per task.
const PIECE: usize = 256 << 10;

/// 2^31 and 2^63 as codes: flipping the sign bit of an unsigned integer subtracts them.
const SIGN_32: u32 = 1 << 31;
const SIGN_64: u64 = 1 << 63;

/// Weights in strips: one line of sixteen rows for each column.
#[derive(Debug, Clone)]
pub(super) struct ElementMatrix {
    rows: usize,
    cols: usize,
    lines: Lines,
    grids: Grids,
    /// Columns per group.
    group: usize,
}

#[derive(Debug, Clone)]
enum Lines {
    F16(Vec<HalfLine>),
    BF16(Vec<HalfLine>),
    U16(Vec<HalfLine>),
    E4M3(Vec<ByteLine>),
    E5M2(Vec<ByteLine>),
    I32(Vec<WordLine>),
    I64(Vec<[WordLine; 2]>),
    F64(Vec<DoubleLine>),
}

/// Scales and zero points of each group of columns of each strip.
#[derive(Debug, Clone)]
enum Grids {
    None,
    Floats(Vec<[FloatLine; 2]>),
    Wide(Vec<WideGrid>),
}

impl ElementMatrix {
    /// Packs the weights of a tensor, which must be finite. Returns `None` for other dtypes, and for scales with which a
    /// product of a code overflows where the dequantized weight is clamped.
    pub(super) fn new(tensor: &QuantizedTensor) -> Option<Self> {
        let (rows, cols) = tensor.shape();
        let WeightFormat::Scaled(format) = tensor.format() else { return None };
        if rows == 0 || cols == 0 {
            return None;
        }
        let dtype = format.dtype;
        let count = rows.div_ceil(STRIP_ROWS) * cols;
        let bytes = tensor.parts().codes;
        let lines = match dtype {
            DType::Float16 => Lines::F16(words(bytes, cols, count, 0)),
            DType::BFloat16 => Lines::BF16(words(bytes, cols, count, 0)),
            // Flipping the sign bit of two's complement counts from the smallest integer.
            DType::Int16 => Lines::U16(words(bytes, cols, count, 0x8000)),
            DType::Uint16 => Lines::U16(words(bytes, cols, count, 0)),
            DType::Fp8E4M3 => Lines::E4M3(byte_lines(bytes, cols, count)),
            DType::Fp8E5M2 => Lines::E5M2(byte_lines(bytes, cols, count)),
            DType::Int32 | DType::Uint32 => {
                let mut lines = vec![WordLine::ZERO; count];
                interleave(bytes, cols, &mut lines, |line, lane, code| line.0[lane] = word_of(dtype, code));
                Lines::I32(lines)
            }
            DType::Int64 | DType::Uint64 => {
                let mut lines = vec![[WordLine::ZERO; 2]; count];
                interleave(bytes, cols, &mut lines, |line, lane, code| {
                    let [high, low] = words_of(dtype, code);
                    (line[0].0[lane], line[1].0[lane]) = (high, low);
                });
                Lines::I64(lines)
            }
            DType::Float64 => {
                let mut lines = vec![DoubleLine::ZERO; count];
                interleave(bytes, cols, &mut lines, |line, lane, code| line.0[lane] = f64::from_le_bytes(code));
                Lines::F64(lines)
            }
            _ => return None,
        };
        let group = match format.scaling {
            Scaling::Group(len) => len.get(),
            Scaling::None | Scaling::Tensor | Scaling::Channel => cols,
        };
        let grids = match dtype {
            _ if dtype.is_plain() => Grids::None,
            DType::Int32 | DType::Uint32 | DType::Int64 | DType::Uint64 => {
                Grids::Wide(wide_grids(tensor, dtype, group)?)
            }
            _ => Grids::Floats(grids(tensor, dtype, group)?),
        };
        Some(Self { rows, cols, lines, grids, group })
    }

    pub(super) fn bytes(&self) -> usize {
        let grids = match &self.grids {
            Grids::None => 0,
            Grids::Floats(grids) => size_of_val(&grids[..]),
            Grids::Wide(grids) => size_of_val(&grids[..]),
        };
        grids
            + match &self.lines {
                Lines::F16(lines) | Lines::BF16(lines) | Lines::U16(lines) => size_of_val(&lines[..]),
                Lines::E4M3(lines) | Lines::E5M2(lines) => size_of_val(&lines[..]),
                Lines::I32(lines) => size_of_val(&lines[..]),
                Lines::I64(lines) => size_of_val(&lines[..]),
                Lines::F64(lines) => size_of_val(&lines[..]),
            }
    }

    fn elements(&self) -> Result<Elements<'_>, WeightsError> {
        let lines = match &self.lines {
            Lines::F16(lines) => ElementLines::F16(lines),
            Lines::BF16(lines) => ElementLines::BF16(lines),
            Lines::U16(lines) => ElementLines::U16(lines),
            Lines::E4M3(lines) => ElementLines::E4M3(lines),
            Lines::E5M2(lines) => ElementLines::E5M2(lines),
            Lines::I32(lines) => ElementLines::I32(lines),
            Lines::I64(lines) => ElementLines::I64(lines),
            Lines::F64(lines) => ElementLines::F64(lines),
        };
        let grids = match &self.grids {
            Grids::None => ElementGrids::None,
            Grids::Floats(grids) => ElementGrids::Floats(grids),
            Grids::Wide(grids) => ElementGrids::Wide(grids),
        };
        Ok(Elements::new(lines, self.cols, grids, self.group)?)
    }

    /// Restores the tensor, in the format it had.
    pub(super) fn tensor(&self, format: WeightFormat) -> Result<Option<QuantizedTensor>, WeightsError> {
        let WeightFormat::Scaled(scaled) = format else { return Ok(None) };
        let mut parts = PartsBuf::new(format.sizes(self.rows, self.cols)?);
        let (dtype, cols, out) = (scaled.dtype, self.cols, &mut parts.codes[..]);
        let flipped = if dtype == DType::Int16 { 0x8000 } else { 0 };
        match &self.lines {
            Lines::F16(all) | Lines::BF16(all) | Lines::U16(all) => {
                separate(all, cols, out, |line, lane| (line.0[lane] ^ flipped).to_le_bytes());
            }
            Lines::E4M3(all) | Lines::E5M2(all) => separate(all, cols, out, |line, lane| [line.0[lane]]),
            Lines::I32(all) => separate(all, cols, out, |line, lane| code_of(dtype, line.0[lane])),
            Lines::I64(all) => {
                separate(all, cols, out, |line, lane| code_of_words(dtype, line[0].0[lane], line[1].0[lane]));
            }
            Lines::F64(all) => separate(all, cols, out, |line, lane| line.0[lane].to_le_bytes()),
        }
        self.put_grids(scaled, &mut parts);
        Ok(Some(QuantizedTensor::from_parts(format, self.rows, self.cols, parts)?))
    }

    /// Restores scales and zero points.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "they were f32 and integers")]
    fn put_grids(&self, format: ScaledFormat, parts: &mut PartsBuf) {
        let groups = self.cols.div_ceil(self.group);
        let at = |i: usize| {
            let (strip, lane) = place(i / groups);
            (strip * groups + i % groups, lane)
        };
        match &self.grids {
            Grids::None => {}
            Grids::Floats(grids) => {
                for (i, scale) in parts.scales.iter_mut().enumerate() {
                    let (group, lane) = at(i);
                    *scale = grids[group][0].0[lane];
                }
                for (i, zero) in parts.zeros.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    let (group, lane) = at(i);
                    *zero = (grids[group][1].0[lane] as u16).to_le_bytes();
                }
            }
            Grids::Wide(grids) => {
                for (i, scale) in parts.scales.iter_mut().enumerate() {
                    let (group, lane) = at(i);
                    *scale = grids[group].scales.0[lane] as f32;
                }
                let bytes = usize::from(format.dtype.bits() / 8);
                for (i, zero) in parts.zeros.chunks_exact_mut(bytes).enumerate() {
                    let (group, lane) = at(i);
                    let [high, low] = [0, 1].map(|word: usize| grids[group].zeros[word].0[lane] as i32);
                    if bytes == 4 {
                        zero.copy_from_slice(&code_of(format.dtype, low));
                    } else {
                        zero.copy_from_slice(&code_of_words(format.dtype, high, low));
                    }
                }
            }
        }
    }

    /// Decodes a row, which must exist.
    pub(super) fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        Ok(self.elements()?.row_into(row, out)?)
    }

    /// Computes the product; the caller checked the lengths.
    pub(super) fn multiply(&self, x: &[f32], batch: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        let elements = self.elements()?;
        let activations = Floats::new(View::new(x, batch, self.cols)?);
        let tiles = activations.tiles(0..activations.count(), 0..self.cols)?;
        let strip = self.bytes() / elements.count();
        let work = Work {
            strips: elements.count(),
            lines: lines(batch),
            products: x.len().saturating_mul(self.rows),
            piece: PIECE / strip.max(1),
        };
        compute(work, self.rows, out, |first, out| {
            let elements = elements.range(first, first + out.len() / work.lines);
            Ok(multiply_elements(Backend::best(), elements, &tiles, out)?)
        })
    }
}

/// Interleaves rows of codes of `N` bytes: `put` stores a code in a lane of a line.
fn interleave<L, const N: usize>(bytes: &[u8], cols: usize, lines: &mut [L], put: impl Fn(&mut L, usize, [u8; N])) {
    for (row, codes) in bytes.as_chunks::<N>().0.chunks_exact(cols).enumerate() {
        let (strip, lane) = place(row);
        for (line, code) in lines[strip * cols..][..cols].iter_mut().zip(codes) {
            put(line, lane, *code);
        }
    }
}

/// Separates interleaved rows: `get` returns the code in a lane of a line.
fn separate<L, const N: usize>(lines: &[L], cols: usize, out: &mut [u8], get: impl Fn(&L, usize) -> [u8; N]) {
    for (row, out) in out.as_chunks_mut::<N>().0.chunks_exact_mut(cols).enumerate() {
        let (strip, lane) = place(row);
        for (out, line) in out.iter_mut().zip(&lines[strip * cols..][..cols]) {
            *out = get(line, lane);
        }
    }
}

/// Interleaves rows of little-endian words.
fn words(bytes: &[u8], cols: usize, count: usize, flipped: u16) -> Vec<HalfLine> {
    let mut lines = vec![HalfLine([0; STRIP_ROWS]); count];
    interleave(bytes, cols, &mut lines, |line, lane, code| line.0[lane] = u16::from_le_bytes(code) ^ flipped);
    lines
}

/// Interleaves rows of bytes.
fn byte_lines(bytes: &[u8], cols: usize, count: usize) -> Vec<ByteLine> {
    let mut lines = vec![ByteLine([0; STRIP_ROWS]); count];
    interleave(bytes, cols, &mut lines, |line, lane, [code]: [u8; 1]| line.0[lane] = code);
    lines
}

/// Returns a code of 32 bits as a signed integer: unsigned ones 2^31 less, as their zero points.
fn word_of(dtype: DType, code: [u8; 4]) -> i32 {
    let code = u32::from_le_bytes(code);
    (if dtype == DType::Uint32 { code ^ SIGN_32 } else { code }).cast_signed()
}

/// Inverse of [`word_of`].
fn code_of(dtype: DType, word: i32) -> [u8; 4] {
    let word = word.cast_unsigned();
    (if dtype == DType::Uint32 { word ^ SIGN_32 } else { word }).to_le_bytes()
}

/// Returns the high and the low word of a code of 64 bits: unsigned ones 2^63 less, and low words 2^31 less.
#[expect(clippy::cast_possible_truncation, reason = "words")]
fn words_of(dtype: DType, code: [u8; 8]) -> [i32; 2] {
    let code = u64::from_le_bytes(code) ^ if dtype == DType::Uint64 { SIGN_64 } else { 0 };
    [((code >> 32) as u32).cast_signed(), (code as u32 ^ SIGN_32).cast_signed()]
}

/// Inverse of [`words_of`].
fn code_of_words(dtype: DType, high: i32, low: i32) -> [u8; 8] {
    let code = u64::from(high.cast_unsigned()) << 32 | u64::from(low.cast_unsigned() ^ SIGN_32);
    (code ^ if dtype == DType::Uint64 { SIGN_64 } else { 0 }).to_le_bytes()
}

/// Returns the scales and zero points of integers of 32 and 64 bits, or `None` if a product with a scale overflows where
/// the dequantized weight is clamped.
fn wide_grids(tensor: &QuantizedTensor, dtype: DType, group: usize) -> Option<Vec<WideGrid>> {
    let (rows, cols) = tensor.shape();
    let Parts { scales, zeros, .. } = tensor.parts();
    let groups = cols.div_ceil(group);
    // Missing rows keep a scale of 0.
    let mut grids = vec![WideGrid::ZERO; rows.div_ceil(STRIP_ROWS) * groups];
    let limit = f32::MAX / if dtype.bits() == 32 { 8_589_934_592.0 } else { 3.7e19 };
    for row in 0..rows {
        let source = if scales.len() < rows { 0 } else { row * groups };
        let (strip, lane) = place(row);
        for (at, grid) in grids[strip * groups..][..groups].iter_mut().enumerate() {
            let scale = scales.get(source + at).copied().unwrap_or(1.0);
            if scale.abs() > limit {
                return None;
            }
            let zero = |word: usize| zeros.get((source + at) * word..).unwrap_or_default();
            let [high, low] = if dtype.bits() == 32 {
                [0, word_of(dtype, zero(4).first_chunk().copied().unwrap_or_default())]
            } else {
                words_of(dtype, zero(8).first_chunk().copied().unwrap_or_default())
            };
            grid.scales.0[lane] = f64::from(scale);
            (grid.zeros[0].0[lane], grid.zeros[1].0[lane]) = (f64::from(high), f64::from(low));
        }
    }
    Some(grids)
}

/// Returns the scales and zero points, or `None` if a product with a scale overflows where the dequantized weight is
/// clamped.
fn grids(tensor: &QuantizedTensor, dtype: DType, group: usize) -> Option<Vec<[FloatLine; 2]>> {
    let (rows, cols) = tensor.shape();
    let parts = tensor.parts();
    let groups = cols.div_ceil(group);
    let mut grids = vec![[FloatLine::ZERO; 2]; rows.div_ceil(STRIP_ROWS) * groups];
    for row in 0..rows {
        let source = if parts.scales.len() < rows { 0 } else { row * groups };
        for (at, line) in grids[row / STRIP_ROWS * groups..][..groups].iter_mut().enumerate() {
            let scale = parts.scales.get(source + at).copied().unwrap_or(1.0);
            let zero = match dtype {
                DType::Int16 => 32_768.0,
                DType::Uint16 => {
                    let zeros = parts.zeros.as_chunks::<2>().0;
                    f32::from(zeros.get(source + at).map_or(0, |zero| u16::from_le_bytes(*zero)))
                }
                _ => 0.0,
            };
            if !(scale * f32::from(u16::MAX)).is_finite() {
                return None;
            }
            (line[0].0[row % STRIP_ROWS], line[1].0[row % STRIP_ROWS]) = (scale, zero);
        }
    }
    Some(grids)
}
