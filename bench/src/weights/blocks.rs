//! Quantization to block formats and back, compared with `memcpy`, ggml and candle.

use bitgrain::kernels::ggml::GgmlBlock;

use super::memory::Memory;
use super::{ROW, progress};
use crate::measure::{Contestant, Effort, Pace, race};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::ggml::Ggml;

/// Formats with the targets of their tables.
pub(super) struct Kind {
    formats: &'static [GgmlBlock],
    quantize_bar: f64,
    dequantize_bar: f64,
}

/// Formats whose scale is the largest weight, divided by a constant.
pub(super) const ROUNDED: Kind =
    Kind { formats: &[GgmlBlock::Q4_0, GgmlBlock::Q8_0], quantize_bar: 1.5, dequantize_bar: 1.5 };

/// Formats whose scales are found by a search.
pub(super) const SEARCHED: Kind = Kind {
    formats: &[GgmlBlock::IQ4_NL, GgmlBlock::Q2_K, GgmlBlock::Q3_K, GgmlBlock::Q4_K, GgmlBlock::Q5_K, GgmlBlock::Q6_K],
    quantize_bar: 5.0,
    dequantize_bar: 1.0,
};

/// Location of the data.
pub(super) struct Place {
    /// Titles of the tables of the formats without and with a search.
    rounded: [&'static str; 2],
    searched: [&'static str; 2],
    /// Samples of quantization. In memory, one call of a format with a search takes seconds.
    quantize: fn(Pace) -> Effort,
    dequantize: fn(Pace) -> Effort,
}

pub(super) const IN_CACHE: Place = Place {
    rounded: ["Quantize in cache", "Dequantize in cache"],
    searched: ["Quantize in cache, with a search", "Dequantize in cache, searched formats"],
    quantize: Pace::in_cache,
    dequantize: Pace::in_cache,
};

pub(super) const IN_MEMORY: Place = Place {
    rounded: ["Quantize from memory", "Dequantize from memory"],
    searched: ["Quantize from memory, with a search", "Dequantize from memory, searched formats"],
    quantize: Pace::seconds_a_call,
    dequantize: Pace::in_memory,
};

/// Returns the tables for quantization and for dequantization.
pub(super) fn tables(pace: Pace, memory: &mut Memory, ggml: Option<&Ggml>, place: &Place, kind: &Kind) -> [Table; 2] {
    let [mut quantize, mut dequantize] = [Vec::new(), Vec::new()];
    let titles = if kind.quantize_bar > 2.0 { place.searched } else { place.rounded };
    for &block in kind.formats {
        progress(&format!("{}: {}", titles[0], block.name()));
        memory.check(block, ggml);
        let bytes = memory.bytes();
        let contestants = quantizers(memory, block, ggml);
        let timings = race((place.quantize)(pace), memory, bytes, contestants);
        quantize.push(Row::judged(block.name(), timings));
        // The other contenders overwrote our blocks, but with the same bytes.
        let contestants = dequantizers(memory, block, ggml);
        let timings = race((place.dequantize)(pace), memory, bytes, contestants);
        dequantize.push(Row::judged(block.name(), timings));
    }
    let table = |title, counted, note: &str, bar, rows| Table {
        title,
        note: note.to_owned(),
        unit: Unit::GbPerS(counted),
        axis: "format",
        figures: vec![Figure::ratio("bitgrain", "ggml").at_least(bar), Figure::ratio("bitgrain", "candle")],
        rows,
    };
    [
        table(
            titles[0],
            "f32 input",
            "Output is byte-identical to ggml's. candle does not support IQ4_NL.",
            kind.quantize_bar,
            quantize,
        ),
        table(titles[1], "f32 output", "candle dequantizes its own blocks.", kind.dequantize_bar, dequantize),
    ]
}

fn quantizers<'a>(memory: &Memory, block: GgmlBlock, ggml: Option<&'a Ggml>) -> Vec<Contestant<'a, Memory>> {
    let mut list = vec![Contestant::new("memcpy", Memory::copy)];
    list.push(Contestant::new("bitgrain", move |m: &mut Memory| m.quantize(block)));
    if let Some(ggml) = ggml {
        let run = move |m: &mut Memory| ggml.quantize(block, &m.values, ROW, &mut m.blocks);
        list.push(Contestant::new("ggml", run));
    }
    if memory.candle.is_some() {
        list.push(Contestant::new("candle", |m: &mut Memory| {
            m.candle.as_mut().map(|blocks| blocks.quantize(&m.values))
        }));
    }
    list
}

fn dequantizers<'a>(memory: &Memory, block: GgmlBlock, ggml: Option<&'a Ggml>) -> Vec<Contestant<'a, Memory>> {
    let mut list = vec![Contestant::new("memcpy", Memory::copy)];
    list.push(Contestant::new("bitgrain", move |m: &mut Memory| m.dequantize(block)));
    if let Some(ggml) = ggml {
        let decoder = ggml.dequantizer(block);
        list.push(Contestant::new("ggml", move |m: &mut Memory| decoder.run(&m.blocks, &mut m.back)));
    }
    if memory.candle.is_some() {
        list.push(Contestant::new("candle", |m: &mut Memory| m.candle.as_ref().map(|b| b.dequantize(&mut m.back))));
    }
    list
}
