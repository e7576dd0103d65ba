//! `Output`: a model file in the making, that appears under its name when it is complete.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bitgrain_codec::weight::{DType, GgmlBlock, WeightFormat};
use bitgrain_formats::{gguf, safetensors};

use super::target::Target;
use crate::model::{Entry, NOTE_KEY, Note, SCALES, ZEROS, dtype_of, tensor_type};
use crate::{Container, Model, ModelError, Storage, Tensor};

/// Where the arrays of a tensor go in the file.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) codes: Range<u64>,
    pub(crate) scales: Option<Range<u64>>,
    pub(crate) zeros: Option<Range<u64>>,
}

impl Slot {
    pub(crate) fn bytes(&self) -> u64 {
        [Some(&self.codes), self.scales.as_ref(), self.zeros.as_ref()]
            .into_iter()
            .flatten()
            .map(|r| r.end - r.start)
            .sum()
    }
}

/// A file that is being written beside the one it will replace.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    /// Gone once it has its real name.
    temporary: Option<PathBuf>,
    file: File,
    slots: Vec<Slot>,
    len: u64,
}

impl Output {
    /// Lays the file out and writes its header.
    pub(crate) fn create(
        path: &Path,
        container: Container,
        model: &Model,
        targets: &[Target],
    ) -> Result<Self, ModelError> {
        let (header, slots, len) = match container {
            Container::Gguf => gguf_layout(path, model, targets)?,
            Container::Safetensors | Container::Npy | Container::Npz => safetensors_layout(path, model, targets)?,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = File::create(&temporary).map_err(ModelError::io(&temporary))?;
        let mut output = Self { path: path.to_owned(), temporary: Some(temporary), file, slots, len };
        output.write_at(0, &header)?;
        Ok(output)
    }

    pub(crate) fn slot(&self, index: usize) -> Slot {
        self.slots[index].clone()
    }

    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ModelError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let written = self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.write_all(bytes));
        written.map_err(ModelError::io(&self.path))
    }

    /// Makes the file durable and gives it its name. Returns its size.
    pub(crate) fn commit(mut self) -> Result<u64, ModelError> {
        let io = || ModelError::io(&self.path);
        // Padding behind the last tensor was never written.
        self.file.set_len(self.len).map_err(io())?;
        self.file.sync_all().map_err(io())?;
        if let Some(temporary) = self.temporary.take() {
            fs::rename(&temporary, &self.path).map_err(|error| {
                // What could not get its name must not stay either.
                let _ = fs::remove_file(&temporary);
                io()(error)
            })?;
        }
        // The name itself is in the folder, which has its own place on disk.
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            let _ = folder.sync_all();
        }
        Ok(self.len)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

type Layout = (Vec<u8>, Vec<Slot>, u64);

fn gguf_layout(path: &Path, model: &Model, targets: &[Target]) -> Result<Layout, ModelError> {
    let write = |source| ModelError::Write { path: path.to_owned(), source };
    let mut metadata = model.metadata().to_gguf();
    if let Some(kind) = file_type(model.tensors(), targets) {
        metadata.set("general.file_type", kind);
    }
    metadata.set("general.quantization_version", 2_u32);
    let mut specs = Vec::with_capacity(targets.len());
    for (tensor, target) in model.tensors().iter().zip(targets) {
        let kind = tensor_type(&target.storage).ok_or_else(|| ModelError::Container {
            container: Container::Gguf.name(),
            format: target.storage.to_string(),
            tensor: tensor.name.clone(),
            hint: "",
        })?;
        let dims = tensor.shape.iter().rev().copied().collect();
        specs.push(gguf::TensorSpec { name: tensor.name.clone(), dims, kind });
    }
    let layout = gguf::layout(&metadata, &specs).map_err(write)?;
    let slots = layout.ranges.into_iter().map(|codes| Slot { codes, scales: None, zeros: None }).collect();
    Ok((layout.header, slots, layout.file_len))
}

