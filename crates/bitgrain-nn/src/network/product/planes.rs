//! `PlaneMatrix`: codes of 1 to 8 bits in planes, with the scales of their format, multiplied as integers.

use bitgrain_codec::weight::{DType, GgmlBlock, QuantizedTensor, ScaledFormat, Scaling, WeightFormat};
use bitgrain_kernels::Backend;
use bitgrain_kernels::floats::{f16_from_f32, f16_to_f32};
use bitgrain_kernels::ggml::BlockParts;
use bitgrain_kernels::product::{
    ByteLine, CodeLine, FloatLine, HalfLine, PlaneCodes, PlaneScales, Planes, STRIP_BLOCK, STRIP_ROWS, multiply_planes,
    pack_plane_row,
};

use super::WeightsError;
use super::activations::PlaneActivations;
use super::places::{Work, compute};
use super::scaled_codes::ScaledCodes;
use super::tensor::{self, Rows, place};

/// Bytes of codes per task: they stay in the core's L2 cache for all tiles of a batch.
const PIECE: usize = 256 << 10;

/// Weights of a row that share the scales of K-quants.
const SUPER: usize = 256;

/// Weights in planes.
#[derive(Debug, Clone)]
pub(super) struct PlaneMatrix {
    codes: PlaneCodes,
    zero: u8,
    rows: usize,
    cols: usize,
    lines: Vec<CodeLine>,
    scales: Scales,
}

/// Scales of all strips; see [`PlaneScales`].
#[derive(Debug, Clone)]
enum Scales {
    Halves(Vec<HalfLine>),
    HalvesAndMins(Vec<[HalfLine; 2]>),
    Exponents(Vec<ByteLine>),
    Groups(Vec<FloatLine>, usize),
    GroupsAndZeros(Vec<[FloatLine; 2]>, usize),
    Affine(Vec<[HalfLine; 2]>, Vec<[ByteLine; 2]>),
    Signed(Vec<HalfLine>, Vec<[ByteLine; 2]>),
    Nibbles(Vec<[HalfLine; 2]>, Vec<[ByteLine; 2]>),
}

const NO_HALVES: HalfLine = HalfLine([0; STRIP_ROWS]);
const NO_BYTES: ByteLine = ByteLine([0; STRIP_ROWS]);

impl PlaneMatrix {
    /// Packs the weights of a tensor, which must be finite. Returns `None` if its format or scales do not allow integer
    /// products.
    pub(super) fn new(tensor: &QuantizedTensor) -> Result<Option<Self>, WeightsError> {
        let (rows, cols) = tensor.shape();
        if rows == 0 || cols == 0 {
            return Ok(None);
        }
        match tensor.format() {
            WeightFormat::Ggml(block) => Self::of_blocks(tensor, block),
            WeightFormat::Scaled(format) => Self::of_scaled(tensor, format),
            WeightFormat::Q4F32 | WeightFormat::Codebook(_) => Ok(None),
        }
    }

