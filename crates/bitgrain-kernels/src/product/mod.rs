//! Matrix products on codes: rows of weights in strips of sixteen, activations in tiles, integers inside a block.
//!
//! A **strip** is sixteen rows of weights. Its columns are taken in blocks of 32, and a block's codes lie so that one
//! 64-byte line holds four neighbouring columns of all sixteen rows: a register of codes meets four activations that
//! are the same for every row. Codes are unsigned, 8 or 128 standing for 0, as the instructions want them.
//!
//! A **tile** is 1, 4, 8 or 16 rows of activations, rounded to 8-bit codes with a scale for each 32; a block's 32 codes of
//! each row lie together. Sixteen rows are for [`Backend::with_tiles`](crate::Backend::with_tiles), whose registers hold
//! that many.

mod activations;
mod floats;
mod lines;
pub(crate) mod multiply;
mod strips;

pub use activations::{Tile, quantize_activations};
pub use floats::{FloatTile, multiply_floats, pack_floats};
pub use lines::{CodeLine, FloatLine, HalfLine};
pub use multiply::multiply_strips;
pub use strips::{StripBits, StripScales, Strips, pack_strip_row};

pub(crate) use activations::{Place, TINY, TileBlocks};
pub(crate) use multiply::strip_walk;
pub(crate) use strips::block_codes;

/// Rows of a strip.
pub const STRIP_ROWS: usize = 16;

/// Columns of a block: as many activations share a scale.
pub const STRIP_BLOCK: usize = 32;
