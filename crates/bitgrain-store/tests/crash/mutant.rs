//! A storage that breaks a rule on purpose. The faults are defined here, so that release builds do not contain them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bitgrain_formats::segment::{SegmentHeader, SegmentKind};
use bitgrain_store::storage::simulated::SimulatedDisk;
use bitgrain_store::storage::{Storage, StorageFile};

/// A fault that the crash tests must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// Files are not synced.
    SkipFsync,
    /// File names are not synced.
    SkipFolderFsync,
    /// Writes are acknowledged before they are durable: the store runs with `SyncMode::OnSeal`, but is tested as
    /// with `Always`.
    EarlyAcknowledgement,
    /// Compacted segments are only synced after the manifest that lists them was written and the old segments were removed.
    ManifestFirst,
}

impl Mutant {
    pub(crate) const ALL: [Self; 4] =
        [Self::SkipFsync, Self::SkipFolderFsync, Self::EarlyAcknowledgement, Self::ManifestFirst];
}

/// A simulated disk with a fault.
pub(crate) struct MutantDisk {
    disk: SimulatedDisk,
    mutant: Mutant,
    /// Files whose sync was deferred.
    late: Arc<Mutex<Vec<Arc<dyn StorageFile>>>>,
}

impl MutantDisk {
    pub(crate) fn new(disk: SimulatedDisk, mutant: Mutant) -> Self {
        Self { disk, mutant, late: Arc::default() }
    }

    fn file(&self, file: Arc<dyn StorageFile>) -> Arc<dyn StorageFile> {
        Arc::new(MutantFile { file, mutant: self.mutant, late: Arc::clone(&self.late) })
    }
}

impl Storage for MutantDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn create_new(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        self.disk.create_new(name).map(|file| self.file(file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        self.disk.open(name).map(|file| self.file(file))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)?;
        // The old manifest is the last file that a compaction removes.
        if name.starts_with("manifest-") {
            let late = std::mem::take(&mut *self.late.lock().unwrap_or_else(PoisonError::into_inner));
            late.iter().try_for_each(|file| file.sync_data())?;
        }
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        if self.mutant == Mutant::SkipFolderFsync { Ok(()) } else { self.disk.sync_folder() }
    }

    fn available(&self) -> Option<u64> {
        self.disk.available()
    }
}

struct MutantFile {
    file: Arc<dyn StorageFile>,
    mutant: Mutant,
    late: Arc<Mutex<Vec<Arc<dyn StorageFile>>>>,
}

impl MutantFile {
    /// Returns whether this is a segment written by a compaction that has more than a header.
    fn is_compacted(&self) -> io::Result<bool> {
        let mut bytes = [0; SegmentHeader::LEN];
        if self.file.len()? <= bytes.len() as u64 {
            return Ok(false);
        }
        self.file.read_at(0, &mut bytes)?;
        Ok(SegmentHeader::parse(&bytes).is_ok_and(|header| header.kind == SegmentKind::Compacted))
    }
}

impl StorageFile for MutantFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, bytes)
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        match self.mutant {
            Mutant::SkipFsync => Ok(()),
            Mutant::ManifestFirst if self.is_compacted()? => {
                self.late.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&self.file));
                Ok(())
            }
            _ => self.file.sync_data(),
        }
    }
}
