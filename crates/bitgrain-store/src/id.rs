//! What a tensor is called: a text or a number of 128 bits.

use std::fmt;

use bitgrain_formats::segment::IdRef;

use crate::StoreError;

/// The bytes an id is looked up by, ordered as ids are.
pub(crate) type Key = Box<[u8]>;

/// Name of a tensor: any text of 1 to 65,536 bytes, or a number. A text of digits is not the number.
///
/// ```
/// use bitgrain_store::TensorId;
/// assert_ne!(TensorId::from("7"), TensorId::from(7u128));
/// assert_eq!(TensorId::from("layer/0").to_string(), "layer/0");
/// assert_eq!(TensorId::from(255u128).to_string(), "#255");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TensorId {
    /// A text.
    Name(Box<str>),
    /// A number.
    Number(u128),
}

impl TensorId {
    /// Longest name in bytes.
    pub const MAX_LEN: usize = 65_536;

    /// # Errors
    /// [`StoreError::IdEmpty`], [`StoreError::IdTooLong`].
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self {
            Self::Name(name) if name.is_empty() => Err(StoreError::IdEmpty),
            Self::Name(name) if name.len() > Self::MAX_LEN => {
                Err(StoreError::IdTooLong { len: name.len(), limit: Self::MAX_LEN })
            }
            _ => Ok(()),
        }
    }

    /// As records have it.
    pub(crate) fn as_id(&self) -> IdRef<'_> {
        match self {
            Self::Name(name) => IdRef::Name(name),
            Self::Number(number) => IdRef::Number(*number),
        }
    }

    /// The bytes it is looked up by, ordered as ids are.
    pub(crate) fn key(&self) -> Key {
        let mut key = Vec::with_capacity(self.as_id().key_len());
        self.as_id().write_key(&mut key);
        key.into_boxed_slice()
    }

    /// The id with this key, which the store made.
    pub(crate) fn of_key(key: &[u8]) -> Self {
        // A key is only ever made of an id, so there is one; the empty name is none that was put.
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

/// Names as they are, with control characters escaped; numbers with a `#` before them.
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
