//! `Header`: metadata and tensor list of a GGUF file.

use super::cursor::{Cursor, Place};
use super::{GgufError, MAGIC, Metadata, TensorInfo, VERSION, tensor_info};
use crate::duplicate::duplicate;

/// Entries to reserve memory for up front; further entries grow the vector as they are read.
pub(super) const RESERVE: usize = 4096;

/// Header of a GGUF file: metadata and tensor locations.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Header {
    /// Format version, 2 or 3.
    pub version: u32,
    /// Alignment of tensor offsets, in bytes.
    pub alignment: u32,
    /// Keys and values.
    pub metadata: Metadata,
    /// Tensors in file order.
    pub tensors: Vec<TensorInfo>,
    /// Offset of the tensor data in the file.
    pub data_start: u64,
}

impl Header {
    /// Parses the header of a file, given all bytes of that file.
    ///
    /// Bytes after the header are not touched, so a memory-mapped file is not read from disk. Bytes after the last
    /// tensor are ignored, as in the reference implementation.
    ///
    /// # Errors
    /// Returns a [`GgufError`] with the cause and its position; the rules are in `spec/containers.md#gguf`.
    ///
    /// ```
    /// use bitgrain_formats::gguf::{GgufError, Header};
    /// assert_eq!(Header::parse(b"GGML...."), Err(GgufError::Magic { found: *b"GGML" }));
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, GgufError> {
        let mut cursor = Cursor::new(bytes);
        let version = read_version(&mut cursor)?;
        let tensor_count = cursor.u64(Place::Header("number of tensors"))?;
        let key_count = cursor.u64(Place::Header("number of keys"))?;
        let metadata = Metadata::read(&mut cursor, key_count)?;
        let alignment = metadata.alignment()?;

        let tensor_count = cursor.count(Place::Header("tensors"), tensor_count, tensor_info::LEAST_BYTES)?;
        let mut tensors = Vec::with_capacity(tensor_count.min(RESERVE));
        for index in 0..tensor_count as u64 {
            tensors.push(TensorInfo::read(&mut cursor, index)?);
        }
        if let Some(tensor) = duplicate(tensors.iter().map(|tensor| tensor.name.as_str())) {
            return Err(GgufError::DuplicateTensor { tensor: tensor.into() });
        }
        if !tensors.is_empty() {
            let padding = cursor.offset().wrapping_neg() & (u64::from(alignment) - 1);
            cursor.take(Place::Header("padding before the tensors"), padding)?;
        }
        let data_start = cursor.offset();
        place(&mut tensors, alignment, data_start, bytes.len() as u64)?;
        Ok(Self { version, alignment, metadata, tensors, data_start })
    }

    /// Returns the tensor called `name`, by linear search.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }
}

fn read_version(cursor: &mut Cursor<'_>) -> Result<u32, GgufError> {
    let found = cursor.array(Place::Header("magic"))?;
    if found != MAGIC {
        return Err(GgufError::Magic { found });
    }
    let version = cursor.u32(Place::Header("version"))?;
    match version {
        2 | VERSION => Ok(version),
        // A small version number read in the wrong byte order.
        _ if version != 0 && version.trailing_zeros() >= 16 => {
            Err(GgufError::BigEndian { version: version.swap_bytes() })
        }
        _ => Err(GgufError::Version { version }),
    }
}

/// Computes the file offset of each tensor. Tensors are contiguous in header order, each padded to the alignment, as
/// the reference implementation requires.
fn place(tensors: &mut [TensorInfo], alignment: u32, data_start: u64, len: u64) -> Result<(), GgufError> {
    let mut expected = 0u64;
    for info in tensors {
        let (tensor, offset) = (|| info.name.clone(), info.offset);
        if !offset.is_multiple_of(u64::from(alignment)) {
            return Err(GgufError::Misaligned { tensor: tensor(), offset, alignment });
        }
        if offset < expected {
            return Err(GgufError::Overlap { tensor: tensor(), offset, expected });
        }
        if offset > expected {
            return Err(GgufError::Gap { tensor: tensor(), offset, expected });
        }
        // The offset is at most the padded file length, so the sums below cannot overflow.
        let start = data_start + offset;
        let left = len.saturating_sub(start);
        if info.bytes > left {
            return Err(GgufError::PastEnd { tensor: tensor(), start, bytes: info.bytes, left });
        }
        // Files may end without the padding before a trailing empty tensor.
        let start = start.min(len);
        (info.start, info.end) = (index(start), index(start + info.bytes));
        expected = (offset + info.bytes).next_multiple_of(u64::from(alignment));
    }
    Ok(())
}

/// Converts an offset that is within the input to `usize`.
fn index(place: u64) -> usize {
    usize::try_from(place).expect("a position within a slice")
}
