//! Q4_0, Q4_1, Q5_0 and Q5_1 with importance: 32 weights with a searched scale. Spec: `spec/ggml.md`.

use super::batch::{Batch, BlockSearch};
use super::fit::{Affine, Columns, Plan, Symmetric, chosen, fit_affine, fit_symmetric, weigh};
use super::half::half;
use crate::ggml::GgmlBlock;
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// Formats with one scale: Q4_0 and Q5_0.
pub(crate) struct WeightedScale<const BITS: u8>;

/// Formats with a scale and a minimum: Q4_1 and Q5_1.
pub(crate) struct WeightedAffine<const BITS: u8>;

impl<const BITS: u8> BlockSearch for WeightedScale<BITS> {
    const BLOCK: GgmlBlock = if BITS == 4 { GgmlBlock::Q4_0 } else { GgmlBlock::Q5_0 };
    const OF_ROWS: bool = true;

    #[inline(always)]
    fn write<I: Isa>(isa: I, batch: &Batch<'_>, out: &mut [u8]) {
        let Columns { x, w, .. } = columns(isa, batch);
        let top: u8 = 1 << (BITS - 1);
        let Symmetric { scale, factor } = fit_symmetric(isa, &x, &w, f32::from(top));
        let (mut scales, mut factors) = ([0.0; MAX_LANES], [0.0; MAX_LANES]);
        scale.store(&mut scales);
        factor.store(&mut factors);
        let top = i32::from(top);
        for (lane, out) in out.chunks_exact_mut(Self::BLOCK.bytes()).enumerate() {
            let mut codes = [0; 32];
            chosen(batch.values[lane], factors[lane], 0.0, -top, top - 1, &mut codes);
            let (fields, rest) = out.split_at_mut(2);
            fields.copy_from_slice(&half(scales[lane]).0);
            pack_codes::<BITS>(&codes, rest);
        }
    }
}

impl<const BITS: u8> BlockSearch for WeightedAffine<BITS> {
    const BLOCK: GgmlBlock = if BITS == 4 { GgmlBlock::Q4_1 } else { GgmlBlock::Q5_1 };
    const OF_ROWS: bool = true;

    #[inline(always)]
    fn write<I: Isa>(isa: I, batch: &Batch<'_>, out: &mut [u8]) {
        let mut columns = columns(isa, batch);
        let top: u8 = (1 << BITS) - 1;
        let plan = Plan { top: f32::from(top), from: -0.9, by: 0.05, steps: 36, absolute: false, ascending: true };
        let Affine { scale, min, factor, minus } = fit_affine(isa, &mut columns, 32, plan);
        let mut fits = [[0.0; MAX_LANES]; 4];
        for (lanes, values) in fits.iter_mut().zip([scale, min, factor, minus]) {
            values.store(lanes);
        }
        for (lane, out) in out.chunks_exact_mut(Self::BLOCK.bytes()).enumerate() {
            let [scale, min, factor, minus] = [fits[0][lane], fits[1][lane], fits[2][lane], fits[3][lane]];
            let mut codes = [0; 32];
            chosen(batch.values[lane], factor, minus, 0, i32::from(top), &mut codes);
            let (fields, rest) = out.split_at_mut(4);
            fields[..2].copy_from_slice(&half(scale).0);
            fields[2..].copy_from_slice(&half(min).0);
            pack_codes::<BITS>(&codes, rest);
        }
    }
}

/// Loads the values of a batch and the weights of their errors.
#[inline(always)]
fn columns<I: Isa>(isa: I, batch: &Batch<'_>) -> Columns<I::F> {
    let mut columns = Columns::new(isa.splat(0.0));
    isa.columns(&batch.values, 0, &mut columns.x);
    isa.columns(&batch.importance, 0, &mut columns.w);
    weigh(isa, &columns.x, isa.load(&batch.row_mean_square), &mut columns.w);
    columns
}

/// Packs 4-bit codes, or 5-bit codes with the fifth bits in four bytes before the nibbles.
#[inline(always)]
fn pack_codes<const BITS: u8>(codes: &[u8; 32], out: &mut [u8]) {
    if BITS == 4 {
        return pack_halves(codes, out);
    }
    let (fifth_bits, low_bits) = out.split_at_mut(4);
    let mut fifths: u32 = 0;
    let mut low = [0; 32];
    for (i, (&code, low)) in codes.iter().zip(&mut low).enumerate() {
        fifths |= u32::from(code >> 4) << i;
        *low = code & 15;
    }
    fifth_bits.copy_from_slice(&fifths.to_le_bytes());
    pack_halves(&low, low_bits);
}

/// Packs two codes per byte: code `i` in the low nibble, code `i + 16` in the high nibble.
#[inline(always)]
pub(super) fn pack_halves(codes: &[u8; 32], out: &mut [u8]) {
    let (low, high) = codes.split_at(16);
    for ((out, low), high) in out.iter_mut().zip(low).zip(high) {
        *out = low | high << 4;
    }
}
