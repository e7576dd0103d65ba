//! Online backup of a store.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use bitgrain_formats::segment::Manifest;

use super::TensorStore;
use crate::file_name::FileName;
use crate::log::end_of;
use crate::segment::Segment;
use crate::storage::{LocalFolder, Storage};
use crate::{StoreError, manifest};

/// Bytes copied at a time.
const PIECE: usize = 4 << 20;

impl TensorStore {
    /// Copies the current state of the store to a new folder. Reads and writes may continue. The copy is an independent
    /// store.
    ///
    /// # Errors
    /// Returns [`StoreError::NotEmpty`] if the folder is not empty, [`StoreError::InsideStore`] if it is inside the
    /// store's folder, [`StoreError::NoSpace`] or [`StoreError::Io`].
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        let path = path.as_ref();
        if path.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(StoreError::NotEmpty { path: path.display().to_string() });
        }
        let core = &self.core;
        if core.storage.folder().is_some_and(|store| is_inside(path, store)) {
            return Err(StoreError::InsideStore { path: path.display().to_string() });
        }
        let _still = core.compacting(); // keeps the set of segments fixed; the log may still grow
        let mut segments = core.segments.all();
        if let Some(log) = &core.log {
            log.write_uses(core.now())?;
            log.seal(core.now())?;
            // Later writes are not part of the copy.
            segments = core.segments.all();
            segments.retain(|segment| segment.sealed.get().is_some());
        }
        let folder = LocalFolder::lock(path, true)?;
        for segment in &segments {
            copy(segment, &folder)?;
        }
        let newest = segments.iter().map(|segment| segment.number()).max().unwrap_or(0);
        let manifest = core.manifest().clone();
        let number = manifest.number.max(newest) + 1;
        // A read-only store can have an open log, if a crash left it so.
        let log_end = end_of(&segments);
        // Written last: without a manifest the folder is not a store.
        manifest::write(&folder, &Manifest { number, log_end, ..manifest })
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

/// Copies the current content of a segment, which ends at a batch boundary.
fn copy(segment: &Segment, to: &LocalFolder) -> Result<(), StoreError> {
    let name = FileName::Segment(segment.number()).to_string();
    let file = to.create_new(&name).map_err(StoreError::io(&*name))?;
    let len = segment.sealed.get().map_or_else(|| segment.end.load(Relaxed), |sealed| sealed.len);
    let mut buffer = Vec::new();
    let mut start = 0;
    while start < len {
        let piece = usize::try_from(len - start).map_or(PIECE, |left| left.min(PIECE));
        buffer.resize(piece, 0);
        segment.read(start, &mut buffer)?;
        file.write_at(start, &buffer).map_err(StoreError::io(&*name))?;
        start += piece as u64;
    }
    file.sync_data().map_err(StoreError::io(name))
}
