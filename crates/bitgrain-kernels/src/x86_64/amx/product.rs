//! Products of strips with tiles of sixteen rows; AVX-512 handles narrower tiles.
//!
//! The tile unit computes the exact integer sums of a block, which vector registers convert to f32 and accumulate like
//! the other backends.

use core::arch::x86_64::*;

use bitgrain_isa::amx;

use super::unit::{SUMS, SumLine, TileUnit};
use crate::product::{CodeLine, FloatLine, HalfLine, StripBits, StripScales, Strips, Tile, TileBlocks};
use crate::x86_64::avx512;
use crate::x86_64::avx512::memory::{load_bytes, load_half_line, load_line, store_bytes, store_line};
use crate::x86_64::prefetch::prefetch_strip_at;

/// Blocks whose weights are unpacked at once: 8 KiB of weights, and as many of a tile's activations, fit L1.
const RUN: usize = 16;

/// Tiles that share unpacked weights.
const TILES: usize = 4;

/// Number of blocks between a product and its use.
const BEHIND: usize = 2;

const _: () = assert!(BEHIND < SUMS);

/// # Safety
/// The CPU must have AMX with byte tiles, and the system must have granted permission to use them.
#[amx]
pub(crate) unsafe fn multiply_strips(strips: Strips<'_>, tiles: &[Tile<'_>], mut out: &mut [FloatLine]) {
    if tiles.iter().all(|tile| tile.width() < 16) {
        return avx512::multiply_strips(strips, tiles, out);
    }
    // SAFETY: guaranteed by the caller.
    let mut unit = unsafe { TileUnit::new() };
    for strip in 0..strips.count() {
        let strip = strips.range(strip, strip + 1);
        for tiles in tiles.chunk_by(|a, b| a.width() == b.width()).flat_map(|tiles| tiles.chunks(TILES)) {
            let (lines, rest) = out.split_at_mut(tiles.iter().map(Tile::width).sum());
            out = rest;
            match (tiles[0].width(), strip.bits) {
                (16, StripBits::Four) => multiply::<4>(&mut unit, strip, tiles, lines.as_chunks_mut().0),
                (16, StripBits::Eight) => multiply::<8>(&mut unit, strip, tiles, lines.as_chunks_mut().0),
                _ => avx512::multiply_strips(strip, tiles, lines),
            }
        }
    }
}

