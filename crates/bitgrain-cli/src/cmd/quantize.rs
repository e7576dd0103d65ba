//! `bitgrain quantize`: a model into smaller formats, with what that cost.

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use bitgrain::codec::NonFinite;
use bitgrain::codec::weight::{BlockLen, Calibration, Scaling, WeightFormat};
use bitgrain::nn::convert::{Choice, Conversion, Recipe, quantize};
use bitgrain::nn::plan::{Goal, Plan, candidates, plan};
use bitgrain::nn::{Container, Importance, Model, Size, digits};

use crate::error::CliError;
use crate::printable::printable;
use crate::progress::Bar;
use crate::size::Bytes;
use crate::table::Table;
use crate::threads::on_threads;

/// Quantize a model: GGUF, safetensors (a file, an index of shards or a Hugging Face folder), npy or npz in; GGUF or
/// safetensors out.
///
/// Weight matrices are quantized; vectors and integers are kept unless --keep names them. Formats: the block formats of
/// llama.cpp, byte for byte (q4_0 q4_1 q5_0 q5_1 q8_0 q2_k q3_k q4_k q5_k q6_k iq4_nl tq1_0 tq2_0 mxfp4), q4f32, and 21
/// dtypes (float64 float32 float16 bfloat16 fp8_e4m3 fp8_e5m2 fp4 int64..int2 uint64..uint2 ternary binary), which
/// take scales and go into .safetensors.
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
    #[arg(long, value_name = "FORMAT", required_unless_present_any = ["budget", "max_rmse", "plan"])]
    to: Option<WeightFormat>,
    /// Which weights share a scale, for the dtypes: default channel, group below 8 bits.
    #[arg(long, value_enum, value_name = "WHICH")]
    scale: Option<Scale>,
    /// Weights that share a scale, for the dtypes: 32, 64, 128 or another multiple of 8.
    #[arg(long, value_name = "N")]
    group: Option<usize>,
    /// How scales are found, for the dtypes: absmax, percentile or percentile=P, mse, hqq.
    #[arg(long, value_name = "HOW", default_value = "absmax", value_parser = calibration)]
    calibrate: Calibration,
    /// Tensors to keep as they are, or in a format of their own: 'GLOB' or 'GLOB=FORMAT'. May be repeated; the first
    /// that matches decides.
    #[arg(long, value_name = "GLOB[=FORMAT]")]
    keep: Vec<String>,
    /// How much the error of each column matters: an importance matrix of llama.cpp (imatrix.gguf), or a file with a
    /// vector per tensor.
    #[arg(long, value_name = "FILE")]
    imatrix: Option<PathBuf>,
    /// What to do with NaN and infinite weights.
    #[arg(long, value_enum, default_value = "reject")]
    non_finite: Policy,
    /// Choose a format per tensor so that all tensors take at most this, with the least error: 60MB, 1.5GiB.
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["to", "max_rmse"])]
    budget: Option<Bytes>,
    /// Choose a format per tensor so that the relative RMS error is at most this, in the fewest bytes.
    #[arg(long, value_name = "X", conflicts_with = "to")]
    max_rmse: Option<f64>,
    /// Formats to choose from with --budget and --max-rmse.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    candidates: Vec<WeightFormat>,
    /// Save the choice to this file; without --budget and --max-rmse, follow the one it holds.
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    plan: Option<PathBuf>,
    /// Bytes of a shard at most, where OUT is .safetensors.index.json.
    #[arg(long, value_name = "SIZE", default_value = "5GB")]
    shard_size: Bytes,
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
    show(args, &done, out)
}

/// What was planned and done.
#[derive(serde::Serialize)]
struct Done {
    plan: Option<Plan>,
    #[serde(flatten)]
    conversion: Conversion,
}

