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
    #[error("--early-stopping needs rows to measure on: give --valid FILE or --valid-fraction 0.2")]
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
    /// A store refused.
    #[error("{}: {}{}", path.display(), brief(source), hint(source, path))]
    Store {
        /// Its folder.
        path: PathBuf,
        /// Why.
        source: Box<StoreError>,
    },
    /// A store is not as it was written.
    #[error(
        "{count} {} damaged; `bitgrain store salvage {} NEW` copies what is readable to a new store",
        if *count == 1 { "place is" } else { "places are" }, path.display()
    )]
    Damaged {
        /// How many.
        count: usize,
        /// The store.
        path: PathBuf,
    },
    /// A damaged store of which not all could be copied.
    #[error(
        "not everything could be copied: {tensors} tensors are lost, wholly or in part, and {places} places could not be read"
    )]
    Lost {
        /// Tensors that are known to be lost.
        tensors: usize,
        /// Places of which nobody knows what was there.
        places: usize,
    },
    /// A place for a new store that is not empty.
    #[error("{} is not empty: name a folder that is not there yet", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A tensor in the place of frames.
    #[error("{id} holds {frames} frames, which would be dropped: append to it, choose another id, or say --replace")]
    HasFrames {
        /// The temporal tensor.
        id: String,
        /// Its frames.
        frames: u64,
    },
    /// Frames for a tensor that has none.
    #[error("{id} was put as a whole and takes no frames: append to another id, or `bitgrain store rm` it first")]
    TakesNoFrames {
        /// The tensor.
        id: String,
    },
    /// Two tensors for one id.
    #[error("{id} is in {} and in {}, and only one can be kept: import them apart, each with a --prefix", first.display(), second.display())]
    SameName {
        /// What both would be called.
        id: String,
        /// The one file.
        first: PathBuf,
        /// The other, or the same.
        second: PathBuf,
    },
    /// A NaN or an infinity in a file.
    #[error(
        "{}, tensor {name}: the value at index {index} is {value}, and a store keeps finite values, lossless ones too; \
         --non-finite zero or clamp replaces it", path.display()
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
    /// A value of 64 bits that is none of 32.
    #[error(
        "{}, tensor {name}: the value at index {index} does not fit f32, which ends at 3.4e38; scale the values, or \
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
    #[error("which tensor of {}? name it with --tensor; there are {names}", path.display())]
    WhichTensor {
        /// The file.
        path: PathBuf,
        /// Some of its tensors.
        names: String,
    },
    /// A name that no tensor of a file has.
    #[error("{} has no tensor called {name}; `bitgrain inspect` lists them", path.display())]
    NoTensor {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
    },
    /// A tensor of a file that a store refused.
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
    /// Several tensors for a file of one.
    #[error("{} takes one tensor, there are {tensors}: write to .npz or .safetensors", path.display())]
    OnlyOne {
        /// The file.
        path: PathBuf,
        /// Tensors there are.
        tensors: usize,
    },
    /// Tensors that are no columns.
    #[error("{} takes vectors as columns, and some tensor has another shape: write to .npz or .safetensors", path.display())]
    OnlyColumns {
        /// The file.
        path: PathBuf,
    },
    /// A name from which no format follows.
    #[error("{}: write to a file that ends in .npy, .npz, .safetensors or .parquet", path.display())]
    TensorFile {
        /// The file.
        path: PathBuf,
    },
    /// Frames of a tensor that has none.
    #[error("{id} has no frames; --rows reads a part of it")]
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

/// What a store says, with ids that fit a terminal: the end of a message says what to do.
fn brief(error: &StoreError) -> String {
    // No command writes to what it opened for reading.
    if matches!(error, StoreError::ReadOnly) {
        return "the system does not let you write there".to_owned();
    }
    if let StoreError::TimeOutOfRange { now, clock } = error {
        let way = if now > clock { "ahead of" } else { "behind" };
        return format!(
            "time out of range: --now-ms {now} is more than a day {way} the system clock, which shows {clock}; \
             use --dry-run to look, or --simulate"
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
    // Longest first: one may begin with the other.
    let mut long: Vec<(String, String)> = ids.into_iter().map(|id| (id.to_string(), shown(id))).collect();
    long.retain(|(whole, shown)| whole != shown);
    long.sort_by_key(|(whole, _)| std::cmp::Reverse(whole.len()));
    long.iter().fold(error.to_string(), |text, (whole, shown)| text.replace(whole.as_str(), shown))
}

/// What to do about a damaged store.
fn hint(error: &StoreError, path: &Path) -> String {
    match error {
        StoreError::Damaged { .. } => {
            let path = path.display();
            format!(
                "; `bitgrain store verify {path}` lists all damage, `bitgrain store salvage {path} NEW` copies the rest"
            )
        }
        _ => String::new(),
    }
}
