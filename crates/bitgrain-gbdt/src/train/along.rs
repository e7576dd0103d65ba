//! Columns that are permuted together with the rows of an arrangement.

/// Column of numbers by position.
#[derive(Debug)]
pub(crate) enum Along<'a> {
    F32(&'a mut [f32]),
    F64(&'a mut [f64]),
}

impl<'a> Along<'a> {
    /// Reborrows the column for a shorter lifetime.
    pub(crate) fn reborrow(&mut self) -> Along<'_> {
        match self {
            Self::F32(column) => Along::F32(column),
            Self::F64(column) => Along::F64(column),
        }
    }

    /// Removes `len` items after the first `gap` items and returns them; the items after them remain.
    pub(crate) fn take(&mut self, gap: usize, len: usize) -> Self {
        match self {
            Self::F32(column) => Self::F32(taken(column, gap, len)),
            Self::F64(column) => Self::F64(taken(column, gap, len)),
        }
    }

    /// Swaps items; see [`swap_items`].
    pub(crate) fn swap(&mut self, middle: usize, left: &[u32], right: &[u32]) {
        match self {
            Self::F32(column) => swap_items(column, middle, left, right),
            Self::F64(column) => swap_items(column, middle, left, right),
        }
    }
}

/// Swaps item `left[i]` before `middle` with item `right[i]` after it.
pub(crate) fn swap_items<T>(items: &mut [T], middle: usize, left: &[u32], right: &[u32]) {
    let (left_items, right_items) = items.split_at_mut(middle);
    for (&l, &r) in left.iter().zip(right) {
        std::mem::swap(&mut left_items[l as usize], &mut right_items[r as usize]);
    }
}

/// Removes `len` items after the first `gap` items and returns them; the items after them remain.
pub(crate) fn taken<'a, T>(items: &mut &'a mut [T], gap: usize, len: usize) -> &'a mut [T] {
    let (taken, rest) = std::mem::take(items)[gap..].split_at_mut(len);
    *items = rest;
    taken
}