/// The number by which llama.cpp names the format that most bytes have.
fn file_type(tensors: &[Tensor], targets: &[Target]) -> Option<u32> {
    let formats: Vec<WeightFormat> = targets.iter().filter_map(|target| target.storage.format()).collect();
    let weights = |format: &WeightFormat| {
        let same = |target: &&Target| target.storage.format() == Some(*format);
        tensors.iter().zip(targets).filter(|(_, target)| same(target)).map(|(t, _)| t.elements()).sum::<u64>()
    };
    let most = formats.iter().copied().max_by_key(weights)?;
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
        WeightFormat::Q4F32 => return None,
    })
}

fn safetensors_layout(path: &Path, model: &Model, targets: &[Target]) -> Result<Layout, ModelError> {
    let write = |source| ModelError::Write { path: path.to_owned(), source };
    let mut specs = Vec::new();
    let mut note = Note { version: 1, ..Note::default() };
    for (tensor, target) in model.tensors().iter().zip(targets) {
        specs.extend(arrays(tensor, &target.storage)?);
        // By its full name: what people read leaves out `/none`, and a reader would expect scales.
        if let Some(format) = target.storage.format().filter(|_| !target.storage.is_self_evident()) {
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
    let places: std::collections::HashMap<&str, Range<u64>> =
        specs.iter().map(|spec| spec.name.as_str()).zip(layout.ranges.iter().cloned()).collect();
    let place = |name: &str| places.get(name).cloned();
    let slots = model.tensors().iter().zip(targets).map(|(tensor, target)| {
        let scaled = !target.storage.is_self_evident();
        let aside = |end| if scaled { place(&format!("{}{end}", tensor.name)) } else { None };
        Slot { codes: place(&tensor.name).unwrap_or_default(), scales: aside(SCALES), zeros: aside(ZEROS) }
    });
    let slots = slots.collect();
    Ok((layout.header, slots, layout.file_len))
}

/// The arrays that a tensor becomes: codes, and scales and zero points where there are any.
fn arrays(tensor: &Tensor, storage: &Storage) -> Result<Vec<safetensors::TensorSpec>, ModelError> {
    let spec =
        |end: &str, dtype, shape| safetensors::TensorSpec { name: format!("{}{end}", tensor.name), dtype, shape };
    let own = dtype_of(storage);
    let Some(format) = storage.format().filter(|_| !storage.is_self_evident()) else {
        let dtype = own.unwrap_or(safetensors::Dtype::U8);
        return Ok(vec![spec("", dtype, tensor.shape.clone())]);
    };
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (rows, cols) = (size(tensor.rows()), size(tensor.cols()));
    let sizes = format.sizes(rows, cols).map_err(ModelError::codec(&tensor.name))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_cannot_be_written_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let temporary = folder.path().join(".out.part");
        std::fs::write(&temporary, "header").expect("writable");
        // Opened to be read: every write fails, as on a full disk.
        let file = File::open(&temporary).expect("just written");
        let path = folder.path().join("out.gguf");
        let mut output = Output { path: path.clone(), temporary: Some(temporary.clone()), file, slots: vec![], len: 6 };
        let refused = output.write_at(0, b"bytes").expect_err("not writable");
        assert!(matches!(refused, ModelError::Io { .. }), "{refused}");
        drop(output);
        assert!(!temporary.exists() && !path.exists());
    }

    #[test]
    fn an_output_that_is_not_committed_never_had_a_name() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let temporary = folder.path().join(".out.part");
        let file = File::create(&temporary).expect("writable");
        let path = folder.path().join("out.gguf");
        let mut output = Output { path: path.clone(), temporary: Some(temporary.clone()), file, slots: vec![], len: 6 };
        output.write_at(0, b"bytes!").expect("writable");
        assert!(temporary.exists() && !path.exists());
        assert_eq!(output.commit().expect("a folder to be named in"), 6);
        assert!(!temporary.exists() && path.exists());
    }
}
