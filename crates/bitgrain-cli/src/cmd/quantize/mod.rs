//! `bitgrain quantize`: converts a model to smaller formats and reports the errors.

mod request;
mod show;
mod study;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use bitgrain::codec::NonFinite;
use bitgrain::codec::weight::{Calibration, WeightFormat};
use bitgrain::files::same_file;
use bitgrain::nn::model::convert::{Conversion, Granularity, Mix, Recipe, Scheme, quantize, quantize_checkpoint};
use bitgrain::nn::model::language;
use bitgrain::nn::model::plan::{Goal, PrecisionPlan, plan};
use bitgrain::nn::{Container, ImportanceMatrix, ModelFile, ModelFileError};

use super::predict::check_output_path;
use crate::error::CliError;
use crate::progress::Bar;
use crate::size;
use crate::threads::on_threads;

/// Quantize a model from GGUF, safetensors (a file, an index of shards or a Hugging Face folder), ONNX, npy or npz to GGUF or
/// safetensors.
///
/// Weight matrices are quantized. Integer tensors are kept, and so are vectors unless --keep names them. FORMAT is one
/// of llama.cpp's block formats (q4_0 q4_1 q5_0 q5_1 q8_0 q2_k q3_k q4_k q5_k q6_k iq4_nl tq1_0 tq2_0 mxfp4 iq4_xs
/// iq3_s, iq2_xs with --imatrix), q4f32, or a dtype with scales (float64 float32 float16 bfloat16 fp8_e4m3 fp8_e5m2 fp4
/// int64 int32 int16 int8 int4 int2 uint64 uint32 uint16 uint8 uint4 uint2 ternary binary). Blocks are byte-identical
/// to llama.cpp's; dtypes are written to .safetensors.
///
/// GPTQ, AWQ, FP8, compressed-tensors, ModelOpt, bitsandbytes and HQQ checkpoints are dequantized as they are read.
/// With --scheme, OUT is a folder that vLLM, SGLang and Transformers can load.
///
/// A Hugging Face folder with a config.json is converted to a GGUF file that llama.cpp can run, with llama.cpp's tensor
/// names, the hyperparameters and the tokenizer. Architectures: llama, mistral, qwen2, qwen3, qwen3moe, gemma3, phi3,
/// smollm3, bert and nomic-bert.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain quantize model.safetensors model-q4.gguf --to q4_k
  bitgrain quantize llama-folder/ llama.gguf --to Q4_K_M                   a Hugging Face folder for llama.cpp
  bitgrain quantize llama.gguf llama-folder/                               and back
  bitgrain quantize llama-folder/ out.safetensors --to int4 --group 32 --calibrate mse
  bitgrain quantize llama-folder/ llama-w4a16/ --scheme W4A16              for vLLM, SGLang and Transformers
  bitgrain quantize llama-gptq/ llama.gguf --to Q4_K_M                     from GPTQ, AWQ, FP8, NVFP4, ...
  bitgrain quantize model.gguf small.gguf --to q4_k --keep 'output.weight=q6_k' --keep '*norm*'
  bitgrain quantize model.gguf fit.gguf --budget 60MB --plan plan.json     choose a format per tensor
  bitgrain quantize model.gguf again.gguf --plan plan.json                 reuse a saved plan
  bitgrain quantize llama-folder/ fit.gguf --budget 1GB --text calib.txt   weight errors by their effect on predictions")]
pub(crate) struct Args {
    /// Input model.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Output file: .gguf, .safetensors, or .safetensors.index.json for a sharded model. If the input is the GGUF file
    /// of a language model, a folder: the model is converted to a Hugging Face folder.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Format of the weight matrices, or one of llama.cpp's mixes: Q2_K_S, Q3_K_S, Q3_K_M, Q3_K_L, Q4_K_S, Q4_K_M,
    /// Q5_K_S, Q5_K_M, or mix:NAME for a mix that shares its name with a format, such as mix:Q6_K. Optional if a
    /// Hugging Face folder is converted to GGUF (matrices then keep their dtype), or if a model is split or merged.
    #[arg(long, value_name = "FORMAT", value_parser = format_name)]
    to: Option<String>,
    /// Encoding of the linear layers in the compressed-tensors format, by its name in llm-compressor: W4A16, W8A8,
    /// FP8_DYNAMIC, NVFP4A16 or MXFP4A16. IN is a Hugging Face folder, and so is OUT.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["to", "budget", "max_rmse", "candidates", "plan", "scale"])]
    scheme: Option<Scheme>,
    /// Folder of a LoRA adapter (PEFT) to merge into the weights of IN before quantization.
    #[arg(long, value_name = "FOLDER")]
    lora: Option<PathBuf>,
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
    /// Importances that weight the error of each column: an importance matrix from llama.cpp or `bitgrain imatrix`, or
    /// a file with one vector per tensor.
    #[arg(long, value_name = "FILE")]
    imatrix: Option<PathBuf>,
    /// UTF-8 text that resembles the inputs of the language model; - reads standard input. The model runs on the text
    /// to compute importances (unless --imatrix is given) and, with --budget, to choose formats that change the
    /// predictions least. The perplexity and the KL divergence of the result are measured on the last eighth of the
    /// text.
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// Maximum number of chunks of --text, of 512 tokens each, on which importances are measured.
    #[arg(long, value_name = "N", requires = "text", default_value = "32")]
    chunks: NonZeroUsize,
    /// Handling of NaN and infinite weights.
    #[arg(long, value_enum, value_name = "MODE", default_value = "reject")]
    non_finite: Policy,
    /// Maximum size of all tensors, such as 60MB or 1.5GiB; formats are chosen per tensor to minimize the error.
    #[arg(long, value_name = "SIZE", value_parser = size::parse, conflicts_with_all = ["to", "max_rmse"])]
    budget: Option<u64>,
    /// Maximum relative RMS error; formats are chosen per tensor to minimize the size.
    #[arg(long, value_name = "X", conflicts_with = "to")]
    max_rmse: Option<f64>,
    /// Formats from which --budget and --max-rmse choose.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = weight_format_name)]
    candidates: Vec<String>,
    /// Plan file: written with --budget or --max-rmse, otherwise read and applied.
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    plan: Option<PathBuf>,
    /// Maximum size of a shard, if OUT is .safetensors.index.json [default: 5GB]. A .gguf output is split into files
    /// named OUT-00001-of-00003.gguf, as in llama.cpp.
    #[arg(long, visible_alias = "split", value_name = "SIZE", value_parser = size::parse)]
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
    if Mix::from_name(name).is_some() {
        return Ok(name.to_owned());
    }
    weight_format_name(name)
}

