//! A folder in memory, for temporary stores and for systems without files.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::{Storage, StorageFile};

/// Files in memory. Clones share the folder, so that a store can be closed and opened again.
///
/// ```
/// use std::sync::Arc;
/// use bitgrain_store::storage::MemoryFolder;
/// use bitgrain_store::{StoreConfig, TensorStore};
/// let folder = MemoryFolder::default();
/// let store = TensorStore::open_on(Arc::new(folder.clone()), StoreConfig::default())?;
/// store.put("x", &[2], &[1.0, 2.0])?;
/// store.close()?;
/// let store = TensorStore::open_on(Arc::new(folder), StoreConfig::default())?;
/// assert!(store.contains("x"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryFolder(Arc<Mutex<BTreeMap<String, Arc<MemoryFile>>>>);

/// A file in memory; stays readable while open, even after its name was removed.
#[derive(Debug, Default)]
struct MemoryFile(RwLock<Vec<u8>>);

impl MemoryFolder {
    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Arc<MemoryFile>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for MemoryFolder {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.files().keys().cloned().collect())
    }

    fn create_new(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let mut files = self.files();
        if files.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = Arc::new(MemoryFile::default());
        files.insert(name.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        match self.files().get(name) {
            Some(file) => Ok(Arc::clone(file) as Arc<dyn StorageFile>),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files().remove(name).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_folder(&self) -> io::Result<()> {
        Ok(())
    }
}

impl StorageFile for MemoryFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let bytes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let range = start..start.saturating_add(buffer.len());
        buffer.copy_from_slice(bytes.get(range).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = start.checked_add(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        if end > file.len() {
            let more = end - file.len();
            file.try_reserve(more).map_err(|_| io::ErrorKind::StorageFull)?;
            file.resize(end, 0);
        }
        file[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.read().unwrap_or_else(PoisonError::into_inner).len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.0.write().unwrap_or_else(PoisonError::into_inner).resize(len, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }
}
