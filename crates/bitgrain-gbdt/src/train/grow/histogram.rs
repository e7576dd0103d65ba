//! Histograms: sums of gradients per bin over the rows of a node.

use std::ops::Range;

use bitgrain_kernels::histograms::{MAX_SLOTS, Slot, add_pairs};

use super::buffers::{Buffers, Sums};
use super::numbers::Sum;
use super::{Arrangement, Numbers};
use crate::feature::BinMap;
use crate::train::slots::{Code, Member, Place, TilePlan};

/// Minimum number of rows per part, if a part is an eighth of the node. Float sums depend on it, so it must not depend
/// on the number of threads.
const CHUNK: usize = 1 << 13;

/// Maximum number of rows per part, see [`CHUNK`].
const MAX_CHUNK: usize = 1 << 15;

/// Maximum number of parts per tile of a node: each has its own sums until they are merged.
const MAX_CHUNKS: usize = 64;

/// Minimum number of rows per bin in a part of a wide feature, so that clearing and merging the bins stays cheap.
const ROWS_PER_BIN: usize = 8;

/// Rows of a mapped file whose records are copied together: they stay in the L1 cache.
const GATHERED: usize = 512;

/// Features whose bin codes are stored together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Columns {
    Tile(usize),
    Wide(usize),
    /// All features that are stored by entry.
    Sparse,
}

/// Range of rows to sum for one tile or wide feature.
#[derive(Debug)]
pub(super) struct Part {
    columns: Columns,
    rows: Range<usize>,
}

/// Sums of a part. Elements after its last bin are leftovers of an earlier use.
#[derive(Debug)]
pub(super) struct Partial<S> {
    columns: Columns,
    pub(super) sums: Sums<S>,
}

/// Divides a range of a node's rows into parts, for all features that are wanted. Parts are in the order of their rows.
pub(super) fn parts<P>(of: &Arrangement<'_, P>, map: &BinMap, wanted: &[bool], rows: &Range<usize>) -> Vec<Part> {
    let plan = of.plan;
    let is_wanted = |tile: &usize| plan.tiles[*tile].slots.iter().flatten().any(|m| wanted[m.feature as usize]);
    let tiles = (0..plan.tiles.len()).filter(is_wanted).map(|tile| (Columns::Tile(tile), 0));
    let wide = (0..plan.wide.len()).filter(|&column| wanted[plan.wide[column] as usize]).map(|column| {
        let bins = map.n_bins(plan.wide[column] as usize) as usize;
        (Columns::Wide(column), bins * ROWS_PER_BIN)
    });
    let of_columns = |(columns, least): (Columns, usize)| {
        let chunk = (rows.len() / 8).clamp(CHUNK, MAX_CHUNK).max(least).max(rows.len().div_ceil(MAX_CHUNKS));
        let part = move |start| Part { columns, rows: start..rows.end.min(start + chunk) };
        rows.clone().step_by(chunk).map(part)
    };
    let any_sparse = plan.sparse.iter().any(|own| wanted[own.feature as usize]);
    let sparse = any_sparse.then(|| (Columns::Sparse, of.sparse.n_bins * ROWS_PER_BIN / of.row_bytes.max(1)));
    let mut parts: Vec<Part> = tiles.chain(wide).chain(sparse).flat_map(of_columns).collect();
    // Stable, so that the parts of equal rows and the sums of equal columns keep their order.
    parts.sort_by_key(|part| part.rows.start);
    parts
}

impl Part {
    /// Returns the first row, relative to those of the node, and the number of rows.
    pub(super) fn load(&self) -> (usize, usize) {
        (self.rows.start, self.rows.len())
    }

