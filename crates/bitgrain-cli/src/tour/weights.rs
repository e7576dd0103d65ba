//! Chapter "weights": converts a small model to GGUF and safetensors in several formats, and by a plan.

use std::path::Path;
use std::time::Instant;

use bitgrain::codec::weight::{WeightFormat, optimum};
use bitgrain::formats::safetensors::{Dtype, TensorSpec, Writer};
use bitgrain::nn::ModelFile;
use bitgrain::nn::model::compare::compare;
use bitgrain::nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain::nn::model::plan::{Goal, candidates, plan};
use serde::Serialize;
use serde_json::Value;

use super::block::Block;
use super::{Chapter, Report};
use crate::error::CliError;
use crate::number::{Size, digits};
use crate::table::Table;

pub(crate) const CHAPTER: Chapter = Chapter {
    name: "weights",
    title: "Weights: a small model in GGUF and safetensors, and the error of each format",
    run,
};

/// Formats shown, each with its container.
const FORMATS: [(&str, &str); 12] = [
    ("float16", "gguf"),
    ("q8_0", "gguf"),
    ("q6_k", "gguf"),
    ("q5_k", "gguf"),
    ("q4_k", "gguf"),
    ("q4_0", "gguf"),
    ("q3_k", "gguf"),
    ("q2_k", "gguf"),
    ("int8", "safetensors"),
    ("fp8_e4m3", "safetensors"),
    ("int4/32", "safetensors"),
    ("ternary", "safetensors"),
];

#[derive(Debug, Serialize)]
struct Weights {
    weights: u64,
    f32_bytes: u64,
    formats: Vec<Row>,
    plan: Planned,
}

#[derive(Debug, Serialize)]
struct Row {
    format: &'static str,
    container: &'static str,
    bytes: u64,
    relative_rmse: f64,
    cosine: f64,
    snr_db: Option<f64>,
    optimum_db: f64,
    convert_gb_s: f64,
}

#[derive(Debug, Serialize)]
struct Planned {
    budget: u64,
    bytes: u64,
    relative_rmse: f64,
    formats: Vec<(String, String)>,
}

fn run() -> Result<Box<dyn Report>, CliError> {
    let folder = tempfile::tempdir()?;
    let original = folder.path().join("model.safetensors");
    write_model(&original)?;
    let model = ModelFile::open(&original)?;
    let formats = FORMATS.iter().map(|(format, container)| row(&model, folder.path(), format, container));
    let formats = formats.collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(Weights {
        weights: model.tensors().iter().map(bitgrain::nn::ModelTensor::elements).sum(),
        f32_bytes: model.bytes(),
        formats,
        plan: planned(&model)?,
    }))
}

/// Writes two transformer layers with realistic weights: a different standard deviation per matrix, rows of different
/// magnitude, and a few outliers.
fn write_model(path: &Path) -> Result<(), CliError> {
    let matrices =
        [("embed.weight", 2048, 512), ("attn.weight", 1024, 512), ("up.weight", 1024, 512), ("down.weight", 512, 1024)];
    let mut random = fastrand::Rng::with_seed(11);
    let mut normal = move || (0..6).map(|_| random.f32() - 0.5).sum::<f32>() * 1.4;
    let spec = |name: &str, shape: Vec<u64>| TensorSpec { name: name.to_owned(), dtype: Dtype::F32, shape };
    let mut specs: Vec<_> = matrices.iter().map(|(name, rows, cols)| spec(name, vec![*rows, *cols])).collect();
    specs.push(spec("norm.weight", vec![512]));
    let mut writer = Writer::new(std::fs::File::create(path)?, &[], &specs)?;
    for (i, (_, rows, cols)) in matrices.iter().enumerate() {
        let spread = [0.3, 0.03, 0.08, 0.02][i];
        for _ in 0..*rows {
            let size = spread * (0.3 * normal()).exp();
            let row = (0..*cols).map(|at| size * normal() * if at % 331 == 7 { 6.0 } else { 1.0 });
            writer.write(&row.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())?;
        }
    }
    writer.write(&[1.0_f32; 512].map(f32::to_le_bytes).concat())?;
    writer.finish()?;
    Ok(())
}

