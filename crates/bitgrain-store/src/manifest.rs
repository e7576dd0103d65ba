//! Reading and writing of manifests.

use bitgrain_formats::segment::{Manifest, SegmentError};

use crate::StoreError;
use crate::file_name::FileName;
use crate::log::unwritable;
use crate::memory_len::memory_len;
use crate::storage::{PutFailure, Storage};

/// Maximum size of a manifest in bytes, enough for a hundred million segments. Longer files are treated as torn.
const MAX_LEN: u64 = 1 << 31;

/// Writes a manifest, which is durable and current when this returns. After [`StoreError::NoSpace`] it is not current.
pub(crate) fn write(storage: &dyn Storage, manifest: &Manifest) -> Result<(), StoreError> {
    let name = FileName::Manifest(manifest.number).to_string();
    let bytes = manifest.encode().map_err(unwritable)?;
    // A torn manifest is ignored on open, so it is harmless even if its name reappears after a crash.
    storage.put_new(&name, &bytes).map_err(|failure| match failure {
        PutFailure::NotStored(source) => StoreError::io(name)(source),
        PutFailure::Unknown(source) => StoreError::in_doubt(name, source),
    })
}

/// Content of a manifest file.
pub(crate) enum Stored {
    /// A complete manifest.
    Whole(Manifest),
    /// An incomplete or invalid manifest, with the reason.
    Torn(String),
}

/// Lists the numbers of all manifest files, valid or torn, in any order.
pub(crate) fn numbers(storage: &dyn Storage) -> Result<Vec<u64>, StoreError> {
    let number = |name: String| match FileName::parse(&name) {
        Some(FileName::Manifest(number)) => Some(number),
        _ => None,
    };
    Ok(storage.list().map_err(StoreError::io("."))?.into_iter().filter_map(number).collect())
}

/// Reads the manifest with this number.
pub(crate) fn read(storage: &dyn Storage, number: u64) -> Result<Stored, StoreError> {
    let name = FileName::Manifest(number).to_string();
    let file = storage.open(&name).map_err(StoreError::io(&*name))?;
    let len = file.len().map_err(StoreError::io(&*name))?.min(MAX_LEN);
    let mut bytes = vec![0; memory_len(len, || name.clone())?];
    file.read_at(0, &mut bytes).map_err(StoreError::io(&*name))?;
    match Manifest::parse(&bytes) {
        Ok(manifest) if manifest.number == number => Ok(Stored::Whole(manifest)),
        // Stale content of another file that occupied the same disk blocks before.
        Ok(_) => Ok(Stored::Torn("it contains the number of another manifest".into())),
        Err(SegmentError::FutureVersion { found, known, .. }) => {
            Err(StoreError::FutureVersion { name, version: found.into(), known: known.into() })
        }
        Err(error) => Ok(Stored::Torn(error.to_string())),
    }
}
