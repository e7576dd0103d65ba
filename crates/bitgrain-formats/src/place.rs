//! `Place`: where a file is to be, and what is there already.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where a file is to be. Links are followed: what they point to is what will be replaced.
///
/// A file that is whole or not there at all is written beside its place and renamed when it is complete. To rename is to
/// replace whatever has the name, so devices, pipes and folders are refused.
#[derive(Debug, Clone)]
pub struct Place {
    path: PathBuf,
    /// Of the file that is there.
    permissions: Option<Permissions>,
}

impl Place {
    /// Looks at what is there.
    ///
    /// # Errors
    /// If it is something else than a file.
    pub fn new(path: &Path) -> io::Result<Self> {
        let Ok(there) = fs::metadata(path) else {
            // What is wrong with the folder is found when a file is made in it.
            return Ok(Self { path: path.to_owned(), permissions: None });
        };
        if !there.is_file() {
            let what = if there.is_dir() { "this is a folder" } else { "this is a device or a pipe" };
            return Err(io::Error::new(ErrorKind::InvalidInput, format!("{what}, which a file would replace")));
        }
        Ok(Self { path: fs::canonicalize(path)?, permissions: Some(there.permissions()) })
    }

    /// Where it is, with all links followed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a file beside it, for what will take its place, and gives it a name that nobody else has. Only those who may
    /// read what is there may read it.
    ///
    /// # Errors
    /// What the system says.
    pub fn part(&self) -> io::Result<(PathBuf, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Names may be as long as the file system allows, so the temporary one keeps only a part of it.
        let short: String = self.path.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
        let temporary = self.path.with_file_name(format!(".{short}.{}.{number}.part", std::process::id()));
        // New, so that two writers never share it and no link that lies there is followed.
        let file = File::create_new(&temporary)?;
        self.permit(&file)?;
        Ok((temporary, file))
    }

    /// Gives a file the permissions of what is there, if anything is.
    ///
    /// # Errors
    /// What the system says.
    pub fn permit(&self, file: &File) -> io::Result<()> {
        self.permissions.clone().map_or(Ok(()), |permissions| file.set_permissions(permissions))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("bitgrain-place-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("a folder for tests");
        folder.canonicalize().expect("just made")
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = folder("refused");
        let socket = folder.join("socket");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        for path in [&folder, &socket] {
            let error = Place::new(path).expect_err("no file");
            assert!(error.to_string().contains("which a file would replace"), "{error}");
        }
        fs::remove_dir_all(folder).expect("ours");
    }

    #[test]
    fn links_are_followed_and_permissions_kept() {
        let folder = folder("kept");
        let (file, link) = (folder.join("v3"), folder.join("latest"));
        fs::write(&file, "old").expect("writable");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("ours");
        symlink("v3", &link).expect("a link");
        let place = Place::new(&link).expect("a file");
        assert_eq!(place.path(), file);
        let (part, made) = place.part().expect("writable");
        assert_eq!(part.parent(), Some(&*folder));
        assert_eq!(made.metadata().expect("open").permissions().mode() & 0o777, 0o600);
        fs::remove_dir_all(folder).expect("ours");
    }

    #[test]
    fn a_place_where_nothing_is_yet() {
        let folder = folder("new");
        let place = Place::new(&folder.join("x")).expect("nothing there");
        let (first, second) = (place.part().expect("writable").0, place.part().expect("writable").0);
        assert_ne!(first, second);
        assert!(Place::new(&folder.join("no/such")).expect("nothing there").part().is_err());
        fs::remove_dir_all(folder).expect("ours");
    }
}
