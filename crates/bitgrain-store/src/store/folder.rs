//! Opening of a store in a folder or in object storage.

use std::path::Path;
use std::sync::Arc;

use super::TensorStore;
use crate::file_name::FileName;
use crate::log::RESERVE;
use crate::storage::object::{Address, ObjectFolder, Writers, probe};
use crate::storage::{LOCK, LocalFolder};
use crate::{StoreConfig, StoreError, manifest};

impl TensorStore {
    /// Opens the store in a folder for reading and writing; creates it if it does not exist and `config.create` is set.
    /// Only one handle, in any process, can have it open for writing.
    ///
    /// An address such as `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix` opens a store in object
    /// storage and needs the feature `remote`; `memory://name` is a store in the memory of this process. Credentials
    /// come from the environment. There, opening takes over from an earlier writer, whose next write fails with
    /// [`StoreError::Superseded`].
    ///
    /// ```
    /// use bitgrain_store::{StoreConfig, TensorStore};
    /// let store = TensorStore::open("memory://doc", StoreConfig::default())?;
    /// store.put("x", &[2], &[1.0, 2.0])?;
    /// store.close()?;
    /// assert_eq!(TensorStore::open_read_only("memory://doc")?.get("x")?.shape, [2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`]; [`StoreError::NoStore`]; [`StoreError::Damaged`] if durable data is unreadable
    /// and `config.on_damage` is not to salvage the rest; [`StoreError::Foreign`]; [`StoreError::FutureVersion`];
    /// [`StoreError::OtherFiles`] if the folder contains other files but no store; [`StoreError::InvalidSegmentBytes`];
    /// [`StoreError::ReadOnly`] or [`StoreError::Io`]. In object storage, also [`StoreError::Superseded`] if another
    /// writer opened it at the same time, [`StoreError::NoConditionalPut`], [`StoreError::Address`] and
    /// [`StoreError::NeedsRemote`].
    pub fn open(path: impl AsRef<Path>, config: StoreConfig) -> Result<Self, StoreError> {
        let path = path.as_ref();
        config.check()?;
        if let Some(address) = Address::parse(path)? {
            let folder = lock_remote(&address, &config)?;
            return Self::open_on(Arc::new(folder), config);
        }
        // Checked before the lock file is created, so that the folder of another program is not touched.
        if !may_be_store(path) {
            if !config.create {
                return Err(StoreError::NoStore);
            }
            check_free(path)?;
        }
        let folder = LocalFolder::lock(path, config.create)?.mapped(config.mapped);
        Self::open_on(Arc::new(folder), config)
    }

    /// Opens a store read-only, even while another process writes to it. The handle shows the state at the time of
    /// opening; later writes are not visible.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_read_only_with(path, StoreConfig::default())
    }

    /// Like [`open_read_only`](Self::open_read_only), with settings. With
    /// [`OnDamage::Salvage`](crate::OnDamage::Salvage), the rest of a damaged store can be read without changing it;
    /// [`recovery`](Self::recovery) lists the losses.
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
    /// Returns the errors of [`open`](Self::open).
    pub fn open_read_only_with(path: impl AsRef<Path>, config: StoreConfig) -> Result<Self, StoreError> {
        let config = StoreConfig { create: false, ..config };
        let path = path.as_ref();
        if let Some(address) = Address::parse(path)? {
            // A catalog is a consistent snapshot, so a writer cannot disturb the reading.
            let folder = ObjectFolder::read_only(address.connect()?, address.apply(&config.remote))?;
            return Self::on(Arc::new(folder), config, false);
        }
        if !path.is_dir() {
            return Err(StoreError::NoStore);
        }
        // A writer may compact while the files are being read; then reading starts again. It is retried a few times in
        // any case, and as long as the newest manifest changes, which shows that a writer is active.
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

/// Opens a folder in object storage for writing.
pub(super) fn lock_remote(address: &Address, config: &StoreConfig) -> Result<ObjectFolder, StoreError> {
    let (objects, remote) = (address.connect()?, address.apply(&config.remote));
    if remote.writers == Writers::Fenced {
        probe(&*objects)?;
    }
    ObjectFolder::lock(objects, remote, config.create)
}

/// Returns the number of the newest manifest file, valid or torn.
fn newest_manifest(folder: &LocalFolder) -> Option<u64> {
    manifest::numbers(folder).ok()?.into_iter().max()
}

/// Refuses to create a store among files of another program. Hidden files and `lost+found` are allowed.
pub(super) fn check_free(path: &Path) -> Result<(), StoreError> {
    let ours = |name: &str| [LOCK, RESERVE, "lost+found"].contains(&name) || name.starts_with('.');
    let names = path.read_dir().into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut others: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).filter(|n| !ours(n)).collect();
    others.sort_unstable();
    others.into_iter().next().map_or(Ok(()), |name| Err(StoreError::OtherFiles { name }))
}

/// Returns `false` if `path` is not a folder, or is a readable folder without files of a store.
pub(super) fn may_be_store(path: &Path) -> bool {
    let ours = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| FileName::parse(name).is_some());
    path.is_dir() && path.read_dir().map_or(true, |entries| entries.flatten().any(|entry| ours(&entry.file_name())))
}
