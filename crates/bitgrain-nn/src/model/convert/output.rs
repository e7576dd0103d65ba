//! `OutputFile`: the output of a conversion, a single file or shards with their index.

use std::io;
use std::path::{Path, PathBuf};

use bitgrain_files::{PartFile, same_file};
use bitgrain_formats::gguf::{ALIGNMENT_KEY, Metadata, Value};
use bitgrain_formats::safetensors::Index;

use super::Recipe;
use super::layout::{self, FileLayout, Slot};
use super::target::Target;
use crate::model::{Container, ModelFile, ModelFileError, ModelTensor};
use crate::model::{INDEX_ENDING, SPLIT_COUNT, SPLIT_NO, SPLIT_TENSORS};

/// Files being written. They share one address space, in which each file starts where the previous one ends.
#[derive(Debug)]
pub(crate) struct OutputFile {
    files: Vec<Shard>,
    slots: Vec<Slot>,
    index: Option<(PathBuf, PartFile, Vec<u8>)>,
}

#[derive(Debug)]
struct Shard {
    /// Offset of the shard's first byte in the shared address space.
    base: u64,
    len: u64,
    path: PathBuf,
    file: Sink,
}

/// Destination of a file.
#[derive(Debug)]
enum Sink {
    Disk(PartFile),
    /// As long as the file will be.
    Memory(Vec<u8>),
}

impl Sink {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Disk(file) => file.write_at(offset, bytes),
            Self::Memory(all) => {
                let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
                let place = all.get_mut(start..).and_then(|rest| rest.get_mut(..bytes.len()));
                place.ok_or(io::ErrorKind::FileTooLarge)?.copy_from_slice(bytes);
                Ok(())
            }
        }
    }
}

