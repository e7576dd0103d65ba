//! The lock of a folder: one writer at a time across processes, even if the file `LOCK` is deleted.
//!
//! Two things are locked: the folder itself, whose lock belongs to its inode and survives any file in it, and the file
//! `LOCK`, which contains the writer's process id and is all that earlier versions check. Some network file systems
//! cannot lock folders; there, the identity of the locked file is checked before names are changed.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;

/// Lock file; contains the process id of the writer as text.
pub(crate) const NAME: &str = "LOCK";

/// A locked folder. The operating system releases the lock when the process ends.
#[derive(Debug)]
pub(super) struct FolderLock {
    path: PathBuf,
    file: File,
    /// `None` where folders cannot be locked.
    folder: Option<File>,
}

impl FolderLock {
    /// Locks an existing folder.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if it is in use, and converts errors of the system with `failed`.
    pub(super) fn take(folder: &Path, failed: impl Fn(io::Error) -> StoreError) -> Result<Self, StoreError> {
        let path = folder.join(NAME);
        let Ok(locked) = lock_folder(folder) else { return Err(StoreError::Locked { pid: pid_in(&path) }) };
        loop {
            let mut options = OpenOptions::new();
            let mut file = options.read(true).write(true).create(true).truncate(false).open(&path).map_err(&failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(StoreError::Locked { pid: pid_in(&path) }),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // If the file was deleted and recreated between opening and locking, the new file must be locked instead.
            if !is_at(&file, &path) {
                continue;
            }
            file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(&failed)?;
            return Ok(Self { path, file, folder: locked });
        }
    }

    /// # Errors
    /// Returns an error if the lock file was deleted or replaced on a system that cannot lock folders, because the lock
    /// is no longer exclusive.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.folder.is_some() || is_at(&self.file, &self.path) {
            return Ok(());
        }
        Err(io::Error::other(
            "the file LOCK was deleted or replaced while the store was open; close and reopen the store",
        ))
    }
}

/// Releases the lock explicitly: closing the files is not enough if a forked child process still has them open.
impl Drop for FolderLock {
    fn drop(&mut self) {
        let _ = self.file.unlock(); // on failure, closing the file releases the lock
        if let Some(folder) = &self.folder {
            let _ = folder.unlock();
        }
    }
}

/// Error: another process holds the lock.
struct InUse;

/// Locks the folder; returns `None` if the system cannot lock folders.
fn lock_folder(folder: &Path) -> Result<Option<File>, InUse> {
    // Windows cannot open folders as files.
    let Ok(opened) = File::open(folder) else { return Ok(None) };
    match opened.try_lock() {
        Ok(()) => Ok(Some(opened)),
        Err(TryLockError::WouldBlock) => Err(InUse),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Returns the process id in a lock file, or 0: a process that has just taken the lock has not written its id yet.
fn pid_in(path: &Path) -> u32 {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_string(&mut text));
    read.ok().and_then(|_| text.trim().parse().ok()).unwrap_or(0)
}

/// Returns whether `path` refers to `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |here: Metadata| file.metadata().is_ok_and(|there| same_file(&here, &there));
    std::fs::metadata(path).is_ok_and(same)
}

#[cfg(unix)]
fn same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Other systems do not allow an open file to be replaced.
#[cfg(not(unix))]
fn same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(folder: &Path) -> Result<FolderLock, StoreError> {
        FolderLock::take(folder, |source| StoreError::Io { name: "the lock".into(), source })
    }

    #[test]
    fn a_lock_is_released_even_if_a_forked_process_has_its_files_open() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = take(folder.path()).expect("free");
        // Duplicated descriptors, as in a forked process.
        let copies = (first.file.try_clone().expect("a number"), first.folder.as_ref().map(File::try_clone));
        drop(first);
        take(folder.path()).expect("free again");
        drop(copies);
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_stays_locked_if_its_lock_file_is_removed_or_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(NAME);
        let first = take(folder.path()).expect("free");
        std::fs::remove_file(&path).expect("removed");
        assert!(matches!(take(folder.path()), Err(StoreError::Locked { .. })));
        std::fs::write(&path, "12\n").expect("replaced");
        assert!(matches!(take(folder.path()), Err(StoreError::Locked { pid: 12 })));
        drop(first);
        take(folder.path()).expect("free again");
    }

    #[test]
    #[cfg(unix)]
    fn a_removed_lock_file_is_detected_without_folder_locks() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut lock = take(folder.path()).expect("free");
        lock.folder = None;
        lock.check().expect("the file is the one that was locked");
        std::fs::remove_file(folder.path().join(NAME)).expect("removed");
        lock.check().expect_err("removed");
        std::fs::write(folder.path().join(NAME), "").expect("replaced");
        lock.check().expect_err("another file");
    }
}
