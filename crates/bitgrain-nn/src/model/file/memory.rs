//! Conversion between tensors and arrays in memory.

use std::sync::Arc;

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{DType, PartsBuf, QuantizedTensor, Sizes};

use super::bytes::Bytes;
use super::{ModelTensor, TensorEncoding};
use crate::model::ModelFileError;

impl ModelTensor {
    /// Creates a tensor from little-endian arrays: codes, plus scales and zero points where the encoding has them.
    ///
    /// ```
    /// use bitgrain_codec::weight::{DType, PartsBuf};
    /// use bitgrain_nn::{TensorEncoding, ModelTensor};
    /// let parts = PartsBuf { codes: vec![0, 0x3C, 0, 0xC0], scales: vec![], zeros: vec![] };
    /// let tensor = ModelTensor::new("half", vec![2], TensorEncoding::Weights(DType::Float16.into()), parts)?;
    /// assert_eq!(tensor.values()?, [1.0, -2.0]);
    /// # Ok::<(), bitgrain_nn::ModelFileError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ModelFileError::Codec`] if the lengths of the arrays do not match shape and encoding, and
    /// [`ModelFileError::Unreadable`] for an opaque encoding, whose sizes are unknown.
    pub fn new(
        name: impl Into<String>,
        shape: Vec<u64>,
        storage: TensorEncoding,
        parts: PartsBuf,
    ) -> Result<Self, ModelFileError> {
        let name = name.into();
        let unreadable = || ModelFileError::Unreadable { tensor: name.clone(), kind: storage.to_string() };
        let owned = |bytes: Vec<u8>| Bytes::Owned(Arc::from(bytes));
        let has_scales = !parts.scales.is_empty();
        let scales: Vec<u8> = parts.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let found = Sizes { codes: parts.codes.len(), scales: parts.scales.len(), zeros: parts.zeros.len() };
        let zeros = (!parts.zeros.is_empty()).then(|| owned(parts.zeros));
        let elements = shape.iter().try_fold(1_usize, |product, dim| product.checked_mul(usize::try_from(*dim).ok()?));
        let elements = elements.ok_or_else(unreadable)?;
        let cols = shape.last().map_or(1, |dim| usize::try_from(*dim).unwrap_or(0));
        let wanted = match &storage {
            TensorEncoding::Weights(format) => format.sizes(elements.checked_div(cols).unwrap_or(0), cols),
            TensorEncoding::Integers { dtype, .. } => {
                Ok(Sizes { codes: dtype.packed_len(elements), scales: 0, zeros: 0 })
            }
            TensorEncoding::Packed { .. } | TensorEncoding::Opaque { .. } => return Err(unreadable()),
        };
        let wanted = wanted.map_err(ModelFileError::codec(&name))?;
        if wanted != found {
            return Err(ModelFileError::codec(&name)(CodecErr::InputTooSmall { required: wanted.bytes() }));
        }
        let scales = has_scales.then(|| owned(scales));
        Ok(Self { name, shape, storage, codes: owned(parts.codes), scales, zeros, view: None, packed: None })
    }

    /// Returns the stored arrays.
    ///
    /// # Errors
    /// Returns [`ModelFileError::Io`] if the file cannot be read.
    pub fn parts(&self) -> Result<PartsBuf, ModelFileError> {
        if let Some(format) = self.storage.format().filter(|_| self.is_computed()) {
            return self.encoded(format);
        }
        let bytes = |bytes: &Option<Bytes>| bytes.as_ref().map_or(Ok(Vec::new()), |own| Ok(own.load()?.to_vec()));
        let scales: Vec<u8> = bytes(&self.scales)?;
        let scales = scales.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect();
        Ok(PartsBuf { codes: self.codes.load()?.to_vec(), scales, zeros: bytes(&self.zeros)? })
    }

    /// Copies the codes into a [`QuantizedTensor`] without decoding them.
    ///
    /// # Errors
    /// Returns [`ModelFileError::Unreadable`] if the tensor does not hold weights, and I/O errors.
    pub fn quantized(&self) -> Result<QuantizedTensor, ModelFileError> {
        let unreadable = || ModelFileError::Unreadable { tensor: self.name.clone(), kind: self.storage.to_string() };
        let format = self.storage.format().ok_or_else(unreadable)?;
        let size = |count: u64| usize::try_from(count).map_err(|_| unreadable());
        let (rows, cols) = (size(self.rows())?, size(self.cols())?);
        QuantizedTensor::from_parts(format, rows, cols, self.parts()?).map_err(ModelFileError::codec(&self.name))
    }
}

