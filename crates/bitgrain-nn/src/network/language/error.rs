//! `LanguageError`: errors of language models. Messages name the file, the key or the tensor, and the fix.

use std::io;
use std::path::PathBuf;

use crate::ModelFileError;
use crate::network::weights::WeightsError;

/// Reason why a language model could not be opened or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageError {
    /// A text or an output file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A model in another container than GGUF.
    #[error("{}: not a GGUF file but {found}; convert it with `bitgrain quantize MODEL out.gguf`", path.display())]
    NotGguf {
        /// Path of the file.
        path: PathBuf,
        /// Name of its container.
        found: &'static str,
    },
    /// An architecture without a decoder.
    #[error("{}: unsupported architecture `{found}`; supported are {known}", path.display())]
    Architecture {
        /// Path of the file.
        path: PathBuf,
        /// Architecture in the file.
        found: String,
        /// Supported architectures.
        known: String,
    },
    /// A required metadata key that is missing.
    #[error("{}: missing metadata key `{key}`; convert the model again", path.display())]
    MissingKey {
        /// Path of the file.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// A metadata key with an unsupported value.
    #[error("{}: unsupported value `{found}` of metadata key `{key}`; expected {wanted}", path.display())]
    Key {
        /// Path of the file.
        path: PathBuf,
        /// The key.
        key: String,
        /// Value in the file.
        found: String,
        /// Supported values.
        wanted: String,
    },
    /// A tensor whose shape does not match the metadata.
    #[error("{}: tensor `{tensor}` has shape {found:?}; the metadata requires {wanted:?}", path.display())]
    TensorShape {
        /// Path of the file.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// Expected shape.
        wanted: Vec<u64>,
        /// Shape in the file.
        found: Vec<u64>,
    },
    /// A tensor that could not be read, or is missing.
    #[error(transparent)]
    Model(#[from] ModelFileError),
    /// Weights that could not be packed or multiplied.
    #[error("tensor `{tensor}`: {source}")]
    Weights {
        /// Name of the tensor.
        tensor: String,
        /// The error.
        source: WeightsError,
    },
    /// A token that is not in the vocabulary.
    #[error("token {id} is out of range; the model has {tokens} tokens")]
    Token {
        /// The token.
        id: u32,
        /// Size of the vocabulary.
        tokens: usize,
    },
    /// More tokens than the model was trained on.
    #[error("{tokens} tokens exceed the context length of {longest}; use a shorter text or generate fewer tokens")]
    TooLong {
        /// Number of tokens in all.
        tokens: usize,
        /// Context length.
        longest: usize,
    },
    /// A text with too few tokens for a measurement.
    #[error("the text has {tokens} tokens, but at least {chunk} are needed; use a longer text or smaller chunks")]
    ShortText {
        /// Number of tokens.
        tokens: usize,
        /// Tokens per chunk.
        chunk: usize,
    },
    /// A setting out of range.
    #[error("invalid {name} `{value}`; expected {wanted}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// Valid values.
        wanted: &'static str,
    },
    /// Models with different vocabularies, whose predictions cannot be compared.
    #[error("{} and {} have different vocabularies; compare models with the same tokenizer", model.display(), reference.display())]
    Vocabularies {
        /// Path of the model.
        model: PathBuf,
        /// Path of the reference.
        reference: PathBuf,
    },
    /// A model without a chat template that is known here.
    #[error("{}: {}; omit --chat to continue the prompt without a template", path.display(), if *present { "unknown chat template" } else { "no chat template" })]
    ChatTemplate {
        /// Path of the file.
        path: PathBuf,
        /// Whether the file has a template.
        present: bool,
    },
    /// A cache whose blocks do not divide the heads.
    #[error("cannot use a {format} cache: heads of {head} values are not a multiple of {block}; use f16")]
    CacheFormat {
        /// Name of the format.
        format: String,
        /// Length of a head.
        head: usize,
        /// Block length.
        block: usize,
    },
}

impl LanguageError {
    /// Attaches the name of a tensor to an error of its weights.
    pub(super) fn weights(tensor: &str) -> impl FnOnce(WeightsError) -> Self {
        let tensor = tensor.to_owned();
        move |source| Self::Weights { tensor, source }
    }

    /// Attaches `path` to an I/O error.
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
