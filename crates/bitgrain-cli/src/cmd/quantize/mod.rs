//! `bitgrain quantize`: a model into smaller formats, with what that cost.

mod request;
mod show;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use bitgrain::codec::NonFinite;
use bitgrain::codec::weight::{Calibration, WeightFormat};
use bitgrain::files::same_file;
use bitgrain::nn::model::convert::{Conversion, Granularity, Recipe, quantize};
use bitgrain::nn::model::plan::{Goal, PrecisionPlan, plan};
use bitgrain::nn::{Container, ImportanceMatrix, ModelFile};

use super::predict::check_place;
use crate::error::CliError;
use crate::progress::Bar;
use crate::size;
use crate::threads::on_threads;

/// Quantize a model: GGUF, safetensors (a file, an index of shards or a Hugging Face folder), npy or npz in; GGUF or
/// safetensors out.
///
/// Weight matrices are quantized; integers are kept, and so are vectors unless --keep names them. Formats: the block formats of
/// llama.cpp, byte for byte (q4_0 q4_1 q5_0 q5_1 q8_0 q2_k q3_k q4_k q5_k q6_k iq4_nl tq1_0 tq2_0 mxfp4), q4f32, and
/// dtypes (float64 float32 float16 bfloat16 fp8_e4m3 fp8_e5m2 fp4 int64 int32 int16 int8 int4 int2 uint64 uint32 uint16
/// uint8 uint4 uint2 ternary binary), which take scales and go into .safetensors.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain quantize model.safetensors model-q4.gguf --to q4_k
  bitgrain quantize llama-folder/ out.safetensors --to int4 --group 32 --calibrate mse
  bitgrain quantize model.gguf small.gguf --to q4_k --keep 'output.weight=q6_k' --keep '*norm*'
  bitgrain quantize model.gguf fit.gguf --budget 60MB --plan plan.json     choose a format per tensor
  bitgrain quantize model.gguf again.gguf --plan plan.json                 the same choice again")]
pub(crate) struct Args {
    /// The model to read.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write: .gguf, .safetensors, or .safetensors.index.json for a model in shards.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The format of every weight matrix.
    #[arg(long, value_name = "FORMAT", value_parser = format_name, required_unless_present_any = ["budget", "max_rmse", "plan"])]
    to: Option<String>,
    /// Weights that share a scale, for the dtypes [default: channel, or group below 8 bits].
    #[arg(long, value_enum, value_name = "WHICH")]
    scale: Option<Scale>,
    /// Number of weights that share a scale, for the dtypes: 32, 64, 128 or another multiple of 8.
    #[arg(long, value_name = "N")]
    group: Option<usize>,
    /// Calibration method, for the dtypes: absmax, percentile or percentile=P, mse, hqq [default: absmax].
    #[arg(long, value_name = "METHOD")]
    calibrate: Option<Calibration>,
    /// Tensors to keep as they are, or in a format of their own: 'GLOB' or 'GLOB=FORMAT'. May be repeated; the first
    /// that matches decides. A FORMAT that names its scaling (int8/channel) overrides --scale and --group.
    #[arg(long, value_name = "GLOB[=FORMAT]")]
    keep: Vec<String>,
    /// How much the error of each column matters: an importance matrix of llama.cpp (imatrix.gguf), or a file with a
    /// vector per tensor.
    #[arg(long, value_name = "FILE")]
    imatrix: Option<PathBuf>,
    /// What to do with NaN and infinite weights.
    #[arg(long, value_enum, default_value = "reject")]
    non_finite: Policy,
    /// Choose a format per tensor so that all tensors together take at most this, with the least error: 60MB, 1.5GiB.
    #[arg(long, value_name = "SIZE", value_parser = size::parse, conflicts_with_all = ["to", "max_rmse"])]
    budget: Option<u64>,
    /// Choose a format per tensor so that the relative RMS error is at most this, in the fewest bytes.
    #[arg(long, value_name = "X", conflicts_with = "to")]
    max_rmse: Option<f64>,
    /// Formats to choose from with --budget and --max-rmse.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = format_name)]
    candidates: Vec<String>,
    /// Save the choice to this file; without --budget and --max-rmse, follow the one it holds.
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    plan: Option<PathBuf>,
    /// Maximum size of a shard, where OUT is .safetensors.index.json [default: 5GB].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    shard_size: Option<u64>,
    /// Threads to use; all cores if not given. The result is the same.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Which weights share a scale.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Scale {
    /// Codes are the weights themselves, rounded and clamped.
    None,
    /// One for the whole tensor.
    Tensor,
    /// One per row.
    Channel,
    /// One per group of a row's weights.
    Group,
}

