//! Tensors of a safetensors file or of its shards.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bitgrain_codec::weight::{DType, Sizes, WeightFormat};
use bitgrain_formats::safetensors::{Dtype, Header, Index, SafetensorsError};

use super::bytes::Bytes;
use super::note::{Entry, NOTE_KEY, Note, SCALES, ZEROS};
use super::{ModelMetadata, ModelTensor, TensorEncoding};
use crate::model::ModelFileError;
use bitgrain_files::MappedFile;

pub(crate) fn read(file: MappedFile) -> Result<(ModelMetadata, Vec<ModelTensor>), ModelFileError> {
    let path = file.path().to_owned();
    let whole = file.map_all().map_err(ModelFileError::io(file.path()))?;
    let header = Header::parse(&whole).map_err(|source| ModelFileError::Safetensors { path: path.clone(), source })?;
    drop(whole);
    let file = Arc::new(file);
    let mut tensors: Vec<ModelTensor> = Vec::with_capacity(header.tensors.len());
    for info in &header.tensors {
        let range = info.range();
        let range = range.start as u64..range.end as u64;
        tensors.push(ModelTensor {
            name: info.name.clone(),
            shape: info.shape.clone(),
            storage: storage(info.dtype),
            codes: Bytes::File { file: Arc::clone(&file), range },
            scales: None,
            zeros: None,
            view: None,
            packed: None,
        });
    }
    if let Some(note) = header.metadata_value(NOTE_KEY) {
        tensors = annotate(&path, note, tensors)?;
    }
    Ok((ModelMetadata { strings: header.metadata, ..ModelMetadata::default() }, tensors))
}

/// Reads all shards that the index at `path` names as one model.
pub(crate) fn read_sharded(path: &Path) -> Result<(ModelMetadata, Vec<ModelTensor>), ModelFileError> {
    let text = std::fs::read(path).map_err(ModelFileError::io(path))?;
    let index = Index::parse(&text).map_err(|source| match source {
        // The likeliest mistake: `config.json`, which is next to every model, instead of the index.
        SafetensorsError::Json { entry: None, message, .. } => {
            let reason = format!("not the index of a sharded model: {message}");
            ModelFileError::io(path)(io::Error::new(io::ErrorKind::InvalidData, reason))
        }
        source => ModelFileError::Safetensors { path: path.to_owned(), source },
    })?;
    let places: HashMap<&str, &str> = index.iter().collect();
    let mut arrays: HashMap<&str, Vec<&str>> = HashMap::new();
    index.iter().for_each(|(array, file)| arrays.entry(file).or_default().push(array));
    let folder = path.parent().unwrap_or(Path::new("."));
    let (mut strings, mut tensors) = (Strings::default(), Vec::new());
    for name in index.files() {
        let shard = folder.join(name);
        let (shard_metadata, shard_tensors) = read(MappedFile::open(&shard).map_err(ModelFileError::io(&shard))?)?;
        let stem = shard.file_stem().unwrap_or_default().to_string_lossy();
        for (key, value) in shard_metadata.strings.into_iter().filter(|(key, _)| key != NOTE_KEY) {
            strings.add(key, value, &stem);
        }
        let here: HashMap<&str, &ModelTensor> = shard_tensors.iter().map(|t| (t.name.as_str(), t)).collect();
        let lost = arrays.get(name).into_iter().flatten().find(|array| !holds(&here, array));
        if let Some(tensor) = lost {
            return Err(ModelFileError::NotInShard { path: shard, tensor: (*tensor).to_owned() });
        }
        // Skip tensors that the index assigns to another shard, or they would appear twice.
        tensors.extend(shard_tensors.into_iter().filter(|tensor| places.get(tensor.name.as_str()) == Some(&name)));
    }
    Ok((ModelMetadata { strings: strings.entries, ..ModelMetadata::default() }, tensors))
}

/// Merged metadata of several shards, with unique keys.
#[derive(Default)]
struct Strings {
    entries: Vec<(String, String)>,
    /// Index into `entries` by key.
    places: HashMap<String, usize>,
}

impl Strings {
    /// Adds an entry of the shard `stem`. Equal entries of several shards are merged. If shards disagree, the first
    /// keeps the key and later ones append the shard's name to it, so that no value is lost.
    fn add(&mut self, mut key: String, value: String, stem: &str) {
        loop {
            match self.places.entry(key) {
                Slot::Vacant(slot) => {
                    self.entries.push((slot.key().clone(), value));
                    slot.insert(self.entries.len() - 1);
                    return;
                }
                Slot::Occupied(slot) if self.entries[*slot.get()].1 == value => return,
                Slot::Occupied(slot) => key = format!("{}.{stem}", slot.key()),
            }
        }
    }
}

