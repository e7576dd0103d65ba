//! `Index`: maps the tensors of a sharded model to files (`model.safetensors.index.json`).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::Serialize;

use super::SafetensorsError;
use super::json::{Entries, parse};
use super::writer::Ordered;
use crate::duplicate::duplicate;

/// Tensors of a sharded model and the files that hold them.
///
/// ```
/// use bitgrain_formats::safetensors::Index;
/// let index = Index::parse(br#"{"metadata":{"total_size":8},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}"#)?;
/// assert_eq!((index.total_size, index.file("b")), (Some(8), Some("2.safetensors")));
/// assert!(Index::parse(br#"{"weight_map":{"a":"../../etc/passwd"}}"#).is_err());
/// # Ok::<(), bitgrain_formats::safetensors::SafetensorsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// Size of all tensors in bytes, if the metadata gives it. Other metadata is discarded.
    pub total_size: Option<u64>,
    /// Tensor names and file names.
    entries: Vec<(Box<str>, Box<str>)>,
}

impl Index {
    /// Creates an index of the tensors and files in `entries`.
    ///
    /// # Errors
    /// Returns [`SafetensorsError::DuplicateTensor`], or [`SafetensorsError::FileName`] if a file is outside the
    /// index's folder.
    pub fn new<T, F>(
        total_size: Option<u64>,
        entries: impl IntoIterator<Item = (T, F)>,
    ) -> Result<Self, SafetensorsError>
    where
        T: Into<Box<str>>,
        F: Into<Box<str>>,
    {
        let entries = entries.into_iter().map(|(tensor, file)| (tensor.into(), file.into())).collect();
        Self::checked(total_size, entries)
    }

    /// Parses an index.
    ///
    /// # Errors
    /// Returns [`SafetensorsError::Json`] if the bytes are not an index, [`SafetensorsError::DuplicateTensor`], or
    /// [`SafetensorsError::FileName`] if a name leads out of the folder of the index.
    pub fn parse(bytes: &[u8]) -> Result<Self, SafetensorsError> {
        let Raw { metadata, weight_map } = parse(bytes, &RefCell::new(None), PhantomData)?;
        let total_size = metadata.and_then(|metadata| metadata.total_size).and_then(|number| number.0);
        Self::checked(total_size, weight_map.0)
    }

    /// Returns the file that holds `tensor`, by linear search.
    #[must_use]
    pub fn file(&self, tensor: &str) -> Option<&str> {
        self.entries.iter().find(|(name, _)| **name == *tensor).map(|(_, file)| &**file)
    }

    /// Iterates over tensors and their files, in index order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.entries.iter().map(|(tensor, file)| (&**tensor, &**file))
    }

    /// Returns the file names without duplicates, sorted.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(_, file)| &**file).collect::<BTreeSet<_>>().into_iter()
    }

    /// Serializes the index.
    #[must_use]
    pub fn to_json(&self) -> String {
        #[derive(serde::Serialize)]
        struct Size {
            #[serde(skip_serializing_if = "Option::is_none")]
            total_size: Option<u64>,
        }
        #[derive(serde::Serialize)]
        struct Json<W> {
            metadata: Size,
            weight_map: W,
        }
        fn pretty(value: &impl Serialize) -> String {
            serde_json::to_string_pretty(value).expect("strings and numbers have a JSON form")
        }
        pretty(&Json { metadata: Size { total_size: self.total_size }, weight_map: Ordered(&self.entries) })
    }

    fn checked(total_size: Option<u64>, entries: Vec<(Box<str>, Box<str>)>) -> Result<Self, SafetensorsError> {
        if let Some(tensor) = duplicate(entries.iter().map(|(tensor, _)| &**tensor)) {
            return Err(SafetensorsError::DuplicateTensor { tensor: tensor.into() });
        }
        match entries.iter().find(|(_, file)| !is_plain(file)) {
            Some((tensor, file)) => {
                Err(SafetensorsError::FileName { tensor: tensor.to_string(), file: file.to_string() })
            }
            None => Ok(Self { total_size, entries }),
        }
    }
}

/// Returns whether `file` is a plain file name on every operating system.
fn is_plain(file: &str) -> bool {
    !matches!(file, "" | "." | "..") && !file.contains(['/', '\\', ':', '\0'])
}

#[derive(serde::Deserialize)]
struct Raw {
    metadata: Option<RawMetadata>,
    weight_map: Entries<Box<str>, Box<str>>,
}

#[derive(serde::Deserialize)]
struct RawMetadata {
    total_size: Option<WholeNumber>,
}

/// Reads a size that some writers store as a float; `None` if it is not a non-negative integer.
struct WholeNumber(Option<u64>);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Option<u64>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of bytes")
            }

            fn visit_u64<E>(self, value: u64) -> Result<Option<u64>, E> {
                Ok(Some(value))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Option<u64>, E> {
                const EXACT: f64 = 9_007_199_254_740_992.0;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, from 0 to 2^53")]
                Ok((value.fract() == 0.0 && (0.0..=EXACT).contains(&value)).then_some(value as u64))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Option<u64>, E> {
                Ok(None)
            }
        }
        deserializer.deserialize_any(Number).map(Self)
    }
}
