//! Products of planes with tiles of activations.

use super::{FloatLine, Planes, STRIP_BLOCK, Tile};
use crate::backend::on;
use crate::{Backend, KernelError};

/// A tile of 1, 4 or 8 rows, with the sums of the codes of each half of a block.
#[derive(Debug, Clone, Copy)]
pub struct PlaneTile<'a> {
    tile: Tile<'a>,
    halves: &'a [[i32; 2]],
}

impl<'a> PlaneTile<'a> {
    /// Adds sums that [`half_sums`] computed to a tile.
    ///
    /// # Errors
    /// Returns [`KernelError::InvalidBlockLen`] for a tile of 16 rows and [`KernelError::InputTooSmall`] unless there is
    /// a pair of sums per block of each row.
    pub fn new(tile: Tile<'a>, halves: &'a [[i32; 2]]) -> Result<Self, KernelError> {
        if tile.width() > 8 {
            return Err(KernelError::InvalidBlockLen { len: tile.width() });
        }
        let required = tile.blocks() * tile.width();
        if halves.len() != required {
            return Err(KernelError::InputTooSmall { required });
        }
        Ok(Self { tile, halves })
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.tile.width()
    }

    /// Returns the codes and the scale of a block of a row.
    pub(crate) fn block(&self, block: usize, row: usize) -> ([i8; STRIP_BLOCK], f32) {
        let at = block * self.width() + row;
        let (codes, scale) = self.tile.codes_and_scale(at);
        let mut bytes = [0; STRIP_BLOCK];
        for (bytes, four) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(codes) {
            *bytes = four.to_le_bytes().map(u8::cast_signed);
        }
        (bytes, scale)
    }

    /// Returns the sums of the codes of both halves of a block of a row.
    pub(crate) fn sums(&self, block: usize, row: usize) -> [i32; 2] {
        self.halves[block * self.width() + row]
    }

    /// Returns the tile and the sums of both halves of each block of `W` rows. Empty for a tile of another width.
    #[cfg(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ))]
    #[inline]
    pub(crate) fn of<const W: usize>(&self) -> (super::TileBlocks<'a, W>, &'a [[[i32; 2]; W]]) {
        (self.tile.blocks_of(), if self.width() == W { self.halves.as_chunks().0 } else { &[] })
    }
}

/// Sums the codes of each half of each block of a tile.
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`] unless `out` has a pair per eight integers of codes.
pub fn half_sums(codes: &[i32], out: &mut [[i32; 2]]) -> Result<(), KernelError> {
    if codes.len() != 8 * out.len() {
        return Err(KernelError::OutputTooSmall { required: codes.len() / 8 });
    }
    for (codes, out) in codes.as_chunks::<8>().0.iter().zip(out) {
        let sum = |fours: &[i32]| -> i32 {
            fours.iter().flat_map(|four| four.to_le_bytes()).map(|byte| i32::from(byte.cast_signed())).sum()
        };
        *out = [sum(&codes[..4]), sum(&codes[4..])];
    }
    Ok(())
}

/// Multiplies every strip with every tile. `out` receives, strip by strip, one line per row of each tile: its products
/// with the sixteen rows of the strip.
///
/// The order of every sum is fixed. Integers are summed exactly over the columns of a block, or over half of them where
/// halves have their own scales; then `total = sum * (weight_scale * activation_scale) + total` and, with minima,
/// `total = activation_sum * (minimum * activation_scale) + total`, both fused. Every backend therefore returns the same
/// bits, except for the payload of a NaN.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if a tile has another number of blocks than the strips, or
/// [`KernelError::OutputTooSmall`].
pub fn multiply_planes(
    backend: Backend,
    planes: Planes<'_>,
    tiles: &[PlaneTile<'_>],
    out: &mut [FloatLine],
) -> Result<(), KernelError> {
    if tiles.iter().any(|tile| tile.tile.blocks() != planes.blocks) {
        return Err(KernelError::InputTooSmall { required: planes.blocks });
    }
    let lines = tiles.iter().map(PlaneTile::width).sum::<usize>();
    let required = planes.count().saturating_mul(lines);
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    match backend.isa() {
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        // SAFETY: `Isa::Dotprod` and `Isa::I8mm` are only handed out by `Backend::available` after CPU detection.
        crate::backend::Isa::Dotprod | crate::backend::Isa::I8mm => unsafe {
            crate::aarch64::dotprod::multiply_planes(planes, tiles, out);
        },
        _ => on!(backend, multiply_planes(planes, tiles, out)),
    }
    Ok(())
}
