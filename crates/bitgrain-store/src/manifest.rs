//! Manifests on their way to and from files.

use bitgrain_formats::segment::{Manifest, SegmentError};

use crate::StoreError;
use crate::file_name::FileName;
use crate::log::unwritable;
use crate::memory_len::memory_len;
use crate::storage::Storage;

/// Largest manifest: a hundred million segments. A longer file is none.
const MAX_LEN: u64 = 1 << 31;

/// Writes a manifest; it is durable and counts when this returns. After [`StoreError::NoSpace`] it certainly does not.
pub(crate) fn write(storage: &dyn Storage, manifest: &Manifest) -> Result<(), StoreError> {
    let name = FileName::Manifest(manifest.number).to_string();
    let bytes = manifest.encode().map_err(unwritable)?;
    let file = storage.create_new(&name).map_err(StoreError::io(&*name))?;
    if let Err(source) = file.write_at(0, &bytes) {
        // A part of a manifest is none, whether its name comes back after a crash or not.
        return Err(match storage.remove(&name) {
            Ok(()) => StoreError::io(name)(source),
            Err(_) => StoreError::Io { name, source },
        });
    }
    // Whatever the reason, it is in doubt whether it counts.
    file.sync_data().and_then(|()| storage.sync_folder()).map_err(|source| StoreError::Io { name, source })
}

/// What the file of a manifest holds.
pub(crate) enum Stored {
    /// A manifest.
    Whole(Manifest),
    /// Something that is not all of a manifest.
    Torn(String),
}

/// Numbers of all manifests, whole or not, in any order.
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
        // What another file held at the same place of the disk, before this one was written.
        Ok(_) => Ok(Stored::Torn("it has the number of another manifest".into())),
        Err(SegmentError::FutureVersion { found, known, .. }) => {
            Err(StoreError::FutureVersion { name, version: found.into(), known: known.into() })
        }
        Err(error) => Ok(Stored::Torn(error.to_string())),
    }
}
