//! `Writer`: a file from a list of tensors and then their bytes, without holding any.

use std::io::Write;

use super::layout::tensor_bytes;
use super::value::write_string;
use super::{GgufError, MAGIC, MAX_NAME, Metadata, TensorType, VERSION};
use crate::duplicate::duplicate;
use crate::stream::{Part, Sink, Tensors};
use crate::{Layout, WriteError};

/// A tensor that will be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// Its name, at most 63 bytes.
    pub name: String,
    /// Up to four dimensions, the contiguous one first.
    pub dims: Vec<u64>,
    /// How its weights are held.
    pub kind: TensorType,
}

impl TensorSpec {
    /// How many bytes it has.
    ///
    /// # Errors
    /// [`GgufError::DimCount`], [`GgufError::TooLarge`], or [`GgufError::RaggedRow`] if rows are not whole blocks.
    pub fn bytes(&self) -> Result<u64, GgufError> {
        tensor_bytes(&self.name, &self.dims, self.kind)
    }
}

/// Writes a file of version 3: the header at once, then the tensors in their order, in pieces of any size.
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
    /// Writes the header to `out`: `metadata` as it is, and `tensors` one behind the other.
    ///
    /// # Errors
    /// [`WriteError::Gguf`] if a reader would refuse the file or llama.cpp would not load it, before anything is
    /// written; [`WriteError::Io`] if `out` fails.
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

    /// The name of the tensor whose bytes come next, or `None` after the last.
    #[must_use]
    pub fn current(&self) -> Option<&str> {
        self.tensors.current()
    }

    /// Writes the next bytes of the current tensor; the padding after its last byte comes by itself.
    ///
    /// A tensor without bytes is passed over.
    ///
    /// # Errors
    /// [`WriteError::TooManyBytes`] if the tensor does not take that many, [`WriteError::AfterLast`] if there is none
    /// left, [`WriteError::Io`] if the output fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.tensors.write(bytes)
    }

    /// Flushes and returns the output.
    ///
    /// # Errors
    /// [`WriteError::MissingBytes`] if a tensor is not complete, [`WriteError::Io`] if the output fails.
    pub fn finish(self) -> Result<W, WriteError> {
        self.tensors.finish()
    }
}

/// The header of a file and the places of its tensors, for those who do not write them one after the other.
///
/// # Errors
/// [`WriteError::Gguf`] if a reader would refuse the file.
pub fn layout(metadata: &Metadata, tensors: &[TensorSpec]) -> Result<Layout, WriteError> {
    Writer::new(Vec::new(), metadata, tensors)?.tensors.layout()
}

/// What a reader would refuse, found before anything is written.
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
