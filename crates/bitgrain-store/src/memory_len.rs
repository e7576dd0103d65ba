//! Conversion of file lengths to lengths in memory: on 32-bit systems, a file can exceed the address space.

use crate::StoreError;

/// Converts a length of the file `name` to a length in memory.
///
/// # Errors
/// Returns [`StoreError::TooLargeForMemory`] if it does not fit.
pub(crate) fn memory_len(bytes: u64, name: impl FnOnce() -> String) -> Result<usize, StoreError> {
    usize::try_from(bytes).map_err(|_| StoreError::TooLargeForMemory { name: name(), bytes })
}
