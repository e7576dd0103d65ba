//! Columns that are permuted together with the rows of an arrangement.

/// Column of numbers by position.
#[derive(Debug)]
pub(crate) enum RowColumn<'a> {
    F32(&'a mut [f32]),
    F64(&'a mut [f64]),
}

impl<'a> RowColumn<'a> {
    /// Reborrows the column for a shorter lifetime.
    pub(crate) fn reborrow(&mut self) -> RowColumn<'_> {
        match self {
            Self::F32(column) => RowColumn::F32(column),
            Self::F64(column) => RowColumn::F64(column),
        }
    }

    /// Removes `len` items after the first `gap` items and returns them; the items after them remain.
    pub(crate) fn take(&mut self, gap: usize, len: usize) -> Self {
        match self {
            Self::F32(column) => Self::F32(taken(column, gap, len)),
            Self::F64(column) => Self::F64(taken(column, gap, len)),
        }
    }

    /// See [`swap_items`].
    pub(crate) fn swap(&mut self, other: &mut Self, left: &[u32], right: &[u32]) {
        match (self, other) {
            (Self::F32(column), Self::F32(other)) => swap_items(column, other, left, right),
            (Self::F64(column), Self::F64(other)) => swap_items(column, other, left, right),
            _ => debug_assert!(false, "both sides of a column have one type"),
        }
    }
}

/// Swaps item `left[i]` of one list with item `right[i]` of another, for each `i`.
pub(crate) fn swap_items<T>(items: &mut [T], others: &mut [T], left: &[u32], right: &[u32]) {
    for (&l, &r) in left.iter().zip(right) {
        std::mem::swap(&mut items[l as usize], &mut others[r as usize]);
    }
}

/// Removes `len` items after the first `gap` items and returns them; the items after them remain.
pub(crate) fn taken<'a, T>(items: &mut &'a mut [T], gap: usize, len: usize) -> &'a mut [T] {
    let (taken, rest) = std::mem::take(items)[gap..].split_at_mut(len);
    *items = rest;
    taken
}
