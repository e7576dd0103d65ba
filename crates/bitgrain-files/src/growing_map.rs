//! `GrowingMap`: a map of a file that is appended to while it is read. See `docs/decisions/018-segments-mapped.md`.

use std::fs::File;
use std::sync::OnceLock;

use memmap2::{Mmap, MmapOptions};

/// A map of an append-only file, made at the first access. It extends beyond the end of the file, so that bytes appended
/// later are visible through it; the excess takes addresses but no memory.
#[derive(Debug, Default)]
pub struct GrowingMap(OnceLock<Option<Mmap>>);

/// Maps end at a multiple of this length, as segments do unless a tensor is larger.
const STEP: u64 = 64 << 20;

impl GrowingMap {
    /// Returns `len` bytes of `file` from `offset`, all of which must lie before its end. `None` if the file cannot be
    /// mapped or has grown beyond its map.
    #[must_use]
    pub fn get(&self, file: &File, offset: u64, len: usize) -> Option<&[u8]> {
        let map = self.0.get_or_init(|| map(file)).as_deref()?;
        let start = usize::try_from(offset).ok()?;
        map.get(start..start.checked_add(len)?)
    }
}

fn map(file: &File) -> Option<Mmap> {
    // Windows does not map beyond the end of a file, and 32-bit systems lack the addresses for many segments.
    if !cfg!(all(unix, target_pointer_width = "64")) {
        return None;
    }
    let end = file.metadata().ok()?.len().checked_next_multiple_of(STEP)?.max(STEP);
    #[expect(unsafe_code, reason = "a mapping changes if another process writes the file: decisions 008 and 018")]
    // SAFETY: the map is only read, as bytes for which every value is valid, and only where records were written, which
    // never change: the file is locked against other writers and only grows. A file that another process truncates all
    // the same ends this process with SIGBUS, as the documentation says.
    unsafe { MmapOptions::new().len(usize::try_from(end).ok()?).map(file) }.ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    #[cfg(all(unix, target_pointer_width = "64"))]
    fn bytes_appended_after_mapping_are_visible() {
        let mut file = tempfile::tempfile().expect("a file");
        let map = GrowingMap::default();
        for round in 0..100 {
            file.write_all(&[round; 1000]).expect("space");
            for wrote in 0..=round {
                assert_eq!(map.get(&file, 1000 * u64::from(wrote), 1000), Some(&[wrote; 1000][..]));
            }
        }
        assert_eq!(map.get(&file, STEP, 1), None, "beyond the map");
        assert_eq!(map.get(&file, u64::MAX, 2), None);
    }
}
