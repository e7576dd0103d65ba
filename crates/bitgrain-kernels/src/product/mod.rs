//! Matrix products on codes: weights in strips of sixteen rows, activations in tiles, integer sums within a block.
//!
//! A **strip** is sixteen rows of weights. Its columns are split into blocks of 32, arranged so that one 64-byte line
//! holds four neighboring columns of all sixteen rows: a register of codes is multiplied with four activations that are
//! the same for every row. Codes are unsigned, with 8 or 128 standing for 0, as the instructions require.
//!
//! A **tile** is 1, 4, 8 or 16 rows of activations, rounded to 8-bit codes with a scale per 32 columns; a block's 32
//! codes of each row are contiguous. Sixteen rows are for [`Backend::with_tiles`](crate::Backend::with_tiles), whose
//! registers hold that many.

mod activations;
mod elements;
mod floats;
mod lines;
pub(crate) mod multiply;
mod plane_products;
mod planes;
mod strips;

pub use activations::{Tile, quantize_activations};
pub use elements::{ElementGrids, ElementLines, Elements, WideGrid, multiply_elements};
pub use floats::{FloatTile, multiply_floats, pack_floats};
pub use lines::{CodeLine, DoubleLine, FloatLine, HalfLine, WordLine};
pub use multiply::multiply_strips;
pub use plane_products::{PlaneTile, half_sums, multiply_planes};
pub use planes::{ByteLine, PlaneCodes, PlaneScales, Planes, pack_plane_row};
pub use strips::{StripBits, StripScales, Strips, pack_strip_row};

pub(crate) use activations::{Place, TINY, TileBlocks};
pub(crate) use multiply::strip_walk;
pub(crate) use strips::block_codes;

/// Rows per strip.
pub const STRIP_ROWS: usize = 16;

/// Columns per block, which share an activation scale.
pub const STRIP_BLOCK: usize = 32;
