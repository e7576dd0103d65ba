//! Content of a disk without pending writes: names and bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Names and bytes of a disk without pending writes. Clones share the bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image(pub(super) BTreeMap<Arc<str>, Arc<Vec<u8>>>);

impl Image {
    /// Iterates over names and bytes of all files, sorted by name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (&**name, bytes.as_slice()))
    }

    /// Returns the bytes of a file.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(|bytes| bytes.as_slice())
    }

    /// Adds or replaces a file.
    pub fn put(&mut self, name: &str, bytes: Vec<u8>) {
        self.0.insert(name.into(), Arc::new(bytes));
    }

    /// Removes a file; returns whether it existed.
    pub fn take(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    /// Returns the total number of bits of all files.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.0.values().map(|bytes| bytes.len() * 8).sum()
    }

    /// Flips one bit, numbered through all files sorted by name. Returns the file and byte, or `None` if `bit` is out
    /// of range.
    pub fn flip(&mut self, bit: usize) -> Option<(String, usize)> {
        let mut byte = bit / 8;
        for (name, bytes) in &mut self.0 {
            if byte < bytes.len() {
                Arc::make_mut(bytes)[byte] ^= 1 << (bit % 8);
                return Some((name.to_string(), byte));
            }
            byte -= bytes.len();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_across_files_in_name_order() {
        let mut image = Image::default();
        image.put("b", vec![0; 2]);
        image.put("a", vec![0; 3]);
        let before = image.clone();
        assert_eq!(image.bits(), 40);
        assert_eq!(image.flip(24 + 9), Some(("b".into(), 1)));
        assert_eq!(image.file("b"), Some(&[0, 2][..]));
        assert_eq!(before.file("b"), Some(&[0, 0][..]), "a clone keeps its bytes");
        assert_eq!(image.flip(40), None);
    }
}
