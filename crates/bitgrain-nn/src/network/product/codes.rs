//! `CodeMatrix`: codes of 4 or 8 bits in strips, multiplied as integers.

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{BlockQ4F32, DType, GgmlBlock, QuantizedTensor, Scaling, WeightFormat};
use bitgrain_kernels::ggml::{BlockParts, BlockQ4_0, BlockQ8_0};
use bitgrain_kernels::product::{
    CodeLine, FloatLine, HalfLine, STRIP_BLOCK, STRIP_ROWS, StripBits, StripScales, Strips, multiply_strips,
    pack_strip_row,
};

use super::WeightsError;
use super::activations::Codes;
use super::places::{Work, compute};
use super::tensor::{self, Rows, place};

/// Bytes of codes per task: they stay in the core's L2 cache for all tiles of a batch.
const PIECE: usize = 256 << 10;

/// Weights in strips.
#[derive(Debug, Clone)]
pub(super) struct CodeMatrix {
    bits: StripBits,
    rows: usize,
    cols: usize,
    lines: Vec<CodeLine>,
    scales: Scales,
}

#[derive(Debug, Clone)]
enum Scales {
    Halves(Vec<HalfLine>),
    Groups { scales: Vec<FloatLine>, blocks: usize },
}

impl CodeMatrix {
    /// Packs the weights of a tensor. Returns `None` if its format or scales do not allow integer products.
    pub(super) fn new(tensor: &QuantizedTensor) -> Result<Option<Self>, WeightsError> {
        let (rows, cols) = tensor.shape();
        let Some(source) = Source::of(tensor.format(), cols) else { return Ok(None) };
        if rows == 0 || cols == 0 {
            return Ok(None);
        }
        let blocks = cols.div_ceil(STRIP_BLOCK);
        let (strips, strip) = (rows.div_ceil(STRIP_ROWS), blocks * source.bits.lines());
        let mut lines = vec![source.bits.empty_line(); strips * strip];
        let mut codes = vec![0; cols];
        for row in 0..rows {
            source.codes(tensor, row, &mut codes);
            let strip = &mut lines[row / STRIP_ROWS * strip..][..strip];
            pack_strip_row(source.bits, row % STRIP_ROWS, &codes, strip)?;
        }
        let scales = match source.scales {
            ScaleSource::Block => Scales::Halves(halves(tensor, strips, blocks)?),
            ScaleSource::Group(each) => {
                let Some(scales) = groups(tensor, strips, blocks, each)? else { return Ok(None) };
                Scales::Groups { scales, blocks: each }
            }
        };
        Ok(Some(Self { bits: source.bits, rows, cols, lines, scales }))
    }

    /// Returns the size in memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.lines[..])
            + match &self.scales {
                Scales::Halves(scales) => size_of_val(&scales[..]),
                Scales::Groups { scales, .. } => size_of_val(&scales[..]),
            }
    }

    fn strips(&self) -> Result<Strips<'_>, WeightsError> {
        let scales = match &self.scales {
            Scales::Halves(scales) => StripScales::Halves(scales),
            Scales::Groups { scales, blocks } => StripScales::Groups { scales, blocks: *blocks },
        };
        Ok(Strips::new(self.bits, self.cols.div_ceil(STRIP_BLOCK), &self.lines, scales)?)
    }

    /// Decodes a row, which must exist.
    pub(super) fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        Ok(self.strips()?.row_into(row, out)?)
    }

    /// Restores the tensor, in the format it had.
    pub(super) fn tensor(&self, format: WeightFormat) -> Result<Option<QuantizedTensor>, WeightsError> {
        let shape = (self.rows, self.cols);
        match format {
            WeightFormat::Ggml(block) => tensor::of_blocks(block, shape, self),
            // Blocks of Q4F32 are restored from the tensor that is kept.
            WeightFormat::Q4F32 | WeightFormat::Codebook(_) => Ok(None),
            WeightFormat::Scaled(_) => tensor::of_scaled(format, shape, self),
        }
    }

    /// Computes the product; the caller checked the lengths.
    pub(super) fn multiply(&self, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
        let strips = self.strips()?;
        let activations = Codes::new(self.bits, x, self.cols)?;
        let tiles = activations.tiles()?;
        let strip = self.lines.len() / strips.count() * size_of::<CodeLine>();
        let work = Work {
            strips: strips.count(),
            lines: activations.lines(),
            products: x.len().saturating_mul(self.rows),
            piece: PIECE / strip,
        };
        compute(work, self.rows, out, |first, out| {
            let strips = strips.range(first, first + out.len() / work.lines);
            Ok(multiply_strips(activations.backend(), strips, &tiles, out)?)
        })
    }
}

