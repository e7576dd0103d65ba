//! Conversion of errors of tensors, networks and model files to exceptions.

use std::io;
use std::path::Path;

use bitgrain::codec::CodecErr;
use bitgrain::formats::WriteError;
use bitgrain::nn::ModelFileError;
use bitgrain::nn::network::NetworkError;
use bitgrain::nn::network::embed::EmbedError;
use bitgrain::nn::network::language::LanguageError;
use bitgrain::nn::network::save::NetworkFileError as SavedError;
use bitgrain::nn::network::weights::WeightsError;

use crate::error::{DTypeError, DamagedError, FormatError, NotFoundError, Raised};

/// Converts an I/O error to a `FileError`, or to a `FormatError` if a reader of this project reports invalid data.
fn file(path: &Path, error: &io::Error) -> Raised {
    if error.raw_os_error().is_none() && error.kind() == io::ErrorKind::InvalidData {
        return Raised::new::<FormatError>(format!("{}: {error}", path.display()));
    }
    Raised::file(path, error)
}

impl From<CodecErr> for Raised {
    fn from(error: CodecErr) -> Self {
        match error {
            CodecErr::InvalidScale { .. } | CodecErr::CodeOutOfRange { .. } | CodecErr::InputTooSmall { .. } => {
                Self::new::<FormatError>(error)
            }
            CodecErr::RaggedBlocks { .. } => {
                Self::input(format!("{error}; use a dtype with separate scales, such as int4 or int8"))
            }
            CodecErr::NonFinite { index } => Self::input(format!(
                "value at index {index} is not finite; replace it with non_finite=\"zero\" or \"clamp\""
            )),
            other => Self::input(other),
        }
    }
}

impl From<WeightsError> for Raised {
    fn from(error: WeightsError) -> Self {
        match error {
            // These functions have no `non_finite` argument to suggest.
            WeightsError::Codec(CodecErr::NonFinite { index }) => {
                Self::input(format!("the weight at index {index} is not finite"))
            }
            WeightsError::Codec(source) => source.into(),
            other => Self::input(other),
        }
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

impl From<ModelFileError> for Raised {
    fn from(error: ModelFileError) -> Self {
        match &error {
            ModelFileError::Io { path, source } => file(path, source),
            ModelFileError::Write { path, source: WriteError::Io(source) } => file(path, source),
            ModelFileError::NotAModel { .. }
            | ModelFileError::NoWeights { .. }
            | ModelFileError::NotInShard { .. }
            | ModelFileError::Gguf { .. }
            | ModelFileError::Safetensors { .. }
            | ModelFileError::Npy { .. }
            | ModelFileError::Npz { .. }
            | ModelFileError::Note { .. }
            | ModelFileError::Split { .. }
            | ModelFileError::Language(_)
            | ModelFileError::Checkpoint(_)
            | ModelFileError::Adapter(_)
            | ModelFileError::Plan { .. } => Self::new::<FormatError>(error),
            ModelFileError::NoTensor { .. } => Self::new::<NotFoundError>(error),
            ModelFileError::Unreadable { .. } => Self::new::<DTypeError>(error),
            ModelFileError::Codec { tensor, source: CodecErr::NonFinite { index } } => Self::input(format!(
                "tensor `{tensor}`: value at index {index} is not finite; replace it with non_finite=\"zero\" or \
                 \"clamp\""
            )),
            ModelFileError::Codec {
                source: CodecErr::InvalidScale { .. } | CodecErr::CodeOutOfRange { .. }, ..
            } => Self::new::<FormatError>(error),
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

impl From<LanguageError> for Raised {
    fn from(error: LanguageError) -> Self {
        match error {
            LanguageError::Io { path, source } => file(&path, &source),
            LanguageError::Model(source) => source.into(),
            LanguageError::NotGguf { .. }
            | LanguageError::Architecture { .. }
            | LanguageError::MissingKey { .. }
            | LanguageError::Key { .. }
            | LanguageError::TensorShape { .. } => Self::new::<FormatError>(error),
            other => Self::input(other),
        }
    }
}
