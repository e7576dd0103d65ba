//! `bitgrain quantize`: converts a model to smaller formats and reports the errors.

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

use super::predict::check_output_path;
use crate::error::CliError;
use crate::progress::Bar;
use crate::size;
use crate::threads::on_threads;

/// Quantize a model from GGUF, safetensors (a file, an index of shards or a Hugging Face folder), npy or npz to GGUF or
/// safetensors.
///
/// Weight matrices are quantized. Integer tensors are kept, and so are vectors unless --keep names them. FORMAT is one
/// of llama.cpp's block formats (q4_0 q4_1 q5_0 q5_1 q8_0 q2_k q3_k q4_k q5_k q6_k iq4_nl tq1_0 tq2_0 mxfp4), q4f32, or
/// a dtype with scales (float64 float32 float16 bfloat16 fp8_e4m3 fp8_e5m2 fp4 int64 int32 int16 int8 int4 int2 uint64
/// uint32 uint16 uint8 uint4 uint2 ternary binary). Blocks are byte-identical to llama.cpp's; dtypes are written to
/// .safetensors.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain quantize model.safetensors model-q4.gguf --to q4_k
  bitgrain quantize llama-folder/ out.safetensors --to int4 --group 32 --calibrate mse
  bitgrain quantize model.gguf small.gguf --to q4_k --keep 'output.weight=q6_k' --keep '*norm*'
  bitgrain quantize model.gguf fit.gguf --budget 60MB --plan plan.json     choose a format per tensor
  bitgrain quantize model.gguf again.gguf --plan plan.json                 reuse a saved plan")]
pub(crate) struct Args {
    /// Input model.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Output file: .gguf, .safetensors, or .safetensors.index.json for a sharded model.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Format of the weight matrices.
    #[arg(long, value_name = "FORMAT", value_parser = format_name, required_unless_present_any = ["budget", "max_rmse", "plan"])]
    to: Option<String>,
    /// Granularity of the scales of dtypes [default: channel, or group below 8 bits].
    #[arg(long, value_enum, value_name = "WHICH")]
    scale: Option<Scale>,
    /// Number of weights per scale of dtypes: 32, 64, 128 or another multiple of 8.
    #[arg(long, value_name = "N")]
    group: Option<usize>,
    /// Calibration method of dtypes: absmax, percentile, percentile=P, mse or hqq [default: absmax].
    #[arg(long, value_name = "METHOD")]
    calibrate: Option<Calibration>,
    /// Tensors to keep unchanged (GLOB) or to convert to another format (GLOB=FORMAT). May be repeated; the first match
    /// applies. A FORMAT with a granularity, such as int8/channel, overrides --scale and --group.
    #[arg(long, value_name = "GLOB[=FORMAT]")]
    keep: Vec<String>,
    /// Importance of each column's error: an importance matrix of llama.cpp (imatrix.gguf), or a file with one vector
    /// per tensor.
    #[arg(long, value_name = "FILE")]
    imatrix: Option<PathBuf>,
    /// Handling of NaN and infinite weights.
    #[arg(long, value_enum, value_name = "MODE", default_value = "reject")]
    non_finite: Policy,
    /// Maximum size of all tensors, such as 60MB or 1.5GiB; formats are chosen per tensor to minimize the error.
    #[arg(long, value_name = "SIZE", value_parser = size::parse, conflicts_with_all = ["to", "max_rmse"])]
    budget: Option<u64>,
    /// Maximum relative RMS error; formats are chosen per tensor to minimize the size.
    #[arg(long, value_name = "X", conflicts_with = "to")]
    max_rmse: Option<f64>,
    /// Formats that --budget and --max-rmse choose from.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = format_name)]
    candidates: Vec<String>,
    /// Plan file: written with --budget or --max-rmse, otherwise read and applied.
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    plan: Option<PathBuf>,
    /// Maximum size of a shard if OUT is .safetensors.index.json [default: 5GB].
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    shard_size: Option<u64>,
    /// Number of threads [default: all cores]; the result does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Granularity of scales.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Scale {
    /// No scale: weights are rounded and clamped.
    None,
    /// One scale per tensor.
    Tensor,
    /// One scale per row.
    Channel,
    /// One scale per group of weights within a row.
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

/// Checks a format name without parsing it, because `int4/64` contradicts `--scale channel` and `int4`, although equal,
/// does not.
fn format_name(name: &str) -> Result<String, bitgrain::codec::CodecErr> {
    name.parse::<WeightFormat>().map(|_| name.to_ascii_lowercase())
}

/// Handling of NaN and infinite weights.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Policy {
    /// Fail and report the first one.
    Reject,
    /// Replace them with 0.
    Zero,
    /// Replace infinities with the largest finite magnitude of the row, and NaN with 0.
    Clamp,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let done = on_threads(args.threads, || convert(args))??;
    show::show(args, &done, out)
}

/// Report of the command.
#[derive(serde::Serialize)]
struct Done {
    plan: Option<PrecisionPlan>,
    importance: Option<Covered>,
    #[serde(flatten)]
    conversion: Conversion,
}

/// Coverage of the importance matrix.
#[derive(serde::Serialize)]
struct Covered {
    used: usize,
    all: usize,
}

fn convert(args: &Args) -> Result<Done, CliError> {
    let request = request::Request::new(args)?;
    let model = ModelFile::open(&args.input)?;
    let container = Container::of_output(&args.output)?;
    check_output_path(&args.output)?;
    ensure_plan_is_separate(args, &model)?;
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
    request.reject_unused_importance(&candidates, followed.as_ref())?;
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

/// Fails if the plan, which is written before the model, would overwrite an input or the output.
fn ensure_plan_is_separate(args: &Args, model: &ModelFile) -> Result<(), CliError> {
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
