//! `Writer`: streams a file from a list of tensors followed by their bytes.

use std::cmp::Reverse;
use std::io::Write;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::layout::tensor_bytes;
use super::{Dtype, MAX_HEADER, METADATA_KEY, SafetensorsError};
use crate::duplicate::duplicate;
use crate::stream::{Part, Sink, Tensors};
use crate::{Layout, WriteError};

/// Header length is padded to a multiple of this, which aligns the data for any element type.
const HEADER_ALIGNMENT: usize = 8;

/// Tensor to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// Name; not `__metadata__`.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Dimensions, outermost first.
    pub shape: Vec<u64>,
}

impl TensorSpec {
    /// Returns the size in bytes.
    ///
    /// # Errors
    /// Returns [`SafetensorsError::TooLarge`], or [`SafetensorsError::PartialByte`] if the elements do not fill whole
    /// bytes.
    pub fn bytes(&self) -> Result<u64, SafetensorsError> {
        tensor_bytes(&self.name, self.dtype, &self.shape)
    }
}

/// Sorts tensors as the reference implementation does: widest elements first, then by name.
///
/// Each tensor then starts at a multiple of its element size, so that loaders can use the mapped file directly. Any
/// other order is also valid, but some tensors may have to be copied before use.
pub fn order(specs: &mut [TensorSpec]) {
    specs.sort_by(|a, b| (Reverse(a.dtype), &a.name).cmp(&(Reverse(b.dtype), &b.name)));
}

/// Writes a file: the header first, then the tensors in the given order, in pieces of any size.
///
/// ```
/// use bitgrain_formats::safetensors::{Dtype, Header, TensorSpec, Writer, order};
/// let mut specs = [("a", Dtype::U8), ("b", Dtype::F32)]
///     .map(|(name, dtype)| TensorSpec { name: name.into(), dtype, shape: vec![1] });
/// order(&mut specs); // b before a: four bytes before one
/// let mut writer = Writer::new(Vec::new(), &[("format".into(), "pt".into())], &specs)?;
/// writer.write(&1.5f32.to_le_bytes())?;
/// writer.write(&[7])?;
/// let file = writer.finish()?;
/// let header = Header::parse(&file)?;
/// assert_eq!((header.metadata_value("format"), header.tensors[1].name.as_str()), (Some("pt"), "a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W: Write> {
    tensors: Tensors<W>,
}

impl<W: Write> Writer<W> {
    /// Writes the header to `out`. Without `metadata`, the file has no `__metadata__` entry.
    ///
    /// # Errors
    /// Returns [`WriteError::Safetensors`] before anything is written if readers would refuse the file,
    /// [`WriteError::Io`] if `out` fails.
    pub fn new(out: W, metadata: &[(String, String)], tensors: &[TensorSpec]) -> Result<Self, WriteError> {
        let parts = check(metadata, tensors)?;
        let mut text = Vec::new();
        let json = HeaderJson { metadata, tensors, parts: &parts };
        serde_json::to_writer(&mut text, &json).map_err(std::io::Error::from)?;
        text.resize(text.len().next_multiple_of(HEADER_ALIGNMENT), b' ');
        let len = text.len() as u64;
        if len > MAX_HEADER {
            return Err(SafetensorsError::HeaderTooLarge { len }.into());
        }
        let mut sink = Sink::new(out);
        sink.put(&len.to_le_bytes())?;
        sink.put(&text)?;
        Ok(Self { tensors: Tensors::new(sink, 1, parts)? })
    }

    /// Returns the name of the tensor whose bytes come next, or `None` after the last.
    #[must_use]
    pub fn current(&self) -> Option<&str> {
        self.tensors.current()
    }

    /// Writes the next bytes of the current tensor. Empty tensors are skipped.
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
/// Returns [`WriteError::Safetensors`] if readers would refuse the file.
pub fn layout(metadata: &[(String, String)], tensors: &[TensorSpec]) -> Result<Layout, WriteError> {
    Writer::new(Vec::new(), metadata, tensors)?.tensors.layout()
}

/// Checks everything that a reader would refuse, before anything is written.
fn check(metadata: &[(String, String)], tensors: &[TensorSpec]) -> Result<Vec<Part>, SafetensorsError> {
    if let Some(key) = duplicate(metadata.iter().map(|(key, _)| key.as_str())) {
        return Err(SafetensorsError::DuplicateKey { key: key.into() });
    }
    if let Some(tensor) = duplicate(tensors.iter().map(|spec| spec.name.as_str())) {
        return Err(SafetensorsError::DuplicateTensor { tensor: tensor.into() });
    }
    let mut next = 0u64;
    let part = |spec: &TensorSpec| {
        if spec.name == METADATA_KEY {
            return Err(SafetensorsError::ReservedName);
        }
        let (name, offset, bytes) = (spec.name.clone(), next, spec.bytes()?);
        let end = offset.checked_add(bytes);
        next = end.ok_or_else(|| SafetensorsError::TooLarge { tensor: name.clone(), shape: spec.shape.clone() })?;
        Ok(Part { name, offset, bytes })
    };
    tensors.iter().map(part).collect()
}

struct HeaderJson<'a> {
    metadata: &'a [(String, String)],
    tensors: &'a [TensorSpec],
    parts: &'a [Part],
}

#[derive(serde::Serialize)]
struct Fields<'a> {
    dtype: &'static str,
    shape: &'a [u64],
    data_offsets: [u64; 2],
}

impl Serialize for HeaderJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.metadata.is_empty() {
            map.serialize_entry(METADATA_KEY, &Ordered(self.metadata))?;
        }
        for (TensorSpec { name, dtype, shape }, part) in self.tensors.iter().zip(self.parts) {
            let data_offsets = [part.offset, part.offset + part.bytes];
            map.serialize_entry(name, &Fields { dtype: dtype.name(), shape, data_offsets })?;
        }
        map.end()
    }
}

/// List of entries, serialized as a JSON object.
pub(super) struct Ordered<'a, K, V>(pub(super) &'a [(K, V)]);

impl<K: Serialize, V: Serialize> Serialize for Ordered<'_, K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
