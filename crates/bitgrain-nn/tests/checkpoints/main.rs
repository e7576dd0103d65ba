//! Checkpoints of other quantizers: golden files of the packages that define them, and hostile ones.

mod adapters;
mod golden;
mod hostile;
mod mutations;
mod schemes;

use std::path::{Path, PathBuf};

/// Returns the folder of the golden files.
fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/checkpoints")
}
