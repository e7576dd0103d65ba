//! Objects in memory, for temporary stores and tests.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use super::{ObjectError, Objects};

/// Objects in memory. Clones share them, so that a store can be closed and opened again.
#[derive(Debug, Clone, Default)]
pub struct MemoryObjects(Arc<Mutex<BTreeMap<String, Arc<[u8]>>>>);

/// Objects of the addresses `memory://NAME`, which exist until the process ends.
static NAMED: LazyLock<Mutex<HashMap<String, MemoryObjects>>> = LazyLock::new(Mutex::default);

impl MemoryObjects {
    /// Returns the objects of the address `memory://NAME` in this process.
    pub(crate) fn named(name: &str) -> Self {
        NAMED.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_default().clone()
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<String, Arc<[u8]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Objects for MemoryObjects {
    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        let mut objects = self.objects();
        if objects.contains_key(key) {
            return Err(ObjectError::AlreadyExists);
        }
        objects.insert(key.to_owned(), bytes.into());
        Ok(())
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.objects().insert(key.to_owned(), bytes.into());
        Ok(())
    }

    fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<Vec<u8>, ObjectError> {
        let bytes = self.objects().get(key).cloned().ok_or(ObjectError::NotFound)?;
        let Some(range) = range else { return Ok(bytes.to_vec()) };
        let at = |offset: u64| usize::try_from(offset).map_or(bytes.len(), |at| at.min(bytes.len()));
        Ok(bytes[at(range.start)..at(range.end).max(at(range.start))].to_vec())
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, ObjectError> {
        let inside = |key: &&String| folder.is_empty() || key.strip_prefix(folder).is_some_and(|k| k.starts_with('/'));
        Ok(self.objects().keys().filter(inside).cloned().collect())
    }

    fn delete(&self, keys: &[String]) -> Result<(), ObjectError> {
        let mut objects = self.objects();
        keys.iter().for_each(|key| drop(objects.remove(key)));
        Ok(())
    }
}