/// Returns whether an array is a tensor or part of one.
fn holds(tensors: &HashMap<&str, &ModelTensor>, array: &str) -> bool {
    let scales = || tensors.get(array.strip_suffix(SCALES)?)?.scales.as_ref();
    let zeros = || tensors.get(array.strip_suffix(ZEROS)?)?.zeros.as_ref();
    tensors.contains_key(array) || scales().is_some() || zeros().is_some()
}

/// Attaches scales and zero points to their tensors, as the note specifies.
fn annotate(path: &Path, note: &str, tensors: Vec<ModelTensor>) -> Result<Vec<ModelTensor>, ModelFileError> {
    let wrong =
        |tensor: &str, reason| ModelFileError::Note { path: path.to_owned(), tensor: tensor.to_owned(), reason };
    let note: Note = serde_json::from_str(note).map_err(|_| wrong("*", "not valid JSON"))?;
    if note.version != 1 {
        return Err(wrong("*", "unsupported version; upgrade bitgrain"));
    }
    let mut aside: HashMap<String, Bytes> = HashMap::new();
    let mut kept = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        // Only arrays of tensors in the note are set aside: a plain tensor may be named `x.scales` as well.
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
        let format: WeightFormat = format.parse().map_err(|_| wrong(&tensor.name, "unknown format"))?;
        tensor.shape.clone_from(shape);
        tensor.storage = TensorEncoding::Weights(format);
        tensor.scales = aside.remove(&format!("{}{SCALES}", tensor.name));
        tensor.zeros = aside.remove(&format!("{}{ZEROS}", tensor.name));
        let sizes =
            sizes_of(tensor, format).ok_or_else(|| wrong(&tensor.name, "its shape does not match its format"))?;
        let len = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let lens = [tensor.codes.len(), len(&tensor.scales), len(&tensor.zeros)];
        if lens != [sizes.codes as u64, 4 * sizes.scales as u64, sizes.zeros as u64] {
            return Err(wrong(&tensor.name, "array sizes do not match its shape and format"));
        }
    }
    if found < note.weights.len() {
        return Err(wrong("*", "it names tensors that are missing"));
    }
    Ok(kept)
}

fn sizes_of(tensor: &ModelTensor, format: WeightFormat) -> Option<Sizes> {
    // Skip zeros: a dimension of 0 would hide an overflow of the others, and rows and columns are products of some of
    // them.
    let mut dims = tensor.shape.iter().filter(|dim| **dim > 0);
    let elements = dims.try_fold(1_u64, |product, dim| product.checked_mul(*dim))?;
    usize::try_from(elements).ok()?;
    format.sizes(usize::try_from(tensor.rows()).ok()?, usize::try_from(tensor.cols()).ok()?).ok()
}

fn storage(dtype: Dtype) -> TensorEncoding {
    let integers = |kind| TensorEncoding::Integers { dtype: kind, name: dtype.name() };
    match dtype {
        Dtype::F64 => TensorEncoding::plain(DType::Float64),
        Dtype::F32 => TensorEncoding::plain(DType::Float32),
        Dtype::F16 => TensorEncoding::plain(DType::Float16),
        Dtype::BF16 => TensorEncoding::plain(DType::BFloat16),
        Dtype::F8_E4M3 => TensorEncoding::plain(DType::Fp8E4M3),
        Dtype::F8_E5M2 => TensorEncoding::plain(DType::Fp8E5M2),
        Dtype::I64 => integers(DType::Int64),
        Dtype::I32 => integers(DType::Int32),
        Dtype::I16 => integers(DType::Int16),
        Dtype::I8 => integers(DType::Int8),
        Dtype::U64 => integers(DType::Uint64),
        Dtype::U32 => integers(DType::Uint32),
        Dtype::U16 => integers(DType::Uint16),
        Dtype::U8 | Dtype::BOOL => integers(DType::Uint8),
        _ => TensorEncoding::Opaque { name: dtype.name() },
    }
}

/// Returns the safetensors dtype of an array of codes. `None` for packed codes, which are written as bytes.
pub(crate) fn dtype_of(storage: &TensorEncoding) -> Option<Dtype> {
    match storage {
        TensorEncoding::Integers { name, .. } => Dtype::from_name(&name.to_uppercase()),
        TensorEncoding::Opaque { name } => Dtype::from_name(name),
        TensorEncoding::Weights(WeightFormat::Ggml(_) | WeightFormat::Codebook(_) | WeightFormat::Q4F32)
        | TensorEncoding::Packed { .. } => None,
        TensorEncoding::Weights(WeightFormat::Scaled(format)) => match format.dtype {
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