impl From<Scale> for Granularity {
    fn from(scale: Scale) -> Self {
        match scale {
            Scale::None => Self::None,
            Scale::Tensor => Self::Tensor,
            Scale::Channel => Self::Channel,
            Scale::Group => Self::Group,
        }
    }
}

/// The name of a format, checked but not parsed: `int4/64` contradicts `--scale channel`, its equal `int4` does not.
fn format_name(name: &str) -> Result<String, bitgrain::codec::CodecErr> {
    name.parse::<WeightFormat>().map(|_| name.to_ascii_lowercase())
}

/// What to do with NaN and infinities.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Policy {
    /// Stop and name the first.
    Reject,
    /// Take 0.
    Zero,
    /// Infinities become the row's largest finite magnitude, NaN 0.
    Clamp,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let done = on_threads(args.threads, || convert(args))??;
    show::show(args, &done, out)
}

/// What was planned and done.
#[derive(serde::Serialize)]
struct Done {
    plan: Option<PrecisionPlan>,
    importance: Option<Covered>,
    #[serde(flatten)]
    conversion: Conversion,
}

/// How many tensors of the model have importances, of how many there are importances for.
#[derive(serde::Serialize)]
struct Covered {
    used: usize,
    all: usize,
}

fn convert(args: &Args) -> Result<Done, CliError> {
    let request = request::Request::new(args)?;
    let model = ModelFile::open(&args.input)?;
    let container = Container::of_output(&args.output)?;
    check_place(&args.output)?;
    refuse_plan_over_others(args, &model)?;
    let mut recipe = request.recipe(&model)?;
    recipe.non_finite = match args.non_finite {
        Policy::Reject => NonFinite::Reject,
        Policy::Zero => NonFinite::Zero,
        Policy::Clamp => NonFinite::Clamp,
    };
    if let Some(most) = args.shard_size {
        recipe.shard_bytes = most;
    }
    let goal = match (args.budget, args.max_rmse) {
        (Some(bytes), _) => Some(Goal::Budget(bytes)),
        (_, Some(error)) => Some(Goal::MaxError(error)),
        (None, None) => None,
    };
    let candidates = request.candidates(container, goal.is_some())?;
    let followed = match (goal, &args.plan) {
        (None, Some(file)) => Some(PrecisionPlan::load(file)?),
        _ => None,
    };
    request.refuse_useless_importance(&candidates, followed.as_ref())?;
    recipe.importance = args.imatrix.as_ref().map(ImportanceMatrix::open).transpose()?;
    let covered = recipe.importance.as_ref().map(|importance| (importance.covers(&model), importance.len()));
    if let (Some((0, _)), Some(file)) = (covered, &args.imatrix) {
        return Err(CliError::UselessImportance { path: file.clone() });
    }
    let plan = match goal {
        Some(goal) => Some(planned(&model, container, &candidates, goal, &recipe)?),
        None => followed,
    };
    if let (Some(_), Some(plan), Some(file)) = (goal, &plan, &args.plan) {
        plan.save(file)?;
    }
    if let Some(plan) = &plan {
        recipe = plan.apply(&model, recipe)?;
    }
    let bar = Bar::new(model.bytes(), "quantizing");
    let conversion = quantize(&model, &args.output, &recipe, &bar)?;
    bar.finish();
    let importance = covered.map(|(used, all)| Covered { used, all });
    Ok(Done { plan, importance, conversion })
}

/// A plan is saved before the model is converted: it must not take the place of anything that is read or written.
fn refuse_plan_over_others(args: &Args, model: &ModelFile) -> Result<(), CliError> {
    let Some(plan) = &args.plan else { return Ok(()) };
    let mut inputs = model.files().into_iter().chain([model.path(), &args.output]).chain(args.imatrix.as_deref());
    if inputs.any(|other| same_file(plan, other)) {
        return Err(CliError::PlanOverModel { path: plan.clone() });
    }
    Ok(())
}

fn planned(
    model: &ModelFile,
    container: Container,
    formats: &[WeightFormat],
    goal: Goal,
    recipe: &Recipe,
) -> Result<PrecisionPlan, CliError> {
    let bar = Bar::new(model.bytes() * formats.len() as u64, "measuring");
    let plan = plan(model, container, formats, goal, recipe, &bar)?;
    bar.finish();
    Ok(plan)
}
