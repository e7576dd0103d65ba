//! npz, an archive of npy files: the part of ZIP that NumPy writes. Spec: `spec/containers.md#npz`.
//!
//! [`Archive::parse`] lists the members from the directory at the end of the file. Stored members are read in place,
//! deflated members into memory, up to a limit set by the caller.

mod archive;
mod directory;
mod error;
mod member;
mod writer;

pub use archive::Archive;
pub use error::NpzError;
pub use member::{Member, Method};
pub use writer::Writer;
