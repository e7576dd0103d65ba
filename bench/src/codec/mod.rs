//! Suite `codec`: the kernels of `bitgrain::kernels` on every backend of this CPU.

mod blocks;
mod convert;
mod dot;
mod max_abs;
mod memory;
mod pack;
mod pack_wide;
mod streaming;

use bitgrain::kernels::{Backend, BlockLen};

use crate::measure::Pace;
use crate::report::Report;
use memory::Memory;

/// Number of values of a comparison in cache: 16 KiB of f32, so that input, output and codes fit in 32 KiB of L1.
const IN_CACHE: usize = 4096;

/// Block length of all comparisons.
const BLOCK: BlockLen = BlockLen::DEFAULT;

/// Runs the suite.
pub(crate) fn run(pace: Pace) -> Report {
    let large = match pace {
        Pace::Full => 64 << 20,
        Pace::Quick => 8 << 20,
    };
    let mut memory = Memory::new(large);
    let mut tables = Vec::new();
    tables.extend(blocks::tables(pace.in_memory(), &mut memory, &blocks::IN_MEMORY));
    tables.extend(blocks::tables(pace.in_cache(), &mut Memory::new(IN_CACHE), &blocks::IN_CACHE));
    tables.extend(pack::tables(pace.in_cache()));
    tables.extend(pack_wide::tables(pace.in_cache()));
    tables.push(max_abs::in_memory(pace.in_memory(), &memory.values));
    tables.push(max_abs::in_cache(pace.in_cache()));
    tables.extend(dot::tables(pace.in_cache()));
    tables.push(convert::table(pace.in_cache()));
    tables.push(streaming::table(pace.in_memory(), &mut memory));
    Report::of_tables("codec", "Codec benchmarks", intro(large), pace, tables)
}

fn intro(large: usize) -> String {
    format!(
        "Throughput of the kernels in `bitgrain-kernels` on every backend of one CPU, compared with `memcpy` and \
         with crates for similar tasks, on one thread of a default build (without `target-cpu` flags, because the \
         backends are chosen at run time). The implementations of a row run alternately in one process, results are \
         checked before timing, and buffers are page-aligned and touched in advance. Ratios are ratios of medians. \
         Input: {} Mi approximately normal f32 values ({} MiB) from a seeded generator, in blocks of {} values; *in \
         cache* means {} KiB of f32 values or codes.",
        large >> 20,
        (large * size_of::<f32>()) >> 20,
        BLOCK.get(),
        (IN_CACHE * size_of::<f32>()) >> 10,
    )
}

/// Returns the name of the default backend.
fn best() -> &'static str {
    Backend::best().name()
}

/// Prints the current measurement, because a full run takes minutes.
fn progress(what: &str) {
    eprintln!("measuring {what}");
}
