//! `ObjectFolder`: the files of a store as objects.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bitgrain_formats::segment::{Catalog, Fence, SegmentError};

use super::cache::Cache;
use super::commit::Commits;
use super::error::Superseded;
use super::file::ObjectFile;
use super::garbage::{Dead, collect_at_open};
use super::patient::Patient;
use super::{ObjectError, Objects, RemoteConfig, Writers};
use crate::StoreError;
use crate::storage::{PutFailure, Storage, StorageFile};

/// Folder of the keys of catalogs.
const CATALOGS: &str = "catalog";
/// Folder of the keys of parts of files.
pub(super) const DATA: &str = "data";
/// Folder of the keys that the test of conditional puts uses.
const PROBES: &str = "probe";

/// Attempts to read the newest catalog, which a fast writer may have deleted after it was listed.
const TRIES: usize = 100;

/// Files in object storage.
///
/// Opening for writing starts a new epoch, with which every earlier writer loses the right to commit. Readers see the
/// state at the time of opening.
pub struct ObjectFolder {
    shared: Arc<Shared>,
}

/// State of a folder, shared with its files.
pub(super) struct Shared {
    pub(super) objects: Patient,
    pub(super) cache: Cache,
    pub(super) config: RemoteConfig,
    /// Id of this writer; `None` for readers.
    pub(super) writer: Option<[u8; 16]>,
    /// Number of objects that this writer created.
    counter: AtomicU64,
    /// Incremented after each change that the next catalog must contain.
    pub(super) version: AtomicU64,
    state: Mutex<State>,
    /// Held during a commit. Lock order: this one, then `state`, then the content of a file.
    pub(super) commits: Mutex<Commits>,
}

/// Names and leftover objects.
#[derive(Default)]
pub(super) struct State {
    pub(super) files: BTreeMap<String, Arc<ObjectFile>>,
    pub(super) dead: Vec<Dead>,
    pub(super) fences: Vec<Fence>,
}

impl ObjectFolder {
    /// Opens the files for writing. With `create`, creates an empty folder if it does not exist.
    ///
    /// # Errors
    /// Returns [`StoreError::NoStore`]; [`StoreError::Superseded`] if another writer opened them at the same time;
    /// [`StoreError::Damaged`] if the catalog is unreadable; [`StoreError::OtherFiles`] if objects of another program
    /// have the same prefix; [`StoreError::FutureVersion`] or [`StoreError::Io`].
    pub fn lock(objects: Arc<dyn Objects>, config: RemoteConfig, create: bool) -> Result<Self, StoreError> {
        let patient = Patient::new(objects, &config);
        let (found, numbers) = match newest(&patient)? {
            (Some(found), numbers) => (found, numbers),
            (None, _) if !create => return Err(StoreError::NoStore),
            (None, numbers) => {
                check_free(&patient)?;
                (Catalog::default(), numbers)
            }
        };
        let (writer, time) = (random_id(), now());
        let mut opening = Catalog { number: found.number + 1, epoch: found.epoch + 1, writer, time, ..found };
        opening.fences.push(Fence { number: opening.number, time });
        let key = catalog_key(opening.number);
        let bytes = encode(&opening).map_err(StoreError::io(&*key))?;
        match put_catalog(&patient, &config, &key, &bytes) {
            Ok(()) => {}
            Err(ObjectError::AlreadyExists) => {
                let epoch = epoch_at(&patient, opening.number).unwrap_or(opening.epoch);
                return Err(StoreError::Superseded { epoch });
            }
            Err(error) => return Err(StoreError::io(key)(error.into())),
        }
        // The writer of `found` may have committed and deleted the catalog of this number since `found` was read. The newest
        // catalog is never deleted, so it is in the list then.
        let newest = catalog_numbers(&patient).map_err(|error| StoreError::io(CATALOGS)(error.into()))?;
        if let Some(number) = newest.into_iter().max().filter(|number| *number > opening.number) {
            return Err(StoreError::Superseded { epoch: epoch_at(&patient, number).unwrap_or(opening.epoch) });
        }
        // Leftovers of earlier writers; if this fails, the next opening deletes them.
        let _ = collect_at_open(&patient, &opening, &numbers);
        Ok(Self::of(patient, config, Some(writer), opening))
    }