    /// Sums the rows in a reused buffer.
    pub(super) fn sums<N: Numbers>(
        self,
        of: &Arrangement<'_, N::Pair>,
        map: &BinMap,
        buffers: &Buffers<N::Sum>,
    ) -> Partial<N::Sum> {
        let bins = match self.columns {
            Columns::Tile(tile) => of.plan.tiles[tile].slots.iter().flatten().map(|member| member.bins).sum(),
            Columns::Wide(column) => map.n_bins(of.plan.wide[column] as usize),
            Columns::Sparse => 0,
        };
        let first = |feature: usize| match of.plan.places[feature] {
            Place::Slot { first, .. } => first,
            _ => 0,
        };
        let columns = self.columns;
        if columns == Columns::Sparse {
            return Partial { columns, sums: sparse_sums::<N>(of, self.rows, buffers) };
        }
        let mut sums = buffers.partial(bins as usize);
        self.write::<N>(of, map, first, buffers, &mut sums);
        Partial { columns, sums }
    }

    /// Writes the sums of the rows to `out`, those of a feature from index `first(feature)` on.
    fn write<N: Numbers>(
        self,
        of: &Arrangement<'_, N::Pair>,
        map: &BinMap,
        first: impl Fn(usize) -> usize,
        buffers: &Buffers<N::Sum>,
        out: &mut [N::Sum],
    ) {
        let Self { columns, rows } = self;
        let pairs = &of.pairs[rows.clone()];
        match columns {
            Columns::Tile(tile) => {
                let plan = &of.plan.tiles[tile];
                match of.mapped {
                    Some(codes) => {
                        let mut touched = codes.touched();
                        let mut copies = [0; GATHERED * MAX_SLOTS];
                        let add = |some: Range<usize>, cells: &mut [Slot<N::Cell>]| {
                            // The kernel adds the records in order, so that several calls give the sums of one.
                            let order = &of.order[rows.start + some.start..rows.start + some.end];
                            for (order, pairs) in order.chunks(GATHERED).zip(pairs[some].chunks(GATHERED)) {
                                let records = codes.records(tile, order, &mut copies, &mut touched);
                                let added = add_pairs(records, pairs, cells);
                                debug_assert!(added.is_ok(), "{added:?}");
                            }
                        };
                        write_tile::<N>(plan, pairs.len(), add, first, out);
                    }
                    None => {
                        let records = &of.tiles[tile][rows.start * plan.width..rows.end * plan.width];
                        let add = |some: Range<usize>, cells: &mut [Slot<N::Cell>]| {
                            // The plan only uses widths that the kernel supports.
                            let records = &records[some.start * plan.width..some.end * plan.width];
                            let added = add_pairs(records, &pairs[some], cells);
                            debug_assert!(added.is_ok(), "{added:?}");
                        };
                        write_tile::<N>(plan, pairs.len(), add, first, out);
                    }
                }
            }
            Columns::Wide(column) => {
                let feature = of.plan.wide[column] as usize;
                let out = &mut out[first(feature)..][..map.n_bins(feature) as usize];
                out.fill(N::Sum::default());
                match of.mapped {
                    Some(codes) => {
                        add_bins::<N>(pairs, out, |add| codes.for_each_wide(column, &of.order[rows.clone()], add));
                    }
                    None => add_bins::<N>(pairs, out, |add| of.wide[column].for_each(rows.clone(), add)),
                }
            }
            Columns::Sparse => {
                let sums = sparse_sums::<N>(of, rows, buffers);
                for own in &of.plan.sparse {
                    let bins = &sums[own.first as usize..][..own.bins as usize];
                    out[first(own.feature as usize)..][..bins.len()].copy_from_slice(bins);
                }
                buffers.keep(sums);
            }
        }
    }
}

/// Returns whether these rows form a single part.
pub(super) fn is_one_part(rows: &Range<usize>) -> bool {
    rows.len() <= CHUNK
}

/// Writes the histogram of rows that form a single part.
pub(super) fn write_sums<N: Numbers>(
    of: &Arrangement<'_, N::Pair>,
    map: &BinMap,
    wanted: &[bool],
    rows: &Range<usize>,
    buffers: &Buffers<N::Sum>,
    out: &mut [N::Sum],
) {
    let offsets = map.feature_offsets();
    for part in parts(of, map, wanted, rows) {
        part.write::<N>(of, map, |feature| offsets[feature] as usize, buffers, out);
    }
}

