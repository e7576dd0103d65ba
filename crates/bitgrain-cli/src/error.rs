//! What a command can fail with, worded for the person at the terminal.

use std::io;
use std::path::{Path, PathBuf};

use bitgrain::store::{StoreError, TensorId};

use crate::cmd::store::id::shown;

/// Why a command stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Standard output, or a temporary file of the tour, could not be written.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// The codec refused something.
    #[error("{0}")]
    Codec(#[from] bitgrain::codec::CodecErr),
    /// A container could not be written.
    #[error("{0}")]
    Write(#[from] bitgrain::formats::WriteError),
    /// Options that contradict each other or have no effect.
    #[error("{problem}; {fix}")]
    Options {
        /// The options and why they cannot be followed.
        problem: String,
        /// The way out.
        fix: &'static str,
    },
    /// A rule that concerns no tensor.
    #[error("--keep '{pattern}' matches no tensor; `bitgrain inspect` lists their names, * stands for anything")]
    NothingMatches {
        /// What was asked for.
        pattern: String,
    },
    /// Importances that concern no tensor.
    #[error("{} has importances for no tensor of the model: names must be the same", path.display())]
    UselessImportance {
        /// The file.
        path: PathBuf,
    },
    /// A plan that would take the place of a file that is read or written.
    #[error("{} is the model, the output or the importances: save the plan to another file", path.display())]
    PlanOverModel {
        /// The file.
        path: PathBuf,
    },
    /// More threads than anyone has cores.
    #[error("{count} threads are too many; 1024 are allowed, and every core is used without --threads")]
    TooManyThreads {
        /// What was asked for.
        count: usize,
    },
    /// No format has this name.
    #[error("`{name}` is no weight format; `bitgrain quantize --help` lists them")]
    UnknownFormat {
        /// What was asked for.
        name: String,
    },
    /// A model could not be read, converted or compared.
    #[error("{0}")]
    Model(#[from] bitgrain::nn::ModelFileError),
    /// A network could not be trained, morphed or run.
    #[error("{0}")]
    Network(#[from] bitgrain::nn::network::NetworkError),
    /// The file of a network could not be written or read.
    #[error("{0}")]
    NetworkFile(#[from] bitgrain::nn::network::save::NetworkFileError),
    /// Sentences could not be embedded.
    #[error("{0}")]
    Embed(#[from] bitgrain::nn::network::embed::EmbedError),
    /// Vectors under a name that says something else.
    #[error("{}: vectors are written as .npy: name the output so", path.display())]
    NotNpy {
        /// The file.
        path: PathBuf,
    },
    /// A table could not be read, used or written.
    #[error("{0}")]
    Table(#[from] bitgrain::gbdt::table::TableError),
    /// Features could not be binned.
    #[error("{0}")]
    Feature(#[from] bitgrain::gbdt::feature::FeatureError),
    /// Nothing could be trained.
    #[error("{0}")]
    Train(#[from] bitgrain::gbdt::train::TrainError),
    /// A hyper-parameter cannot be used.
    #[error(transparent)]
    Parameter(#[from] bitgrain::gbdt::parameter::ParameterError),
    /// An objective that is none, or does not fit the targets.
    #[error("{0}")]
    Objective(#[from] bitgrain::gbdt::objective::ObjectiveError),
    /// A metric that is none.
    #[error("{0}")]
    Metric(#[from] bitgrain::gbdt::metric::MetricError),
    /// A model of trees that cannot predict.
    #[error("{0}")]
    Predict(#[from] bitgrain::gbdt::predict::PredictError),
    /// A model of trees could not be read.
    #[error("{0}")]
    Load(#[from] bitgrain::gbdt::model::LoadError),
    /// A model of trees could not be written.
    #[error("{0}")]
    Save(#[from] bitgrain::gbdt::model::SaveError),
    /// Nothing to learn.
    #[error("which column is to be learned? name it with --target; the table has {columns}")]
    NoTarget {
        /// Names of its columns.
        columns: String,
    },
    /// A share to hold back that leaves nothing on one side.
    #[error("--valid-fraction {fraction} is not between 0 and 1; 0.2 holds back a fifth of the rows")]
    ValidFraction {
        /// What was asked for.
        fraction: f64,
    },
    /// Early stopping without anything to watch.
    #[error("--early-stopping-rounds needs rows to measure on: give --valid FILE or --valid-fraction 0.2")]
    NothingToWatch,
    /// Weights of classes where there are none.
    #[error("--class-weight needs classes, and {objective} predicts numbers: leave it out")]
    ClassWeight {
        /// The objective.
        objective: String,
    },
    /// Classes of a model that has none.
    #[error("{} predicts numbers, not classes: leave out --class", path.display())]
    NoClasses {
        /// The model.
        path: PathBuf,
    },
    /// An output that would take the place of what is read.
    #[error("{} is read here: write to another file", path.display())]
    OverInput {
        /// The file.
        path: PathBuf,
    },
    /// An output that cannot become a file.
    #[error("cannot write {}: {reason}", path.display())]
    Place {
        /// The output.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file could not be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Two models that share no name of a tensor.
    #[error("nothing to compare: no tensor of {} (such as `{first_tensor}`) is in {} (which has `{second_tensor}`)", first.display(), second.display())]
    NothingInCommon {
        /// The one model.
        first: PathBuf,
        /// A tensor of it.
        first_tensor: String,
        /// The other.
        second: PathBuf,
        /// A tensor of that.
        second_tensor: String,
    },
    /// A report that would replace a model.
    #[error("the report would replace the model {}: write to another file", path.display())]
    ReportOverModel {
        /// The file.
        path: PathBuf,
    },
    /// The threads could not be started.
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
        /// Number of damaged places.
        count: usize,
        /// Folder of the store.
        path: PathBuf,
    },
    /// A damaged store that could not be copied completely.
    #[error(
        "some data is lost: {tensors} tensors were not copied completely, and {places} places of unknown tensors are damaged"
    )]
    Lost {
        /// Number of tensors lost completely or in part.
        tensors: usize,
        /// Number of damaged places whose tensor is unknown.
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
        /// What was asked for.
        name: String,
    },
    /// A tensor of a file that the store rejected.
    #[error("{}, tensor {name}: {}", path.display(), brief(source))]
    OfTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Why.
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
    /// Frames requested of a tensor that is not temporal.
    #[error("`{id}` has no frames; read a part of it with --rows")]
    NoFrames {
        /// The tensor.
        id: String,
    },
    /// The tour has no such chapter.
    #[error("the tour has no chapter `{name}`; it has: {known}")]
    UnknownChapter {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

impl CliError {
    /// Whether the reader of standard output closed it, which is not an error.
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

    /// For `map_err`: an error of the store in a folder.
    pub(crate) fn store(path: &Path) -> impl FnOnce(StoreError) -> Self {
        let path = path.to_owned();
        move |source| Self::Store { path, source: Box::new(source) }
    }
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