    fn of_blocks(tensor: &QuantizedTensor, block: GgmlBlock) -> Result<Option<Self>, WeightsError> {
        let (rows, cols) = tensor.shape();
        let codes = block.table().map_or(PlaneCodes::Bits(bits(block)), PlaneCodes::Table);
        let (strips, blocks) = (rows.div_ceil(STRIP_ROWS), cols / STRIP_BLOCK);
        let all = strips * blocks;
        let strip = blocks * codes.bits();
        let mut lines = vec![CodeLine([0; 64]); strips * strip];
        let supers = all / (SUPER / STRIP_BLOCK);
        let mut scales = match block {
            GgmlBlock::Q5_0 | GgmlBlock::IQ4_NL => Scales::Halves(vec![NO_HALVES; all]),
            GgmlBlock::Q4_1 | GgmlBlock::Q5_1 => Scales::HalvesAndMins(vec![[NO_HALVES; 2]; all]),
            GgmlBlock::MXFP4 => Scales::Exponents(vec![NO_BYTES; all]),
            GgmlBlock::Q4_K | GgmlBlock::Q5_K => Scales::Affine(vec![[NO_HALVES; 2]; supers], vec![[NO_BYTES; 2]; all]),
            GgmlBlock::Q3_K | GgmlBlock::Q6_K => Scales::Signed(vec![NO_HALVES; supers], vec![[NO_BYTES; 2]; all]),
            GgmlBlock::Q2_K => Scales::Nibbles(vec![[NO_HALVES; 2]; supers], vec![[NO_BYTES; 2]; all]),
            GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0 => Scales::Groups(vec![FloatLine::ZERO; supers], SUPER / STRIP_BLOCK),
            GgmlBlock::Q4_0 | GgmlBlock::Q8_0 => return Ok(None),
        };
        let bytes = tensor.parts().codes;
        let row_bytes = bytes.len() / rows;
        let mut row_codes = vec![0; cols];
        for (row, bytes) in bytes.chunks_exact(row_bytes).enumerate() {
            let (strip_at, lane) = (row / STRIP_ROWS, row % STRIP_ROWS);
            let weights = block.weights();
            for (at, (bytes, out)) in
                bytes.chunks_exact(block.bytes()).zip(row_codes.chunks_exact_mut(weights)).enumerate()
            {
                let Some(parts) = block.parts(bytes) else { return Ok(None) };
                out.copy_from_slice(&parts.codes[..weights]);
                let first = strip_at * blocks + at * weights / STRIP_BLOCK;
                match &mut scales {
                    Scales::Halves(scales) => scales[first].0[lane] = parts.halves[0],
                    Scales::HalvesAndMins(scales) => {
                        scales[first].iter_mut().zip(parts.halves).for_each(|(line, half)| line.0[lane] = half);
                    }
                    Scales::Exponents(scales) => scales[first].0[lane] = parts.factors[0],
                    Scales::Groups(scales, each) => {
                        scales[first / *each].0[lane] = half_to_float(parts.halves[0])?;
                    }
                    Scales::GroupsAndZeros(..) => {}
                    Scales::Affine(supers, factors) => {
                        let line = &mut supers[first * STRIP_BLOCK / SUPER];
                        line.iter_mut().zip(parts.halves).for_each(|(line, half)| line.0[lane] = half);
                        for (line, both) in factors[first..].iter_mut().zip(parts.factors.iter().zip(parts.min_factors))
                        {
                            (line[0].0[lane], line[1].0[lane]) = (*both.0, both.1);
                        }
                    }
                    Scales::Signed(supers, factors) => {
                        supers[first * STRIP_BLOCK / SUPER].0[lane] = parts.halves[0];
                        put_factors(&mut factors[first..], lane, &parts.factors);
                    }
                    Scales::Nibbles(supers, factors) => {
                        let line = &mut supers[first * STRIP_BLOCK / SUPER];
                        line.iter_mut().zip(parts.halves).for_each(|(line, half)| line.0[lane] = half);
                        put_factors(&mut factors[first..], lane, &parts.factors);
                    }
                }
            }
            pack_plane_row(codes, lane, &row_codes, &mut lines[strip_at * strip..][..strip])?;
        }
        Ok(Some(Self { codes, zero: block.zero_code(), rows, cols, lines, scales }))
    }

    fn of_scaled(tensor: &QuantizedTensor, format: ScaledFormat) -> Result<Option<Self>, WeightsError> {
        let (rows, cols) = tensor.shape();
        let Some(source) = ScaledCodes::new(format.dtype) else { return Ok(None) };
        let group = match format.scaling {
            Scaling::Group(len) => len.get(),
            Scaling::None | Scaling::Tensor | Scaling::Channel => cols.next_multiple_of(STRIP_BLOCK),
        };
        // A scale for less than a block of activations would need a separate integer sum for each part.
        if !group.is_multiple_of(STRIP_BLOCK) {
            return Ok(None);
        }
        let blocks = cols.div_ceil(STRIP_BLOCK);
        let (strips, groups) = (rows.div_ceil(STRIP_ROWS), cols.div_ceil(group));
        let strip = blocks * source.codes.bits();
        let mut lines = vec![CodeLine([0; 64]); strips * strip];
        let mut row_codes = vec![0; cols];
        let mut grids = vec![[FloatLine::ZERO; 2]; strips * groups];
        for row in 0..rows {
            let (strip_at, lane) = (row / STRIP_ROWS, row % STRIP_ROWS);
            source.row(tensor, row, &mut row_codes)?;
            pack_plane_row(source.codes, lane, &row_codes, &mut lines[strip_at * strip..][..strip])?;
            for (at, line) in grids[strip_at * groups..][..groups].iter_mut().enumerate() {
                let (scale, zero) = source.grid(tensor, format.scaling, row, at)?;
                // Products of codes with large scales would overflow where the dequantized weight is clamped; half of a
                // subnormal scale, which FP4 needs, may not exist.
                if !(scale * f32::from(u16::MAX)).is_finite() || scale.is_subnormal() {
                    return Ok(None);
                }
                (line[0].0[lane], line[1].0[lane]) = (scale, zero);
            }
        }
        let each = group / STRIP_BLOCK;
        let scales = if source.has_zeros {
            Scales::GroupsAndZeros(grids, each)
        } else {
            Scales::Groups(grids.into_iter().map(|[scales, _]| scales).collect(), each)
        };
        Ok(Some(Self { codes: source.codes, zero: source.zero, rows, cols, lines, scales }))
    }

