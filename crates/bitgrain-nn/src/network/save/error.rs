//! What can be wrong with the file of a network.

use std::path::PathBuf;

use bitgrain_codec::CodecErr;
use bitgrain_formats::WriteError;
use bitgrain_formats::safetensors::SafetensorsError;

use crate::ModelFileError;
use crate::network::NetworkError;

/// Why a network could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFileError {
    /// The file system refused.
    #[error(transparent)]
    Io(Box<ModelFileError>),
    /// A name that does not say what to write.
    #[error("{}: name the file .json or .safetensors", path.display())]
    Name {
        /// The file.
        path: PathBuf,
    },
    /// A file of something else.
    #[error("this is no network: {reason}")]
    NotANetwork {
        /// What tells.
        reason: &'static str,
    },
    /// A file of a later version.
    #[error("unknown version {found} of a network file; this program reads 1 to {}", super::VERSION)]
    Version {
        /// What the file says.
        found: u64,
    },
    /// Not the JSON it should be.
    #[error("line {line} column {column}: {message}")]
    Json {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// A layer of a kind that is not known.
    #[error("layer {layer} is of the kind `{kind}`, which is not known")]
    Kind {
        /// Where it is.
        layer: String,
        /// What the file says.
        kind: String,
    },
    /// A layer without the settings it needs, or with others.
    #[error("layer {layer}: {message}")]
    Layer {
        /// Where it is.
        layer: String,
        /// What the parser says.
        message: String,
    },
    /// Bytes that were changed since they were written.
    #[error("the checksum is {stored:#010x} and the content has {found:#010x}: the file was damaged")]
    Checksum {
        /// What the file says.
        stored: u32,
        /// What it comes to.
        found: u32,
    },
    /// Parameters that the layers do not have, or not there.
    #[error("parameter {index} should be {wanted} and is {found}")]
    Parameter {
        /// Which one.
        index: usize,
        /// What the layers need there.
        wanted: String,
        /// What the file has there.
        found: String,
    },
    /// A format that is not known.
    #[error("parameter `{parameter}` has a format `{format}`: {source}")]
    Format {
        /// Its name.
        parameter: String,
        /// What the file says.
        format: String,
        /// Why not.
        source: CodecErr,
    },
    /// An array that is not as long as it should be.
    #[error("the {what} of `{parameter}` are {found} bytes or elements where {wanted} are needed")]
    Length {
        /// The parameter.
        parameter: String,
        /// Which array.
        what: &'static str,
        /// What there should be.
        wanted: usize,
        /// What there is.
        found: usize,
    },
    /// Text that is not base64.
    #[error("invalid base64 in the {what} of `{parameter}`: {source}")]
    Base64 {
        /// The parameter.
        parameter: String,
        /// Which array.
        what: &'static str,
        /// The position and the kind of the error.
        source: base64::DecodeError,
    },
    /// A parameter with neither master nor the version it runs on, or with one version twice.
    #[error("parameter `{parameter}` has {what}")]
    Weights {
        /// Its name.
        parameter: String,
        /// What is wrong.
        what: &'static str,
    },
    /// Not a readable safetensors file.
    #[error(transparent)]
    Safetensors(#[from] SafetensorsError),
    /// The bytes could not be put together.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Layers that do not fit together, or weights that are no weights.
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
        // The parser says the place again behind the message.
        let message = text.split_once(" at line ").map_or(text.as_str(), |(message, _)| message).to_owned();
        Self::Json { line, column, message }
    }
}