    /// Opens the files for reading, even while another process writes.
    ///
    /// # Errors
    /// Returns [`StoreError::NoStore`], [`StoreError::Damaged`], [`StoreError::FutureVersion`] or [`StoreError::Io`].
    pub fn read_only(objects: Arc<dyn Objects>, config: RemoteConfig) -> Result<Self, StoreError> {
        let patient = Patient::new(objects, &config);
        let (found, _) = newest(&patient)?;
        Ok(Self::of(patient, config, None, found.ok_or(StoreError::NoStore)?))
    }

    fn of(objects: Patient, config: RemoteConfig, writer: Option<[u8; 16]>, catalog: Catalog) -> Self {
        let Catalog { number, epoch, files, dead, fences, .. } = catalog;
        let shared = Arc::new_cyclic(|shared| {
            let files = files.into_iter().map(|file| (file.name.clone(), ObjectFile::of(shared.clone(), file)));
            let dead = dead.into_iter().map(Dead::of).collect();
            let state = Mutex::new(State { files: files.collect(), dead, fences });
            let (cache, commits) = (Cache::new(config.cache_bytes), Mutex::new(Commits::new(number, epoch)));
            let (counter, version) = (AtomicU64::new(0), AtomicU64::new(0));
            Shared { objects, cache, config, writer, counter, version, state, commits }
        });
        Self { shared }
    }

    /// Returns the number of times the store was opened for writing.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.shared.commits().epoch
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn commits(&self) -> MutexGuard<'_, Commits> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the id of this writer and a number for a new object.
    pub(super) fn next_object(&self) -> io::Result<([u8; 16], u64)> {
        Ok((self.writer()?, self.counter.fetch_add(1, SeqCst)))
    }