impl OutputFile {
    /// Lays out the files and writes their headers. A model is split into shards if `path` names an index of safetensors
    /// files, or if the recipe splits GGUF files.
    pub(crate) fn create(
        path: &Path,
        container: Container,
        model: &ModelFile,
        targets: &[Target],
        recipe: &Recipe,
    ) -> Result<Self, ModelFileError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut output = Self { files: Vec::new(), slots: Vec::new(), index: None };
        match (container, name.strip_suffix(INDEX_ENDING)) {
            (Container::Gguf, _) => {
                let metadata = layout::gguf_metadata(model, targets, recipe.file_type);
                if recipe.split_gguf {
                    output.add_splits(path, model, &metadata, targets, recipe.shard_bytes)?;
                } else {
                    output.add(path, model, layout::gguf(path, &metadata, model.tensors(), targets)?)?;
                }
            }
            (_, None) => output.add(path, model, layout::safetensors(path, model, model.tensors(), targets)?)?,
            (_, Some(stem)) => output.add_shards(path, stem, model, targets, recipe.shard_bytes)?,
        }
        Ok(output)
    }

    /// Lays out a single file in memory and writes its header. `path` is only a name.
    pub(crate) fn in_memory(
        path: &Path,
        container: Container,
        model: &ModelFile,
        targets: &[Target],
        recipe: &Recipe,
    ) -> Result<Self, ModelFileError> {
        let FileLayout { header, slots, len } = match container {
            Container::Gguf => {
                let metadata = layout::gguf_metadata(model, targets, recipe.file_type);
                layout::gguf(path, &metadata, model.tensors(), targets)?
            }
            _ => layout::safetensors(path, model, model.tensors(), targets)?,
        };
        let too_large = |_| ModelFileError::io(path)(io::ErrorKind::OutOfMemory.into());
        let bytes = usize::try_from(len).map_err(too_large)?;
        let mut all = Vec::new();
        all.try_reserve_exact(bytes).map_err(|_| ModelFileError::io(path)(io::ErrorKind::OutOfMemory.into()))?;
        all.extend_from_slice(&header);
        all.resize(bytes, 0);
        let shard = Shard { base: 0, len, path: path.to_owned(), file: Sink::Memory(all) };
        Ok(Self { files: vec![shard], slots, index: None })
    }

    /// Returns the bytes of a file in memory; empty for files on disk.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let memory = |shard: Shard| match shard.file {
            Sink::Memory(bytes) => Some(bytes),
            Sink::Disk(_) => None,
        };
        self.files.into_iter().find_map(memory).unwrap_or_default()
    }

    fn add(&mut self, path: &Path, model: &ModelFile, layout: FileLayout) -> Result<(), ModelFileError> {
        ensure_not_input(path, model)?;
        let base = self.files.last().map_or(0, |shard| shard.base + shard.len);
        let mut file = Sink::Disk(PartFile::create(path).map_err(ModelFileError::io(path))?);
        file.write_at(0, &layout.header).map_err(ModelFileError::io(path))?;
        self.files.push(Shard { base, len: layout.len, path: path.to_owned(), file });
        self.slots.extend(layout.slots.iter().map(|slot| slot.shifted_by(base)));
        Ok(())
    }

    /// Returns the paths of the files, the index last.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let shards = self.files.iter().map(|shard| shard.path.clone());
        shards.chain(self.index.iter().map(|(path, ..)| path.clone())).collect()
    }

    /// Adds the shards of a GGUF model with llama.cpp's names and keys. The first holds the metadata.
    fn add_splits(
        &mut self,
        path: &Path,
        model: &ModelFile,
        metadata: &Metadata,
        targets: &[Target],
        shard_bytes: u64,
    ) -> Result<(), ModelFileError> {
        let ends = shard_ends(model.tensors(), targets, shard_bytes)?;
        let too_many = || ModelFileError::Split { path: path.to_owned(), reason: "more than 65535 shards".to_owned() };
        let count = u16::try_from(ends.len()).map_err(|_| too_many())?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut start = 0;
        for (number, &end) in (0_u16..).zip(&ends) {
            let shard = path.with_file_name(format!("{stem}-{:05}-of-{count:05}.gguf", number + 1));
            let mut own = if number == 0 { metadata.clone() } else { Metadata::default() };
            own.set(SPLIT_NO, Value::U16(number));
            own.set(SPLIT_COUNT, Value::U16(count));
            own.set(SPLIT_TENSORS, Value::I32(i32::try_from(targets.len()).unwrap_or(i32::MAX)));
            if let Some(alignment) = metadata.get(ALIGNMENT_KEY) {
                own.set(ALIGNMENT_KEY, alignment.clone());
            }
            self.add(&shard, model, layout::gguf(&shard, &own, &model.tensors()[start..end], &targets[start..end])?)?;
            start = end;
        }
        Ok(())
    }

    fn add_shards(
        &mut self,
        path: &Path,
        stem: &str,
        model: &ModelFile,
        targets: &[Target],
        shard_bytes: u64,
    ) -> Result<(), ModelFileError> {
        let write = |source: bitgrain_formats::safetensors::SafetensorsError| ModelFileError::Write {
            path: path.to_owned(),
            source: source.into(),
        };
        let ends = shard_ends(model.tensors(), targets, shard_bytes)?;
        let mut entries = Vec::new();
        let mut start = 0;
        for (i, &end) in ends.iter().enumerate() {
            let name = format!("{stem}-{:05}-of-{:05}.safetensors", i + 1, ends.len());
            let shard = path.with_file_name(&name);
            let tensors = &model.tensors()[start..end];
            self.add(&shard, model, layout::safetensors(&shard, model, tensors, &targets[start..end])?)?;
            for (tensor, target) in tensors.iter().zip(&targets[start..end]) {
                entries.extend(layout::array_names(tensor, target)?.map(|array| (array, name.clone())));
            }
            start = end;
        }
        ensure_not_input(path, model)?;
        // Create the index before any shard is renamed into place, so that a failure here leaves no shards on disk.
        let file = PartFile::create(path).map_err(ModelFileError::io(path))?;
        let total = self.slots.iter().map(Slot::bytes).sum();
        let index = Index::new(Some(total), entries).map_err(write)?;
        self.index = Some((path.to_owned(), file, index.to_json().into_bytes()));
        Ok(())
    }

    pub(crate) fn slot(&self, index: usize) -> Slot {
        self.slots[index].clone()
    }

    /// Writes bytes that lie within one file.
    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ModelFileError> {
        let at = self.files.partition_point(|shard| shard.base <= offset);
        match at.checked_sub(1).map(|at| &mut self.files[at]) {
            Some(shard) if !bytes.is_empty() => {
                shard.file.write_at(offset - shard.base, bytes).map_err(ModelFileError::io(&shard.path))
            }
            _ => Ok(()),
        }
    }

    /// Syncs the files and renames them into place, the index last. Returns their total size.
    pub(crate) fn commit(mut self) -> Result<u64, ModelFileError> {
        let total = self.files.iter().map(|shard| shard.len).sum();
        for shard in &self.files {
            if let Sink::Disk(file) = &shard.file {
                file.seal(shard.len).map_err(ModelFileError::io(&shard.path))?;
            }
        }
        if let Some((path, file, text)) = &mut self.index {
            file.write_at(0, text).map_err(ModelFileError::io(&*path))?;
            file.seal(text.len() as u64).map_err(ModelFileError::io(&*path))?;
        }
        for shard in self.files {
            if let Sink::Disk(file) = shard.file {
                file.publish().map_err(ModelFileError::io(&shard.path))?;
            }
        }
        if let Some((path, file, _)) = self.index {
            file.publish().map_err(ModelFileError::io(&path))?;
        }
        Ok(total)
    }
}

/// Refuses to overwrite a file that is being read, under any of its names.
fn ensure_not_input(path: &Path, model: &ModelFile) -> Result<(), ModelFileError> {
    let mut inputs = model.files().into_iter().chain([model.path()]);
    if inputs.any(|input| same_file(input, path)) {
        return Err(ModelFileError::SameFile { path: path.to_owned() });
    }
    Ok(())
}

/// Returns the end of each shard of at most `most` bytes. Tensors keep their order and are never split.
fn shard_ends(tensors: &[ModelTensor], targets: &[Target], most: u64) -> Result<Vec<usize>, ModelFileError> {
    let (mut ends, mut filled) = (Vec::new(), 0_u64);
    for (i, (tensor, target)) in tensors.iter().zip(targets).enumerate() {
        let bytes = target.bytes(tensor)?;
        if filled > 0 && filled.saturating_add(bytes) > most {
            ends.push(i);
            filled = 0;
        }
        filled = filled.saturating_add(bytes);
    }
    ends.push(tensors.len());
    Ok(ends)
}
