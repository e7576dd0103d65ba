//! `ModelFile::open`: detects the container from the first bytes.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wildmatch::WildMatch;

use super::{ModelMetadata, ModelTensor, folder, gguf, numpy, onnx, safetensors, split};
use crate::model::{ModelFileError, checkpoint};
use bitgrain_files::MappedFile;

/// Suffix of the index file of a sharded model.
pub(crate) const INDEX_ENDING: &str = ".safetensors.index.json";

/// File format of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Container {
    /// GGUF, the format of llama.cpp.
    Gguf,
    /// safetensors, the format of Hugging Face, in one file or in shards.
    Safetensors,
    /// NumPy's format for one array.
    Npy,
    /// NumPy's archive of several arrays.
    Npz,
    /// ONNX: the constants of a graph. Read only.
    Onnx,
}

impl Container {
    /// Returns the display name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gguf => "GGUF",
            Self::Safetensors => "safetensors",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Onnx => "ONNX",
        }
    }

    /// Chooses the container of an output file from its extension.
    ///
    /// # Errors
    /// Returns [`ModelFileError::OutputName`] unless the path ends in `.gguf`, `.safetensors` or, for a sharded model,
    /// `.safetensors.index.json`.
    pub fn of_output(path: &Path) -> Result<Self, ModelFileError> {
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(INDEX_ENDING)) {
            return Ok(Self::Safetensors);
        }
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("gguf") => Ok(Self::Gguf),
            Some("safetensors") => Ok(Self::Safetensors),
            _ => Err(ModelFileError::OutputName { path: path.to_owned() }),
        }
    }
}

/// An open model: its tensors and metadata. Values are read on demand.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    container: Container,
    metadata: ModelMetadata,
    tensors: Vec<ModelTensor>,
    /// Index into `tensors` by name.
    places: HashMap<String, usize>,
}

