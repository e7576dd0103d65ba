//! Opening a store in a folder.

use std::path::Path;
use std::sync::Arc;

use super::TensorStore;
use crate::file_name::FileName;
use crate::log::RESERVE;
use crate::storage::{LOCK, LocalFolder};
use crate::{StoreConfig, StoreError, manifest};

impl TensorStore {
    /// Opens the store in a folder for reading and writing; makes both if they are not there and the configuration says so.
    /// No other process, and nobody else in this one, can open it for writing meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Locked`]; [`StoreError::NoStore`]; [`StoreError::Damaged`] if something that was durable is not
    /// readable and the configuration does not say to salvage the rest; [`StoreError::Foreign`],
    /// [`StoreError::FutureVersion`]; [`StoreError::OtherFiles`] if there is no store but something else in the folder;
    /// [`StoreError::InvalidSegmentBytes`]; [`StoreError::ReadOnly`]; [`StoreError::Io`].
    pub fn open(path: impl AsRef<Path>, config: StoreConfig) -> Result<Self, StoreError> {
        let path = path.as_ref();
        config.check()?;
        // Looked at before the lock is taken, which is a file: a folder of something else stays as it is.
        if !may_be_store(path) {
            if !config.create {
                return Err(StoreError::NoStore);
            }
            check_free(path)?;
        }
        let folder = LocalFolder::lock(path, config.create)?.mapped(config.mapped);
        Self::open_on(Arc::new(folder), config)
    }

    /// Opens a store for reading only, whether or not somebody writes to it. It is seen as it is now: what others write
    /// later is not.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_read_only_with(path, StoreConfig::default())
    }

    /// As [`open_read_only`](Self::open_read_only), with settings: what is left of a damaged store can be read without
    /// changing a byte of it. [`recovery`](Self::recovery) says what is lost.
    ///
    /// ```
    /// use bitgrain_store::{OnDamage, StoreConfig, TensorStore};
    /// # let folder = tempfile::tempdir()?;
    /// let store = TensorStore::open(folder.path(), StoreConfig::default())?;
    /// store.put("x", &[1], &[1.0])?;
    /// store.close()?;
    /// let salvage = StoreConfig { on_damage: OnDamage::Salvage, ..StoreConfig::default() };
    /// let store = TensorStore::open_read_only_with(folder.path(), salvage)?;
    /// assert!(store.recovery().damages.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_read_only_with(path: impl AsRef<Path>, config: StoreConfig) -> Result<Self, StoreError> {
        let config = StoreConfig { create: false, ..config };
        let path = path.as_ref();
        if !path.is_dir() {
            return Err(StoreError::NoStore);
        }
        // A writer may compact while the files are looked at: then they are looked at again. A few times in any case, and for as
        // long as manifests come and go, which says that a writer is at work.
        let mut attempts = 0;
        loop {
            attempts += 1;
            let folder = LocalFolder::read_only(path)?.mapped(config.mapped);
            let before = newest_manifest(&folder);
            let opened = Self::on(Arc::new(folder), config.clone(), false);
            let enough = match &opened {
                Err(StoreError::Damaged { .. } | StoreError::Io { .. }) => 5,
                Ok(store) if !store.recovery().damages.is_empty() => 2,
                _ => return opened,
            };
            let replaced = || LocalFolder::read_only(path).is_ok_and(|folder| newest_manifest(&folder) != before);
            if attempts >= 1000 || (attempts >= enough && !replaced()) {
                return opened;
            }
        }
    }
}

/// The number of the newest manifest, whole or not.
fn newest_manifest(folder: &LocalFolder) -> Option<u64> {
    manifest::numbers(folder).ok()?.into_iter().max()
}

/// Refuses to make a store among files of something else. Hidden files, and what file systems have at their top, do not count.
fn check_free(path: &Path) -> Result<(), StoreError> {
    let ours = |name: &str| [LOCK, RESERVE, "lost+found"].contains(&name) || name.starts_with('.');
    let names = path.read_dir().into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut others: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).filter(|n| !ours(n)).collect();
    others.sort_unstable();
    others.into_iter().next().map_or(Ok(()), |name| Err(StoreError::OtherFiles { name }))
}

/// False for what is no folder, and for a folder that is seen to have no file of a store.
fn may_be_store(path: &Path) -> bool {
    let ours = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| FileName::parse(name).is_some());
    path.is_dir() && path.read_dir().map_or(true, |entries| entries.flatten().any(|entry| ours(&entry.file_name())))
}
