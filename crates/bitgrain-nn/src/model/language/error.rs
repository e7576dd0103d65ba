//! `LanguageConversionError`: reasons why a Hugging Face folder or a GGUF file cannot be converted into the other.

use std::io;
use std::path::PathBuf;

/// Reason why a language model could not be converted. Messages name the file or tensor and the fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageConversionError {
    /// A file of the folder could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A file of the folder that is not valid JSON.
    #[error("{}: not valid JSON: {reason}", path.display())]
    Json {
        /// Path of the file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// An architecture without a conversion.
    #[error(
        "{}: unsupported architecture `{architecture}`; convert it with llama.cpp's convert_hf_to_gguf.py and quantize \
         the GGUF file, or pass the weight file instead of the folder to keep the tensor names (supported: {supported})",
        path.display()
    )]
    Architecture {
        /// Path of `config.json` or of the GGUF file.
        path: PathBuf,
        /// Name of the architecture.
        architecture: String,
        /// Supported architectures.
        supported: String,
    },
    /// A missing entry.
    #[error("{}: missing `{key}`", path.display())]
    MissingKey {
        /// Path of the file.
        path: PathBuf,
        /// Name of the entry.
        key: String,
    },
    /// An entry of the wrong type or out of range.
    #[error("{}: `{key}` is `{found}`, expected {expected}", path.display())]
    Value {
        /// Path of the file.
        path: PathBuf,
        /// Name of the entry.
        key: String,
        /// The value.
        found: String,
        /// Valid values of the entry.
        expected: &'static str,
    },
    /// Entries that contradict each other.
    #[error("{}: {problem}", path.display())]
    Contradiction {
        /// Path of the file.
        path: PathBuf,
        /// The entries and their values.
        problem: String,
    },
    /// A folder without a tokenizer.
    #[error("{}: missing tokenizer: expected {expected}; copy the file from the original model", path.display())]
    NoTokenizer {
        /// Path of the folder.
        path: PathBuf,
        /// Accepted file names.
        expected: &'static str,
    },
    /// A tokenizer that cannot be read or that the target format cannot represent.
    #[error("{}: {reason}", path.display())]
    Tokenizer {
        /// Path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A byte-level tokenizer whose pre-tokenizer llama.cpp does not know.
    #[error(
        "{}: unknown pre-tokenizer (hash {hash}); llama.cpp would split text differently, so the model cannot be \
         converted faithfully",
        path.display()
    )]
    PreTokenizer {
        /// Path of `tokenizer.json`.
        path: PathBuf,
        /// Hash of a fixed text's tokens, as in llama.cpp's converter; `none` if the text cannot be tokenized.
        hash: String,
    },
    /// A tensor that the architecture does not have.
    #[error("unexpected tensor `{tensor}` in a model of architecture `{architecture}`; remove it from the weights")]
    UnexpectedTensor {
        /// Name of the tensor.
        tensor: String,
        /// Name of the architecture.
        architecture: &'static str,
    },
    /// A tensor that the architecture needs.
    #[error("missing tensor `{tensor}`; download all shards of the model")]
    MissingTensor {
        /// Name of the tensor.
        tensor: String,
    },
    /// A tensor whose shape contradicts the configuration.
    #[error("tensor `{tensor}` has shape {found:?}, expected {expected} from {key}")]
    Shape {
        /// Name of the tensor.
        tensor: String,
        /// Shape in the file.
        found: Vec<u64>,
        /// Expected shape.
        expected: String,
        /// Entries of the configuration that determine the shape.
        key: &'static str,
    },
    /// A tensor that is not stored as plain floats.
    #[error("tensor `{tensor}` is stored as {kind}, expected float16, bfloat16 or float32")]
    NotFloat {
        /// Name of the tensor.
        tensor: String,
        /// Name of its encoding.
        kind: String,
    },
    /// A named mix for a model that is not a language model in GGUF's naming.
    #[error("{mix} needs a language model with GGUF metadata, but {reason}; use a format such as q4_k instead")]
    Mix {
        /// Name of the mix.
        mix: &'static str,
        /// Reason why the model is unsuitable.
        reason: String,
    },
    /// A mix that needs an importance matrix.
    #[error("{mix} needs an importance matrix for `{tensor}`; add --imatrix, or use Q2_K")]
    MixImportance {
        /// Name of the mix.
        mix: &'static str,
        /// Tensor without importances.
        tensor: String,
    },
}
