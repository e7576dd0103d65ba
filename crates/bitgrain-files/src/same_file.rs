//! `same_file`: whether two paths lead to one file.

use std::path::{Path, PathBuf, absolute};

/// Returns whether two paths lead to the same file after following links. A path that does not exist yet is compared as
/// an absolute path.
#[must_use]
pub fn same_file(a: &Path, b: &Path) -> bool {
    resolve(a) == resolve(b)
}

fn resolve(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    #[cfg(unix)]
    fn links_and_relative_paths_resolve_to_the_same_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let [real, link, other] = ["real", "link", "other"].map(|name| folder.path().join(name));
        fs::write(&real, "").expect("writable");
        std::os::unix::fs::symlink(&real, &link).expect("a link");
        assert!(same_file(&real, &link));
        assert!(same_file(&real, &folder.path().join("./real")));
        assert!(!same_file(&real, &other));
        assert!(same_file(&other, &other), "missing files are compared by path");
    }
}
