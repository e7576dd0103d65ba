//! `PartFile`: a file in the making, that gets its name when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is being written beside the one it will replace. Dropped before it is named, it is gone.
#[derive(Debug)]
pub(super) struct PartFile {
    path: PathBuf,
    /// Gone once it has its real name.
    temporary: Option<PathBuf>,
    file: BufWriter<File>,
}

impl PartFile {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Names may be as long as the file system allows, so the temporary one keeps only a part of it.
        let short: String = path.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
        let temporary = path.with_file_name(format!(".{short}.{}.{number}.part", std::process::id()));
        // New, so that two writers never share it and no link that lies there is followed.
        let file = BufWriter::new(File::create_new(&temporary)?);
        Ok(Self { path: path.to_owned(), temporary: Some(temporary), file })
    }

    /// Gives it its name, once its bytes are on disk.
    pub(super) fn publish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
        }
        self.temporary = None;
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
