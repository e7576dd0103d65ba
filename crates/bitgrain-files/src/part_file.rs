//! `PartFile`: a file that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is written next to the one it will replace. Dropping it before it is published removes it and leaves the
/// existing file unchanged.
///
/// A symbolic link is followed and its target replaced; the new file gets the permissions of the old one. Publishing
/// renames the file over the target, so devices, pipes and folders are rejected.
///
/// ```
/// use bitgrain_files::PartFile;
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.bin");
/// let mut part = PartFile::create(&path)?;
/// part.write_at(2, b"grain")?;
/// part.write_at(0, b"a ")?;
/// assert!(!path.exists());
/// part.publish()?;
/// assert_eq!(std::fs::read(&path)?, b"a grain");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PartFile {
    /// Final path.
    target: PathBuf,
    /// Temporary path; `None` once the file is published.
    temporary: Option<PathBuf>,
    file: File,
}

impl PartFile {
    /// Writes a complete file, or nothing.
    ///
    /// # Errors
    /// Returns the I/O error of the failed step.
    pub fn write_atomic(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let mut part = Self::create(path)?;
        part.file.write_all(bytes)?;
        part.publish()
    }

    /// Creates the temporary file.
    ///
    /// # Errors
    /// Returns I/O errors, with kind `InvalidInput` if the path is a folder, a device or a pipe.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let (target, old) = match fs::metadata(path) {
            Ok(old) if !old.is_file() => {
                let what = if old.is_dir() { "a folder" } else { "a device or a pipe" };
                return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("the path is {what}; name a file")));
            }
            Ok(old) => (fs::canonicalize(path)?, Some(old.permissions())),
            // The path does not exist, or is a link to a path that does not exist yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => (
                fs::read_link(path)
                    .map_or_else(|_| path.to_owned(), |to| path.parent().unwrap_or(Path::new("")).join(to)),
                None,
            ),
            Err(error) => return Err(error),
        };
        let temporary = temporary_path(&target);
        // `create_new`, so that two writers never share a file and an existing link is not followed.
        let file = File::create_new(&temporary)?;
        let part = Self { target, temporary: Some(temporary), file };
        old.map_or(Ok(()), |old| part.file.set_permissions(old))?;
        Ok(part)
    }

    /// Writes `bytes` at an offset. Sequential writes continue after them; gaps are zero.
    ///
    /// # Errors
    /// Returns an error if the write fails.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)
    }

    /// Truncates or extends the file to `len` bytes and syncs it to disk.
    ///
    /// # Errors
    /// Returns an error if the file cannot be resized or synced.
    pub fn seal(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        self.file.sync_all()
    }

    /// Syncs the file to disk and renames it to its final path.
    ///
    /// # Errors
    /// Returns an error if syncing or renaming fails; the existing file is then unchanged.
    pub fn publish(mut self) -> io::Result<()> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        self.file.sync_all()?;
        fs::rename(temporary, &self.target)?;
        self.temporary = None;
        // The directory entry is stored in the folder, which needs a separate fsync.
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Returns an unused path next to `path`.
fn temporary_path(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    // Names may already have the maximum length, so the temporary name keeps only a part.
    let short: String = path.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    path.with_file_name(format!(".{short}.{}.{number}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("readable").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_has_no_name_until_it_is_published_and_is_removed_otherwise() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.gguf");
        let mut part = PartFile::create(&path).expect("writable");
        part.write_at(2, b"bytes").expect("writable");
        part.seal(9).expect("writable");
        assert!(!path.exists());
        part.publish().expect("a folder to be named in");
        assert_eq!(fs::read(&path).expect("there"), b"\0\0bytes\0\0");
        drop(PartFile::create(&path).expect("writable"));
        assert_eq!(names(folder.path()), ["out.gguf"]);
        assert_eq!(fs::read(&path).expect("there"), b"\0\0bytes\0\0");
    }

    #[test]
    fn a_failed_write_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let temporary = folder.path().join(".out.part");
        fs::write(&temporary, "header").expect("writable");
        // Opened read-only: every write fails, as on a full disk.
        let file = File::open(&temporary).expect("just written");
        let mut part = PartFile { target: folder.path().join("out"), temporary: Some(temporary), file };
        part.write_at(0, b"bytes").expect_err("not writable");
        drop(part);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    #[cfg(unix)]
    fn writing_to_a_link_replaces_its_target() {
        let folder = tempfile::tempdir().expect("a folder");
        let [real, link, early] = ["v3", "latest", "early"].map(|name| folder.path().join(name));
        fs::write(&real, "old").expect("writable");
        std::os::unix::fs::symlink("v3", &link).expect("a link");
        PartFile::write_atomic(&link, b"new").expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&real).expect("there"), b"new");
        std::os::unix::fs::symlink("v4", &early).expect("a link to nothing");
        PartFile::write_atomic(&early, b"first").expect("written");
        assert_eq!(fs::read(folder.path().join("v4")).expect("there"), b"first");
        assert_eq!(names(folder.path()), ["early", "latest", "v3", "v4"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_replaced_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        fs::write(&path, "old").expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
        PartFile::write_atomic(&path, b"new").expect("written");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    #[cfg(unix)]
    fn only_regular_files_are_replaced() {
        use std::os::unix::fs::FileTypeExt;
        use std::os::unix::net::UnixListener;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let _listener = UnixListener::bind(&path).expect("a socket");
        for path in [&*path, folder.path()] {
            let refused = PartFile::write_atomic(path, b"bytes").expect_err("no file");
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{refused}");
        }
        assert!(fs::metadata(&path).expect("still there").file_type().is_socket());
        assert_eq!(names(folder.path()), ["socket"]);
    }
}
