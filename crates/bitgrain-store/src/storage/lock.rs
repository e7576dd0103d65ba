//! The lock of a folder: one writer at a time, in this process or another, whatever becomes of the file `LOCK`.
//!
//! Two things are locked: the folder itself, whose lock goes with its inode and so outlives any file in it, and the file `LOCK`,
//! which says the writer's process number and is all that versions before this one look at. Some network file systems lock no
//! folders; there the file has to be the one that was locked, which is compared before names are changed.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;

/// The file whose lock says that a process writes; it holds that process's number as text.
pub(crate) const NAME: &str = "LOCK";

/// A locked folder. The system drops the lock with the process.
#[derive(Debug)]
pub(super) struct FolderLock {
    path: PathBuf,
    file: File,
    /// None where folders cannot be locked.
    folder: Option<File>,
}

impl FolderLock {
    /// Locks a folder that is there.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if it is in use; what `failed` makes of errors of the system.
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
            // Removed and made anew between opening and locking: then another file is the one to lock.
            if !is_at(&file, &path) {
                continue;
            }
            file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(&failed)?;
            return Ok(Self { path, file, folder: locked });
        }
    }

    /// # Errors
    /// If this is no longer the only lock, because the file was removed on a system that locks no folders.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.folder.is_some() || is_at(&self.file, &self.path) {
            return Ok(());
        }
        Err(io::Error::other(
            "the file LOCK was removed or replaced while the store was open; close it and open it again",
        ))
    }
}

/// Gives up the lock. Closing the files would not: a process that this one forked meanwhile has them open as well.
impl Drop for FolderLock {
    fn drop(&mut self) {
        let _ = self.file.unlock(); // closing does it in any other case
        if let Some(folder) = &self.folder {
            let _ = folder.unlock();
        }
    }
}

/// A process has the folder locked.
struct InUse;

/// The locked folder; none if the system cannot lock folders.
fn lock_folder(folder: &Path) -> Result<Option<File>, InUse> {
    // Windows opens no folders as files.
    let Ok(opened) = File::open(folder) else { return Ok(None) };
    match opened.try_lock() {
        Ok(()) => Ok(Some(opened)),
        Err(TryLockError::WouldBlock) => Err(InUse),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// The process that a lock file names, or 0: one that has just locked has not written its number yet.
fn pid_in(path: &Path) -> u32 {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_string(&mut text));
    read.ok().and_then(|_| text.trim().parse().ok()).unwrap_or(0)
}

/// True if `path` is the name of `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |here: Metadata| file.metadata().is_ok_and(|there| same_file(&here, &there));
    std::fs::metadata(path).is_ok_and(same)
}

#[cfg(unix)]
fn same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere a file that is open cannot be replaced.
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
    fn a_lock_is_given_up_though_a_forked_process_has_its_files_open() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = take(folder.path()).expect("free");
        // The same open files under other numbers, as in a process that was forked.
        let copies = (first.file.try_clone().expect("a number"), first.folder.as_ref().map(File::try_clone));
        drop(first);
        take(folder.path()).expect("free again");
        drop(copies);
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_stays_locked_when_its_lock_file_is_removed_or_replaced() {
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
    fn where_folders_cannot_be_locked_a_removed_lock_file_is_noticed() {
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