impl TensorEncoding {
    /// Returns the encoding of integers that are not weights, or `None` for a dtype without a name in safetensors.
    #[must_use]
    pub const fn integers(dtype: DType) -> Option<Self> {
        let name = match dtype {
            DType::Int64 => "I64",
            DType::Int32 => "I32",
            DType::Int16 => "I16",
            DType::Int8 => "I8",
            DType::Uint64 => "U64",
            DType::Uint32 => "U32",
            DType::Uint16 => "U16",
            DType::Uint8 => "U8",
            _ => return None,
        };
        Some(Self::Integers { dtype, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::convert::{FormatChoice, Recipe, quantize};
    use crate::model::{ModelFile, ModelMetadata};

    fn bytes_of(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn a_model_in_memory_becomes_a_file_that_reads_back() {
        let weights: Vec<f32> = (0..96).map(|i| (i as f32 * 0.3).sin()).collect();
        let int4 = QuantizedTensor::quantize("int4/32".parse().expect("known"), &weights, 32).expect("finite");
        let parts = |codes| PartsBuf { codes, scales: Vec::new(), zeros: Vec::new() };
        let coded =
            PartsBuf { codes: int4.parts().codes.to_vec(), scales: int4.parts().scales.to_vec(), zeros: Vec::new() };
        let whole = TensorEncoding::integers(DType::Int64).expect("known");
        let tensors = vec![
            ModelTensor::new("w", vec![3, 32], TensorEncoding::Weights(int4.format()), coded).expect("fits"),
            ModelTensor::new(
                "b",
                vec![3],
                TensorEncoding::Weights(DType::Float32.into()),
                parts(bytes_of(&[1.0, 2.0, 3.0])),
            )
            .expect("fits"),
            ModelTensor::new("ids", vec![1], whole, parts(vec![7, 0, 0, 0, 0, 0, 0, 0])).expect("fits"),
        ];
        let folder = tempfile::tempdir().expect("temporary directory");
        let path = folder.path().join("out.safetensors");
        let model = ModelFile::of(tensors, ModelMetadata::default());
        quantize(&model, &path, &Recipe::new(FormatChoice::Keep), &()).expect("writable");
        let back = ModelFile::open(&path).expect("just written");
        assert_eq!(back.tensor("w").expect("there").quantized().expect("weights"), int4);
        assert_eq!(back.tensor("b").expect("there").values().expect("floats"), [1.0, 2.0, 3.0]);
        assert_eq!(back.tensor("ids").expect("there").parts().expect("there").codes[0], 7);
        assert!(back.tensor("ids").expect("there").quantized().is_err());
    }

    #[test]
    fn arrays_of_other_sizes_are_rejected() {
        let parts = |count| PartsBuf { codes: vec![0; count], scales: Vec::new(), zeros: Vec::new() };
        let float = || TensorEncoding::Weights(DType::Float32.into());
        assert!(ModelTensor::new("a", vec![2, 3], float(), parts(23)).is_err());
        assert!(ModelTensor::new("a", vec![u64::MAX, 2], float(), parts(0)).is_err());
        assert!(ModelTensor::new("a", vec![4], TensorEncoding::Weights(DType::Int8.into()), parts(4)).is_err()); // no scale
        assert!(ModelTensor::new("a", vec![0, 4], float(), parts(0)).is_ok());
        assert!(ModelTensor::new("a", vec![], float(), parts(4)).is_ok());
        assert!(ModelTensor::new("a", vec![1], TensorEncoding::Opaque { name: "C64" }, parts(8)).is_err());
    }

    #[test]
    fn a_stopped_conversion_leaves_no_file() {
        struct Stopped;
        impl crate::Progress for Stopped {
            fn add(&self, _bytes: u64) {}
            fn tensor(&self, _name: &str) {}
            fn stopped(&self) -> bool {
                true
            }
        }
        let parts = PartsBuf { codes: bytes_of(&[1.0; 64]), scales: Vec::new(), zeros: Vec::new() };
        let tensor =
            ModelTensor::new("w", vec![2, 32], TensorEncoding::Weights(DType::Float32.into()), parts).expect("fits");
        let model = ModelFile::of(vec![tensor], ModelMetadata::default());
        let folder = tempfile::tempdir().expect("temporary directory");
        let recipe = Recipe::new(FormatChoice::To(DType::Int8.into()));
        let refused = quantize(&model, &folder.path().join("out.safetensors"), &recipe, &Stopped);
        assert!(matches!(refused, Err(ModelFileError::Interrupted)));
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
        assert!(matches!(crate::model::compare::compare(&model, &model, &Stopped), Err(ModelFileError::Interrupted)));
    }
}