fn weight_format_name(name: &str) -> Result<String, bitgrain::codec::CodecErr> {
    match name.parse::<WeightFormat>()? {
        format if format.is_encodable() => Ok(name.to_ascii_lowercase()),
        format => Err(bitgrain::codec::CodecErr::DecodeOnly { format: format.name() }),
    }
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

impl From<Policy> for NonFinite {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Reject => Self::Reject,
            Policy::Zero => Self::Zero,
            Policy::Clamp => Self::Clamp,
        }
    }
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
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<study::Findings>,
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
    if let Some(scheme) = args.scheme {
        return write_checkpoint(args, &request, scheme);
    }
    if request.exports() {
        return export_folder(args, &request);
    }
    let container = Container::of_output(&args.output)?;
    let model = language::open_merged(&args.input, container, args.lora.as_deref())?;
    request.require_format(&model)?;
    check_output_path(&args.output)?;
    ensure_plan_is_separate(args, &model)?;
    let mut recipe = request.recipe(&model)?;
    recipe.non_finite = args.non_finite.into();
    if let Some(most) = args.shard_size {
        recipe.shard_bytes = most;
        recipe.split_gguf = container == Container::Gguf;
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
    let study = args.text.as_ref().map(|text| study::Study::new(&model, text, args.chunks.get())).transpose()?;
    recipe.importance = args.imatrix.as_ref().map(ImportanceMatrix::open).transpose()?;
    let findings = study.as_ref().map(|study| study.prepare(&model, &mut recipe, args.budget.is_some())).transpose()?;
    let covered = recipe.importance.as_ref().map(|importance| (importance.covers(&model), importance.len()));
    if let (Some((0, _)), Some(file)) = (covered, &args.imatrix) {
        return Err(CliError::UselessImportance { path: file.clone() });
    }
    if let Some(mix) = request.mix() {
        recipe = recipe.with_mix(mix, &model)?;
    }
    let start = Instant::now();
    let plan = match goal {
        Some(goal) => Some(planned(&model, container, &candidates, goal, &recipe)?),
        None => followed,
    };
    let seconds = start.elapsed().as_secs_f64();
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
    let mut text = None;
    if let (Some(study), Some(mut findings)) = (study, findings) {
        findings.seconds.plan = plan.as_ref().map(|_| seconds);
        let first = conversion.files.first().unwrap_or(&args.output);
        findings.measure(&study, &model, &ModelFile::open(first)?)?;
        text = Some(findings);
    }
    Ok(Done { plan, importance, text, conversion })
}

/// Writes a Hugging Face folder with the layers in a scheme of compressed-tensors.
fn write_checkpoint(args: &Args, request: &request::Request<'_>, scheme: Scheme) -> Result<Done, CliError> {
    let format = request.scheme_format(scheme)?;
    let model = language::open_merged(&args.input, Container::Safetensors, args.lora.as_deref())?;
    let mut recipe = request.recipe(&model)?;
    recipe.non_finite = args.non_finite.into();
    if let Some(most) = args.shard_size {
        recipe.shard_bytes = most;
    }
    recipe.importance = args.imatrix.as_ref().map(ImportanceMatrix::open).transpose()?;
    let covered = recipe.importance.as_ref().map(|importance| (importance.covers(&model), importance.len()));
    if let (Some((0, _)), Some(file)) = (covered, &args.imatrix) {
        return Err(CliError::UselessImportance { path: file.clone() });
    }
    let bar = Bar::new(model.bytes(), "quantizing");
    let conversion = quantize_checkpoint(&model, &args.output, (scheme, format), recipe, &bar)?;
    bar.finish();
    Ok(Done { plan: None, importance: covered.map(|(used, all)| Covered { used, all }), text: None, conversion })
}

/// Converts a GGUF language model to a Hugging Face folder.
fn export_folder(args: &Args, request: &request::Request<'_>) -> Result<Done, CliError> {
    if args.lora.is_some() {
        return Err(CliError::Options {
            problem: "--lora has no effect on the conversion to a Hugging Face folder".to_owned(),
            fix: "add --scheme, or name an output that ends in .gguf or .safetensors",
        });
    }
    let model = ModelFile::open(&args.input)?;
    if model.container() != Container::Gguf {
        return Err(ModelFileError::OutputName { path: args.output.clone() }.into());
    }
    let mut recipe = language::export_recipe(request.export_format()?);
    recipe.non_finite = args.non_finite.into();
    if let Some(most) = args.shard_size {
        recipe.shard_bytes = most;
    }
    let bar = Bar::new(model.bytes(), "converting");
    let conversion = language::export(model, &args.output, &recipe, &bar)?;
    bar.finish();
    Ok(Done { plan: None, importance: None, text: None, conversion })
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
