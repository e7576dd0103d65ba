//! What can be wrong with a model, a file or a request; each names the file or tensor and what to do.

use std::io;
use std::path::PathBuf;

use bitgrain_codec::CodecErr;
use bitgrain_formats::WriteError;
use bitgrain_formats::gguf::GgufError;
use bitgrain_formats::npy::NpyError;
use bitgrain_formats::npz::NpzError;
use bitgrain_formats::safetensors::SafetensorsError;

/// Why a model could not be read, converted or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of no known kind.
    #[error("{} is no model: it is neither GGUF nor safetensors nor npy nor npz", path.display())]
    NotAModel {
        /// The file.
        path: PathBuf,
    },
    /// A folder without weights.
    #[error("{} holds neither model.safetensors nor model.safetensors.index.json nor a single model file", path.display())]
    NoWeights {
        /// The folder.
        path: PathBuf,
    },
    /// A tensor that the index of a sharded model places in a file that does not have it.
    #[error("{} should hold the tensor `{tensor}`, as the index says, and does not", path.display())]
    NotInShard {
        /// The shard.
        path: PathBuf,
        /// The tensor.
        tensor: String,
    },
    /// Not a readable GGUF file.
    #[error("{}: {source}", path.display())]
    Gguf {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: GgufError,
    },
    /// Not a readable safetensors file or index.
    #[error("{}: {source}", path.display())]
    Safetensors {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: SafetensorsError,
    },
    /// Not a readable npy array.
    #[error("{}: {source}", path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: NpyError,
    },
    /// Not a readable npz archive.
    #[error("{}: {source}", path.display())]
    Npz {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: NpzError,
    },
    /// The note that says how weights are quantized does not fit the tensors.
    #[error("{}: the note on quantized weights is wrong for `{tensor}`: {reason}", path.display())]
    Note {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// What does not fit.
        reason: &'static str,
    },
    /// There is no such tensor.
    #[error("there is no tensor `{name}`{}", nearest.as_ref().map(|near| format!("; there is `{near}`")).unwrap_or_default())]
    NoTensor {
        /// What was asked for.
        name: String,
        /// What comes nearest.
        nearest: Option<String>,
    },
    /// Values of a tensor could not be quantized or dequantized.
    #[error("tensor `{tensor}`: {source}")]
    Codec {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        source: CodecErr,
    },
    /// The tensor's values are beyond what the format can hold.
    #[error("tensor `{tensor}` has values that {format} cannot hold: they would become infinite")]
    Overflow {
        /// The tensor.
        tensor: String,
        /// The format.
        format: String,
    },
    /// A tensor with more weights than this machine can address.
    #[error("tensor `{tensor}` has {rows} rows of {cols} weights, more than this machine can address")]
    TooLarge {
        /// The tensor.
        tensor: String,
        /// Its rows.
        rows: u64,
        /// Weights of a row.
        cols: u64,
    },
    /// A tensor in a format that can be listed but not computed with.
    #[error("tensor `{tensor}` is stored as {kind}, which cannot be dequantized")]
    Unreadable {
        /// The tensor.
        tensor: String,
        /// Its format.
        kind: String,
    },
    /// A format that the container has no place for.
    #[error("{container} files cannot hold {format} (tensor `{tensor}`){hint}")]
    Container {
        /// The kind of file.
        container: &'static str,
        /// The format.
        format: String,
        /// The tensor.
        tensor: String,
        /// What would work.
        hint: &'static str,
    },
    /// An output that would replace its own input.
    #[error("{} is the input: write to another file", path.display())]
    SameFile {
        /// The file.
        path: PathBuf,
    },
    /// An output whose name does not say what to write.
    #[error("{}: name the output .gguf, .safetensors or, for shards, .safetensors.index.json", path.display())]
    OutputName {
        /// The file.
        path: PathBuf,
    },
    /// A budget below the smallest file there can be.
    #[error("{budget} bytes are too few: with the smallest formats the weights take {least} bytes")]
    BudgetTooSmall {
        /// What was asked for.
        budget: u64,
        /// What is possible.
        least: u64,
    },
    /// An error below what any candidate reaches.
    #[error("a relative RMS error of {wanted} cannot be reached: the best of the formats reach {best:.6}")]
    ErrorTooSmall {
        /// What was asked for.
        wanted: f64,
        /// What is possible.
        best: f64,
    },
    /// A plan that is not one, or not for this model.
    #[error("{}: {reason}", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// An importance that is no weight for an error.
    #[error("importance {index} of `{tensor}` is {value}: importances are finite and not negative")]
    ImportanceValue {
        /// The tensor.
        tensor: String,
        /// Which of its numbers.
        index: usize,
        /// The number.
        value: f32,
    },
    /// Importances that do not fit a tensor's columns.
    #[error("the importances of `{tensor}` are {found} numbers, its rows have {cols}")]
    Importance {
        /// The tensor.
        tensor: String,
        /// Numbers there are.
        found: u64,
        /// Numbers there should be.
        cols: u64,
    },
    /// Whoever watched the work no longer wanted it.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// The output could not be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: WriteError,
    },
}

impl ModelFileError {
    /// Wraps what the file system said about `path`.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// Wraps what the codec said about `tensor`.
    pub(crate) fn codec(tensor: &str) -> impl FnOnce(CodecErr) -> Self {
        let tensor = tensor.to_owned();
        move |source| Self::Codec { tensor, source }
    }
}