/// Multiplies one strip with a few tiles.
#[inline]
#[amx]
fn multiply<const LINES: usize>(
    unit: &mut TileUnit,
    strip: Strips<'_>,
    tiles: &[Tile<'_>],
    out: &mut [[FloatLine; 16]],
) {
    let mut weights = [[CodeLine([0; 64]); 8]; RUN];
    let mut sums = [[FloatLine::ZERO; 16]; TILES];
    out.as_flattened_mut().fill(FloatLine::ZERO);
    for (run, lines) in strip.lines.as_chunks::<LINES>().0.chunks(RUN).enumerate() {
        let weights = &mut weights[..lines.len()];
        unpack(lines, weights);
        let first = run * RUN;
        // Only the first tile prefetches the weights of the next run.
        let mut lines = lines;
        for ((tile, sums), out) in tiles.iter().zip(&mut sums).zip(&mut *out) {
            let tile = tile.blocks_of::<16>().after(first).first(weights.len());
            match strip.scales {
                StripScales::Halves(scales) => halves(unit, lines, weights, &scales[first..], tile, out),
                StripScales::Groups { scales, blocks } => {
                    let last = first + weights.len() == strip.blocks;
                    groups(unit, lines, weights, scales, (first, blocks, last), tile, sums, out);
                }
            }
            lines = &[];
        }
    }
}

/// Unpacks weights to signed codes, one per byte.
#[inline]
#[amx]
fn unpack<const LINES: usize>(lines: &[[CodeLine; LINES]], out: &mut [[CodeLine; 8]]) {
    // An 8x8 bit matrix that converts a nibble, which is the code plus 8, to a signed byte: the lower three bits are
    // copied, the top bit is inverted and fills the upper five.
    const NEAR: i64 = 0x0102_0408_0808_0808;
    const FAR: i64 = 0x1020_4080_8080_8080_u64.cast_signed();
    const SIGN: i32 = 0xF8;
    let (near, far) = (_mm512_set1_epi64(NEAR), _mm512_set1_epi64(FAR));
    for (lines, out) in lines.iter().zip(out) {
        for (i, line) in lines.iter().enumerate() {
            let line = load_bytes(&line.0);
            if LINES == 4 {
                store_bytes(&mut out[i].0, _mm512_gf2p8affine_epi64_epi8::<SIGN>(line, near));
                store_bytes(&mut out[i + 4].0, _mm512_gf2p8affine_epi64_epi8::<SIGN>(line, far));
            } else {
                store_bytes(&mut out[i].0, _mm512_xor_si512(line, _mm512_set1_epi8(i8::MIN)));
            }
        }
    }
}

/// Adds blocks with a scale per block.
#[inline]
#[amx]
fn halves<const LINES: usize>(
    unit: &mut TileUnit,
    lines: &[[CodeLine; LINES]],
    weights: &[[CodeLine; 8]],
    scales: &[HalfLine],
    tile: TileBlocks<'_, 16>,
    out: &mut [FloatLine; 16],
) {
    let mut totals = load(out);
    let scales = &scales[..weights.len()];
    each_block(unit, lines, weights, tile, |block, sums| {
        let weight_scales = _mm512_cvtph_ps(load_half_line(&scales[block]));
        for row in 0..16 {
            let scales = _mm512_mul_ps(weight_scales, _mm512_set1_ps(tile.scales[block][row]));
            totals[row] = _mm512_fmadd_ps(float(&sums[row]), scales, totals[row]);
        }
    });
    store(out, totals);
}

/// Adds blocks with a scale per group. The tuple holds the first block, the blocks per group, and whether these are the
/// last blocks.
#[expect(clippy::too_many_arguments, reason = "an inner loop")]
#[inline]
#[amx]
fn groups<const LINES: usize>(
    unit: &mut TileUnit,
    lines: &[[CodeLine; LINES]],
    weights: &[[CodeLine; 8]],
    scales: &[FloatLine],
    (first, each, last): (usize, usize, bool),
    tile: TileBlocks<'_, 16>,
    group: &mut [FloatLine; 16],
    out: &mut [FloatLine; 16],
) {
    let mut sums = load(group);
    let (mut at, mut left) = (first / each, each - first % each);
    each_block(unit, lines, weights, tile, |block, products| {
        for row in 0..16 {
            let scale = _mm512_set1_ps(tile.scales[block][row]);
            sums[row] = _mm512_fmadd_ps(float(&products[row]), scale, sums[row]);
        }
        left -= 1;
        if left == 0 || last && block + 1 == weights.len() {
            let weight_scales = load_line(&scales[at]);
            for row in 0..16 {
                let total = _mm512_fmadd_ps(sums[row], weight_scales, load_line(&out[row]));
                store_line(&mut out[row], total);
                sums[row] = _mm512_setzero_ps();
            }
            (at, left) = (at + 1, each);
        }
    });
    store(group, sums);
}

/// Multiplies block by block and passes the sums to `add` a few blocks later, so that the tile unit runs in parallel.
#[inline]
#[amx]
fn each_block<const LINES: usize>(
    unit: &mut TileUnit,
    lines: &[[CodeLine; LINES]],
    weights: &[[CodeLine; 8]],
    tile: TileBlocks<'_, 16>,
    mut add: impl FnMut(usize, &[SumLine; 16]),
) {
    for step in 0..weights.len() + BEHIND {
        if let Some(weights) = weights.get(step) {
            if let Some(lines) = lines.get(step) {
                prefetch_strip_at(lines, RUN * size_of::<[CodeLine; LINES]>());
            }
            unit.multiply(&tile.codes[step], weights, step);
        }
        // A single call site lets the compiler inline `add` and keep its accumulators in registers.
        if let Some(block) = step.checked_sub(BEHIND) {
            add(block, unit.sums(block));
        }
    }
}

#[inline]
#[amx]
fn float(sums: &SumLine) -> __m512 {
    // SAFETY: the reference covers 64 readable bytes; `loadu` needs no alignment.
    _mm512_cvtepi32_ps(unsafe { _mm512_loadu_si512(sums.0.as_ptr().cast()) })
}

#[inline]
#[amx]
fn load(lines: &[FloatLine; 16]) -> [__m512; 16] {
    let mut registers = [_mm512_setzero_ps(); 16];
    for (register, line) in registers.iter_mut().zip(lines) {
        *register = load_line(line);
    }
    registers
}

#[inline]
#[amx]
fn store(lines: &mut [FloatLine; 16], registers: [__m512; 16]) {
    for (line, register) in lines.iter_mut().zip(registers) {
        store_line(line, register);
    }
}
