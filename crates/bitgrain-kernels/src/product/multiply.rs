//! Products of strips of weights with tiles of activations.

use super::{FloatLine, Strips, Tile};
use crate::backend::on;
use crate::{Backend, KernelError};

/// Multiplies every strip with every tile. `out` receives, strip by strip, one line per row of each tile: its products
/// with the sixteen rows of the strip.
///
/// The order of every sum is fixed. Sums within a block of 32 columns are integers and therefore exact. Blocks are added in
/// order, by fused multiply-adds: with a scale per block, `total = sum * (weight_scale * activation_scale) + total`;
/// with a scale per group of blocks, `group = sum * activation_scale + group` for each block, beginning with zero, and
/// `total = group * weight_scale + total` for each group. Every backend therefore returns the same bits, except for the
/// payload of a NaN.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if a tile has another number of blocks than the strips, or
/// [`KernelError::OutputTooSmall`].
pub fn multiply_strips(
    backend: Backend,
    strips: Strips<'_>,
    tiles: &[Tile<'_>],
    out: &mut [FloatLine],
) -> Result<(), KernelError> {
    if tiles.iter().any(|tile| tile.blocks() != strips.blocks) {
        return Err(KernelError::InputTooSmall { required: strips.blocks });
    }
    let lines = tiles.iter().map(Tile::width).sum::<usize>();
    let required = strips.count().saturating_mul(lines);
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    match backend.isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::Amx` is only handed out by `Backend::with_tiles` after CPU detection and permission from the
        // system.
        crate::backend::Isa::Amx => unsafe { crate::x86_64::amx::multiply_strips(strips, tiles, out) },
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        // SAFETY: `Isa::Dotprod` is only handed out by `Backend::available` after CPU detection.
        crate::backend::Isa::Dotprod => unsafe { crate::aarch64::dotprod::multiply_strips(strips, tiles, out) },
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        // SAFETY: `Isa::I8mm` is only handed out by `Backend::available` after CPU detection.
        crate::backend::Isa::I8mm => unsafe { crate::aarch64::i8mm::multiply_strips(strips, tiles, out) },
        _ => on!(backend, multiply_strips(strips, tiles, out)),
    }
    Ok(())
}

/// Loops over strips and tiles with the `halves::<LINES, W>` and `groups::<LINES, W>` in scope at the expansion, which
/// multiply one strip with one tile and take a token if one is given. `LINES` is the number of lines per block.
macro_rules! strip_walk {
    ($strips:expr, $tiles:expr, $out:expr $(, $isa:ident)?) => {{
        let strips: $crate::product::Strips<'_> = $strips;
        let mut out: &mut [$crate::product::FloatLine] = $out;
        for strip in 0..strips.count() {
            let strip = strips.range(strip, strip + 1);
            for tile in $tiles {
                let (lines, rest) = out.split_at_mut(tile.width());
                out = rest;
                $crate::product::multiply::by_width!(strip, tile, lines $(, $isa)?);
            }
        }
    }};
}

/// Calls the kernel for the given bits, scales and width.
macro_rules! by_width {
    ($strip:ident, $tile:ident, $lines:ident $(, $isa:ident)?) => {
        match ($strip.bits, $tile.width()) {
            ($crate::product::StripBits::Four, 1) => $crate::product::multiply::by_scales!(4, 1, $strip, $tile, $lines $(, $isa)?),
            ($crate::product::StripBits::Four, 4) => $crate::product::multiply::by_scales!(4, 4, $strip, $tile, $lines $(, $isa)?),
            ($crate::product::StripBits::Four, 8) => $crate::product::multiply::by_scales!(4, 8, $strip, $tile, $lines $(, $isa)?),
            ($crate::product::StripBits::Four, _) => {
                $crate::product::multiply::by_scales!(4, 16, $strip, $tile, $lines $(, $isa)?)
            }
            ($crate::product::StripBits::Eight, 1) => {
                $crate::product::multiply::by_scales!(8, 1, $strip, $tile, $lines $(, $isa)?)
            }
            ($crate::product::StripBits::Eight, 4) => {
                $crate::product::multiply::by_scales!(8, 4, $strip, $tile, $lines $(, $isa)?)
            }
            ($crate::product::StripBits::Eight, 8) => {
                $crate::product::multiply::by_scales!(8, 8, $strip, $tile, $lines $(, $isa)?)
            }
            ($crate::product::StripBits::Eight, _) => {
                $crate::product::multiply::by_scales!(8, 16, $strip, $tile, $lines $(, $isa)?)
            }
        }
    };
}

macro_rules! by_scales {
    ($per_block:literal, $width:literal, $strip:ident, $tile:ident, $out:ident $(, $isa:ident)?) => {{
        let lines = $strip.lines.as_chunks::<$per_block>().0;
        let tile = $tile.blocks_of::<$width>();
        let out = $out.as_chunks_mut::<$width>().0;
        if let [out] = out {
            match $strip.scales {
                $crate::product::StripScales::Halves(scales) => halves($($isa,)? lines, scales, tile, out),
                $crate::product::StripScales::Groups { scales, blocks } => groups($($isa,)? lines, scales, blocks, tile, out),
            }
        }
    }};
}

pub(crate) use {by_scales, by_width, strip_walk};
