//! Folders and remote stores that receive copies of a store.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::Core;
use super::folder::{check_free, lock_remote, may_be_store};
use crate::segment::Segment;
use crate::storage::object::{Address, ObjectFolder};
use crate::storage::{LocalFolder, Storage, StorageFile};
use crate::{StoreConfig, StoreError};

/// Bytes copied at a time.
const PIECE: usize = 4 << 20;

/// A destination of copies: a folder or an address.
pub(super) struct Destination<'a> {
    path: &'a Path,
    address: Option<Address>,
    config: &'a StoreConfig,
}

impl<'a> Destination<'a> {
    /// Parses a path or an address.
    ///
    /// # Errors
    /// Returns [`StoreError::InsideStore`] if it is inside the folder of the store, or [`StoreError::Address`].
    pub(super) fn new(path: &'a Path, core: &'a Core) -> Result<Self, StoreError> {
        let address = Address::parse(path)?;
        if address.is_none() && core.storage.folder().is_some_and(|store| is_inside(path, store)) {
            return Err(StoreError::InsideStore { path: path.display().to_string() });
        }
        Ok(Self { path, address, config: &core.config })
    }

    /// Checks that the destination has no files.
    ///
    /// # Errors
    /// Returns [`StoreError::NotEmpty`], or the error of connecting.
    pub(super) fn check_empty(&self) -> Result<(), StoreError> {
        let is_empty = match &self.address {
            None => self.path.read_dir().map_or(true, |mut entries| entries.next().is_none()),
            Some(address) => match ObjectFolder::read_only(address.connect()?, address.apply(&self.config.remote)) {
                Err(StoreError::NoStore) => true,
                found => found?.list().map_err(StoreError::io("."))?.is_empty(),
            },
        };
        if is_empty { Ok(()) } else { Err(StoreError::NotEmpty { path: self.path.display().to_string() }) }
    }

    /// Opens the destination for writing, and creates it if necessary.
    ///
    /// # Errors
    /// Returns the errors of `TensorStore::open`.
    pub(super) fn lock(&self) -> Result<Arc<dyn Storage>, StoreError> {
        let config = StoreConfig { create: true, ..self.config.clone() };
        match &self.address {
            Some(address) => Ok(Arc::new(lock_remote(address, &config)?)),
            None => {
                if !may_be_store(self.path) {
                    check_free(self.path)?;
                }
                Ok(Arc::new(LocalFolder::lock(self.path, true)?))
            }
        }
    }
}

/// Returns whether `path` is `folder` or inside it. `path` does not need to exist.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // Resolve symbolic links in the part of the path that exists.
    let there = whole.ancestors().find_map(|above| above.canonicalize().ok().map(|real| (above, real)));
    there.is_some_and(|(above, real)| {
        let rest = whole.strip_prefix(above).unwrap_or(Path::new(""));
        real.join(rest).starts_with(&folder)
    })
}

/// Returns the number of bytes of a segment to copy: up to the end of a batch.
pub(super) fn length(segment: &Segment) -> u64 {
    segment.sealed.get().map_or_else(|| segment.end.load(Relaxed), |sealed| sealed.len)
}

/// Copies the bytes of a segment from `start` on and makes them durable.
pub(super) fn copy(segment: &Segment, to: &dyn StorageFile, mut start: u64) -> Result<(), StoreError> {
    let (name, len, mut buffer) = (segment.name(), length(segment), Vec::new());
    while start < len {
        let piece = usize::try_from(len - start).map_or(PIECE, |left| left.min(PIECE));
        buffer.resize(piece, 0);
        segment.read(start, &mut buffer)?;
        to.write_at(start, &buffer).map_err(StoreError::io(&*name))?;
        start += piece as u64;
    }
    let done = if segment.sealed.get().is_some() { to.seal() } else { to.sync_data() };
    done.map_err(StoreError::io(name))
}
