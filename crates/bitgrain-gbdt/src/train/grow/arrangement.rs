//! Rows grouped by node: the rows of a node are contiguous, and are partitioned in place when it is split.

use std::ops::Range;

use super::Sum;
use super::partition::{Flags, swap_nodes};
use crate::feature::BinMap;
use crate::train::row_column::{RowColumn, taken};
use crate::train::slots::{MappedCodes, Plan, Slots, SparseBins, TilePlan, Wide, WideMut};
use crate::train::team::Team;

/// Direction of each bin of a feature.
#[derive(Debug, Clone)]
pub(crate) struct Sides {
    pub(crate) feature: usize,
    /// Whether each bin of the feature goes left.
    pub(crate) left: Vec<bool>,
}

impl Sides {
    /// Zeroes the bins of one side of a histogram; returns whether any was nonzero. A histogram that was computed as a
    /// difference of float sums keeps rounding errors in bins without rows.
    pub(crate) fn clear<S: Sum>(&self, is_left: bool, map: &BinMap, histogram: &mut [S]) -> bool {
        let bins = histogram[map.feature_offsets()[self.feature] as usize..].iter_mut();
        let errors = bins.zip(&self.left).filter(|(bin, left)| **left == is_left && **bin != S::default());
        errors.map(|(bin, _)| *bin = S::default()).count() > 0
    }
}

/// Bins, gradients and indices of all rows or of the rows of a node.
#[derive(Debug)]
pub(crate) struct Arrangement<'a, P> {
    pub(crate) plan: &'a Plan,
    /// Records of each tile.
    pub(crate) tiles: Vec<&'a mut [u8]>,
    /// Columns of wide features.
    pub(crate) wide: Vec<WideMut<'a>>,
    /// Entries of sparse features, by row and not by position.
    pub(crate) sparse: &'a SparseBins,
    /// Codes in a file, by row and not by position; `tiles` and `wide` are then empty.
    pub(crate) mapped: Option<&'a MappedCodes>,
    /// Average size in bytes of the bins of a row.
    pub(crate) row_bytes: usize,
    /// Position of the first row.
    pub(crate) first: usize,
    /// Number of rows of the tree, of which each thread owns a part.
    pub(crate) all: usize,
    /// Row index at each position.
    pub(crate) order: &'a mut [u32],
    /// Gradients of the row at each position.
    pub(crate) pairs: &'a mut [P],
    /// Other columns that move with the rows.
    pub(crate) columns: Vec<RowColumn<'a>>,
}

impl<'a, P: Send + Sync + Copy> Arrangement<'a, P> {
    pub(crate) fn new(
        slots: &'a mut Slots,
        order: &'a mut [u32],
        pairs: &'a mut [P],
        columns: Vec<RowColumn<'a>>,
    ) -> Self {
        let row_bytes = slots.row_bytes();
        let Slots { plan, tiles, wide, sparse, mapped, .. } = slots;
        let mapped = mapped.as_deref();
        let tiles = tiles.iter_mut().map(Vec::as_mut_slice).collect();
        let wide = wide.iter_mut().map(Wide::as_mut).collect();
        let all = order.len();
        Self { plan, tiles, wide, sparse, mapped, row_bytes, first: 0, all, order, pairs, columns }
    }

    /// Splits off the rows of some nodes, which must be in ascending order.
    pub(crate) fn parts(&mut self, nodes: &[Range<usize>]) -> Vec<Arrangement<'_, P>> {
        let mut columns = Arrangement {
            plan: self.plan,
            tiles: self.tiles.iter_mut().map(|tile| &mut **tile).collect(),
            wide: self.wide.iter_mut().map(WideMut::reborrow).collect(),
            sparse: self.sparse,
            mapped: self.mapped,
            row_bytes: self.row_bytes,
            first: self.first,
            all: self.all,
            order: &mut *self.order,
            pairs: &mut *self.pairs,
            columns: self.columns.iter_mut().map(RowColumn::reborrow).collect(),
        };
        let mut at = 0;
        let mut part = |node: &Range<usize>| {
            let gap = node.start - at;
            at = node.end;
            columns.cut(gap, node.len())
        };
        nodes.iter().map(&mut part).collect()
    }

    /// Splits off the rows of one node.
    pub(crate) fn part(&mut self, node: Range<usize>) -> Arrangement<'_, P> {
        let mut parts = self.parts(&[node]);
        // `parts` returns one part per node.
        parts.remove(0)
    }

    /// Removes `len` rows after the first `gap` rows and returns them.
    pub(super) fn cut(&mut self, gap: usize, len: usize) -> Self {
        let plan = self.plan;
        let first = self.first + gap;
        self.first = first + len;
        let tile = |(tile, plan): (&mut &'a mut [u8], &TilePlan)| taken(tile, gap * plan.width, len * plan.width);
        Self {
            plan,
            tiles: self.tiles.iter_mut().zip(&plan.tiles).map(tile).collect(),
            wide: self.wide.iter_mut().map(|column| column.take(gap, len)).collect(),
            sparse: self.sparse,
            mapped: self.mapped,
            row_bytes: self.row_bytes,
            first,
            all: self.all,
            order: taken(&mut self.order, gap, len),
            pairs: taken(&mut self.pairs, gap, len),
            columns: self.columns.iter_mut().map(|column| column.take(gap, len)).collect(),
        }
    }

    /// Moves the chosen rows to the front; returns their number. `chosen` is indexed by row, not by position.
    pub(crate) fn move_to_front(&mut self, team: &Team<'_>, chosen: &[bool]) -> usize {
        let order = &*self.order;
        let flags = Flags::of(team, order.len(), |place| chosen[order[place] as usize]);
        let count = flags.count();
        swap_nodes(team, std::iter::once((self, &flags, count)));
        count
    }
}
