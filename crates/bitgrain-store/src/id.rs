//! Tensor ids: strings or 128-bit numbers.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use bitgrain_formats::segment::IdRef;

use crate::StoreError;

/// Id of a tensor: a string of 1 to 65,536 bytes, or a number. The string `"7"` and the number 7 are different ids.
///
/// ```
/// use bitgrain_store::TensorId;
/// assert_ne!(TensorId::from("7"), TensorId::from(7u128));
/// assert_eq!(TensorId::from("layer/0").to_string(), "layer/0");
/// assert_eq!(TensorId::from(255u128).to_string(), "#255");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TensorId {
    /// A string.
    Name(Box<str>),
    /// A number.
    Number(u128),
}

impl TensorId {
    /// Maximum length of a name in bytes.
    pub const MAX_LEN: usize = 65_536;

    /// # Errors
    /// Returns [`StoreError::IdEmpty`] or [`StoreError::IdTooLong`].
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self {
            Self::Name(name) if name.is_empty() => Err(StoreError::IdEmpty),
            Self::Name(name) if name.len() > Self::MAX_LEN => {
                Err(StoreError::IdTooLong { len: name.len(), limit: Self::MAX_LEN })
            }
            _ => Ok(()),
        }
    }

    /// Returns the id as records store it.
    pub(crate) fn as_id(&self) -> IdRef<'_> {
        match self {
            Self::Name(name) => IdRef::Name(name),
            Self::Number(number) => IdRef::Number(*number),
        }
    }

    /// Returns the lookup key; keys sort like ids.
    pub(crate) fn key(&self) -> Key {
        Key::of(self.as_id())
    }

    /// Returns the id of a key that [`key`](Self::key) made.
    pub(crate) fn of_key(key: &[u8]) -> Self {
        // Keys are only made from ids, so decoding cannot fail; the empty name is never a stored id.
        IdRef::from_key(key).map_or_else(|| Self::Name("".into()), Self::from)
    }
}

impl From<IdRef<'_>> for TensorId {
    fn from(id: IdRef<'_>) -> Self {
        match id {
            IdRef::Name(name) => Self::Name(name.into()),
            IdRef::Number(number) => Self::Number(number),
        }
    }
}

impl From<&str> for TensorId {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

impl From<String> for TensorId {
    fn from(name: String) -> Self {
        Self::Name(name.into_boxed_str())
    }
}

impl From<u128> for TensorId {
    fn from(number: u128) -> Self {
        Self::Number(number)
    }
}

impl From<&TensorId> for TensorId {
    fn from(id: &TensorId) -> Self {
        id.clone()
    }
}

/// Displays names with control characters escaped, and numbers after a `#`.
impl fmt::Display for TensorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name
                .chars()
                .try_for_each(|c| if c.is_control() { write!(f, "{}", c.escape_default()) } else { write!(f, "{c}") }),
            Self::Number(number) => write!(f, "#{number}"),
        }
    }
}

/// Lookup key of an id; keys sort like ids. Numbers and short names are stored inline, without an allocation.
#[derive(Clone)]
pub(crate) struct Key(Bytes);

#[derive(Clone)]
enum Bytes {
    Here { len: u8, bytes: [u8; HERE] },
    There(Box<[u8]>),
}

/// Maximum length in bytes of an inline key.
const HERE: usize = 22;

const _: () = assert!(size_of::<Key>() == 24);

impl Key {
    pub(crate) fn of(id: IdRef<'_>) -> Self {
        Self::with(id.key_len(), |key| id.copy_key(key))
    }

    fn with(len: usize, fill: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = [0; HERE];
        match u8::try_from(len) {
            Ok(short) if len <= HERE => {
                fill(&mut bytes[..len]);
                Self(Bytes::Here { len: short, bytes })
            }
            _ => {
                let mut bytes = vec![0; len];
                fill(&mut bytes);
                Self(Bytes::There(bytes.into()))
            }
        }
    }
}

impl From<&[u8]> for Key {
    fn from(bytes: &[u8]) -> Self {
        Self::with(bytes.len(), |key| key.copy_from_slice(bytes))
    }
}

impl Deref for Key {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Here { len, bytes } => &bytes[..usize::from(*len)],
            Bytes::There(bytes) => bytes,
        }
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_same_bytes_wherever_they_are() {
        let mut keys = Vec::new();
        for len in [1, 20, 21, 22, 23, 300, TensorId::MAX_LEN] {
            let id = TensorId::from("n".repeat(len));
            let key = id.key();
            assert_eq!((key.len(), TensorId::of_key(&key)), (1 + len, id));
            assert_eq!(Key::from(&key[..]), key);
            keys.push(key);
        }
        let number = TensorId::from(5_u128).key();
        assert_eq!(TensorId::of_key(&number), TensorId::from(5_u128));
        assert!(keys.is_sorted() && keys.iter().all(|key| *key < number), "names come before numbers");
    }
}
