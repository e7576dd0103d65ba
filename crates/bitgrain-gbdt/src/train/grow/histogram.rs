//! Histograms: sums of gradients per bin over the rows of a node.

use std::ops::Range;

use bitgrain_kernels::histograms::{Slot, add_pairs};
use rayon::prelude::*;

use super::numbers::Sum;
use super::{Arrangement, Numbers};
use crate::feature::BinMap;
use crate::train::slots::{TilePlan, WideMut};

/// Minimum number of rows per task. Float sums depend on it, so it must not depend on the number of threads.
const CHUNK: usize = 1 << 15;

/// Maximum number of chunks per node: each has its own histogram until they are merged.
const MAX_CHUNKS: usize = 64;

/// Minimum number of additions for parallel work: about a tenth of a millisecond.
const ADDITIONS: usize = 1 << 18;

/// Sums of every global bin.
pub(crate) type Histogram<S> = Vec<S>;

/// Accumulates a range of rows into `out`, which must be zero.
pub(crate) fn build<N: Numbers>(
    arrangement: &Arrangement<'_, N::Pair>,
    map: &BinMap,
    rows: Range<usize>,
    wanted: &[bool],
    out: &mut Histogram<N::Sum>,
) {
    let Arrangement { plan: all, pairs, wide, .. } = arrangement;
    let tiles: Vec<usize> = (0..all.tiles.len())
        .filter(|&tile| all.tiles[tile].slots.iter().flatten().any(|m| wanted[m.feature as usize]))
        .collect();
    let chunk = CHUNK.max(rows.len().div_ceil(MAX_CHUNKS));
    let chunks: Vec<Range<usize>> =
        rows.clone().step_by(chunk).map(|start| start..rows.end.min(start + chunk)).collect();
    let tasks: Vec<(usize, Range<usize>)> =
        tiles.iter().flat_map(|&tile| chunks.iter().map(move |chunk| (tile, chunk.clone()))).collect();
    let one = |(tile, rows): (usize, Range<usize>)| {
        let plan = &all.tiles[tile];
        let records = &arrangement.tiles[tile][rows.start * plan.width..rows.end * plan.width];
        (tile, tile_sums::<N>(plan, records, &pairs[rows]))
    };
    let few = rows.len() * all.row_bytes() < ADDITIONS;
    let sums: Vec<(usize, Vec<N::Sum>)> = if few || tasks.len() == 1 {
        tasks.into_iter().map(one).collect()
    } else {
        tasks.into_par_iter().map(one).collect()
    };
    // Merge in chunk order, not in completion order: float addition is not associative.
    for (tile, sums) in sums {
        let mut at = sums.into_iter();
        for member in all.tiles[tile].slots.iter().flatten() {
            let start = map.feature_offsets()[member.feature as usize] as usize;
            for (bin, sum) in out[start..start + member.bins as usize].iter_mut().zip(&mut at) {
                *bin = bin.plus(sum);
            }
        }
    }
    for (column, &feature) in all.wide.iter().enumerate() {
        let start = map.feature_offsets()[feature as usize] as usize;
        if wanted[feature as usize] {
            add_column::<N>(&wide[column], rows.clone(), pairs, &mut out[start..]);
        }
    }
}

/// Returns the sums of the bins of each feature of a tile, in slot order.
fn tile_sums<N: Numbers>(plan: &TilePlan, records: &[u8], pairs: &[N::Pair]) -> Vec<N::Sum> {
    let mut cells: Vec<Slot<N::Cell>> = vec![[N::Cell::default(); _]; plan.width];
    let bins = plan.slots.iter().flatten().map(|member| member.bins as usize).sum();
    let mut sums = vec![N::Sum::default(); bins];
    let rows = N::ROWS_PER_FLUSH.min(pairs.len().max(1));
    let mut parts = records.chunks(rows * plan.width).zip(pairs.chunks(rows)).peekable();
    while let Some((records, pairs)) = parts.next() {
        // The plan only uses widths that the kernel supports.
        let added = add_pairs(records, pairs, &mut cells);
        debug_assert!(added.is_ok(), "{added:?}");
        // f32 cells are flushed to f64 sums every few thousand rows to bound the rounding error; integer cells only once.
        take_apart::<N>(plan, &cells, &mut sums);
        if parts.peek().is_some() {
            cells.fill([N::Cell::default(); _]);
        }
    }
    sums
}

/// Distributes the cells of byte values to the bins of the features that share the byte.
fn take_apart<N: Numbers>(plan: &TilePlan, cells: &[Slot<N::Cell>], sums: &mut [N::Sum]) {
    let mut rest = sums;
    for (members, cells) in plan.slots.iter().zip(cells) {
        for member in members {
            let (bins, others) = rest.split_at_mut(member.bins as usize);
            rest = others;
            let codes = members.iter().map(|member| member.bins).product::<u32>() as usize;
            let (stride, n_bins) = (member.stride as usize, bins.len());
            if codes == n_bins {
                bins.iter_mut().zip(cells).for_each(|(bin, &cell)| N::flush(cell, bin));
                continue;
            }
            // The byte is a mixed-radix number: this feature's digit changes every `stride` codes.
            for (turn, run) in cells[..codes].chunks(stride).enumerate() {
                run.iter().for_each(|&cell| N::flush(cell, &mut bins[turn % n_bins]));
            }
        }
    }
}

/// Accumulates a wide feature directly, without cells.
fn add_column<N: Numbers>(bins: &WideMut<'_>, rows: Range<usize>, pairs: &[N::Pair], out: &mut [N::Sum]) {
    use bitgrain_kernels::histograms::GradientPair;
    let mut pairs = pairs[rows.clone()].iter();
    bins.for_each(rows, |bin| {
        if let Some(pair) = pairs.next() {
            N::flush(pair.add_to(N::Cell::default()), &mut out[bin]);
        }
    });
}

/// Subtracts a child from its node, which leaves the histogram of the other child.
pub(crate) fn subtract<S: Sum>(node: &mut [S], child: &[S]) {
    node.iter_mut().zip(child).for_each(|(node, child)| *node = node.minus(*child));
}
