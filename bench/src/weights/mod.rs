//! Suite `weights`: llama.cpp's block formats compared with ggml and candle, and conversion of files.

mod blocks;
mod compatible;
mod files;
mod memory;
mod open;

use crate::measure::Pace;
use crate::report::Report;
use crate::rival::ggml::{FetchError, Ggml, VERSION};
use crate::scratch::Scratch;
use memory::Memory;

/// Number of weights per row.
const ROW: usize = 4096;

/// Number of weights of a comparison in cache: 256 KiB of f32, which fit in the L2 cache together with their blocks.
const IN_CACHE: usize = 64 << 10;

/// Runs the suite.
///
/// # Errors
/// Returns an error if the temporary files cannot be written.
pub(crate) fn run(pace: Pace) -> std::io::Result<Report> {
    let large = match pace {
        Pace::Full => 32 << 20,
        Pace::Quick => 4 << 20,
    };
    let ggml = Ggml::load();
    if let Err(error) = &ggml {
        eprintln!("continuing without ggml: {error}");
    }
    let intro = intro(large, ggml.as_ref().err());
    let ggml = ggml.ok();
    let scratch = Scratch::new("weights")?;
    let mut tables = Vec::new();
    // On one thread, like the other comparisons of blocks.
    for (count, place) in [(IN_CACHE, &blocks::IN_CACHE), (large, &blocks::IN_MEMORY)] {
        let mut memory = Memory::new(count);
        for kind in [&blocks::ROUNDED, &blocks::SEARCHED] {
            tables.extend(blocks::tables(pace, &mut memory, ggml.as_ref(), place, kind));
        }
    }
    let model = files::Source::make(&scratch, pace)?;
    compatible::check(&scratch, &model);
    tables.push(files::table(pace, &scratch, &model));
    tables.push(open::table(pace, &scratch, &model)?);
    Ok(Report::of_tables("weights", "Weight benchmarks", intro, pace, tables))
}

fn intro(large: usize, missing: Option<&FetchError>) -> String {
    let ggml = missing.map_or_else(
        || {
            format!(
                "ggml is the prebuilt `libggml-base` of `@node-llama-cpp/linux-x64` {VERSION}, which llama.cpp uses \
                 to quantize files and which is compiled for baseline x86-64, with vector code only for matrix \
                 products"
            )
        },
        |why| format!("ggml is not in this run ({why})"),
    );
    let candle = if cfg!(feature = "candle") {
        "candle selects vector code at compile time, and a default build does not include it"
    } else {
        "candle is not in this run (`cargo xtask bench weights` builds it)"
    };
    format!(
        "Throughput of `bitgrain::kernels` with llama.cpp's block formats, on one thread and the best backend of the \
         CPU, compared with ggml and candle. {ggml}; {candle}. Before timing, our blocks and values are checked to \
         be bit-identical to ggml's. candle's K-quants differ from ggml's. The implementations of a row run \
         alternately in one process, with page-aligned buffers that are touched in advance. Input: approximately \
         normal f32 values from a seeded generator in rows of {ROW}; {} KiB *in cache*, {} MiB *from memory*. \
         Ratios are ratios of medians.",
        (IN_CACHE * size_of::<f32>()) >> 10,
        (large * size_of::<f32>()) >> 20,
    )
}

/// Prints the current measurement, because a full run takes minutes.
fn progress(what: &str) {
    eprintln!("measuring {what}");
}