    pub(super) fn writer(&self) -> io::Result<[u8; 16]> {
        self.writer.ok_or_else(|| io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

impl Storage for ObjectFolder {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.shared.state().files.keys().cloned().collect())
    }

    fn create_new(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        self.shared.writer()?;
        let mut state = self.shared.state();
        if state.files.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = ObjectFile::new(Arc::downgrade(&self.shared), name, Vec::new());
        state.files.insert(name.to_owned(), Arc::clone(&file));
        self.shared.version.fetch_add(1, SeqCst);
        Ok(file)
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), PutFailure> {
        self.shared.writer().map_err(PutFailure::NotStored)?;
        let file = ObjectFile::new(Arc::downgrade(&self.shared), name, bytes.to_vec());
        let mut state = self.shared.state();
        if state.files.contains_key(name) {
            return Err(PutFailure::NotStored(io::ErrorKind::AlreadyExists.into()));
        }
        state.files.insert(name.to_owned(), Arc::clone(&file));
        self.shared.version.fetch_add(1, SeqCst);
        drop(state);
        file.sync_data().map_err(PutFailure::Unknown)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        match self.shared.state().files.get(name) {
            Some(file) => Ok(Arc::clone(file) as Arc<dyn StorageFile>),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.shared.writer()?;
        let mut state = self.shared.state();
        let file = state.files.remove(name).ok_or(io::ErrorKind::NotFound)?;
        state.dead.extend(file.part_objects().into_iter().map(|object| Dead::held_by(object, &file)));
        self.shared.version.fetch_add(1, SeqCst);
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.shared.commit()
    }

    fn keeps_reserve(&self) -> bool {
        false
    }
}

impl Drop for ObjectFolder {
    fn drop(&mut self) {
        if self.shared.writer.is_some() {
            self.shared.finish();
        }
    }
}

/// Returns the current catalog, and the numbers of all catalogs.
fn newest(objects: &Patient) -> Result<(Option<Catalog>, Vec<u64>), StoreError> {
    let mut tried = None;
    for _ in 0..TRIES {
        let numbers = catalog_numbers(objects).map_err(|error| StoreError::io(CATALOGS)(error.into()))?;
        let Some(&number) = numbers.iter().max() else { return Ok((None, numbers)) };
        let key = catalog_key(number);
        match objects.get_whole(&key, |bytes| !matches!(Catalog::parse(bytes), Err(error) if is_torn(&error))) {
            Ok(bytes) => return parse(&key, number, &bytes).map(|catalog| (Some(catalog), numbers)),
            // Replaced after it was listed. If the list does not change, the object is lost.
            Err(ObjectError::NotFound) if tried != Some(number) => tried = Some(number),
            Err(error) => return Err(StoreError::io(key)(error.into())),
        }
    }
    Err(StoreError::io(CATALOGS)(ObjectError::Failed("the catalog changes faster than it can be read".into()).into()))
}

/// Returns whether a truncated answer can be the cause of the error.
fn is_torn(error: &SegmentError) -> bool {
    matches!(error, SegmentError::Truncated { .. } | SegmentError::Checksum { .. })
}

fn parse(key: &str, number: u64, bytes: &[u8]) -> Result<Catalog, StoreError> {
    let damaged = |what: String| StoreError::Damaged { segment: key.to_owned(), offset: 0, id: None, what };
    match Catalog::parse(bytes) {
        Ok(catalog) if catalog.number == number => Ok(catalog),
        Ok(_) => Err(damaged("it contains the number of another catalog".into())),
        Err(SegmentError::FutureVersion { found, known, .. }) => {
            Err(StoreError::FutureVersion { name: key.to_owned(), version: found.into(), known: known.into() })
        }
        Err(error) => Err(damaged(error.to_string())),
    }
}

/// Refuses to create a store among objects of another program, or where the catalog of a store is missing.
fn check_free(objects: &Patient) -> Result<(), StoreError> {
    let keys = objects.list("").map_err(|error| StoreError::io(DATA)(error.into()))?;
    let inside = |key: &str, folder: &str| key.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    match keys.into_iter().filter(|key| !inside(key, PROBES)).min() {
        None => Ok(()),
        Some(key) if inside(&key, DATA) => Err(StoreError::Damaged {
            segment: CATALOGS.into(),
            offset: 0,
            id: None,
            what: format!("`{key}` exists, but the catalog is missing"),
        }),
        Some(name) => Err(StoreError::OtherFiles { name }),
    }
}

/// Returns the numbers of all catalogs, in any order.
pub(super) fn catalog_numbers(objects: &Patient) -> Result<Vec<u64>, ObjectError> {
    let number = |key: String| {
        let digits = key.strip_prefix(CATALOGS)?.strip_prefix('/')?;
        let number = u64::from_str_radix(digits, 16).ok()?;
        (catalog_key(number) == key).then_some(number)
    };
    Ok(objects.list(CATALOGS)?.into_iter().filter_map(number).collect())
}

/// Returns the epoch of the catalog with this number.
pub(super) fn epoch_at(objects: &Patient, number: u64) -> Option<u64> {
    let found = objects.get_whole(&catalog_key(number), |bytes| Catalog::parse(bytes).is_ok()).ok()?;
    Catalog::parse(&found).ok().map(|catalog| catalog.epoch)
}

pub(super) fn catalog_key(number: u64) -> String {
    format!("{CATALOGS}/{number:016x}")
}

pub(super) fn encode(catalog: &Catalog) -> io::Result<Vec<u8>> {
    catalog.encode().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

/// Puts a catalog under its number, which must not be taken.
pub(super) fn put_catalog(
    objects: &Patient,
    config: &RemoteConfig,
    key: &str,
    bytes: &[u8],
) -> Result<(), ObjectError> {
    match config.writers {
        Writers::Fenced => objects.put_new(key, bytes),
        Writers::Single => objects.put(key, bytes),
    }
}

/// Returns the error of a writer that another one superseded.
pub(super) fn superseded(epoch: u64) -> io::Error {
    io::Error::other(Superseded { epoch })
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns sixteen random bytes: the standard library seeds its hashers with random numbers of the system.
pub(super) fn random_id() -> [u8; 16] {
    let words = [0, 1].map(|word: u8| RandomState::new().hash_one((word, std::process::id(), now())).to_le_bytes());
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(words.as_flattened()).for_each(|(byte, word)| *byte = *word);
    bytes
}
