//! Files: mapped for reading, replaced atomically when written.
//!
//! | type | purpose |
//! |---|---|
//! | [`MappedFile`] | read-only windows of a file, without copies |
//! | [`GrowingMap`] | a map of a file that is still being appended to |
//! | [`PartFile`] | a file that gets its name once it is complete |
//!
//! All memory maps of the workspace are made here, so the `unsafe` calls and their reasons are in one place.

mod growing_map;
mod mapped_file;
mod part_file;
mod same_file;

pub use growing_map::GrowingMap;
pub use mapped_file::{FileWindow, MappedFile, resident_bytes};
pub use part_file::PartFile;
pub use same_file::same_file;
