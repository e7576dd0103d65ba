//! Chapter "codec": size, error and speed of one tensor at 8 to 3 bits.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bitgrain::codec::{BitWidth, BlockFormat, EncodeOptions, Fidelity};
use bitgrain::kernels::Backend;
use serde::Serialize;
use serde_json::Value;

use super::block::Block;
use super::{Chapter, Report};
use crate::error::CliError;
use crate::table::Table;

pub(crate) const CHAPTER: Chapter =
    Chapter { name: "codec", title: "Codec: one tensor at 8 to 3 bits, in blocks of 64 values", run };

/// Number of values of the tensor: 32 MiB as f32.
const COUNT: usize = 8 << 20;

#[derive(Debug, Serialize)]
struct Codec {
    backend: &'static str,
    values: usize,
    f32_bytes: usize,
    formats: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    format: &'static str,
    bytes: usize,
    compression: f64,
    bound: f32,
    max_error: f64,
    rms_error: f64,
    cosine: f64,
    encode_gb_s: f64,
    decode_gb_s: f64,
}

/// Formats shown.
const FORMATS: [(&str, BlockFormat); 7] = [
    ("8 bit", BlockFormat::new(BitWidth::W8)),
    ("7 bit", BlockFormat::new(BitWidth::W7)),
    ("6 bit", BlockFormat::new(BitWidth::W6)),
    ("5 bit", BlockFormat::new(BitWidth::W5)),
    ("4 bit", BlockFormat::new(BitWidth::W4)),
    ("3 bit", BlockFormat::new(BitWidth::W3)),
    ("3 bit two-level", BlockFormat::two_level()),
];

fn run() -> Result<Box<dyn Report>, CliError> {
    let values = embeddings(COUNT);
    let formats = FORMATS.map(|(name, format)| row(name, format, &values));
    Ok(Box::new(Codec {
        backend: Backend::best().name(),
        values: values.len(),
        f32_bytes: size_of_val(&values[..]),
        formats: formats.into_iter().collect::<Result<_, _>>()?,
    }))
}

/// Returns values like those of an embedding table: 512 channels with different standard deviations, and one outlier in
/// 256 values.
fn embeddings(count: usize) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut normal = move || (0..6).map(|_| random.f32() - 0.5).sum::<f32>() * 1.4;
    let spread: Vec<f32> = (0..512).map(|_| 0.05 * normal().exp()).collect();
    let value =
        |i: usize| normal() * spread[i % 512] * if i.wrapping_mul(0x9E37_79B9) >> 8 & 0xFF < 1 { 9.0 } else { 1.0 };
    (0..count).map(value).collect()
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a small tensor")]
fn row(name: &'static str, format: BlockFormat, values: &[f32]) -> Result<Row, CliError> {
    let mut bytes = vec![0; format.encoded_len(values.len())];
    let mut back = vec![0.0; values.len()];
    let encode = best_of_five(|| format.encode_into(black_box(values), &EncodeOptions::default(), &mut bytes))?;
    let decode = best_of_five(|| format.decode_into(black_box(&bytes), &mut back))?;
    let cost = Fidelity::measure(values, &back)?;
    let gigabytes = size_of_val(values) as f64 / 1e9;
    Ok(Row {
        format: name,
        bytes: bytes.len(),
        compression: size_of_val(values) as f64 / bytes.len() as f64,
        bound: format.bound(&bytes, values.len())?,
        max_error: cost.max_error,
        rms_error: cost.rms_error,
        cosine: cost.cosine,
        encode_gb_s: gigabytes / encode.as_secs_f64(),
        decode_gb_s: gigabytes / decode.as_secs_f64(),
    })
}

fn best_of_five<T, E>(mut work: impl FnMut() -> Result<T, E>) -> Result<Duration, E> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        black_box(work()?);
        best = best.min(start.elapsed());
    }
    Ok(best)
}

impl Report for Codec {
    fn blocks(&self) -> Vec<Block> {
        let header =
            ["format", "bytes", "smaller", "bound", "max error", "RMS error", "cosine", "encode GB/s", "decode GB/s"];
        let mut table = Table::new(&header, 1);
        for row in &self.formats {
            table.row([
                row.format.to_owned(),
                row.bytes.to_string(),
                format!("{:.2}x", row.compression),
                format!("{:.5}", row.bound),
                format!("{:.5}", row.max_error),
                format!("{:.6}", row.rms_error),
                format!("{:.6}", row.cosine),
                format!("{:.1}", row.encode_gb_s),
                format!("{:.1}", row.decode_gb_s),
            ]);
        }
        let bar = |row: &Row, value: f64, text: String| (row.format.to_owned(), value, text);
        vec![
            Block::text(format!(
                "{} values resembling an embedding table, {} bytes as f32; one thread, {} kernels.",
                self.values, self.f32_bytes, self.backend
            )),
            Block::Table(table),
            Block::chart("RMS error", &self.formats, |row| bar(row, row.rms_error, format!("{:.5}", row.rms_error))),
            Block::chart("Decoding speed", &self.formats, |row| {
                bar(row, row.decode_gb_s, format!("{:.1} GB/s", row.decode_gb_s))
            }),
            Block::terms([
                ("bound", "guaranteed by the encoded bytes: half a step of the largest scale"),
                ("max error", "largest error of this tensor, never above the bound"),
                ("GB/s", "of f32 data read (encode) or written (decode), best of five runs"),
            ]),
            Block::text("Plain 4-bit blocks are both smaller and more accurate than two-level 3-bit blocks."),
        ]
    }

    fn to_json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}
