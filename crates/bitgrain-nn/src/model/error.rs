//! `ModelFileError`: errors of model files, conversions and plans. Messages name the file or tensor and the fix.

use std::io;
use std::path::PathBuf;

use bitgrain_codec::CodecErr;
use bitgrain_formats::WriteError;
use bitgrain_formats::gguf::GgufError;
use bitgrain_formats::npy::NpyError;
use bitgrain_formats::npz::NpzError;
use bitgrain_formats::onnx::OnnxError;
use bitgrain_formats::safetensors::SafetensorsError;

use super::language::LanguageConversionError;
use super::{AdapterError, CheckpointError};

/// Reason why a model could not be read, converted or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// An I/O error.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A file in an unknown format.
    #[error("{}: unknown model format; expected GGUF, safetensors, npy, npz or ONNX (.onnx)", path.display())]
    NotAModel {
        /// Path of the file.
        path: PathBuf,
    },
    /// A folder without weights.
    #[error("{}: no weights found; expected model.safetensors, model.safetensors.index.json or a single model file", path.display())]
    NoWeights {
        /// Path of the folder.
        path: PathBuf,
    },
    /// A tensor that the index of a sharded model assigns to a shard that lacks it.
    #[error("{}: missing tensor `{tensor}`, which the index assigns to this shard", path.display())]
    NotInShard {
        /// Path of the shard.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
    },
    /// Not a readable GGUF file.
    #[error("{}: {source}", path.display())]
    Gguf {
        /// Path of the file.
        path: PathBuf,
        /// The parser's error.
        source: GgufError,
    },
    /// Not a readable safetensors file or index.
    #[error("{}: {source}", path.display())]
    Safetensors {
        /// Path of the file.
        path: PathBuf,
        /// The parser's error.
        source: SafetensorsError,
    },
    /// Not a readable npy array.
    #[error("{}: {source}", path.display())]
    Npy {
        /// Path of the file.
        path: PathBuf,
        /// The parser's error.
        source: NpyError,
    },
    /// Not a readable npz archive.
    #[error("{}: {source}", path.display())]
    Npz {
        /// Path of the file.
        path: PathBuf,
        /// The parser's error.
        source: NpzError,
    },
    /// Not a readable ONNX model.
    #[error("{}: {source}", path.display())]
    Onnx {
        /// Path of the file.
        path: PathBuf,
        /// The parser's error.
        source: OnnxError,
    },
    /// A tensor in a file beside an ONNX model that is shorter than the model says.
    #[error(
        "{}: tensor `{tensor}` needs {len} bytes at offset {offset}, but the file has {held}; download the file again",
        path.display()
    )]
    External {
        /// Path of the file.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// Offset of its first byte.
        offset: u64,
        /// Its size in bytes.
        len: u64,
        /// Size of the file.
        held: u64,
    },
    /// The `bitgrain` metadata entry, which describes quantized weights, does not match the tensors.
    #[error("{}: invalid quantization note for `{tensor}`: {reason}", path.display())]
    Note {
        /// Path of the file.
        path: PathBuf,
        /// Name of the tensor, or `*` for the note as a whole.
        tensor: String,
        /// The mismatch.
        reason: &'static str,
    },
    /// A shard of a GGUF model that does not fit the others.
    #[error("{}: {reason}", path.display())]
    Split {
        /// Path of the shard.
        path: PathBuf,
        /// The mismatch and its fix.
        reason: String,
    },
    /// A language model that cannot be converted.
    #[error(transparent)]
    Language(Box<LanguageConversionError>),
    /// A LoRA adapter that cannot be merged.
    #[error(transparent)]
    Adapter(Box<AdapterError>),
    /// A checkpoint of another quantizer that cannot be read.
    #[error(transparent)]
    Checkpoint(Box<CheckpointError>),
    /// An unknown tensor name.
    #[error("unknown tensor `{name}`{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    NoTensor {
        /// The requested name.
        name: String,
        /// The most similar existing name.
        nearest: Option<String>,
    },
    /// Values of a tensor could not be quantized or dequantized.
    #[error("tensor `{tensor}`: {source}")]
    Codec {
        /// Name of the tensor.
        tensor: String,
        /// The codec's error.
        source: CodecErr,
    },
    /// A tensor with values outside the range of the format.
    #[error("tensor `{tensor}`: values overflow to infinity in {format}; choose a format with a wider range")]
    Overflow {
        /// Name of the tensor.
        tensor: String,
        /// Name of the format.
        format: String,
    },
    /// A tensor with more weights than this machine can address.
    #[error("tensor `{tensor}`: {rows} rows of {cols} weights exceed the address space")]
    TooLarge {
        /// Name of the tensor.
        tensor: String,
        /// Number of rows.
        rows: u64,
        /// Weights per row.
        cols: u64,
    },
    /// A tensor in a format that can be listed but not decoded.
    #[error("tensor `{tensor}`: cannot dequantize {kind}")]
    Unreadable {
        /// Name of the tensor.
        tensor: String,
        /// Name of its format.
        kind: String,
    },
    /// A format that the container cannot store.
    #[error("tensor `{tensor}`: {container} files cannot hold {format}{hint}")]
    Container {
        /// Name of the container.
        container: &'static str,
        /// Name of the format.
        format: String,
        /// Name of the tensor.
        tensor: String,
        /// Suggested alternative, or empty.
        hint: &'static str,
    },
    /// An output that would overwrite its own input.
    #[error("{}: the output is the input; write to another file", path.display())]
    SameFile {
        /// Path of the file.
        path: PathBuf,
    },
    /// An output path whose extension does not select a container.
    #[error("{}: unknown output extension; use .gguf, .safetensors, .safetensors.index.json for shards, or, if the input is GGUF, a folder for a Hugging Face model", path.display())]
    OutputName {
        /// Path of the output.
        path: PathBuf,
    },
    /// A budget below the smallest possible size.
    #[error("budget of {budget} bytes is too small: the weights take at least {least} bytes in the smallest formats")]
    BudgetTooSmall {
        /// Requested size in bytes.
        budget: u64,
        /// Smallest possible size in bytes.
        least: u64,
    },
    /// An error target below the best that any candidate reaches.
    #[error("cannot reach a relative RMS error of {wanted}: the best formats reach {best:.6}")]
    ErrorTooSmall {
        /// Requested relative RMS error.
        wanted: f64,
        /// Smallest relative RMS error of all candidates.
        best: f64,
    },
    /// A file that is not a plan, or a plan for another model.
    #[error("{}: {reason}", path.display())]
    Plan {
        /// Path of the plan.
        path: PathBuf,
        /// The mismatch.
        reason: String,
    },
    /// A negative or non-finite importance.
    #[error("importance {index} (0-based) of `{tensor}` is `{value}`; importances must be finite and non-negative")]
    ImportanceValue {
        /// Name of the tensor.
        tensor: String,
        /// 0-based index of the value.
        index: usize,
        /// The value.
        value: f32,
    },
    /// A vector of importances whose length does not match the tensor's columns.
    #[error("found {found} importances for `{tensor}`, whose rows have {cols} columns")]
    Importance {
        /// Name of the tensor.
        tensor: String,
        /// Number of importances.
        found: u64,
        /// Number of columns.
        cols: u64,
    },
    /// [`Progress::stopped`](crate::Progress::stopped) returned true.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// The output could not be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// Path of the output.
        path: PathBuf,
        /// The writer's error.
        source: WriteError,
    },
}

impl ModelFileError {
    /// Attaches `path` to an I/O error.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// Attaches the tensor's name to a codec error.
    pub(crate) fn codec(tensor: &str) -> impl FnOnce(CodecErr) -> Self {
        let tensor = tensor.to_owned();
        move |source| Self::Codec { tensor, source }
    }
}