fn convert(args: &Args) -> Result<Done, CliError> {
    let model = Model::open(&args.input)?;
    let container = Container::of_output(&args.output)?;
    let default = args.to.map_or(Ok(Choice::Keep), |format| shaped(args, format).map(Choice::To))?;
    let mut recipe = Recipe::new(default);
    for rule in &args.keep {
        let (pattern, choice) = keep_rule(args, rule)?;
        recipe = recipe.rule(pattern, choice);
    }
    recipe.non_finite = match args.non_finite {
        Policy::Reject => NonFinite::Reject,
        Policy::Zero => NonFinite::Zero,
        Policy::Clamp => NonFinite::Clamp,
    };
    recipe.shard_bytes = args.shard_size.0;
    recipe.importance = args.imatrix.as_ref().map(Importance::open).transpose()?;
    let goal = match (args.budget, args.max_rmse) {
        (Some(Bytes(bytes)), _) => Some(Goal::Budget(bytes)),
        (_, Some(error)) => Some(Goal::MaxError(error)),
        (None, None) => None,
    };
    let plan = match (goal, &args.plan) {
        (Some(goal), _) => Some(planned(args, &model, container, goal, &recipe)?),
        (None, Some(file)) => Some(Plan::load(file)?),
        (None, None) => None,
    };
    if let (Some(_), Some(plan), Some(file)) = (goal, &plan, &args.plan) {
        plan.save(file)?;
    }
    if let Some(plan) = &plan {
        recipe = plan.apply(args.plan.as_deref().unwrap_or(&args.output), &model, recipe)?;
    }
    let bar = Bar::new(model.bytes(), "quantizing");
    let conversion = quantize(&model, &args.output, &recipe, &bar)?;
    bar.finish();
    Ok(Done { plan, conversion })
}

fn planned(args: &Args, model: &Model, container: Container, goal: Goal, recipe: &Recipe) -> Result<Plan, CliError> {
    let formats = if args.candidates.is_empty() { candidates(container) } else { args.candidates.clone() };
    let formats = formats.into_iter().map(|format| shaped(args, format)).collect::<Result<Vec<_>, _>>()?;
    let bar = Bar::new(model.bytes() * formats.len() as u64, "measuring");
    let plan = plan(model, container, &formats, goal, recipe, &bar)?;
    bar.finish();
    Ok(plan)
}

/// The format with the scaling and calibration that the options ask for. Block formats have their own.
fn shaped(args: &Args, format: WeightFormat) -> Result<WeightFormat, CliError> {
    let WeightFormat::Scaled(mut scaled) = format else { return Ok(format) };
    scaled.calibration = args.calibrate;
    if scaled.dtype.is_plain() {
        return Ok(scaled.into());
    }
    let group = match args.group {
        Some(len) => Scaling::Group(BlockLen::new(len).map_err(bitgrain::codec::CodecErr::from)?),
        None => Scaling::Group(BlockLen::DEFAULT),
    };
    scaled.scaling = match args.scale {
        Some(Scale::None) => Scaling::None,
        Some(Scale::Tensor) => Scaling::Tensor,
        Some(Scale::Channel) => Scaling::Channel,
        Some(Scale::Group) => group,
        None if args.group.is_some() => group,
        None => scaled.scaling,
    };
    Ok(scaled.into())
}

/// A pattern and what becomes of the tensors it matches.
fn keep_rule<'a>(args: &Args, rule: &'a str) -> Result<(&'a str, Choice), CliError> {
    match rule.rsplit_once('=') {
        None => Ok((rule, Choice::Keep)),
        Some((pattern, format)) => {
            let format = format.parse().map_err(|_| CliError::UnknownFormat { name: format.to_owned() })?;
            Ok((pattern, Choice::To(shaped(args, format)?)))
        }
    }
}

fn calibration(text: &str) -> Result<Calibration, String> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    match (name, value) {
        ("absmax", None) => Ok(Calibration::AbsMax),
        ("mse", None) => Ok(Calibration::MeanSquaredError),
        ("hqq", None) => Ok(Calibration::HalfQuadratic),
        ("percentile", None) => Ok(Calibration::Percentile(Calibration::DEFAULT_PERCENTILE)),
        ("percentile", Some(percent)) => match percent.parse() {
            Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(Calibration::Percentile(percent)),
            _ => Err(format!("a percentile is above 0 and at most 100, not `{percent}`")),
        },
        _ => Err("choose absmax, percentile, percentile=99.5, mse or hqq".to_owned()),
    }
}

