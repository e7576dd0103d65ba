//! What is on a disk that has nothing left to write: names and bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Names and bytes of a disk at rest. Clones share the bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image(pub(super) BTreeMap<Arc<str>, Arc<Vec<u8>>>);

impl Image {
    /// Names and bytes of all files, by name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (&**name, bytes.as_slice()))
    }

    /// The bytes of a file.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(|bytes| bytes.as_slice())
    }

    /// Puts a file there, in place of the one of this name.
    pub fn put(&mut self, name: &str, bytes: Vec<u8>) {
        self.0.insert(name.into(), Arc::new(bytes));
    }

    /// Takes a file away; true if it was there.
    pub fn take(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    /// Bits of all files together.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.0.values().map(|bytes| bytes.len() * 8).sum()
    }

    /// Flips one bit, counted through all files by name. Says which file and which byte of it, or nothing if there are
    /// not so many bits.
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
    fn bits_are_counted_through_the_files_by_name() {
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
