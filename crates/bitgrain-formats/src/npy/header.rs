//! `Header`: element type, shape and memory order of an array.

use std::ops::Range;

use super::literal::Literal;
use super::{Dtype, NpyError};
use crate::elements::elements;

const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// Header of an npy file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// Format version: 1, 2 or 3.
    pub version: u8,
    /// Element type and byte order.
    pub dtype: Dtype,
    /// Dimensions, outermost first in either memory order.
    pub shape: Vec<u64>,
    /// Whether the array is in Fortran order: the first dimension is contiguous.
    pub fortran_order: bool,
    /// Offset of the array data.
    pub data_start: u64,
    end: usize,
}

impl Header {
    /// Parses the header of a file, given all bytes of that file. Bytes after the array are ignored, as in NumPy.
    ///
    /// # Errors
    /// Returns an [`NpyError`] with the cause and its position; the rules are in `spec/containers.md#npy`.
    ///
    /// ```
    /// use bitgrain_formats::npy::{Element, Header};
    /// let text = b"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n";
    /// let file = [b"\x93NUMPY\x01\x00", &[58, 0][..], text, &[1, 0, 2, 0]].concat();
    /// let header = Header::parse(&file)?;
    /// assert_eq!((header.dtype.element, &header.shape[..]), (Element::I16, &[2][..]));
    /// assert_eq!(file[header.range()], [1, 0, 2, 0]);
    /// # Ok::<(), bitgrain_formats::npy::NpyError>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, NpyError> {
        let (version, text, data_start) = split(bytes)?;
        let Literal { descr, fortran_order, shape } = Literal::parse(text)?;
        let dtype = Dtype::parse(descr)?;
        let Some(needed) = elements(&shape).and_then(|count| count.checked_mul(dtype.element.bytes())) else {
            return Err(NpyError::TooLarge { shape });
        };
        let left = bytes.len() - data_start;
        let Some(len) = usize::try_from(needed).ok().filter(|&needed| needed <= left) else {
            return Err(NpyError::PastEnd { start: data_start as u64, needed, left: left as u64 });
        };
        let end = data_start + len;
        Ok(Self { version, dtype, shape, fortran_order, data_start: data_start as u64, end })
    }

    /// Returns the byte range of the array data.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        // `parse` checked the range against the length of the file.
        usize::try_from(self.data_start).unwrap_or(self.end)..self.end
    }

    /// Returns the number of elements; 1 without dimensions.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }
}

/// Returns the version, the literal, and the offset of its end.
fn split(bytes: &[u8]) -> Result<(u8, &[u8], usize), NpyError> {
    let truncated = |what, offset: usize, needed: usize| {
        let left = bytes.len().saturating_sub(offset) as u64;
        NpyError::Truncated { what, offset: offset as u64, needed: needed as u64, left }
    };
    let (&found, rest) = bytes.split_first_chunk::<6>().ok_or_else(|| truncated("magic", 0, 6))?;
    if found != MAGIC {
        return Err(NpyError::Magic { found });
    }
    let (&[major, minor], rest) = rest.split_first_chunk().ok_or_else(|| truncated("version", 6, 2))?;
    let (len, start) = match (major, minor) {
        (1, 0) => {
            let (&len, _) = rest.split_first_chunk().ok_or_else(|| truncated("length of the header", 8, 2))?;
            (usize::from(u16::from_le_bytes(len)), 10)
        }
        (2 | 3, 0) => {
            let (&len, _) = rest.split_first_chunk().ok_or_else(|| truncated("length of the header", 8, 4))?;
            let len = usize::try_from(u32::from_le_bytes(len)).map_err(|_| truncated("header", 12, usize::MAX))?;
            (len, 12)
        }
        _ => return Err(NpyError::Version { major, minor }),
    };
    let text = bytes[start..].get(..len).ok_or_else(|| truncated("header", start, len))?;
    Ok((major, text, start + len))
}
