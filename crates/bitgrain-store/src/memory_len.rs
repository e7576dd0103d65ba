//! Lengths of files as lengths of memory. On 32-bit systems a file may be longer than memory can be.

use crate::StoreError;

/// `bytes` of the file `name` as a length in memory.
///
/// # Errors
/// [`StoreError::TooLargeForMemory`].
pub(crate) fn memory_len(bytes: u64, name: impl FnOnce() -> String) -> Result<usize, StoreError> {
    usize::try_from(bytes).map_err(|_| StoreError::TooLargeForMemory { name: name(), bytes })
}
