//! Deletion of objects that no file needs.
//!
//! An object is listed in the catalog from the commit that drops it until it is deleted, so that a crash leaves no
//! unknown objects. Objects that were uploaded but never committed are found by listing when the store is opened: every
//! earlier writer has lost the right to commit by then, so nothing can refer to them later. Objects of later writers are
//! ruled out by looking for a newer catalog after the list.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use bitgrain_formats::segment::{Catalog, DeadObject};

use super::ObjectError;
use super::commit::Commits;
use super::file::{ObjectFile, key};
use super::folder::{DATA, Shared, catalog_key, catalog_numbers, now};
use super::patient::Patient;

/// Number of catalogs kept, for readers that have listed them but not read them yet.
const KEPT: usize = 8;
/// Number of commits between two deletions.
const EVERY: u64 = 32;
/// Milliseconds for which the first catalog of an epoch is kept. A writer that did not commit for a shorter time finds
/// its next number taken; one that was idle for longer lists the catalogs before it commits (`commit::IDLE`).
const FENCE: u64 = 3_600_000;

/// An object that no file needs.
pub(super) struct Dead {
    pub(super) object: DeadObject,
    /// File that readers of this process may still hold.
    holder: Weak<ObjectFile>,
}

impl Dead {
    pub(super) fn of(object: DeadObject) -> Self {
        Self { object, holder: Weak::new() }
    }

    /// Returns an object that is kept as long as `file` is open.
    pub(super) fn held_by(object: DeadObject, file: &Arc<ObjectFile>) -> Self {
        Self { object, holder: Arc::downgrade(file) }
    }

    fn key(&self) -> String {
        key(&self.object.name, &self.object.writer, self.object.count)
    }
}

impl Shared {
    /// Deletes old catalogs and objects now and then, after a commit. Failures are not errors: the next attempt deletes
    /// the rest.
    pub(super) fn collect(&self, commits: &mut Commits, at_end: bool) {
        if !at_end && !commits.number.is_multiple_of(EVERY) {
            return;
        }
        let (now, grace) = (now(), u64::try_from(self.config.grace.as_millis()).unwrap_or(u64::MAX));
        let mut state = self.state();
        let fences = state.fences.extract_if(.., |fence| now.saturating_sub(fence.time) > FENCE);
        let mut keys: Vec<String> = fences.map(|fence| catalog_key(fence.number)).collect();
        let old = commits.old.len().saturating_sub(KEPT);
        keys.extend(commits.old.drain(..old).map(catalog_key));
        // Only objects that the current catalog lists as dead: without a commit, a crash would bring the file back.
        let ready = |dead: &mut Dead| {
            dead.object.since.saturating_add(grace) <= now
                && dead.holder.strong_count() == 0
                && commits.dead.contains(&(dead.object.writer, dead.object.count))
        };
        let ready: Vec<Dead> = state.dead.extract_if(.., ready).collect();
        drop(state);
        keys.extend(ready.iter().map(Dead::key));
        if self.objects.delete(&keys).is_err() {
            self.state().dead.extend(ready);
        }
    }
}

/// Deletes old catalogs and objects without a file, after `opening` was committed, unless another writer took over.
pub(super) fn collect_at_open(objects: &Patient, opening: &Catalog, numbers: &[u64]) -> Result<(), ObjectError> {
    let mut old: Vec<u64> = numbers.to_vec();
    old.sort_unstable();
    old.truncate(old.len().saturating_sub(KEPT));
    old.retain(|number| !opening.fences.iter().any(|fence| fence.number == *number));
    let mut keys: Vec<String> = old.into_iter().map(catalog_key).collect();
    let parts = opening.files.iter().flat_map(|file| file.parts.iter().map(|part| (&file.name, part)));
    let known: HashSet<String> = parts
        .map(|(name, part)| key(name, &part.writer, part.count))
        .chain(opening.dead.iter().map(|dead| key(&dead.name, &dead.writer, dead.count)))
        .collect();
    let parts = objects.list(DATA)?;
    // A writer that took over after `opening` may have put some of these objects. It puts its catalog first, so if there is
    // no newer catalog now, every object of the list is older.
    if catalog_numbers(objects)?.into_iter().any(|number| number > opening.number) {
        return Ok(());
    }
    keys.extend(parts.into_iter().filter(|key| !known.contains(key)));
    objects.delete(&keys)
}
