//! Suite `nn`: products with quantized matrices beside candle and ggml.

mod products;

use crate::measure::Pace;
use crate::report::Report;
use crate::rival::ggml::{Cpu, Ggml, VERSION};

/// Measures everything.
pub(crate) fn run(pace: Pace) -> Report {
    let ggml = Ggml::load();
    if let Err(error) = &ggml {
        eprintln!("going on without ggml: {error}");
    }
    let ggml = ggml.ok();
    let cpu = ggml
        .as_ref()
        .map(Cpu::load)
        .and_then(|cpu| cpu.inspect_err(|error| eprintln!("going on without ggml's products: {error}")).ok());
    let tables = products::tables(pace, cpu.as_ref());
    Report::of_tables("nn", "Network benchmarks", intro(cpu.as_ref()), pace, tables)
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
         `bitgrain::nn::product` in a rayon pool of as many threads as the row says. {ggml}; {candle}. int8 (a scale per \
         row) and int4 (a scale for 64 weights) are held against the others' Q8_0 and Q4_0, which have as many bits. All \
         of them round activations to 8 bits, and that counts. Results were compared before anything was timed. \
         Contestants of a row took turns in one process. Ratios are ratios of medians.",
    )
}

/// Says on the terminal what is being measured.
fn progress(what: &str) {
    eprintln!("measuring {what}");
}
