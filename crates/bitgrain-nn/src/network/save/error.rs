//! `NetworkFileError`: errors of network files.

use std::path::PathBuf;

use bitgrain_codec::CodecErr;
use bitgrain_formats::WriteError;
use bitgrain_formats::safetensors::SafetensorsError;

use crate::ModelFileError;
use crate::network::NetworkError;

/// Reason why a network could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFileError {
    /// An I/O error.
    #[error(transparent)]
    Io(Box<ModelFileError>),
    /// A file name whose extension does not select a format.
    #[error("{}: unknown extension of a network file; use .json or .safetensors", path.display())]
    Name {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file that does not contain a network.
    #[error("not a network file: {reason}")]
    NotANetwork {
        /// The evidence.
        reason: &'static str,
    },
    /// A file of a later version.
    #[error("unsupported version {found} of a network file; expected 1 to {}", super::VERSION)]
    Version {
        /// Version in the file.
        found: u64,
    },
    /// Invalid JSON.
    #[error("line {line} column {column}: {message}")]
    Json {
        /// 1-based line.
        line: usize,
        /// 1-based column.
        column: usize,
        /// The parser's message.
        message: String,
    },
    /// A layer of an unknown kind.
    #[error("layer {layer}: unknown kind `{kind}`")]
    Kind {
        /// Path of the layer.
        layer: String,
        /// Kind in the file.
        kind: String,
    },
    /// A layer with missing or unknown settings.
    #[error("layer {layer}: {message}")]
    Layer {
        /// Path of the layer.
        layer: String,
        /// The parser's message.
        message: String,
    },
    /// A checksum that does not match: the file was modified after it was written.
    #[error("checksum mismatch: stored {stored:#010x}, computed {found:#010x}; the file is damaged")]
    Checksum {
        /// Checksum in the file.
        stored: u32,
        /// Checksum of the content.
        found: u32,
    },
    /// A parameter that does not match the layers.
    #[error("parameter {index} (0-based): expected {wanted}, found {found}")]
    Parameter {
        /// 0-based index of the parameter.
        index: usize,
        /// Name and shape that the layers require.
        wanted: String,
        /// Name and shape in the file.
        found: String,
    },
    /// An unknown format.
    #[error("parameter `{parameter}`, format `{format}`: {source}")]
    Format {
        /// Name of the parameter.
        parameter: String,
        /// Format in the file.
        format: String,
        /// The parser's error.
        source: CodecErr,
    },
    /// An array of the wrong length.
    #[error("{what} of `{parameter}`: expected {wanted} bytes or elements, found {found}")]
    Length {
        /// Name of the parameter.
        parameter: String,
        /// Name of the array.
        what: &'static str,
        /// Expected length.
        wanted: usize,
        /// Length in the file.
        found: usize,
    },
    /// An array that is not valid base64.
    #[error("invalid base64 in the {what} of `{parameter}`: {source}")]
    Base64 {
        /// Name of the parameter.
        parameter: String,
        /// Name of the array.
        what: &'static str,
        /// Position and kind of the error.
        source: base64::DecodeError,
    },
    /// A parameter that has neither its master weights nor its active version, or the same version twice.
    #[error("parameter `{parameter}` has {what}")]
    Weights {
        /// Name of the parameter.
        parameter: String,
        /// The defect.
        what: &'static str,
    },
    /// Not a readable safetensors file.
    #[error(transparent)]
    Safetensors(#[from] SafetensorsError),
    /// The file could not be assembled.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Layers that do not fit together, or invalid weights.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

impl NetworkFileError {
    pub(crate) fn io(error: ModelFileError) -> Self {
        Self::Io(Box::new(error))
    }
}

impl From<serde_json::Error> for NetworkFileError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        // The parser repeats the position after the message.
        let message = text.split_once(" at line ").map_or(text.as_str(), |(message, _)| message).to_owned();
        Self::Json { line, column, message }
    }
}
