//! Tensors of a GGUF file.

use std::sync::Arc;

use bitgrain_codec::weight::{DType, WeightFormat};
use bitgrain_formats::gguf::{Header, TensorType};

use super::bytes::Bytes;
use super::{ModelMetadata, ModelTensor, TensorEncoding};
use crate::model::ModelFileError;
use bitgrain_files::MappedFile;

pub(crate) fn read(file: MappedFile) -> Result<(ModelMetadata, Vec<ModelTensor>), ModelFileError> {
    let whole = file.map_all().map_err(ModelFileError::io(file.path()))?;
    let header =
        Header::parse(&whole).map_err(|source| ModelFileError::Gguf { path: file.path().to_owned(), source })?;
    drop(whole);
    let file = Arc::new(file);
    let tensor = |info: &bitgrain_formats::gguf::TensorInfo| {
        let start = header.data_start + info.offset;
        ModelTensor {
            name: info.name.clone(),
            shape: info.shape(),
            storage: storage(info.kind),
            codes: Bytes::File { file: Arc::clone(&file), range: start..start + info.bytes },
            scales: None,
            zeros: None,
            view: None,
            packed: None,
        }
    };
    let tensors = header.tensors.iter().map(tensor).collect();
    let version = Some(header.version);
    Ok((ModelMetadata { gguf: header.metadata, version, ..ModelMetadata::default() }, tensors))
}

fn storage(kind: TensorType) -> TensorEncoding {
    let integers = |dtype| TensorEncoding::Integers { dtype, name: kind.name() };
    match kind {
        TensorType::F64 => TensorEncoding::plain(DType::Float64),
        TensorType::F32 => TensorEncoding::plain(DType::Float32),
        TensorType::F16 => TensorEncoding::plain(DType::Float16),
        TensorType::BF16 => TensorEncoding::plain(DType::BFloat16),
        TensorType::I64 => integers(DType::Int64),
        TensorType::I32 => integers(DType::Int32),
        TensorType::I16 => integers(DType::Int16),
        TensorType::I8 => integers(DType::Int8),
        _ => match kind.block() {
            Some(block) => TensorEncoding::Weights(WeightFormat::Ggml(block)),
            None => match kind.codebook() {
                Some(block) => TensorEncoding::Weights(WeightFormat::Codebook(block)),
                None => TensorEncoding::Opaque { name: kind.name() },
            },
        },
    }
}

/// Returns the GGUF tensor type of an encoding, if it has one.
pub(crate) fn tensor_type(storage: &TensorEncoding) -> Option<TensorType> {
    match storage {
        TensorEncoding::Weights(WeightFormat::Ggml(block)) => {
            TensorType::ALL.into_iter().find(|kind| kind.block() == Some(*block))
        }
        TensorEncoding::Weights(WeightFormat::Codebook(block)) => Some((*block).into()),
        TensorEncoding::Weights(WeightFormat::Scaled(format)) => match format.dtype {
            DType::Float64 => Some(TensorType::F64),
            DType::Float32 => Some(TensorType::F32),
            DType::Float16 => Some(TensorType::F16),
            DType::BFloat16 => Some(TensorType::BF16),
            _ => None,
        },
        TensorEncoding::Weights(WeightFormat::Q4F32) | TensorEncoding::Packed { .. } => None,
        TensorEncoding::Integers { dtype, .. } => match dtype {
            DType::Int64 => Some(TensorType::I64),
            DType::Int32 => Some(TensorType::I32),
            DType::Int16 => Some(TensorType::I16),
            DType::Int8 => Some(TensorType::I8),
            _ => None,
        },
        TensorEncoding::Opaque { name } => TensorType::ALL.into_iter().find(|kind| kind.name() == *name),
    }
}
