//! `Header`: metadata and tensor list of a safetensors file.

use std::ops::Range;

use super::json::{RawTensor, parse_header};
use super::layout::tensor_bytes;
use super::{Dtype, MAX_HEADER, SafetensorsError};
use crate::duplicate::duplicate;

/// Size of the header's length prefix in bytes.
const LEN_BYTES: usize = 8;

/// Header of a file: metadata and tensor locations.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// `__metadata__` in file order, without duplicate keys.
    pub metadata: Vec<(String, String)>,
    /// Tensors in file order.
    pub tensors: Vec<TensorInfo>,
    /// Offset of the tensor data in the file.
    pub data_start: u64,
}

/// Name, type, shape and location of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Name, unique in the file.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Dimensions, outermost first.
    pub shape: Vec<u64>,
    range: Range<usize>,
}

impl Header {
    /// Parses the header of a file, given all bytes of that file; bytes after the header are not touched.
    ///
    /// # Errors
    /// Returns a [`SafetensorsError`] with the cause and its position; the rules are in
    /// `spec/containers.md#safetensors`.
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

    /// Returns the tensor called `name`, by linear search.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Returns the metadata value of `key`.
    #[must_use]
    pub fn metadata_value(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

impl TensorInfo {
    /// Returns the byte range in the file that was parsed.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.range.start..self.range.end
    }

    /// Returns the size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        (self.range.end - self.range.start) as u64
    }

    /// Returns the number of elements; 1 without dimensions.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }
}

/// Splits a file into the header's text and the data after it.
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

/// Computes the file offset of each tensor and checks that the tensors cover the data without gaps or overlaps.
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
        // A tensor lies before its end, which was compared with the length.
        let bytes = usize::try_from(given).expect("a length within a slice");
        tensors.push(TensorInfo { name: tensor, dtype, shape, range: end_index - bytes..end_index });
        expected = end;
    }
    if expected == len as u64 {
        Ok(tensors)
    } else {
        Err(SafetensorsError::Uncovered { end: expected, len: len as u64 })
    }
}