/// Merges the partial sums of a feature into `out`, in the order of the rows and not of completion: float addition is
/// not associative.
pub(super) fn merge<S: Sum>(place: Place, partials: &[Partial<S>], out: &mut [S]) {
    let (columns, first) = match place {
        Place::Constant => return,
        Place::Slot { tile, first, .. } => (Columns::Tile(tile), first),
        Place::Wide { column } => (Columns::Wide(column), 0),
        Place::Sparse(own) => (Columns::Sparse, own.first as usize),
    };
    let mut parts = partials.iter().filter(|part| part.columns == columns).map(|part| &part.sums[first..]);
    match parts.next() {
        Some(sums) => out.iter_mut().zip(sums).for_each(|(bin, &sum)| *bin = sum),
        None => out.fill(S::default()),
    }
    for sums in parts {
        out.iter_mut().zip(sums).for_each(|(bin, &sum)| *bin = bin.plus(sum));
    }
}

/// Writes the sums of the bins of each feature of a tile. `add` adds a range of the rows to the cells.
fn write_tile<N: Numbers>(
    plan: &TilePlan,
    n_rows: usize,
    add: impl FnMut(Range<usize>, &mut [Slot<N::Cell>]),
    first: impl Fn(usize) -> usize,
    out: &mut [N::Sum],
) {
    // Only the cells that are needed: clearing them takes a good part of the time of a small node.
    match plan.width {
        0..=4 => write_slots::<N, 4>(plan, n_rows, add, first, out),
        5..=8 => write_slots::<N, 8>(plan, n_rows, add, first, out),
        _ => write_slots::<N, MAX_SLOTS>(plan, n_rows, add, first, out),
    }
}

/// Writes the sums of the bins of each feature of a tile with at most `SLOTS` slots.
fn write_slots<N: Numbers, const SLOTS: usize>(
    plan: &TilePlan,
    n_rows: usize,
    mut add: impl FnMut(Range<usize>, &mut [Slot<N::Cell>]),
    first: impl Fn(usize) -> usize,
    out: &mut [N::Sum],
) {
    // Up to 33 KB on the stack: a vector would be mapped and cleared for every part.
    let mut cells: [Slot<N::Cell>; SLOTS] = [[N::Cell::default(); _]; _];
    let cells = &mut cells[..plan.width];
    let rows = N::ROWS_PER_FLUSH.min(n_rows.max(1));
    for start in (0..n_rows).step_by(rows) {
        // f32 cells are flushed to f64 sums every few thousand rows to bound the rounding error; integer cells only
        // once.
        if start > 0 {
            cells.fill([N::Cell::default(); _]);
        }
        add(start..n_rows.min(start + rows), cells);
        distribute_shared::<N>(plan, cells, start == 0, &first, out);
    }
    if n_rows == 0 {
        distribute_shared::<N>(plan, cells, true, &first, out);
    }
}

/// Distributes the cells of byte values to the bins of the features that share the byte: replaces the content of the
/// bins, or adds to it.
fn distribute_shared<N: Numbers>(
    plan: &TilePlan,
    cells: &[Slot<N::Cell>],
    replace: bool,
    first: &impl Fn(usize) -> usize,
    out: &mut [N::Sum],
) {
    let of_cell = |cell: N::Cell| {
        let mut sum = N::Sum::default();
        N::flush(cell, &mut sum);
        sum
    };
    for (members, cells) in plan.slots.iter().zip(cells) {
        for member in members {
            let Code::Digit { stride } = member.code else {
                unbundle::<N>(members, cells, replace, first, out);
                break;
            };
            let bins = &mut out[first(member.feature as usize)..][..member.bins as usize];
            let codes = members.iter().map(|member| member.bins).product::<u32>() as usize;
            let (stride, n_bins) = (stride as usize, bins.len());
            if codes == n_bins {
                if replace {
                    bins.iter_mut().zip(cells).for_each(|(bin, &cell)| *bin = of_cell(cell));
                } else {
                    bins.iter_mut().zip(cells).for_each(|(bin, &cell)| N::flush(cell, bin));
                }
                continue;
            }
            if replace {
                bins.fill(N::Sum::default());
            }
            // The byte is a mixed-radix number: this feature's digit changes every `stride` codes.
            for (turn, run) in cells[..codes].chunks(stride).enumerate() {
                run.iter().for_each(|&cell| N::flush(cell, &mut bins[turn % n_bins]));
            }
        }
    }
}

