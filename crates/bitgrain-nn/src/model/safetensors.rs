//! A safetensors file, or the shards of one, as tensors.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use bitgrain_codec::weight::{DType, Sizes, WeightFormat};
use bitgrain_formats::safetensors::{Dtype, Header, Index};

use super::bytes::Bytes;
use super::mapped::Mapped;
use super::note::{Entry, NOTE_KEY, Note, SCALES, ZEROS};
use super::{Metadata, Storage, Tensor};
use crate::ModelError;

pub(crate) fn read(file: Mapped) -> Result<(Metadata, Vec<Tensor>), ModelError> {
    let path = file.path().to_owned();
    let whole = file.whole()?;
    let header = Header::parse(&whole).map_err(|source| ModelError::Safetensors { path: path.clone(), source })?;
    drop(whole);
    let file = Arc::new(file);
    let mut tensors: Vec<Tensor> = Vec::with_capacity(header.tensors.len());
    for info in &header.tensors {
        let range = info.range();
        let range = range.start as u64..range.end as u64;
        tensors.push(Tensor {
            name: info.name.clone(),
            shape: info.shape.clone(),
            storage: storage(info.dtype),
            codes: Bytes::File { file: Arc::clone(&file), range },
            scales: None,
            zeros: None,
        });
    }
    if let Some(note) = header.metadata_value(NOTE_KEY) {
        tensors = annotate(&path, note, tensors)?;
    }
    Ok((Metadata { strings: header.metadata, ..Metadata::default() }, tensors))
}

/// Every shard that the index at `path` names, as one model.
pub(crate) fn read_sharded(path: &Path) -> Result<(Metadata, Vec<Tensor>), ModelError> {
    let text = std::fs::read(path).map_err(ModelError::io(path))?;
    let wrong = |source| ModelError::Safetensors { path: path.to_owned(), source };
    let index = Index::parse(&text).map_err(wrong)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let (mut metadata, mut tensors) = (Metadata::default(), Vec::new());
    for name in index.files() {
        let shard = folder.join(name);
        let (shard_metadata, shard_tensors) = read(Mapped::open(&shard)?)?;
        for entry in shard_metadata.strings {
            if !metadata.strings.contains(&entry) && entry.0 != NOTE_KEY {
                metadata.strings.push(entry);
            }
        }
        let here: HashMap<&str, &Tensor> = shard_tensors.iter().map(|t| (t.name.as_str(), t)).collect();
        let lost = index.iter().find(|(array, file)| *file == name && !holds(&here, array));
        if let Some((tensor, _)) = lost {
            return Err(ModelError::NotInShard { path: shard, tensor: tensor.to_owned() });
        }
        // A tensor that the index places elsewhere would be there twice.
        tensors.extend(shard_tensors.into_iter().filter(|tensor| index.file(&tensor.name) == Some(name)));
    }
    Ok((metadata, tensors))
}

/// Whether an array is a tensor, or part of one.
fn holds(tensors: &HashMap<&str, &Tensor>, array: &str) -> bool {
    let scales = || tensors.get(array.strip_suffix(SCALES)?)?.scales.as_ref();
    let zeros = || tensors.get(array.strip_suffix(ZEROS)?)?.zeros.as_ref();
    tensors.contains_key(array) || scales().is_some() || zeros().is_some()
}

