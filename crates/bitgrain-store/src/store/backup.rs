//! Online backup of a store.

use std::path::Path;
use std::sync::Arc;

use bitgrain_formats::segment::Manifest;

use super::destination::{Destination, copy};
use super::{Core, TensorStore};
use crate::log::end_of;
use crate::segment::Segment;
use crate::{StoreError, manifest};

impl TensorStore {
    /// Copies the current state of the store to a new folder, or to a new address such as `s3://bucket/prefix`. Reads
    /// and writes may continue. The copy is an independent store.
    ///
    /// # Errors
    /// Returns [`StoreError::NotEmpty`] if the destination is not empty, [`StoreError::InsideStore`] if it is inside
    /// the store's folder, [`StoreError::NoSpace`], [`StoreError::Io`], or the errors of opening an address.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        let core = &self.core;
        let destination = Destination::new(path.as_ref(), core)?;
        destination.check_empty()?;
        let _still = core.compacting(); // keeps the set of segments fixed; the log may still grow
        let segments = core.settled_segments()?;
        let folder = destination.lock()?;
        for segment in &segments {
            let name = segment.name();
            let file = folder.create_new(&name).map_err(StoreError::io(name))?;
            copy(segment, &*file, 0)?;
        }
        // Written last: without a manifest the folder is not a store.
        manifest::write(&*folder, &core.manifest_of(&segments, 0))
    }
}

impl Core {
    /// Returns the segments to copy: all sealed ones, after the current one was sealed; for a read-only handle, also the
    /// last one of a log that is not closed. The caller holds the lock that prevents compaction.
    pub(super) fn settled_segments(&self) -> Result<Vec<Arc<Segment>>, StoreError> {
        if let Some(log) = &self.log {
            log.write_uses(self.now())?;
            log.seal(self.now())?;
        }
        let mut segments = self.segments.all();
        // Later writes are not part of the copy.
        segments.retain(|segment| self.log.is_none() || segment.sealed.get().is_some());
        Ok(segments)
    }

    /// Returns the manifest of a copy with these segments, with a number above `last`.
    pub(super) fn manifest_of(&self, segments: &[Arc<Segment>], last: u64) -> Manifest {
        let newest = segments.iter().map(|segment| segment.number()).max().unwrap_or(0);
        let manifest = self.manifest().clone();
        // A read-only store can have an open log, if a crash left it so.
        Manifest { number: manifest.number.max(newest).max(last) + 1, log_end: end_of(segments), ..manifest }
    }
}