    /// Returns the size in memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.lines[..])
            + match &self.scales {
                Scales::Halves(scales) => size_of_val(&scales[..]),
                Scales::HalvesAndMins(scales) => size_of_val(&scales[..]),
                Scales::Exponents(scales) => size_of_val(&scales[..]),
                Scales::Groups(scales, _) => size_of_val(&scales[..]),
                Scales::GroupsAndZeros(scales, _) => size_of_val(&scales[..]),
                Scales::Affine(supers, factors) | Scales::Nibbles(supers, factors) => {
                    size_of_val(&supers[..]) + size_of_val(&factors[..])
                }
                Scales::Signed(supers, factors) => size_of_val(&supers[..]) + size_of_val(&factors[..]),
            }
    }

    fn planes(&self) -> Result<Planes<'_>, WeightsError> {
        let scales = match &self.scales {
            Scales::Halves(scales) => PlaneScales::Halves(scales),
            Scales::HalvesAndMins(scales) => PlaneScales::HalvesAndMins(scales),
            Scales::Exponents(scales) => PlaneScales::Exponents(scales),
            Scales::Groups(scales, blocks) => PlaneScales::Groups { scales, blocks: *blocks },
            Scales::GroupsAndZeros(scales, blocks) => PlaneScales::GroupsAndZeros { scales, blocks: *blocks },
            Scales::Affine(supers, factors) => PlaneScales::Affine { supers, factors },
            Scales::Signed(supers, factors) => PlaneScales::Signed { supers, factors },
            Scales::Nibbles(supers, factors) => PlaneScales::Nibbles { supers, factors },
        };
        Ok(Planes::new(self.codes, self.zero, self.cols.div_ceil(STRIP_BLOCK), &self.lines, scales)?)
    }

    /// Decodes a row, which must exist, and the magnitudes of the terms that its products add.
    pub(super) fn row_into(
        &self,
        row: usize,
        out: &mut [f32],
        magnitudes: Option<&mut [f32]>,
    ) -> Result<(), WeightsError> {
        Ok(self.planes()?.row_into(row, out, magnitudes)?)
    }

    /// Restores the tensor, in the format it had. Returns `None` if the packed codes do not determine its bytes.
    pub(super) fn tensor(&self, format: WeightFormat) -> Result<Option<QuantizedTensor>, WeightsError> {
        let shape = (self.rows, self.cols);
        match format {
            WeightFormat::Ggml(block) => tensor::of_blocks(block, shape, &Source { matrix: self, format }),
            other => tensor::of_scaled(other, shape, &Source { matrix: self, format }),
        }
    }

    /// Computes the product; the caller checked the lengths.
    pub(super) fn multiply(&self, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
        let planes = self.planes()?;
        let activations = PlaneActivations::new(x, self.cols)?;
        let tiles = activations.tiles()?;
        let strip = self.lines.len() / planes.count() * size_of::<CodeLine>();
        let work = Work {
            strips: planes.count(),
            lines: activations.lines(),
            products: x.len().saturating_mul(self.rows),
            piece: PIECE / strip.max(1),
        };
        compute(work, self.rows, out, |first, out| {
            let planes = planes.range(first, first + out.len() / work.lines);
            Ok(multiply_planes(Backend::best(), planes, &tiles, out)?)
        })
    }
}

/// Bits per code of a block format without a table.
const fn bits(block: GgmlBlock) -> u8 {
    match block {
        GgmlBlock::Q2_K | GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0 => 2,
        GgmlBlock::Q3_K => 3,
        GgmlBlock::Q4_0 | GgmlBlock::Q4_1 | GgmlBlock::Q4_K | GgmlBlock::IQ4_NL | GgmlBlock::MXFP4 => 4,
        GgmlBlock::Q5_0 | GgmlBlock::Q5_1 | GgmlBlock::Q5_K => 5,
        GgmlBlock::Q6_K => 6,
        GgmlBlock::Q8_0 => 8,
    }
}

