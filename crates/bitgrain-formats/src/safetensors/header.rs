//! `Header`: everything a file says before its bytes.

use std::ops::Range;

use super::json::{RawTensor, parse_header};
use super::layout::tensor_bytes;
use super::{Dtype, MAX_HEADER, SafetensorsError};
use crate::duplicate::duplicate;

/// Bytes of the number that says how long the header is.
const LEN_BYTES: usize = 8;

/// The header of a file: metadata, and where the tensors are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// What `__metadata__` says, in its order; each key once.
    pub metadata: Vec<(String, String)>,
    /// Tensors in the order of their bytes.
    pub tensors: Vec<TensorInfo>,
    /// Where the data begins in the file.
    pub data_start: u64,
}

/// A tensor of a file: its name, type, shape and place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Its name, unique in the file.
    pub name: String,
    /// What its elements are.
    pub dtype: Dtype,
    /// Its dimensions, outermost first.
    pub shape: Vec<u64>,
    range: Range<usize>,
}

impl Header {
    /// Reads the header of the file that `bytes` is the whole of; nothing behind the header is touched.
    ///
    /// # Errors
    /// A [`SafetensorsError`] that says what is wrong and where; the rules are in `spec/containers.md#safetensors`.
    ///
    /// ```
    /// use bitgrain_formats::safetensors::{Dtype, Header};
    /// let text = br#"{"w":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}}"#;
    /// let file = [&(text.len() as u64).to_le_bytes(), &text[..], &[0, 60, 0, 64]].concat();
    /// let header = Header::parse(&file)?;
    /// assert_eq!((header.tensors[0].dtype, &file[header.tensors[0].range()]), (Dtype::F16, &[0, 60, 0, 64][..]));
    /// # Ok::<(), bitgrain_formats::safetensors::SafetensorsError>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, SafetensorsError> {
        let (text, data) = split(bytes)?;
        let raw = parse_header(text)?;
        if let Some(key) = duplicate(raw.metadata.iter().map(|(key, _)| key.as_str())) {
            return Err(SafetensorsError::DuplicateKey { key: key.into() });
        }
        if let Some(tensor) = duplicate(raw.tensors.iter().map(|tensor| tensor.name.as_str())) {
            return Err(SafetensorsError::DuplicateTensor { tensor: tensor.into() });
        }
        let data_start = bytes.len() - data.len();
        let tensors = place(raw.tensors, data_start, data.len())?;
        Ok(Self { metadata: raw.metadata, tensors, data_start: data_start as u64 })
    }

    /// The tensor called `name`. Walks the list.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// What the metadata says about `key`.
    #[must_use]
    pub fn metadata_value(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

impl TensorInfo {
    /// Where its bytes are in the file; an index into the bytes that were parsed.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.range.start..self.range.end
    }

    /// How many bytes it has.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        (self.range.end - self.range.start) as u64
    }

    /// How many elements it has; 1 without dimensions.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }
}

/// The text of the header and what is behind it.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), SafetensorsError> {
    let truncated = |what, offset, needed| {
        let left = (bytes.len() - offset) as u64;
        SafetensorsError::Truncated { what, offset: offset as u64, needed, left }
    };
    let (len, rest) =
        bytes.split_first_chunk().ok_or_else(|| truncated("length of the header", 0, LEN_BYTES as u64))?;
    let len = u64::from_le_bytes(*len);
    if len > MAX_HEADER {
        return Err(SafetensorsError::HeaderTooLarge { len });
    }
    let split = usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len));
    let (text, data) = split.ok_or_else(|| truncated("header", LEN_BYTES, len))?;
    match text.first() {
        Some(b'{') => Ok((text, data)),
        found => Err(SafetensorsError::NotAnObject { found: found.copied().unwrap_or(0) }),
    }
}

/// Finds the place of each tensor in the file: they cover the data without holes and overlaps.
fn place(mut raw: Vec<RawTensor>, data_start: usize, len: usize) -> Result<Vec<TensorInfo>, SafetensorsError> {
    raw.sort_by_key(|tensor| tensor.offsets);
    let mut expected = 0;
    let mut tensors = Vec::with_capacity(raw.len());
    for RawTensor { name: tensor, dtype, shape, offsets: (start, end) } in raw {
        let Some(dtype) = Dtype::from_name(&dtype) else {
            return Err(SafetensorsError::UnknownDtype { tensor, dtype });
        };
        let needed = tensor_bytes(&tensor, dtype, &shape)?;
        let Some(given) = end.checked_sub(start) else {
            return Err(SafetensorsError::Backwards { tensor, start, end });
        };
        if given != needed {
            return Err(SafetensorsError::Size { tensor, dtype, shape, needed, given });
        }
        if start < expected {
            return Err(SafetensorsError::Overlap { tensor, start, expected });
        }
        if start > expected {
            return Err(SafetensorsError::Hole { tensor, start, expected });
        }
        let Some(end_index) = usize::try_from(end).ok().filter(|&end| end <= len) else {
            return Err(SafetensorsError::PastEnd { tensor, end, len: len as u64 });
        };
        let end_index = data_start + end_index;
        let bytes = usize::try_from(given).unwrap_or(usize::MAX);
        tensors.push(TensorInfo { name: tensor, dtype, shape, range: end_index - bytes..end_index });
        expected = end;
    }
    if expected == len as u64 {
        Ok(tensors)
    } else {
        Err(SafetensorsError::Uncovered { end: expected, len: len as u64 })
    }
}
