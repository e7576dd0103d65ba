//! `Memory`: the files of a store, in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bitgrain::store::storage::{Storage, StorageFile};

/// A folder in memory.
#[derive(Default)]
pub(super) struct Memory(Mutex<BTreeMap<String, Arc<Content>>>);

/// A file of it.
#[derive(Default)]
struct Content(Mutex<Vec<u8>>);

impl Memory {
    /// Adds a file, replacing an existing one of the same name.
    pub(super) fn insert(&self, name: &str, bytes: Vec<u8>) {
        locked(&self.0).insert(name.to_owned(), Arc::new(Content(Mutex::new(bytes))));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Storage for Memory {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(locked(&self.0).keys().cloned().collect())
    }

    fn create_new(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let mut files = locked(&self.0);
        if files.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = Arc::<Content>::default();
        files.insert(name.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        match locked(&self.0).get(name) {
            Some(file) => Ok(Arc::clone(file) as _),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        locked(&self.0).remove(name).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_folder(&self) -> io::Result<()> {
        Ok(())
    }
}

impl StorageFile for Content {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let content = locked(&self.0);
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(buffer.len());
        buffer.copy_from_slice(content.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut content = locked(&self.0);
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = start + bytes.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        content[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(locked(&self.0).len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        locked(&self.0).truncate(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }
}