fn half_to_float(bits: u16) -> Result<f32, WeightsError> {
    let mut value = [0.0];
    f16_to_f32(Backend::best(), &[bits], &mut value)?;
    Ok(value[0])
}

/// Stores the factors of both halves of eight blocks.
fn put_factors(lines: &mut [[ByteLine; 2]], lane: usize, factors: &[u8; 16]) {
    for (lines, factors) in lines.iter_mut().zip(factors.as_chunks::<2>().0) {
        lines.iter_mut().zip(factors).for_each(|(line, factor)| line.0[lane] = *factor);
    }
}

/// The codes and scales of a matrix in its original format.
struct Source<'a> {
    matrix: &'a PlaneMatrix,
    format: WeightFormat,
}

impl Rows for Source<'_> {
    fn block(&self, row: usize, at: usize, parts: &mut BlockParts) -> Result<(), WeightsError> {
        let WeightFormat::Ggml(block) = self.format else { return Ok(()) };
        let (strip, lane) = place(row);
        let (weights, blocks) = (block.weights(), self.matrix.cols / STRIP_BLOCK);
        self.matrix.planes()?.codes_into(row, at * weights, &mut parts.codes[..weights])?;
        let first = strip * blocks + at * weights / STRIP_BLOCK;
        let of_supers = first * STRIP_BLOCK / SUPER;
        let each = |factors: &[[ByteLine; 2]], parts: &mut BlockParts| {
            for (out, lines) in parts.factors.as_chunks_mut::<2>().0.iter_mut().zip(&factors[first..]) {
                *out = [lines[0].0[lane], lines[1].0[lane]];
            }
        };
        match &self.matrix.scales {
            Scales::Halves(scales) => parts.halves[0] = scales[first].0[lane],
            Scales::HalvesAndMins(scales) => parts.halves = [0, 1].map(|i: usize| scales[first][i].0[lane]),
            Scales::Exponents(scales) => parts.factors[0] = scales[first].0[lane],
            Scales::Groups(scales, blocks) => parts.halves[0] = float_to_half(scales[first / *blocks].0[lane])?,
            Scales::GroupsAndZeros(..) => {}
            Scales::Affine(supers, factors) => {
                parts.halves = [0, 1].map(|i: usize| supers[of_supers][i].0[lane]);
                for (i, lines) in factors[first..][..8].iter().enumerate() {
                    (parts.factors[i], parts.min_factors[i]) = (lines[0].0[lane], lines[1].0[lane]);
                }
            }
            Scales::Signed(supers, factors) => {
                parts.halves[0] = supers[of_supers].0[lane];
                each(factors, parts);
            }
            Scales::Nibbles(supers, factors) => {
                parts.halves = [0, 1].map(|i: usize| supers[of_supers][i].0[lane]);
                each(factors, parts);
            }
        }
        Ok(())
    }

    fn codes(&self, row: usize, out: &mut [u8]) -> Result<(), WeightsError> {
        self.matrix.planes()?.codes_into(row, 0, out)?;
        if self.matrix.zero == 2 {
            // The offset of int2 and ternary, which was a flipped sign bit.
            out.iter_mut().for_each(|code| *code ^= 2);
        }
        Ok(())
    }

    fn grid(&self, row: usize, group: usize) -> (f32, u8) {
        let (strip, lane) = place(row);
        let dtype = match self.format {
            WeightFormat::Scaled(scaled) => Some(scaled.dtype),
            _ => None,
        };
        let blocks = self.matrix.cols.div_ceil(STRIP_BLOCK);
        match &self.matrix.scales {
            Scales::Groups(scales, each) => {
                let scale = scales[strip * blocks.div_ceil(*each) + group].0[lane];
                (if dtype == Some(DType::Fp4) { 2.0 * scale } else { scale }, 0)
            }
            Scales::GroupsAndZeros(grids, each) => {
                let [scales, zeros] = &grids[strip * blocks.div_ceil(*each) + group];
                let (scale, zero) = (scales.0[lane], zeros.0[lane]);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer of 8 bits")]
                if dtype == Some(DType::Binary) { (scale / 2.0, 0) } else { (scale, zero as u8) }
            }
            _ => (0.0, 0),
        }
    }
}

fn float_to_half(value: f32) -> Result<u16, WeightsError> {
    let mut bits = [0];
    f16_from_f32(Backend::best(), &[value], &mut bits)?;
    Ok(bits[0])
}
