//! `Writer`: streams a GGUF file from a list of tensors followed by their bytes.

use std::io::Write;

use super::layout::tensor_bytes;
use super::value::write_string;
use super::{GgufError, MAGIC, MAX_NAME, Metadata, TensorType, VERSION};
use crate::duplicate::duplicate;
use crate::stream::{Part, Sink, Tensors};
use crate::{Layout, WriteError};

/// Tensor to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// Name, at most 63 bytes.
    pub name: String,
    /// Up to four dimensions; the contiguous dimension comes first.
    pub dims: Vec<u64>,
    /// Storage type.
    pub kind: TensorType,
}

impl TensorSpec {
    /// Returns the size in bytes.
    ///
    /// # Errors
    /// Returns [`GgufError::DimCount`], [`GgufError::TooLarge`], or [`GgufError::RaggedRow`] if rows do not fill whole
    /// blocks.
    pub fn bytes(&self) -> Result<u64, GgufError> {
        tensor_bytes(&self.name, &self.dims, self.kind)
    }
}

/// Writes a version 3 file: the header first, then the tensors in order, in pieces of any size.
///
/// ```
/// use bitgrain_formats::gguf::{Metadata, TensorSpec, TensorType, Writer};
/// let spec = TensorSpec { name: "x".into(), dims: vec![3], kind: TensorType::I8 };
/// let mut writer = Writer::new(Vec::new(), &Metadata::default(), &[spec])?;
/// writer.write(&[1, 2])?;
/// assert!(writer.write(&[3, 4]).is_err()); // it has three bytes
/// writer.write(&[3])?;
/// assert_eq!(writer.finish()?.len(), 96); // 57 bytes of header and 3 of data, each padded to 32
/// # Ok::<(), bitgrain_formats::WriteError>(())
/// ```
#[derive(Debug)]
pub struct Writer<W: Write> {
    tensors: Tensors<W>,
}

impl<W: Write> Writer<W> {
    /// Writes the header to `out`; `tensors` are laid out in the given order.
    ///
    /// # Errors
    /// Returns [`WriteError::Gguf`] before anything is written if readers would refuse the file or llama.cpp would not
    /// load it, [`WriteError::Io`] if `out` fails.
    pub fn new(out: W, metadata: &Metadata, tensors: &[TensorSpec]) -> Result<Self, WriteError> {
        let alignment = u64::from(metadata.alignment()?);
        let parts = check(metadata, tensors, alignment)?;
        let mut sink = Sink::new(out);
        let mut put = |bytes: &[u8]| sink.put(bytes);
        put(&MAGIC)?;
        put(&VERSION.to_le_bytes())?;
        put(&(tensors.len() as u64).to_le_bytes())?;
        put(&(metadata.len() as u64).to_le_bytes())?;
        for (key, value) in metadata.iter() {
            write_string(key, &mut put)?;
            value.write(&mut put)?;
        }
        for (TensorSpec { name, dims, kind }, part) in tensors.iter().zip(&parts) {
            write_string(name, &mut put)?;
            let count = dims.len() as u64;
            put(&count.to_le_bytes()[..4])?;
            dims.iter().try_for_each(|dim| put(&dim.to_le_bytes()))?;
            put(&kind.id().to_le_bytes())?;
            put(&part.offset.to_le_bytes())?;
        }
        Ok(Self { tensors: Tensors::new(sink, alignment, parts)? })
    }

    /// Returns the name of the tensor whose bytes come next, or `None` after the last.
    #[must_use]
    pub fn current(&self) -> Option<&str> {
        self.tensors.current()
    }

    /// Writes the next bytes of the current tensor; padding after its last byte is added automatically.
    ///
    /// Empty tensors are skipped.
    ///
    /// # Errors
    /// Returns [`WriteError::TooManyBytes`] if the tensor takes fewer bytes, [`WriteError::AfterLast`] after the last
    /// tensor, [`WriteError::Io`] if the output fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.tensors.write(bytes)
    }

    /// Flushes and returns the output.
    ///
    /// # Errors
    /// Returns [`WriteError::MissingBytes`] if a tensor is incomplete, [`WriteError::Io`] if the output fails.
    pub fn finish(self) -> Result<W, WriteError> {
        self.tensors.finish()
    }
}

/// Returns the header bytes and tensor offsets, for callers that write tensors out of order.
///
/// # Errors
/// Returns [`WriteError::Gguf`] if readers would refuse the file.
pub fn layout(metadata: &Metadata, tensors: &[TensorSpec]) -> Result<Layout, WriteError> {
    Writer::new(Vec::new(), metadata, tensors)?.tensors.layout()
}

/// Checks everything that a reader would refuse, before anything is written.
fn check(metadata: &Metadata, tensors: &[TensorSpec], alignment: u64) -> Result<Vec<Part>, GgufError> {
    if let Some(index) = metadata.iter().position(|(key, _)| key.is_empty()) {
        return Err(GgufError::EmptyKey { index: index as u64 });
    }
    if let Some(tensor) = duplicate(tensors.iter().map(|spec| spec.name.as_str())) {
        return Err(GgufError::DuplicateTensor { tensor: tensor.into() });
    }
    let mut next = 0u64;
    let part = |spec: &TensorSpec| {
        let (name, bytes, offset) = (spec.name.clone(), spec.bytes()?, next);
        if name.len() > MAX_NAME {
            return Err(GgufError::NameTooLong { len: name.len(), tensor: name });
        }
        let end = offset.checked_add(bytes).and_then(|end| end.checked_next_multiple_of(alignment));
        next = end.ok_or_else(|| GgufError::TooLarge { tensor: name.clone(), dims: spec.dims.clone() })?;
        Ok(Part { name, offset, bytes })
    };
    tensors.iter().map(part).collect()
}
