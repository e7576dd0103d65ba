//! What errors of the codec and of models, networks and their files become in Python.

use std::io;
use std::path::Path;

use bitgrain::codec::CodecErr;
use bitgrain::formats::WriteError;
use bitgrain::nn::ModelError;
use bitgrain::nn::embed::EmbedError;
use bitgrain::nn::network::NetworkError;
use bitgrain::nn::product::ProductError;
use bitgrain::nn::save::FileError as SavedError;
use bitgrain::nn::store::StoreError;
use pyo3::PyErr;

use crate::error::{DTypeError, DamagedError, FileError, FormatError, NotFoundError, Raised};

/// What the system said about a file, with its number and the file's name as `OSError` has them.
fn file(path: &Path, error: &io::Error) -> Raised {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyErr::new::<FileError, _>((number, text, path.as_os_str().to_owned())).into()
        }
        // Our own reader's words about what is in the file.
        None if error.kind() == io::ErrorKind::InvalidData => {
            Raised::new::<FormatError>(format!("{}: {error}", path.display()))
        }
        None => Raised::new::<FileError>(format!("{}: {error}", path.display())),
    }
}

impl From<CodecErr> for Raised {
    fn from(error: CodecErr) -> Self {
        match error {
            CodecErr::InvalidScale { .. } | CodecErr::CodeOutOfRange { .. } | CodecErr::InputTooSmall { .. } => {
                Self::new::<FormatError>(error)
            }
            CodecErr::RaggedBlocks { .. } => {
                Self::input(format!("{error}; choose a dtype with scales beside it, such as int4 or int8"))
            }
            other => Self::input(other),
        }
    }
}

impl From<StoreError> for Raised {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Codec(source) => source.into(),
            other => Self::input(other),
        }
    }
}

impl From<ProductError> for Raised {
    fn from(error: ProductError) -> Self {
        Self::input(error)
    }
}

impl From<NetworkError> for Raised {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::NoParameter { .. } => Self::new::<NotFoundError>(error),
            other => Self::input(other),
        }
    }
}

impl From<ModelError> for Raised {
    fn from(error: ModelError) -> Self {
        match &error {
            ModelError::Io { path, source } => file(path, source),
            ModelError::Write { path, source: WriteError::Io(source) } => file(path, source),
            ModelError::NotAModel { .. }
            | ModelError::NoWeights { .. }
            | ModelError::NotInShard { .. }
            | ModelError::Gguf { .. }
            | ModelError::Safetensors { .. }
            | ModelError::Npy { .. }
            | ModelError::Npz { .. }
            | ModelError::Note { .. }
            | ModelError::Plan { .. } => Self::new::<FormatError>(error),
            ModelError::NoTensor { .. } => Self::new::<NotFoundError>(error),
            ModelError::Unreadable { .. } => Self::new::<DTypeError>(error),
            ModelError::Codec { source: CodecErr::InvalidScale { .. } | CodecErr::CodeOutOfRange { .. }, .. } => {
                Self::new::<FormatError>(error)
            }
            _ => Self::input(error),
        }
    }
}

impl From<SavedError> for Raised {
    fn from(error: SavedError) -> Self {
        match error {
            SavedError::Io(source) => (*source).into(),
            SavedError::Name { .. } => Self::input(error),
            SavedError::Checksum { .. } => Self::new::<DamagedError>(error),
            SavedError::Write(WriteError::Io(source)) => source.into(),
            other => Self::new::<FormatError>(other),
        }
    }
}

impl From<EmbedError> for Raised {
    fn from(error: EmbedError) -> Self {
        match error {
            EmbedError::Io { path, source } => file(&path, &source),
            EmbedError::Model(source) => source.into(),
            EmbedError::Network(source) => source.into(),
            other => Self::new::<FormatError>(other),
        }
    }
}
