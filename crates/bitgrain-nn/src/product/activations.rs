//! Activations as tiles: quantized for codes, interleaved for floats.

use bitgrain_kernels::{Backend, FloatTile, KernelError, STRIP_BLOCK, StripBits, Tile, quantize_activations};
use rayon::prelude::*;

use super::{FEW_VALUES, ProductError, View};

/// Rows of the tiles of a batch: eights, and at the end a tile that may have room to spare.
pub(super) fn widths(batch: usize) -> impl Iterator<Item = usize> {
    let last = match batch % 8 {
        0 => None,
        1 => Some(1),
        2..=4 => Some(4),
        _ => Some(8),
    };
    std::iter::repeat_n(8, batch / 8).chain(last)
}

/// Lines of output for a strip of weights: a batch filled up to whole tiles.
pub(super) fn lines(batch: usize) -> usize {
    widths(batch).sum()
}

/// A batch of activations as 8-bit codes.
pub(super) struct Codes {
    tiles: Vec<CodeTile>,
}

struct CodeTile {
    width: usize,
    codes: Vec<i32>,
    scales: Vec<f32>,
    sums: Vec<i32>,
}

impl Codes {
    /// Quantizes rows of `cols` activations.
    pub(super) fn new(bits: StripBits, x: &[f32], cols: usize) -> Result<Self, ProductError> {
        let batch = x.len() / cols;
        let quantize = |(tile, width): (usize, usize)| -> Result<CodeTile, ProductError> {
            let sums = cols.div_ceil(STRIP_BLOCK) * width;
            let mut out = CodeTile { width, codes: vec![0; 8 * sums], scales: vec![0.0; sums], sums: vec![0; sums] };
            for (slot, row) in x[8 * tile * cols..].chunks(cols).take(width).enumerate() {
                let (codes, scales, sums) = (&mut out.codes[..], &mut out.scales[..], &mut out.sums[..]);
                let done = quantize_activations(Backend::best(), bits, row, (slot, width), codes, scales, sums);
                done.map_err(|error| refused(error, 8 * tile + slot))?;
            }
            Ok(out)
        };
        let places: Vec<_> = widths(batch).enumerate().collect();
        let tiles = if x.len() < FEW_VALUES {
            places.into_iter().map(quantize).collect::<Result<_, _>>()?
        } else {
            places.into_par_iter().map(quantize).collect::<Result<_, _>>()?
        };
        Ok(Self { tiles })
    }

    /// As the kernels take them.
    pub(super) fn tiles(&self) -> Result<Vec<Tile<'_>>, ProductError> {
        let tiles = self.tiles.iter().map(|tile| Tile::new(tile.width, &tile.codes, &tile.scales, &tile.sums));
        Ok(tiles.collect::<Result<_, _>>()?)
    }
}

fn refused(error: KernelError, row: usize) -> ProductError {
    match error {
        KernelError::NonFinite { index } => ProductError::NonFinite { row, column: index },
        other => other.into(),
    }
}

/// Rows of f32, interleaved in tiles.
pub(super) struct Floats {
    tiles: Vec<(usize, Vec<f32>)>,
}

impl Floats {
    /// Interleaves the rows of a matrix.
    pub(super) fn new(matrix: View<'_>) -> Self {
        let interleave = |(tile, width): (usize, usize)| {
            let mut values = vec![0.0; width * matrix.cols()];
            matrix.pack_tile(8 * tile, width, &mut values);
            (width, values)
        };
        let places: Vec<_> = widths(matrix.rows()).enumerate().collect();
        let tiles = if matrix.rows() * matrix.cols() < FEW_VALUES {
            places.into_iter().map(interleave).collect()
        } else {
            places.into_par_iter().map(interleave).collect()
        };
        Self { tiles }
    }

    /// Some of the columns of some of the tiles.
    pub(super) fn tiles(
        &self,
        tiles: std::ops::Range<usize>,
        cols: std::ops::Range<usize>,
    ) -> Result<Vec<FloatTile<'_>>, ProductError> {
        let tiles = self.tiles[tiles].iter();
        let tiles = tiles.map(|(width, values)| FloatTile::new(*width, &values[width * cols.start..width * cols.end]));
        Ok(tiles.collect::<Result<_, _>>()?)
    }

    /// Tiles there are.
    pub(super) fn count(&self) -> usize {
        self.tiles.len()
    }
}
