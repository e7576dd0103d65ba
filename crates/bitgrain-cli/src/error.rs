//! Errors of commands. Messages name the options that fix them.

use std::io;
use std::path::{Path, PathBuf};

use bitgrain::store::{StoreError, TensorId};

use crate::cmd::store::id::shown;

/// Error of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Standard output or a temporary file of the tour could not be written.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// An error of the codec.
    #[error("{0}")]
    Codec(#[from] bitgrain::codec::CodecErr),
    /// A container could not be written.
    #[error("{0}")]
    Write(#[from] bitgrain::formats::WriteError),
    /// Options that contradict each other or have no effect.
    #[error("{problem}; {fix}")]
    Options {
        /// Options, and the reason why they conflict.
        problem: String,
        /// Suggested change.
        fix: &'static str,
    },
    /// A `--keep` pattern that matches no tensors.
    #[error(
        "--keep '{pattern}' does not match any tensor; list the tensors with `bitgrain inspect`, and use * as a wildcard"
    )]
    NothingMatches {
        /// The pattern.
        pattern: String,
    },
    /// An importance matrix without any tensor of the model.
    #[error("{}: the importance matrix covers no tensor of the model; tensor names must match", path.display())]
    UselessImportance {
        /// The file.
        path: PathBuf,
    },
    /// A plan that would overwrite the input or the output.
    #[error("{} is the model, the output or the importance matrix; save the plan to another file", path.display())]
    PlanOverModel {
        /// The file.
        path: PathBuf,
    },
    /// More threads than allowed.
    #[error("--threads {count} is above the maximum of 1024; omit it to use all cores")]
    TooManyThreads {
        /// Requested number of threads.
        count: usize,
    },
    /// An unknown weight format.
    #[error("unknown weight format `{name}`; see `bitgrain quantize --help`")]
    UnknownFormat {
        /// The name.
        name: String,
    },
    /// An unknown device.
    #[error("unknown device `{name}`; use cpu, gpu, or gpu:ADAPTER with an adapter from `bitgrain info`")]
    UnknownDevice {
        /// The name.
        name: String,
    },
    /// A graphics adapter could not be opened or used.
    #[cfg(feature = "gpu")]
    #[error("{0}")]
    Gpu(#[from] bitgrain::gpu::GpuError),
    /// A model file could not be read, converted or compared.
    #[error("{0}")]
    Model(#[from] bitgrain::nn::ModelFileError),
    /// A network could not be trained, quantized or run.
    #[error("{0}")]
    Network(#[from] bitgrain::nn::network::NetworkError),
    /// A network file could not be read or written.
    #[error("{0}")]
    NetworkFile(#[from] bitgrain::nn::network::save::NetworkFileError),
    /// Sentences could not be embedded.
    #[error("{0}")]
    Embed(#[from] bitgrain::nn::network::embed::EmbedError),
    /// A language model could not be opened or run.
    #[error("{0}")]
    Language(#[from] bitgrain::nn::network::language::LanguageError),
    /// An output for vectors whose extension is not .npy.
    #[error("{}: vectors are written as .npy; use that file extension", path.display())]
    NotNpy {
        /// The file.
        path: PathBuf,
    },
    /// A query on standard input that is not a list of numbers.
    #[error("`{word}` is not a number; write one query per line, as numbers separated by spaces or commas")]
    NotANumber {
        /// The word.
        word: String,
    },
    /// A table could not be read, used or written.
    #[error("{0}")]
    Table(#[from] bitgrain::gbdt::table::TableError),
    /// A binned table could not be written or read.
    #[error("{0}")]
    Binned(#[from] bitgrain::gbdt::table::BinnedTableError),
    /// Features could not be binned.
    #[error("{0}")]
    Feature(#[from] bitgrain::gbdt::feature::FeatureError),
    /// Training failed.
    #[error("{0}")]
    Train(#[from] bitgrain::gbdt::train::TrainError),
    /// An invalid training parameter.
    #[error(transparent)]
    Parameter(#[from] bitgrain::gbdt::parameter::ParameterError),
    /// An unknown objective, or one that does not fit the target.
    #[error("{0}")]
    Objective(#[from] bitgrain::gbdt::objective::ObjectiveError),
    /// An unknown metric, or one that does not fit the objective.
    #[error("{0}")]
    Metric(#[from] bitgrain::gbdt::metric::MetricError),
    /// A tree model that cannot predict.
    #[error("{0}")]
    Predict(#[from] bitgrain::gbdt::predict::PredictError),
    /// Predictions could not be explained.
    #[error("{0}")]
    Explain(#[from] bitgrain::gbdt::explain::ExplainError),
    /// Permutation importance could not be measured.
    #[error("{0}")]
    Importance(#[from] bitgrain::gbdt::predict::ImportanceError),
    /// A report that could not be made.
    #[error("{0}")]
    Report(#[from] bitgrain::gbdt::report::ReportError),
    /// A table without rows.
    #[error("{} has no rows; explanations need at least one", path.display())]
    NoRows {
        /// The table.
        path: PathBuf,
    },
    /// A tree model could not be read.
    #[error("{0}")]
    Load(#[from] bitgrain::gbdt::model::LoadError),
    /// A tree model could not be written.
    #[error("{0}")]
    Save(#[from] bitgrain::gbdt::model::SaveError),
    /// No target column.
    #[error("no target column: choose one with --target; the columns are {columns}")]
    NoTarget {
        /// Names of the columns.
        columns: String,
    },
    /// A validation fraction outside (0, 1).
    #[error("--valid-fraction {fraction} is not between 0 and 1; use for example 0.2")]
    ValidFraction {
        /// The fraction.
        fraction: f64,
    },
    /// Early stopping without validation data.
    #[error("--early-stopping-rounds needs validation data; use --valid FILE or --valid-fraction 0.2")]
    NothingToWatch,
    /// Class weights for a regression objective.
    #[error("--class-weight needs class labels, but the objective {objective} predicts numbers; omit it")]
    ClassWeight {
        /// The objective.
        objective: String,
    },
    /// A ranking objective without queries.
    #[error("missing queries: `{objective}` ranks the rows of a query; name their column with --group")]
    NoGroups {
        /// The objective.
        objective: String,
    },
    /// `--class` for a regression model.
    #[error("{} is a regression model without classes; omit --class", path.display())]
    NoClasses {
        /// The model.
        path: PathBuf,
    },
    /// An output that would overwrite the input.
    #[error("{} is an input of this command; write to another file", path.display())]
    OverInput {
        /// The file.
        path: PathBuf,
    },
    /// An output path that cannot be created as a file.
    #[error("cannot write {}: {reason}", path.display())]
    Place {
        /// The output.
        path: PathBuf,
        /// Reason and fix.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Two models without a common tensor name.
    #[error("nothing to compare: no tensor name of {} (such as `{first_tensor}`) is in {} (such as `{second_tensor}`)", first.display(), second.display())]
    NothingInCommon {
        /// The first model.
        first: PathBuf,
        /// Name of one of its tensors.
        first_tensor: String,
        /// The second model.
        second: PathBuf,
        /// Name of one of its tensors.
        second_tensor: String,
    },
    /// A report that would overwrite a model.
    #[error("the report would overwrite the model {}; write to another file", path.display())]
    ReportOverModel {
        /// The file.
        path: PathBuf,
    },
    /// The thread pool could not be started.
    #[error("{0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A report could not be written as JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// An error of the store.
    #[error("{}: {}{}", path.display(), brief(source), hint(source, path))]
    Store {
        /// Folder of the store.
        path: PathBuf,
        /// Error of the operation.
        source: Box<StoreError>,
    },
    /// A damaged store.
    #[error(
        "the store is damaged in {count} {}; copy the readable part with `bitgrain store salvage {} NEW`",
        if *count == 1 { "place" } else { "places" }, path.display()
    )]
    Damaged {
        /// Number of damaged regions.
        count: usize,
        /// Folder of the store.
        path: PathBuf,
    },
    /// A damaged store that could not be copied completely.
    #[error(
        "some data is lost: {tensors} tensors were not copied completely, and {places} damaged regions belong to unknown tensors"
    )]
    Lost {
        /// Number of tensors lost completely or in part.
        tensors: usize,
        /// Number of damaged regions whose tensor is unknown.
        places: usize,
    },
    /// A destination for a new store that is not empty.
    #[error("{} is not empty; choose a new folder", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A put that would replace frames.
    #[error("`{id}` has {frames} frames that would be lost; append to it, choose another id, or use --replace")]
    HasFrames {
        /// The temporal tensor.
        id: String,
        /// Number of its frames.
        frames: u64,
    },
    /// Frames appended to a tensor that is not temporal.
    #[error(
        "`{id}` is not temporal: it was put as one tensor; append to another id, or delete it with `bitgrain store rm`"
    )]
    TakesNoFrames {
        /// The tensor.
        id: String,
    },
    /// Two tensors with the same id.
    #[error("`{id}` is both in {} and in {}; import the files separately with --prefix", first.display(), second.display())]
    SameName {
        /// Id of both tensors.
        id: String,
        /// File of the first tensor.
        first: PathBuf,
        /// File of the second tensor; may be the same.
        second: PathBuf,
    },
    /// A NaN or an infinity in a file.
    #[error(
        "{}, tensor {name}: the value at index {index} is {value}; a store accepts only finite values, even with \
         --lossless; replace it with --non-finite zero or clamp", path.display()
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Position of the first such value.
        index: usize,
        /// The value.
        value: f32,
    },
    /// An f64 value that exceeds the range of f32.
    #[error(
        "{}, tensor {name}: the value at index {index} exceeds the range of f32 (3.4e38); scale the values, or \
         replace it with --non-finite zero or clamp", path.display()
    )]
    BeyondF32 {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Position of the first such value.
        index: usize,
    },
    /// A file with several tensors where one is needed.
    #[error("{} has several tensors; choose one with --tensor: {names}", path.display())]
    WhichTensor {
        /// The file.
        path: PathBuf,
        /// Some of its tensors.
        names: String,
    },
    /// A tensor name that the file does not contain.
    #[error("{} has no tensor `{name}`; list its tensors with `bitgrain inspect`", path.display())]
    NoTensor {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// A tensor of a file that the store rejected.
    #[error("{}, tensor {name}: {}", path.display(), brief(source))]
    OfTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Reason.
        source: Box<StoreError>,
    },
    /// A tensor without data.
    #[error("`{id}` has no data: `tick --absent any` evicted it after a day without access; put it again")]
    Gone {
        /// The tensor.
        id: String,
    },
    /// Several tensors for a file format that holds one.
    #[error("{} can hold one tensor, but {tensors} were selected; write to .npz or .safetensors", path.display())]
    OnlyOne {
        /// The file.
        path: PathBuf,
        /// Number of tensors.
        tensors: usize,
    },
    /// Tensors that cannot be written as columns.
    #[error("{} can hold only vectors of equal length; write to .npz or .safetensors", path.display())]
    OnlyColumns {
        /// The file.
        path: PathBuf,
    },
    /// An unknown file extension.
    #[error("{}: unknown file extension; use .npy, .npz, .safetensors or .parquet", path.display())]
    TensorFile {
        /// The file.
        path: PathBuf,
    },
    /// An index or a size that only a 64-bit system can address.
    #[error("{value} is above the largest index of this system, {}; use a 64-bit build", usize::MAX)]
    Address {
        /// The index or size.
        value: u64,
    },
    /// A duration that is not one.
    #[error("invalid residency `{hours}`; give a number of hours, at least 0")]
    Hours {
        /// The number given.
        hours: f64,
    },
    /// A reconstruction of a new tensor without values.
    #[error("`{id}` does not exist; give its values with --wanted or the difference with --delta")]
    NoValues {
        /// The tensor.
        id: String,
    },
    /// A row index that is not an integer.
    #[error("{}: value at position {at} (0-based) is `{value}`; a permutation has integers in 0..16777216", path.display())]
    RowIndex {
        /// The file.
        path: PathBuf,
        /// Position of the value.
        at: usize,
        /// The value.
        value: f32,
    },
    /// A projection that is not a matrix.
    #[error("{}: a projection needs 2 axes, the tensor has {axes}", path.display())]
    NotMatrix {
        /// The file.
        path: PathBuf,
        /// Number of axes.
        axes: usize,
    },
    /// Frames requested of a tensor that is not temporal.
    #[error("`{id}` has no frames; read a part of it with --rows")]
    NoFrames {
        /// The tensor.
        id: String,
    },
    /// An unknown chapter of the tour.
    #[error("unknown chapter `{name}`; choose one of {known}")]
    UnknownChapter {
        /// The name.
        name: String,
        /// Names of all chapters.
        known: String,
    },
}

impl CliError {
    /// Returns whether the reader of standard output closed the pipe, which is not an error.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let broken = io::ErrorKind::BrokenPipe;
        if let Self::Json(error) = self {
            return error.io_error_kind() == Some(broken);
        }
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(error) = source {
            if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == broken) {
                return true;
            }
            source = error.source();
        }
        false
    }

    /// Returns a closure for `map_err` that adds the store's folder to an error.
    pub(crate) fn store(path: &Path) -> impl FnOnce(StoreError) -> Self {
        let path = public(path);
        move |source| Self::Store { path, source: Box::new(source) }
    }
}

/// Returns an address without its query and without the part before `@`, which may be a password; paths are unchanged.
fn public(path: &Path) -> PathBuf {
    let Some((scheme, rest)) = path.to_str().and_then(|text| text.split_once("://")) else { return path.to_owned() };
    let rest = rest.split('?').next().unwrap_or_default();
    let (host, prefix) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    PathBuf::from(format!("{scheme}://{host}{prefix}"))
}

/// Formats an error of the store with ids shortened for a terminal, so that the fix at the end stays visible.
fn brief(error: &StoreError) -> String {
    // Commands do not write to a store they opened read-only, so this means missing permissions.
    if matches!(error, StoreError::ReadOnly) {
        return "no permission to write to the folder".to_owned();
    }
    if let StoreError::TimeOutOfRange { now, clock } = error {
        let way = if now > clock { "ahead of" } else { "behind" };
        return format!(
            "time out of range: --now-ms {now} is more than a day {way} the system clock ({clock}); \
             use --dry-run for a preview, or --simulate"
        );
    }
    let ids: Vec<&TensorId> = match error {
        StoreError::NotFound { id }
        | StoreError::TierZeroNoPolicy { id }
        | StoreError::BelowPin { id, .. }
        | StoreError::Temporal { id }
        | StoreError::NotTemporal { id }
        | StoreError::HasFrames { id, .. }
        | StoreError::SearchShape { id, .. }
        | StoreError::ReconstructionDepthExceeded { id, .. }
        | StoreError::Damaged { id: Some(id), .. } => vec![id],
        StoreError::ReconstructionCycle { id, base } => vec![id, base],
        StoreError::HasDependents { id, dependents } => [id].into_iter().chain(dependents.first()).collect(),
        _ => Vec::new(),
    };
    // Longest first, because one id may be a prefix of the other.
    let mut long: Vec<(String, String)> = ids.into_iter().map(|id| (id.to_string(), shown(id))).collect();
    long.retain(|(whole, shown)| whole != shown);
    long.sort_by_key(|(whole, _)| std::cmp::Reverse(whole.len()));
    long.iter().fold(error.to_string(), |text, (whole, shown)| text.replace(whole.as_str(), shown))
}

/// Returns the fix for a damaged store.
fn hint(error: &StoreError, path: &Path) -> String {
    match error {
        StoreError::Damaged { .. } => {
            let path = path.display();
            format!(
                "; list all damage with `bitgrain store verify {path}`, copy the rest with `bitgrain store salvage {path} NEW`"
            )
        }
        _ => String::new(),
    }
}
