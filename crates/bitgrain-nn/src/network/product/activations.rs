//! Activations in tiles: quantized for codes, interleaved for floats.

use bitgrain_kernels::product::{FloatTile, PlaneTile, STRIP_BLOCK, StripBits, Tile, half_sums, quantize_activations};
use bitgrain_kernels::{Backend, KernelError};
use rayon::prelude::*;

use super::{FEW_ROWS, FEW_VALUES, View, WeightsError};

/// Number of i32 values per cache line; each holds four 8-bit codes.
const LINE: usize = 16;

/// Returns the widths of a batch's tiles: eights, and a last tile that may be padded.
pub(super) fn widths(batch: usize) -> impl Iterator<Item = usize> {
    // The kernels take widths of 1, 4 and 8: pad the rest to the next of them.
    let last = match batch % 8 {
        0 => None,
        1 => Some(1),
        2..=4 => Some(4),
        _ => Some(8),
    };
    std::iter::repeat_n(8, batch / 8).chain(last)
}

/// Like [`widths`], but with tiles of sixteen, which take little more time on tile registers than a tile of eight
/// without them.
fn wide_widths(batch: usize) -> Vec<usize> {
    let rest = batch % 16;
    let wide = batch / 16 + usize::from(rest > 8);
    std::iter::repeat_n(16, wide).chain(widths(rest).filter(|_| rest <= 8)).collect()
}

/// Returns the output lines per strip of weights: the batch padded to whole tiles.
pub(super) fn lines(batch: usize) -> usize {
    widths(batch).sum()
}

/// A batch of activations as 8-bit codes, and the backend to multiply them with.
pub(super) struct Codes {
    backend: Backend,
    tiles: Vec<CodeTile>,
}

struct CodeTile {
    width: usize,
    /// Padded so that `start` can be on a cache line, which makes products with tile registers about 10 % faster.
    codes: Vec<i32>,
    start: usize,
    scales: Vec<f32>,
    sums: Vec<i32>,
}

impl CodeTile {
    /// Allocates a tile for `width` rows of `blocks` blocks.
    fn new(width: usize, blocks: usize) -> Self {
        let sums = blocks * width;
        let codes = vec![0; 8 * sums + LINE];
        let start = codes.as_ptr().align_offset(LINE * size_of::<i32>()).min(LINE);
        Self { width, codes, start, scales: vec![0.0; sums], sums: vec![0; sums] }
    }

    fn tile(&self) -> Result<Tile<'_>, KernelError> {
        let codes = &self.codes[self.start..][..8 * self.sums.len()];
        Tile::new(self.width, codes, &self.scales, &self.sums)
    }
}

impl Codes {
    /// Quantizes rows of `cols` activations.
    pub(super) fn new(bits: StripBits, x: &[f32], cols: usize) -> Result<Self, WeightsError> {
        let batch = x.len() / cols;
        Self::tiled(bits, x, cols, if batch <= FEW_ROWS { None } else { Backend::with_tiles() })
    }

    /// Quantizes rows for kernels that do not use tile registers.
    fn narrow(bits: StripBits, x: &[f32], cols: usize) -> Result<Self, WeightsError> {
        Self::tiled(bits, x, cols, None)
    }

    fn tiled(bits: StripBits, x: &[f32], cols: usize, tiled: Option<Backend>) -> Result<Self, WeightsError> {
        let batch = x.len() / cols;
        let backend = tiled.unwrap_or(Backend::best());
        let quantize = |(first, width): (usize, usize)| -> Result<CodeTile, WeightsError> {
            let mut out = CodeTile::new(width, cols.div_ceil(STRIP_BLOCK));
            for (slot, row) in x[first * cols..].chunks(cols).take(width).enumerate() {
                let (scales, sums) = (&mut out.scales[..], &mut out.sums[..]);
                let codes = &mut out.codes[out.start..][..8 * sums.len()];
                let done = quantize_activations(backend, bits, row, (slot, width), codes, scales, sums);
                done.map_err(|error| refused(error, first + slot))?;
            }
            Ok(out)
        };
        let widths = if tiled.is_some() { wide_widths(batch) } else { widths(batch).collect() };
        let firsts = widths.iter().scan(0, |next, width| Some(std::mem::replace(next, *next + width)));
        let places: Vec<_> = firsts.zip(widths.iter().copied()).collect();
        let tiles = if x.len() < FEW_VALUES {
            places.into_iter().map(quantize).collect::<Result<_, _>>()?
        } else {
            places.into_par_iter().map(quantize).collect::<Result<_, _>>()?
        };
        Ok(Self { backend, tiles })
    }

    /// Returns the backend that the tiles are packed for.
    pub(super) const fn backend(&self) -> Backend {
        self.backend
    }

    /// Returns the output lines per strip of weights.
    pub(super) fn lines(&self) -> usize {
        self.tiles.iter().map(|tile| tile.width).sum()
    }

    /// Returns the tiles in the form that the kernels take.
    pub(super) fn tiles(&self) -> Result<Vec<Tile<'_>>, WeightsError> {
        Ok(self.tiles.iter().map(CodeTile::tile).collect::<Result<_, _>>()?)
    }
}

/// A batch of activations as 8-bit codes, with the sums of the halves of each block.
pub(super) struct PlaneActivations {
    codes: Codes,
    halves: Vec<Vec<[i32; 2]>>,
}

impl PlaneActivations {
    /// Quantizes rows of `cols` activations.
    pub(super) fn new(x: &[f32], cols: usize) -> Result<Self, WeightsError> {
        let codes = Codes::narrow(StripBits::Eight, x, cols)?;
        let halves = codes.tiles.iter().map(|tile| {
            let mut halves = vec![[0; 2]; tile.sums.len()];
            half_sums(&tile.codes[tile.start..][..8 * tile.sums.len()], &mut halves)?;
            Ok(halves)
        });
        let halves = halves.collect::<Result<_, WeightsError>>()?;
        Ok(Self { codes, halves })
    }

    /// Returns the output lines per strip of weights.
    pub(super) fn lines(&self) -> usize {
        self.codes.lines()
    }

    /// Returns the tiles in the form that the kernels take.
    pub(super) fn tiles(&self) -> Result<Vec<PlaneTile<'_>>, WeightsError> {
        let tiles = self.codes.tiles.iter().zip(&self.halves);
        Ok(tiles.map(|(tile, halves)| PlaneTile::new(tile.tile()?, halves)).collect::<Result<_, _>>()?)
    }
}

fn refused(error: KernelError, row: usize) -> WeightsError {
    match error {
        KernelError::NonFinite { index } => WeightsError::NonFinite { row, column: index },
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

    /// Returns the given columns of the given tiles.
    pub(super) fn tiles(
        &self,
        tiles: std::ops::Range<usize>,
        cols: std::ops::Range<usize>,
    ) -> Result<Vec<FloatTile<'_>>, WeightsError> {
        let tiles = self.tiles[tiles].iter();
        let tiles = tiles.map(|(width, values)| FloatTile::new(*width, &values[width * cols.start..width * cols.end]));
        Ok(tiles.collect::<Result<_, _>>()?)
    }

    /// Returns the number of tiles.
    pub(super) fn count(&self) -> usize {
        self.tiles.len()
    }
}