fn row(model: &ModelFile, folder: &Path, format: &'static str, container: &'static str) -> Result<Row, CliError> {
    let weight_format: WeightFormat = format.parse()?;
    let out = folder.join(format!("out.{container}"));
    let recipe = Recipe::new(FormatChoice::To(weight_format));
    let start = Instant::now();
    quantize(model, &out, &recipe, &())?;
    let seconds = start.elapsed().as_secs_f64();
    // Measure the file that was written, not the errors reported by the conversion.
    let back = ModelFile::open(&out)?;
    let compared = compare(model, &back, &())?;
    #[expect(clippy::cast_precision_loss, reason = "bytes of a small model")]
    let gigabytes = model.bytes() as f64 / 1e9;
    Ok(Row {
        format,
        container,
        bytes: back.bytes(),
        relative_rmse: compared.overall.relative_rmse,
        cosine: compared.overall.cosine,
        snr_db: compared.overall.snr_db,
        optimum_db: optimum::decibels(weight_format.optimum()),
        convert_gb_s: gigabytes / seconds,
    })
}

/// Plans a format per tensor for 4 bits per weight, a size between q3_k and q4_k that no single format has.
fn planned(model: &ModelFile) -> Result<Planned, CliError> {
    let container = bitgrain::nn::Container::Gguf;
    let budget = model.bytes() / 8;
    let plan =
        plan(model, container, &candidates(container), Goal::Budget(budget), &Recipe::new(FormatChoice::Keep), &())?;
    let formats = plan.formats.into_iter().map(|(name, choice)| (name, choice.to_string())).collect();
    Ok(Planned { budget, bytes: plan.bytes, relative_rmse: plan.relative_rmse, formats })
}

impl Report for Weights {
    fn blocks(&self) -> Vec<Block> {
        let header = ["format", "file", "bytes", "smaller", "rel. RMSE", "cosine", "SNR dB", "optimum dB", "GB/s"];
        let mut table = Table::new(&header, 2);
        for row in &self.formats {
            #[expect(clippy::cast_precision_loss, reason = "a ratio to show")]
            let smaller = self.f32_bytes as f64 / row.bytes as f64;
            table.row([
                row.format.to_owned(),
                row.container.to_owned(),
                row.bytes.to_string(),
                format!("{smaller:.2}x"),
                digits(row.relative_rmse),
                format!("{:.6}", row.cosine),
                row.snr_db.map_or("-".to_owned(), |db| format!("{db:.1}")),
                format!("{:.1}", row.optimum_db),
                format!("{:.2}", row.convert_gb_s),
            ]);
        }
        let chosen = self.plan.formats.iter().map(|(tensor, format)| format!("  {tensor:<14} {format}"));
        let plan = format!(
            "A plan for a budget of {}, between q3_k and q4_k, takes {} with a relative RMSE of {}:",
            Size(self.plan.budget),
            Size(self.plan.bytes),
            digits(self.plan.relative_rmse)
        );
        #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
        let bytes = |row: &Row| (row.format.to_owned(), row.bytes as f64, Size(row.bytes).to_string());
        vec![
            Block::text(format!("{} weights, {} as f32, written and read back:", self.weights, Size(self.f32_bytes))),
            Block::Table(table),
            Block::chart("Relative RMSE", &self.formats, |row| {
                (row.format.to_owned(), row.relative_rmse, digits(row.relative_rmse))
            }),
            Block::chart("File size", &self.formats, bytes),
            Block::terms([
                (
                    "optimum",
                    "SNR of the best quantizer with as many levels and one scale, for normally distributed weights;\n\
                     block formats can exceed it, because their scales adapt to each row",
                ),
                ("GB/s", "of f32 data converted, measured and written to disk, with all cores"),
            ]),
            Block::text([plan].into_iter().chain(chosen).collect::<Vec<_>>().join("\n")),
            Block::text("To quantize your own model: bitgrain quantize model.safetensors out.gguf --to q4_k"),
        ]
    }

    fn to_json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}
