//! Opening: what kind of model a path is, seen from its first bytes.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use wildmatch::WildMatch;

use super::{ModelMetadata, ModelTensor, folder, gguf, numpy, safetensors};
use crate::model::ModelFileError;
use bitgrain_files::MappedFile;

/// What the name of the index of a sharded model ends in.
pub(crate) const INDEX_ENDING: &str = ".safetensors.index.json";

/// The kind of file a model is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Container {
    /// llama.cpp's.
    Gguf,
    /// Hugging Face's, in one file or several.
    Safetensors,
    /// NumPy's, one array.
    Npy,
    /// NumPy's, several arrays.
    Npz,
}

impl Container {
    /// The name people use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gguf => "GGUF",
            Self::Safetensors => "safetensors",
            Self::Npy => "npy",
            Self::Npz => "npz",
        }
    }

    /// What a model is written as, by the name of its file.
    ///
    /// # Errors
    /// [`ModelFileError::OutputName`] unless it ends in `.gguf`, `.safetensors` or, for a sharded model,
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

/// A model that was opened: its tensors, what it says about itself. No values are read yet.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    container: Container,
    metadata: ModelMetadata,
    tensors: Vec<ModelTensor>,
    /// Where in `tensors` each name is.
    places: HashMap<String, usize>,
}

impl ModelFile {
    /// Opens a file, the index of a sharded model, or a folder with either. Takes milliseconds whatever the size.
    ///
    /// The file is mapped: it must not be changed or cut short by someone else while the model is in use.
    ///
    /// # Errors
    /// [`ModelFileError::Io`], [`ModelFileError::NotAModel`], [`ModelFileError::NoWeights`], and what the containers refuse.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ModelFileError> {
        let path = path.as_ref();
        let weights = if path.is_dir() { folder::weights(path)? } else { path.to_owned() };
        let (container, (mut metadata, tensors)) = if weights.extension().is_some_and(|e| e == "json") {
            (Container::Safetensors, safetensors::read_sharded(&weights)?)
        } else {
            let file = MappedFile::open(&weights).map_err(ModelFileError::io(&weights))?;
            let start = file.whole().map_err(ModelFileError::io(file.path()))?;
            let container =
                kind(&start, &weights).ok_or_else(|| ModelFileError::NotAModel { path: weights.clone() })?;
            drop(start);
            let read = match container {
                Container::Gguf => gguf::read(file)?,
                Container::Safetensors => safetensors::read(file)?,
                Container::Npy => numpy::read_npy(file)?,
                Container::Npz => numpy::read_npz(file)?,
            };
            (container, read)
        };
        metadata.architecture = folder::architecture(&weights);
        Ok(Self { path: weights, container, ..Self::of(tensors, metadata) })
    }

    /// A model of tensors in memory, as if it had been read from a safetensors file without a name. Of tensors with the
    /// same name the first counts.
    #[must_use]
    pub fn of(tensors: Vec<ModelTensor>, metadata: ModelMetadata) -> Self {
        let mut places = HashMap::with_capacity(tensors.len());
        for (place, tensor) in tensors.iter().enumerate() {
            places.entry(tensor.name.clone()).or_insert(place);
        }
        Self { path: PathBuf::new(), container: Container::Safetensors, metadata, tensors, places }
    }

    /// The file that was opened: of a sharded model the index, of a folder the file in it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of file.
    #[must_use]
    pub const fn container(&self) -> Container {
        self.container
    }

    /// What it says about itself.
    #[must_use]
    pub const fn metadata(&self) -> &ModelMetadata {
        &self.metadata
    }

    /// Its tensors in the order of the file.
    #[must_use]
    pub fn tensors(&self) -> &[ModelTensor] {
        &self.tensors
    }

    /// The tensor of this name.
    ///
    /// # Errors
    /// [`ModelFileError::NoTensor`], with the name that comes nearest if half of what was asked for is in it.
    pub fn tensor(&self, name: &str) -> Result<&ModelTensor, ModelFileError> {
        self.places.get(name).map(|place| &self.tensors[*place]).ok_or_else(|| {
            let shares = self.tensors.iter().map(|tensor| (common(&tensor.name, name), &tensor.name));
            let near = shares.filter(|(share, _)| 2 * share >= name.chars().count());
            let nearest = near.max_by_key(|(share, _)| *share).map(|(_, near)| near.clone());
            ModelFileError::NoTensor { name: name.to_owned(), nearest }
        })
    }

    /// The tensors whose name matches `pattern`, in which `*` stands for any characters and `?` for one.
    ///
    /// # Errors
    /// [`ModelFileError::NoTensor`] if there is none.
    pub fn matching(&self, pattern: &str) -> Result<Vec<&ModelTensor>, ModelFileError> {
        let wanted = WildMatch::new(pattern);
        let found: Vec<&ModelTensor> = self.tensors.iter().filter(|tensor| wanted.matches(&tensor.name)).collect();
        if found.is_empty() { self.tensor(pattern).map(|only| vec![only]) } else { Ok(found) }
    }

    /// The files that hold the tensors: one, or the shards in the order of their names.
    #[must_use]
    pub fn files(&self) -> Vec<&Path> {
        let mut files: BTreeSet<&Path> = self.tensors.iter().filter_map(|tensor| tensor.codes.path()).collect();
        if files.is_empty() {
            files.insert(&self.path);
        }
        files.into_iter().collect()
    }

    /// How many numbers all tensors hold.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.tensors.iter().map(ModelTensor::elements).sum()
    }

    /// Bytes of all tensors.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tensors.iter().map(ModelTensor::bytes).sum()
    }
}

/// How many characters of two names are the same, from the front and from the back; each counts once.
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
    // safetensors has no magic: a length and then the opening brace of JSON. By name too, so that a broken one is
    // told what is broken.
    let json = start.get(8) == Some(&b'{');
    let named = path.extension().is_some_and(|e| e == "safetensors");
    (json || named).then_some(Container::Safetensors)
}
