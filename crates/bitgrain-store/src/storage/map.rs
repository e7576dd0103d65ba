//! `Map`: a file that grows, as memory.

use std::fs::File;
use std::sync::OnceLock;

use memmap2::{Mmap, MmapOptions};

/// A map of a file, made when it is first looked at. It reaches beyond the end of the file, so that what is written later is in
/// it as well; it takes addresses, and no memory.
#[derive(Debug, Default)]
pub(super) struct Map(OnceLock<Option<Mmap>>);

/// A map ends at a multiple of this, as segments do unless a tensor is larger.
const STEP: u64 = 64 << 20;

impl Map {
    /// `len` bytes of `file` from `offset` on, all of which are before its end. `None` if it cannot be mapped, or has grown
    /// beyond its map.
    pub(super) fn get(&self, file: &File, offset: u64, len: usize) -> Option<&[u8]> {
        let map = self.0.get_or_init(|| map(file)).as_deref()?;
        let start = usize::try_from(offset).ok()?;
        map.get(start..start.checked_add(len)?)
    }
}

fn map(file: &File) -> Option<Mmap> {
    // Windows maps no more than there is, and 32 bits are too few addresses for many segments.
    if !cfg!(all(unix, target_pointer_width = "64")) {
        return None;
    }
    let end = file.metadata().ok()?.len().checked_next_multiple_of(STEP)?.max(STEP);
    #[expect(unsafe_code, reason = "a map changes if another process writes the file: decisions 008 and 018")]
    // SAFETY: it is only read, as bytes for which every value is valid, and only where records were written, which nobody
    // changes: files are locked for other writers and only grow. If another process cuts the file short all the same, this
    // one ends with SIGBUS, as the documentation says.
    unsafe { MmapOptions::new().len(usize::try_from(end).ok()?).map(file) }.ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    #[cfg(all(unix, target_pointer_width = "64"))]
    fn what_is_written_after_it_was_mapped_is_seen() {
        let mut file = tempfile::tempfile().expect("a file");
        let map = Map::default();
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