fn show(args: &Args, done: &Done, out: &mut impl Write) -> Result<(), CliError> {
    if args.json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(done)?)?);
    }
    let conversion = &done.conversion;
    if let Some(plan) = &done.plan {
        write_curve(plan, out)?;
    }
    let mut table = Table::new(&["tensor", "from", "to", "before", "after", "rel. RMSE", "max error", "cosine"], 3);
    for row in &conversion.tensors {
        let lost = |text: fn(&bitgrain::nn::compare::Figures) -> String| row.figures.as_ref().map_or("-".into(), text);
        table.row([
            printable(&row.name).into_owned(),
            row.from.clone(),
            row.to.clone(),
            Size(row.bytes_before).to_string(),
            Size(row.bytes_after).to_string(),
            lost(|f| digits(f.relative_rmse)),
            lost(|f| digits(f.max_error)),
            lost(|f| format!("{:.6}", f.cosine)),
        ]);
    }
    writeln!(out, "{table}\n")?;
    write_remarks(conversion, out)?;
    for row in conversion.tensors.iter().filter(|row| row.figures.is_some_and(|f| f.relative_rmse > 0.9)) {
        writeln!(out, "{}: next to nothing is left of it at {}; choose another format for it", row.name, row.to)?;
    }
    let (before, after) = (conversion.bytes_before, conversion.bytes_after);
    #[expect(clippy::cast_precision_loss, reason = "a ratio to show")]
    let smaller = before as f64 / after.max(1) as f64;
    writeln!(out, "{} -> {} ({smaller:.2}x smaller)", Size(before), Size(after))?;
    let figures = || conversion.tensors.iter().filter_map(|row| Some((row, row.figures?)));
    if let Some((row, worst)) = figures().max_by(|a, b| a.1.relative_rmse.total_cmp(&b.1.relative_rmse)) {
        let count = figures().count();
        #[expect(clippy::cast_precision_loss, reason = "a handful of tensors")]
        let mean = figures().map(|(_, f)| f.relative_rmse).sum::<f64>() / count as f64;
        writeln!(
            out,
            "worst relative RMSE {:.5} ({}), mean {mean:.5} over {count} tensors",
            worst.relative_rmse, row.name
        )?;
        writeln!(
            out,
            "overall cosine {:.6}, largest error {:.3e}",
            conversion.overall.cosine, conversion.overall.max_error
        )?;
    }
    Ok(writeln!(out, "wrote {} ({})", args.output.display(), Size(conversion.file_bytes))?)
}

/// What is not as it was asked for, each reason once with the tensors it concerns.
fn write_remarks(conversion: &Conversion, out: &mut impl Write) -> Result<(), CliError> {
    let mut remarks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &conversion.tensors {
        if let Some(remark) = &row.remark {
            remarks.entry(remark).or_default().push(&row.name);
        }
    }
    for (remark, names) in remarks {
        match names[..] {
            [only] => writeln!(out, "{}: {remark}", printable(only))?,
            _ => writeln!(out, "{} tensors, such as {}: {remark}", names.len(), printable(names[0]))?,
        }
    }
    Ok(())
}

/// The trade-off curve as bars, thinned to a screenful, with the chosen point marked.
fn write_curve(plan: &Plan, out: &mut impl Write) -> Result<(), CliError> {
    const LINES: usize = 16;
    const WIDTH: usize = 40;
    writeln!(out, "size against relative RMS error, {} trade-offs measured:\n", plan.curve.len())?;
    let worst = plan.curve.first().map_or(1.0, |point| point.relative_rmse).max(f64::MIN_POSITIVE);
    let nearest = plan.curve.iter().rposition(|point| point.bytes <= plan.bytes).unwrap_or(0);
    let step = plan.curve.len().div_ceil(LINES).max(1);
    for (i, point) in plan.curve.iter().enumerate() {
        if i % step != 0 && i != nearest && i + 1 != plan.curve.len() {
            continue;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a bar"
        )]
        let bar = (point.relative_rmse / worst * WIDTH as f64).round() as usize;
        let mark = if i == nearest { " <- chosen" } else { "" };
        writeln!(out, "{:>10}  {:.5}  {}{mark}", Size(point.bytes).to_string(), point.relative_rmse, "#".repeat(bar))?;
    }
    Ok(writeln!(out)?)
}
