//! File layout: headers and the slot of each tensor.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use bitgrain_codec::weight::{CodebookBlock, DType, GgmlBlock, WeightFormat};
use bitgrain_formats::{gguf, safetensors};

use super::target::Target;
use crate::model::{Container, ModelFile, ModelFileError, ModelTensor};
use crate::model::{Entry, NOTE_KEY, Note, SCALES, ZEROS, dtype_of, tensor_type};

/// Byte ranges of a tensor's arrays in the file.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) codes: Range<u64>,
    pub(crate) scales: Option<Range<u64>>,
    pub(crate) zeros: Option<Range<u64>>,
    /// An array that is the same for all rows.
    pub(crate) constant: Option<Range<u64>>,
}

impl Slot {
    /// Returns the slot moved by `base` bytes.
    pub(super) fn shifted_by(&self, base: u64) -> Self {
        let moved = |range: &Range<u64>| range.start + base..range.end + base;
        let all = [&self.scales, &self.zeros, &self.constant];
        let [scales, zeros, constant] = all.map(|range| range.as_ref().map(moved));
        Self { codes: moved(&self.codes), scales, zeros, constant }
    }

    pub(crate) fn bytes(&self) -> u64 {
        [Some(&self.codes), self.scales.as_ref(), self.zeros.as_ref(), self.constant.as_ref()]
            .into_iter()
            .flatten()
            .map(|r| r.end - r.start)
            .sum()
    }
}

/// Layout of a file before its tensors are written.
#[derive(Debug)]
pub(super) struct FileLayout {
    pub(super) header: Vec<u8>,
    /// Slot of each tensor, in order.
    pub(super) slots: Vec<Slot>,
    pub(super) len: u64,
}

/// Returns the metadata of a GGUF file. `named` is the file type of a named mix.
pub(super) fn gguf_metadata(model: &ModelFile, targets: &[Target], named: Option<u32>) -> gguf::Metadata {
    let mut metadata = model.metadata().to_gguf();
    if let Some(kind) = named.or_else(|| file_type(model.tensors(), targets)) {
        metadata.set("general.file_type", kind);
    }
    // The version of the block layouts that llama.cpp expects (GGML_QNT_VERSION).
    metadata.set("general.quantization_version", 2_u32);
    metadata
}

/// Lays out a GGUF file with some of a model's tensors.
pub(super) fn gguf(
    path: &Path,
    metadata: &gguf::Metadata,
    tensors: &[ModelTensor],
    targets: &[Target],
) -> Result<FileLayout, ModelFileError> {
    let write = |source| ModelFileError::Write { path: path.to_owned(), source };
    let mut specs = Vec::with_capacity(targets.len());
    for (tensor, target) in tensors.iter().zip(targets) {
        let kind = tensor_type(&target.storage).ok_or_else(|| ModelFileError::Container {
            container: Container::Gguf.name(),
            format: target.storage.to_string(),
            tensor: tensor.name.clone(),
            hint: "",
        })?;
        let dims = tensor.shape.iter().rev().copied().collect();
        specs.push(gguf::TensorSpec { name: tensor.name.clone(), dims, kind });
    }
    let layout = gguf::layout(metadata, &specs).map_err(write)?;
    let slots =
        layout.ranges.into_iter().map(|codes| Slot { codes, scales: None, zeros: None, constant: None }).collect();
    Ok(FileLayout { header: layout.header, slots, len: layout.file_len })
}

/// Returns llama.cpp's number (`LLAMA_FTYPE_*`) of the format that most weights have.
fn file_type(tensors: &[ModelTensor], targets: &[Target]) -> Option<u32> {
    let mut weights: HashMap<&str, (u64, WeightFormat)> = HashMap::new();
    for (tensor, target) in tensors.iter().zip(targets) {
        if let Some(format) = target.storage.format() {
            weights.entry(format.name()).or_insert((0, format)).0 += tensor.elements();
        }
    }
    // Ties are broken by name, so that the result does not depend on the iteration order of the map.
    let most = weights.into_iter().max_by_key(|(name, (count, _))| (*count, *name)).map(|(_, (_, format))| format)?;
    Some(match most {
        WeightFormat::Ggml(block) => match block {
            GgmlBlock::Q4_0 => 2,
            GgmlBlock::Q4_1 => 3,
            GgmlBlock::Q8_0 => 7,
            GgmlBlock::Q5_0 => 8,
            GgmlBlock::Q5_1 => 9,
            GgmlBlock::Q2_K => 10,
            GgmlBlock::Q3_K => 11,
            GgmlBlock::Q4_K => 14,
            GgmlBlock::Q5_K => 16,
            GgmlBlock::Q6_K => 18,
            GgmlBlock::IQ4_NL => 25,
            GgmlBlock::TQ1_0 => 36,
            GgmlBlock::TQ2_0 => 37,
            GgmlBlock::MXFP4 => 38,
        },
        WeightFormat::Scaled(format) => match format.dtype {
            DType::Float16 => 1,
            DType::BFloat16 => 32,
            _ => 0,
        },
        WeightFormat::Codebook(block) => match block {
            CodebookBlock::IQ2_XXS => 19,
            CodebookBlock::IQ2_XS => 20,
            CodebookBlock::IQ3_XXS => 23,
            CodebookBlock::IQ1_S => 24,
            CodebookBlock::IQ3_S => 26,
            CodebookBlock::IQ2_S => 28,
            CodebookBlock::IQ4_XS => 30,
            CodebookBlock::IQ1_M => 31,
            CodebookBlock::NVFP4 => 39,
            CodebookBlock::Q1_0 => 40,
            CodebookBlock::Q2_0 => return None,
        },
        WeightFormat::Q4F32 => return None,
    })
}

