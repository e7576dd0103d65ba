//! `GrowingMap`: a map of a file that is appended to while it is read. See `docs/decisions/018-segments-mapped.md`.

use std::fs::File;
use std::sync::OnceLock;

use memmap2::{Mmap, MmapOptions};

/// Maps of an append-only file, made at the first access. They extend beyond the end of the file, so that bytes appended
/// later are visible through them; the excess takes addresses but no memory. Each map is twice as long as the one before
/// it, and a file that outgrew one is read through the next.
#[derive(Debug, Default)]
pub struct GrowingMap([OnceLock<Option<Mmap>>; MAPS]);

/// Length of the first map: that of most segments.
const STEP: u64 = 64 << 20;

/// Number of maps, of 64 MiB to 32 TiB.
const MAPS: usize = 20;

impl GrowingMap {
    /// Returns `len` bytes of `file` from `offset`, all of which must lie before its end. `None` if the file cannot be
    /// mapped.
    #[must_use]
    pub fn get(&self, file: &File, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(len)?;
        let number = (end as u64).div_ceil(STEP).max(1).next_power_of_two().ilog2();
        let map = self.0.get(number as usize)?.get_or_init(|| map(file, STEP << number)).as_deref()?;
        map.get(start..end)
    }
}

fn map(file: &File, len: u64) -> Option<Mmap> {
    // Windows does not map beyond the end of a file, and 32-bit systems lack the addresses for many segments.
    if !cfg!(all(unix, target_pointer_width = "64")) {
        return None;
    }
    #[expect(unsafe_code, reason = "a mapping changes if another process writes the file: decisions 008 and 018")]
    // SAFETY: the map is only read, as bytes for which every value is valid, and only where records were written, which
    // never change: the file is locked against other writers and only grows. A file that another process truncates all
    // the same ends this process with SIGBUS, as the documentation says.
    unsafe { MmapOptions::new().len(usize::try_from(len).ok()?).map(file) }.ok()
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
        let far = 5 * STEP + 7;
        file.set_len(far + 3).expect("a sparse file");
        assert_eq!(map.get(&file, far, 3), Some(&[0; 3][..]), "through a longer map");
        assert_eq!(map.get(&file, 1000, 1000), Some(&[1; 1000][..]));
        assert_eq!(map.get(&file, u64::MAX, 2), None);
    }
}