/// Distributes the cells of a bundle to the bins of its features. The sum of a feature's usual bin is that of all bytes
/// that belong to other features: a sum of cells and not a difference from the node's sum, so that it is 0 if no row is
/// in that bin.
fn unbundle<N: Numbers>(
    members: &[Member],
    cells: &Slot<N::Cell>,
    replace: bool,
    first: &impl Fn(usize) -> usize,
    out: &mut [N::Sum],
) {
    let start_of = |member: &Member| first(member.feature as usize);
    let range = |member: &Member| match member.code {
        Code::Range { first, usual } => (first as usize, usual as usize),
        Code::Digit { .. } => (0, 0),
    };
    let mut before = N::Sum::default();
    N::flush(cells[0], &mut before);
    for member in members {
        let (first, usual) = range(member);
        let bins = &mut out[start_of(member)..][..member.bins as usize];
        if replace {
            bins.fill(N::Sum::default());
        }
        bins[usual] = bins[usual].plus(before);
        for (at, &cell) in cells[first..first + bins.len() - 1].iter().enumerate() {
            N::flush(cell, &mut bins[at + usize::from(at >= usual)]);
            N::flush(cell, &mut before);
        }
    }
    let mut after = N::Sum::default();
    for member in members.iter().rev() {
        let (first, usual) = range(member);
        let bin = &mut out[start_of(member) + usual];
        *bin = bin.plus(after);
        cells[first..first + member.bins as usize - 1].iter().for_each(|&cell| N::flush(cell, &mut after));
    }
}

/// Accumulates a wide feature directly, without cells.
fn add_bins<N: Numbers>(pairs: &[N::Pair], out: &mut [N::Sum], for_each: impl FnOnce(&mut dyn FnMut(usize))) {
    use bitgrain_kernels::histograms::GradientPair;
    let mut pairs = pairs.iter();
    for_each(&mut |bin| {
        if let Some(pair) = pairs.next() {
            N::flush(pair.add_to(N::Cell::default()), &mut out[bin]);
        }
    });
}

/// Sums the rows of all sparse features. The sum of a usual bin is the sum of all rows without those of the other bins.
fn sparse_sums<N: Numbers>(
    of: &Arrangement<'_, N::Pair>,
    rows: Range<usize>,
    buffers: &Buffers<N::Sum>,
) -> Sums<N::Sum> {
    use bitgrain_kernels::histograms::GradientPair;
    // One more for padding.
    let mut sums = buffers.partial(of.sparse.n_bins + 1);
    sums[..of.sparse.n_bins].fill(N::Sum::default());
    let mut total = N::Sum::default();
    for (&row, pair) in of.order[rows.clone()].iter().zip(&of.pairs[rows]) {
        let mut sum = N::Sum::default();
        N::flush(pair.add_to(N::Cell::default()), &mut sum);
        total = total.plus(sum);
        of.sparse.for_each(row as usize, |bin| sums[bin] = sums[bin].plus(sum));
    }
    for own in &of.plan.sparse {
        let bins = &mut sums[own.first as usize..][..own.bins as usize];
        let others = bins.iter().fold(N::Sum::default(), |sum, &bin| sum.plus(bin));
        bins[own.usual as usize] = total.minus(others);
    }
    sums
}

/// Subtracts a child from its node, which leaves the histogram of the other child.
pub(crate) fn subtract<S: Sum>(node: &mut [S], child: &[S]) {
    node.iter_mut().zip(child).for_each(|(node, child)| *node = node.minus(*child));
}