impl Rows for CodeMatrix {
    fn block(&self, row: usize, at: usize, parts: &mut BlockParts) -> Result<(), WeightsError> {
        let (strip, lane) = place(row);
        let mut codes = [0_i8; STRIP_BLOCK];
        self.strips()?.codes_into(row, at, &mut codes)?;
        for (out, code) in parts.codes.iter_mut().zip(codes) {
            *out = code.cast_unsigned().wrapping_add(self.bits.zero());
        }
        if let Scales::Halves(scales) = &self.scales {
            parts.halves[0] = scales[strip * (self.cols / STRIP_BLOCK) + at].0[lane];
        }
        Ok(())
    }

    fn codes(&self, row: usize, out: &mut [u8]) -> Result<(), WeightsError> {
        let mut codes = vec![0; out.len()];
        self.strips()?.codes_into(row, 0, &mut codes)?;
        let mask = if self.bits == StripBits::Four { 15 } else { u8::MAX };
        out.iter_mut().zip(codes).for_each(|(out, code)| *out = code.cast_unsigned() & mask);
        Ok(())
    }

    fn grid(&self, row: usize, group: usize) -> (f32, u8) {
        let (strip, lane) = place(row);
        match &self.scales {
            Scales::Groups { scales, blocks } => {
                let groups = self.cols.div_ceil(STRIP_BLOCK).div_ceil(*blocks);
                (scales[strip * groups + group].0[lane], 0)
            }
            Scales::Halves(_) => (0.0, 0),
        }
    }
}

/// Location of codes and scales in a tensor.
struct Source {
    bits: StripBits,
    scales: ScaleSource,
    format: WeightFormat,
}

enum ScaleSource {
    /// One scale inside each block.
    Block,
    /// One scale per this many blocks.
    Group(usize),
}

impl Source {
    /// Returns `None` for formats that are multiplied as f32.
    fn of(format: WeightFormat, cols: usize) -> Option<Self> {
        let (bits, scales) = match format {
            WeightFormat::Ggml(GgmlBlock::Q4_0) => (StripBits::Four, ScaleSource::Block),
            WeightFormat::Ggml(GgmlBlock::Q8_0) => (StripBits::Eight, ScaleSource::Block),
            WeightFormat::Q4F32 => (StripBits::Four, ScaleSource::Group(1)),
            WeightFormat::Scaled(scaled) => {
                let bits = match scaled.dtype {
                    DType::Int4 => StripBits::Four,
                    DType::Int8 => StripBits::Eight,
                    _ => return None,
                };
                let group = match scaled.scaling {
                    Scaling::Group(len) => len.get(),
                    Scaling::None | Scaling::Tensor | Scaling::Channel => cols.max(1).next_multiple_of(STRIP_BLOCK),
                };
                // A scale for less than a block of activations would need a separate integer sum for each part.
                (bits, ScaleSource::Group(group.is_multiple_of(STRIP_BLOCK).then_some(group / STRIP_BLOCK)?))
            }
            WeightFormat::Ggml(_) | WeightFormat::Codebook(_) => return None,
        };
        Some(Self { bits, scales, format })
    }

