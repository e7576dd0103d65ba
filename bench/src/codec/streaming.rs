//! Benefit of non-temporal stores: decoding at 8 bits to outputs of increasing size, compared with `memcpy`.

use bitgrain::kernels::BitWidth;
use bitgrain::kernels::blocks::decode_blocks;

use super::memory::Memory;
use super::{BLOCK, best, progress};
use crate::measure::{Contestant, Effort, race};
use crate::report::{Figure, Row, Table, Unit};

/// Measures outputs from 1 MiB to all of `memory`, doubling each time.
pub(super) fn table(effort: Effort, memory: &mut Memory) -> Table {
    let width = BitWidth::W8;
    memory.check(width);
    let sizes = (20..).map(|log| 1 << log).take_while(|&bytes| bytes <= memory.bytes()).collect::<Vec<usize>>();
    let mut rows = Vec::new();
    for bytes in sizes {
        let label = format!("{} MiB", bytes >> 20);
        progress(&format!("decode to {label}"));
        let count = bytes / size_of::<f32>();
        let mut list = vec![Contestant::new("memcpy", |m: &mut Memory| {
            m.back[..count].copy_from_slice(&m.values[..count]);
        })];
        list.extend(Contestant::backends(move |backend, m: &mut Memory| {
            decode_blocks(backend, width, BLOCK, &m.blocks, &mut m.back[..count]).expect("blocks were checked");
        }));
        rows.push(Row::judged(label, race(effort, memory, bytes, list)));
    }
    Table {
        title: "Decode by output size",
        note: "8 bits. Vector backends bypass the caches for large outputs; the threshold is in `x86_64/stream.rs`. \
               `memcpy` has its own threshold, derived from the size of the last-level cache."
            .into(),
        unit: Unit::GbPerS("f32 output"),
        axis: "output",
        figures: vec![Figure::ratio(best(), "memcpy")],
        rows,
    }
}