/// Lays out a safetensors file with some of a model's tensors.
pub(super) fn safetensors(
    path: &Path,
    model: &ModelFile,
    tensors: &[ModelTensor],
    targets: &[Target],
) -> Result<FileLayout, ModelFileError> {
    let write = |source| ModelFileError::Write { path: path.to_owned(), source };
    let mut specs = Vec::new();
    let mut note = Note { version: 1, ..Note::default() };
    for (tensor, target) in tensors.iter().zip(targets) {
        specs.extend(arrays(tensor, target)?);
        // Use the full name: the display form omits `/none`, and a reader would then expect scales.
        let noted = target.scheme.is_none() && !target.storage.is_self_evident();
        if let Some(format) = target.storage.format().filter(|_| noted) {
            let format = format.to_string();
            note.weights.insert(tensor.name.clone(), Entry { format, shape: tensor.shape.clone() });
        }
    }
    safetensors::order(&mut specs);
    let mut metadata = model.metadata().to_strings();
    if !note.weights.is_empty() {
        let text = serde_json::to_string(&note).map_err(|error| write(std::io::Error::from(error).into()))?;
        metadata.push((NOTE_KEY.to_owned(), text));
    }
    let layout = safetensors::layout(&metadata, &specs).map_err(write)?;
    let places: HashMap<&str, Range<u64>> =
        specs.iter().map(|spec| spec.name.as_str()).zip(layout.ranges.iter().cloned()).collect();
    let place = |name: &str| places.get(name).cloned();
    let slots = tensors.iter().zip(targets).map(|(tensor, target)| {
        if let (Some(scheme), Some(format)) = (target.scheme, target.encode) {
            let mut ranges = scheme.arrays(tensor, format).into_iter().map(|spec| place(&spec.name));
            let (codes, scales) = (ranges.next().flatten().unwrap_or_default(), ranges.next().flatten());
            return Slot { codes, scales, zeros: None, constant: ranges.next().flatten() };
        }
        let scaled = !target.storage.is_self_evident();
        let aside = |end| if scaled { place(&format!("{}{end}", tensor.name)) } else { None };
        Slot {
            codes: place(&tensor.name).unwrap_or_default(),
            scales: aside(SCALES),
            zeros: aside(ZEROS),
            constant: None,
        }
    });
    Ok(FileLayout { slots: slots.collect(), header: layout.header, len: layout.file_len })
}

/// Returns the names of the arrays that a tensor is stored as.
pub(super) fn array_names(
    tensor: &ModelTensor,
    target: &Target,
) -> Result<impl Iterator<Item = String>, ModelFileError> {
    Ok(arrays(tensor, target)?.into_iter().map(|spec| spec.name))
}

/// Returns the arrays that a tensor is stored as: codes, and scales and zero points if it has them.
fn arrays(tensor: &ModelTensor, target: &Target) -> Result<Vec<safetensors::TensorSpec>, ModelFileError> {
    if let (Some(scheme), Some(format)) = (target.scheme, target.encode) {
        return Ok(scheme.arrays(tensor, format));
    }
    let storage = &target.storage;
    let spec =
        |end: &str, dtype, shape| safetensors::TensorSpec { name: format!("{}{end}", tensor.name), dtype, shape };
    let own = dtype_of(storage);
    let Some(format) = storage.format().filter(|_| !storage.is_self_evident()) else {
        let dtype = own.unwrap_or(safetensors::Dtype::U8);
        return Ok(vec![spec("", dtype, tensor.shape.clone())]);
    };
    let (rows, cols) = tensor.matrix_shape()?;
    let sizes = format.sizes(rows, cols).map_err(ModelFileError::codec(&tensor.name))?;
    let per_row = |count: usize| match count.checked_div(rows) {
        Some(each) if each * rows == count && rows > 1 => vec![rows as u64, each as u64],
        _ => vec![count as u64],
    };
    let mut all = vec![match own {
        Some(dtype) => spec("", dtype, tensor.shape.clone()),
        None => spec("", safetensors::Dtype::U8, per_row(sizes.codes)),
    }];
    if sizes.scales > 0 {
        all.push(spec(SCALES, safetensors::Dtype::F32, per_row(sizes.scales)));
    }
    if sizes.zeros > 0 {
        all.push(spec(ZEROS, safetensors::Dtype::U8, per_row(sizes.zeros)));
    }
    Ok(all)
}