    /// Copies the codes of a row.
    fn codes(&self, tensor: &QuantizedTensor, row: usize, out: &mut [i8]) {
        let bytes = tensor.parts().codes;
        let row_bytes = bytes.len() / tensor.shape().0;
        let bytes = &bytes[row * row_bytes..][..row_bytes];
        match self.format {
            WeightFormat::Ggml(GgmlBlock::Q8_0) => {
                for (block, out) in bytes.as_chunks().0.iter().zip(out.chunks_mut(STRIP_BLOCK)) {
                    out.copy_from_slice(&BlockQ8_0::from_bytes(block).signed_codes()[..out.len()]);
                }
            }
            WeightFormat::Ggml(_) | WeightFormat::Codebook(_) => {
                for (block, out) in bytes.as_chunks().0.iter().zip(out.chunks_mut(STRIP_BLOCK)) {
                    out.copy_from_slice(&BlockQ4_0::from_bytes(block).signed_codes()[..out.len()]);
                }
            }
            WeightFormat::Q4F32 => {
                for (block, out) in bytes.as_chunks().0.iter().zip(out.chunks_mut(STRIP_BLOCK)) {
                    pairs(&BlockQ4F32::from_bytes(block).codes, out);
                }
            }
            WeightFormat::Scaled(_) if self.bits == StripBits::Four => pairs(bytes, out),
            WeightFormat::Scaled(_) => {
                out.iter_mut().zip(bytes).for_each(|(out, byte)| *out = byte.cast_signed());
            }
        }
    }
}

/// Unpacks signed 4-bit codes, low nibble first.
fn pairs(bytes: &[u8], out: &mut [i8]) {
    for (out, byte) in out.chunks_mut(2).zip(bytes) {
        for (out, code) in out.iter_mut().zip([byte << 4, *byte]) {
            // The code is in the upper nibble, so that an arithmetic shift extends its sign.
            *out = code.cast_signed() >> 4;
        }
    }
}

/// Returns the f16 scales inside llama.cpp's blocks.
fn halves(tensor: &QuantizedTensor, strips: usize, blocks: usize) -> Result<Vec<HalfLine>, WeightsError> {
    let bytes = tensor.parts().codes;
    let block_bytes = bytes.len() / (tensor.shape().0 * blocks);
    let mut scales = vec![HalfLine([0; STRIP_ROWS]); strips * blocks];
    for (at, block) in bytes.chunks_exact(block_bytes).enumerate() {
        let (row, block, half) = (at / blocks, at % blocks, u16::from_le_bytes([block[0], block[1]]));
        // An exponent of all ones is an infinity or a NaN.
        if half & 0x7C00 == 0x7C00 {
            return Err(CodecErr::InvalidScale { index: at * STRIP_BLOCK }.into());
        }
        scales[row / STRIP_ROWS * blocks + block].0[row % STRIP_ROWS] = half;
    }
    Ok(scales)
}

/// Returns the f32 scales stored apart from the codes, or in the blocks of q4f32. `None` if a scale is so large that
/// decoding clamps weights to the range of f32, which integer products cannot reproduce.
fn groups(
    tensor: &QuantizedTensor,
    strips: usize,
    blocks: usize,
    each: usize,
) -> Result<Option<Vec<FloatLine>>, WeightsError> {
    let (rows, cols) = tensor.shape();
    let (groups, parts) = (blocks.div_ceil(each), tensor.parts());
    let mut scales = vec![FloatLine::ZERO; strips * groups];
    for row in 0..rows {
        for group in 0..groups {
            let at = row * groups + group;
            let scale = match tensor.format() {
                WeightFormat::Scaled(scaled) => match scaled.scaling {
                    Scaling::None => 1.0,
                    Scaling::Tensor => parts.scales[0],
                    Scaling::Channel | Scaling::Group(_) => parts.scales[at],
                },
                _ => parts.codes.as_chunks().0.get(at).map_or(0.0, |block| BlockQ4F32::from_bytes(block).scale()),
            };
            if !scale.is_finite() {
                return Err(CodecErr::InvalidScale { index: row * cols + group * each * STRIP_BLOCK }.into());
            }
            if !(scale * f32::from(u16::MAX)).is_finite() {
                return Ok(None);
            }
            scales[row / STRIP_ROWS * groups + group].0[row % STRIP_ROWS] = scale;
        }
    }
    Ok(Some(scales))
}