/// Joins codes, scales and zero points to the tensors they belong to, as the note says.
fn annotate(path: &Path, note: &str, tensors: Vec<Tensor>) -> Result<Vec<Tensor>, ModelError> {
    let wrong = |tensor: &str, reason| ModelError::Note { path: path.to_owned(), tensor: tensor.to_owned(), reason };
    let note: Note = serde_json::from_str(note).map_err(|_| wrong("*", "it is not the JSON of a note"))?;
    if note.version != 1 {
        return Err(wrong("*", "it has a version that this program does not know"));
    }
    let mut aside: HashMap<String, Bytes> = HashMap::new();
    let mut kept = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let owner = [SCALES, ZEROS].iter().find_map(|end| tensor.name.strip_suffix(end));
        if owner.is_some_and(|owner| note.weights.contains_key(owner)) {
            aside.insert(tensor.name, tensor.codes);
        } else {
            kept.push(tensor);
        }
    }
    let mut found = 0;
    for tensor in &mut kept {
        let Some(Entry { format, shape }) = note.weights.get(&tensor.name) else { continue };
        found += 1;
        let format: WeightFormat = format.parse().map_err(|_| wrong(&tensor.name, "its format is not known"))?;
        tensor.shape.clone_from(shape);
        tensor.storage = Storage::Weights(format);
        tensor.scales = aside.remove(&format!("{}{SCALES}", tensor.name));
        tensor.zeros = aside.remove(&format!("{}{ZEROS}", tensor.name));
        let sizes =
            sizes_of(tensor, format).ok_or_else(|| wrong(&tensor.name, "its shape is not one of this format"))?;
        let len = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let lens = [tensor.codes.len(), len(&tensor.scales), len(&tensor.zeros)];
        if lens != [sizes.codes as u64, 4 * sizes.scales as u64, sizes.zeros as u64] {
            return Err(wrong(&tensor.name, "its arrays do not have the sizes that its shape and format ask for"));
        }
    }
    if found < note.weights.len() {
        return Err(wrong("*", "it names tensors that are not there"));
    }
    Ok(kept)
}

fn sizes_of(tensor: &Tensor, format: WeightFormat) -> Option<Sizes> {
    let elements = tensor.shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim))?;
    usize::try_from(elements).ok()?;
    format.sizes(usize::try_from(tensor.rows()).ok()?, usize::try_from(tensor.cols()).ok()?).ok()
}

fn storage(dtype: Dtype) -> Storage {
    let integers = |kind| Storage::Integers { dtype: kind, name: dtype.name() };
    match dtype {
        Dtype::F64 => Storage::plain(DType::Float64),
        Dtype::F32 => Storage::plain(DType::Float32),
        Dtype::F16 => Storage::plain(DType::Float16),
        Dtype::BF16 => Storage::plain(DType::BFloat16),
        Dtype::F8_E4M3 => Storage::plain(DType::Fp8E4M3),
        Dtype::F8_E5M2 => Storage::plain(DType::Fp8E5M2),
        Dtype::I64 => integers(DType::Int64),
        Dtype::I32 => integers(DType::Int32),
        Dtype::I16 => integers(DType::Int16),
        Dtype::I8 => integers(DType::Int8),
        Dtype::U64 => integers(DType::Uint64),
        Dtype::U32 => integers(DType::Uint32),
        Dtype::U16 => integers(DType::Uint16),
        Dtype::U8 | Dtype::BOOL => integers(DType::Uint8),
        _ => Storage::Opaque { name: dtype.name() },
    }
}

/// The dtype under which an array of codes is written, if safetensors has one; packed codes are bytes.
pub(crate) fn dtype_of(storage: &Storage) -> Option<Dtype> {
    match storage {
        Storage::Integers { name, .. } => Dtype::from_name(&name.to_uppercase()),
        Storage::Opaque { name } => Dtype::from_name(name),
        Storage::Weights(WeightFormat::Ggml(_) | WeightFormat::Q4F32) => None,
        Storage::Weights(WeightFormat::Scaled(format)) => match format.dtype {
            DType::Float64 => Some(Dtype::F64),
            DType::Float32 => Some(Dtype::F32),
            DType::Float16 => Some(Dtype::F16),
            DType::BFloat16 => Some(Dtype::BF16),
            DType::Fp8E4M3 => Some(Dtype::F8_E4M3),
            DType::Fp8E5M2 => Some(Dtype::F8_E5M2),
            DType::Int64 => Some(Dtype::I64),
            DType::Int32 => Some(Dtype::I32),
            DType::Int16 => Some(Dtype::I16),
            DType::Int8 => Some(Dtype::I8),
            DType::Uint64 => Some(Dtype::U64),
            DType::Uint32 => Some(Dtype::U32),
            DType::Uint16 => Some(Dtype::U16),
            DType::Uint8 => Some(Dtype::U8),
            DType::Fp4 | DType::Int4 | DType::Int2 | DType::Uint4 | DType::Uint2 | DType::Ternary | DType::Binary => {
                None
            }
        },
    }
}