impl ModelFile {
    /// Opens a file, the index of a sharded model, or a folder with either. Takes milliseconds regardless of size.
    ///
    /// The file is memory-mapped: no other process may modify or truncate it while the model is in use.
    ///
    /// # Errors
    /// Returns [`ModelFileError::Io`], [`ModelFileError::NotAModel`], [`ModelFileError::NoWeights`], or the error of
    /// the container's parser.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ModelFileError> {
        let path = path.as_ref();
        let weights = if path.is_dir() { folder::weights(path)? } else { path.to_owned() };
        let (container, (mut metadata, tensors)) = if weights.extension().is_some_and(|e| e == "json") {
            (Container::Safetensors, safetensors::read_sharded(&weights)?)
        } else {
            match read(MappedFile::open(&weights).map_err(ModelFileError::io(&weights))?)? {
                (Container::Gguf, first) => (Container::Gguf, split::complete(&weights, first)?),
                other => other,
            }
        };
        metadata.architecture = folder::architecture(&weights);
        let tensors = if container == Container::Safetensors && !metadata.has_note() {
            checkpoint::resolve(&weights, tensors)?
        } else {
            tensors
        };
        Ok(Self { path: weights, container, ..Self::of(tensors, metadata) })
    }

    /// Opens the content of a GGUF, safetensors, npy, npz or ONNX file in memory. `name` appears in error messages, and an npy
    /// array is named after it.
    ///
    /// # Errors
    /// Returns [`ModelFileError::NotAModel`], or the error of the container's parser.
    pub fn from_bytes(name: impl AsRef<Path>, bytes: impl Into<Arc<[u8]>>) -> Result<Self, ModelFileError> {
        let path = name.as_ref();
        let (container, (metadata, tensors)) = read(MappedFile::from_bytes(path, bytes))?;
        Ok(Self { path: path.to_owned(), container, ..Self::of(tensors, metadata) })
    }

    /// Creates a model from tensors in memory, as if read from a safetensors file. If several tensors have the same
    /// name, lookups by name return the first.
    #[must_use]
    pub fn of(tensors: Vec<ModelTensor>, metadata: ModelMetadata) -> Self {
        let mut places = HashMap::with_capacity(tensors.len());
        for (place, tensor) in tensors.iter().enumerate() {
            places.entry(tensor.name.clone()).or_insert(place);
        }
        Self { path: PathBuf::new(), container: Container::Safetensors, metadata, tensors, places }
    }

    /// Returns the model with other tensors and metadata, which are read from its own.
    pub(crate) fn renamed(&self, tensors: Vec<ModelTensor>, metadata: ModelMetadata) -> Self {
        Self { path: self.path.clone(), container: self.container, ..Self::of(tensors, metadata) }
    }

    /// Returns the path of the file that was opened: the index of a sharded model, or the weight file of a folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file format.
    #[must_use]
    pub const fn container(&self) -> Container {
        self.container
    }

    /// Returns the metadata.
    #[must_use]
    pub const fn metadata(&self) -> &ModelMetadata {
        &self.metadata
    }

    /// Returns the tensors in file order.
    #[must_use]
    pub fn tensors(&self) -> &[ModelTensor] {
        &self.tensors
    }

    /// Returns the tensor `name`.
    ///
    /// # Errors
    /// Returns [`ModelFileError::NoTensor`], with the most similar name if it shares at least half of the characters.
    pub fn tensor(&self, name: &str) -> Result<&ModelTensor, ModelFileError> {
        self.places.get(name).map(|place| &self.tensors[*place]).ok_or_else(|| {
            let shares = self.tensors.iter().map(|tensor| (common(&tensor.name, name), &tensor.name));
            let near = shares.filter(|(share, _)| 2 * share >= name.chars().count());
            let nearest = near.max_by_key(|(share, _)| *share).map(|(_, near)| near.clone());
            ModelFileError::NoTensor { name: name.to_owned(), nearest }
        })
    }

    /// Returns the tensors whose names match `pattern`, where `*` matches any characters and `?` exactly one.
    ///
    /// # Errors
    /// Returns [`ModelFileError::NoTensor`] if none matches.
    pub fn matching(&self, pattern: &str) -> Result<Vec<&ModelTensor>, ModelFileError> {
        let wanted = WildMatch::new(pattern);
        let found: Vec<&ModelTensor> = self.tensors.iter().filter(|tensor| wanted.matches(&tensor.name)).collect();
        if found.is_empty() { self.tensor(pattern).map(|only| vec![only]) } else { Ok(found) }
    }

    /// Returns the files that hold the tensors: one file, or the shards sorted by name.
    #[must_use]
    pub fn files(&self) -> Vec<&Path> {
        let mut files: BTreeSet<&Path> = self.tensors.iter().flat_map(ModelTensor::paths).collect();
        if files.is_empty() {
            files.insert(&self.path);
        }
        files.into_iter().collect()
    }

    /// Returns the number of values in all tensors.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.tensors.iter().map(ModelTensor::elements).sum()
    }

    /// Returns the size of all tensors in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tensors.iter().map(ModelTensor::bytes).sum()
    }
}

/// Reads the header of a file of any container.
fn read(file: MappedFile) -> Result<(Container, (ModelMetadata, Vec<ModelTensor>)), ModelFileError> {
    let start = file.map_all().map_err(ModelFileError::io(file.path()))?;
    let container =
        kind(&start, file.path()).ok_or_else(|| ModelFileError::NotAModel { path: file.path().to_owned() })?;
    drop(start);
    let read = match container {
        Container::Gguf => gguf::read(file)?,
        Container::Safetensors => safetensors::read(file)?,
        Container::Npy => numpy::read_npy(file)?,
        Container::Npz => numpy::read_npz(file)?,
        Container::Onnx => onnx::read(file)?,
    };
    Ok((container, read))
}

/// Counts the characters in the common prefix and suffix of two names, without overlap.
fn common(a: &str, b: &str) -> usize {
    let front = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let back = a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b).count();
    (front + back).min(a.chars().count()).min(b.chars().count())
}

fn kind(start: &[u8], path: &Path) -> Option<Container> {
    if start.starts_with(b"GGUF") {
        return Some(Container::Gguf);
    }
    if start.starts_with(b"\x93NUMPY") {
        return Some(Container::Npy);
    }
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        return Some(Container::Npz);
    }
    // Neither has ONNX magic bytes.
    if path.extension().is_some_and(|e| e == "onnx") {
        return Some(Container::Onnx);
    }
    // safetensors has no magic bytes: it starts with a length and the opening brace of JSON. The extension counts too,
    // so that a damaged file gets a specific error.
    let json = start.get(8) == Some(&b'{');
    let named = path.extension().is_some_and(|e| e == "safetensors");
    (json || named).then_some(Container::Safetensors)
}
