//! Tensors of an ONNX model: its initializers, with quantized weights assembled.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use bitgrain_codec::weight::DType;
use bitgrain_files::MappedFile;
use bitgrain_formats::onnx::{Data, Element, Initializer, Model};

use super::bytes::Bytes;
use super::{ModelMetadata, ModelTensor, TensorEncoding};
use crate::model::{ModelFileError, checkpoint};

pub(crate) fn read(file: MappedFile) -> Result<(ModelMetadata, Vec<ModelTensor>), ModelFileError> {
    let path = file.path().to_owned();
    let whole = file.map_all().map_err(ModelFileError::io(&path))?;
    let model = Model::parse(&whole).map_err(|source| ModelFileError::Onnx { path: path.clone(), source })?;
    drop(whole);
    let (file, mut others) = (Arc::new(file), HashMap::new());
    let tensors = model.initializers.into_iter().map(|initializer| tensor(&path, &file, &mut others, initializer));
    let tensors = checkpoint::resolve_onnx(tensors.collect::<Result<_, _>>()?, &model.operators)?;
    Ok((ModelMetadata::default(), tensors))
}

/// Converts an initializer. `others` holds the files of external data by location.
fn tensor(
    model: &Path,
    file: &Arc<MappedFile>,
    others: &mut HashMap<String, Arc<MappedFile>>,
    initializer: Initializer,
) -> Result<ModelTensor, ModelFileError> {
    let codes = match initializer.data {
        Data::Range(range) => Bytes::File { file: Arc::clone(file), range: range.start as u64..range.end as u64 },
        Data::Owned(bytes) => Bytes::Owned(bytes.into()),
        Data::External { location, offset, len } => {
            let path = model.parent().unwrap_or(Path::new("")).join(&location);
            let other = match others.get(&location) {
                Some(other) => Arc::clone(other),
                None => {
                    let other = Arc::new(MappedFile::open(&path).map_err(ModelFileError::io(&path))?);
                    others.insert(location, Arc::clone(&other));
                    other
                }
            };
            let held = other.len();
            let end = offset.checked_add(len).filter(|end| *end <= held);
            let end = end.ok_or_else(|| ModelFileError::External {
                path,
                tensor: initializer.name.clone(),
                offset,
                len,
                held,
            })?;
            Bytes::File { file: other, range: offset..end }
        }
    };
    Ok(ModelTensor {
        name: initializer.name,
        shape: initializer.shape,
        storage: storage(initializer.element),
        codes,
        scales: None,
        zeros: None,
        view: None,
        packed: None,
    })
}

fn storage(element: Element) -> TensorEncoding {
    let integers = |dtype, name| TensorEncoding::Integers { dtype, name };
    match element {
        Element::F16 => TensorEncoding::plain(DType::Float16),
        Element::Bf16 => TensorEncoding::plain(DType::BFloat16),
        Element::F32 => TensorEncoding::plain(DType::Float32),
        Element::F64 => TensorEncoding::plain(DType::Float64),
        Element::E4m3 => TensorEncoding::plain(DType::Fp8E4M3),
        Element::E5m2 => TensorEncoding::plain(DType::Fp8E5M2),
        Element::I8 => integers(DType::Int8, "I8"),
        Element::I16 => integers(DType::Int16, "I16"),
        Element::I32 => integers(DType::Int32, "I32"),
        Element::I64 => integers(DType::Int64, "I64"),
        Element::U8 => integers(DType::Uint8, "U8"),
        Element::U16 => integers(DType::Uint16, "U16"),
        Element::U32 => integers(DType::Uint32, "U32"),
        Element::U64 => integers(DType::Uint64, "U64"),
        Element::Bool => integers(DType::Uint8, "BOOL"),
        Element::I4 => TensorEncoding::Opaque { name: "I4" },
        Element::U4 => TensorEncoding::Opaque { name: "U4" },
        Element::Other { name, .. } => TensorEncoding::Opaque { name },
    }
}
