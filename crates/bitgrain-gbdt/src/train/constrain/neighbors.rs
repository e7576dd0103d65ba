//! `Neighbors`: the leaves that are in order with a leaf, from which the bounds of every possible child follow.
//!
//! A child has part of the leaf's region, so that it is in order with some of the leaf's neighbors only. Its bounds are
//! those of these neighbors, which are wider than the bounds of the leaf.

use std::sync::Arc;

use super::order::{Part, Region, compare, split_region};
use crate::train::grow::Sum;
use crate::train::split::Found;

/// Lowest and highest value.
pub(crate) type Bounds = (f64, f64);

/// Bounds of a leaf without neighbors.
pub(crate) const FREE: Bounds = (f64::NEG_INFINITY, f64::INFINITY);

/// Leaves that are in order with a leaf.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Neighbors {
    own: Arc<Region>,
    others: Vec<Neighbor>,
}

#[derive(Debug, Clone, PartialEq)]
struct Neighbor {
    region: Arc<Region>,
    value: f64,
    /// Whether the value is an upper bound.
    is_larger: bool,
    /// Feature in which the regions are separate.
    apart: usize,
}

impl Neighbor {
    fn narrow(&self, bounds: &mut Bounds) {
        if self.is_larger {
            bounds.1 = bounds.1.min(self.value);
        } else {
            bounds.0 = bounds.0.max(self.value);
        }
    }
}

impl Neighbors {
    /// Collects the neighbors of a leaf: regions and values of leaves that are in order with it.
    pub(super) fn new(
        directions: &[i8],
        own: &Arc<Region>,
        others: impl Iterator<Item = (Arc<Region>, f64)>,
    ) -> Option<Self> {
        let others: Vec<Neighbor> = others
            .filter_map(|(region, value)| {
                let (is_larger, apart) = compare(directions, own, &region)?;
                Some(Neighbor { region, value, is_larger, apart })
            })
            .collect();
        (!others.is_empty()).then(|| Self { own: Arc::clone(own), others })
    }

    /// Returns the bounds of the left and the right child of a split.
    pub(super) fn of_children<S: Sum>(&self, found: &Found<S>, directions: &[i8], last_bins: &[usize]) -> [Bounds; 2] {
        let last_bin = last_bins[found.sides.feature];
        split_region(&self.own, found, last_bin).map(|child| {
            let mut bounds = FREE;
            for other in &self.others {
                // A child without numbers is not in order with a leaf of other numbers.
                if compare(directions, &child, &other.region).is_some() {
                    other.narrow(&mut bounds);
                }
            }
            bounds
        })
    }

    /// Returns the bounds of the children of all cuts of a numeric feature with `n_bins` value bins; `None` if all
    /// children have the bounds of the leaf.
    pub(crate) fn of_cuts(&self, feature: usize, n_bins: usize) -> Option<CutBounds> {
        let within = self.own.iter().find(|(other, _)| *other == feature).map(|(_, part)| part);
        let (first, last) = range(within, n_bins);
        let has_missing = |part: Option<&Part>| !matches!(part, Some(Part::Range { missing: false, .. }));
        // Neighbors by the first and by the last bin that they share with the leaf.
        let mut shared: Option<(Vec<Bounds>, Vec<Bounds>)> = None;
        let (mut all, mut missing) = (FREE, FREE);
        for other in &self.others {
            let part = other.region.iter().find(|(of, _)| *of == feature).map(|(_, part)| part);
            if other.apart == feature {
                // Children with numbers stay separate in the feature, and those without are not in order.
                other.narrow(&mut all);
                continue;
            }
            let (from, to) = range(part, n_bins);
            let (from, to) = (from.max(first), to.min(last));
            if (from, to) == (first, last) {
                other.narrow(&mut all);
            } else {
                let (starts, ends) = shared.get_or_insert_with(|| (vec![FREE; n_bins], vec![FREE; n_bins]));
                if from < to {
                    other.narrow(&mut starts[from]);
                    other.narrow(&mut ends[to - 1]);
                }
            }
            if has_missing(within) && has_missing(part) {
                other.narrow(&mut missing);
            }
        }
        // A child with missing values only is bounded by fewer neighbors than `all`, which does not matter: bounds that
        // are too narrow are safe, and the next search of the child has its own.
        let (mut up_to, mut from) = shared?;
        (up_to[0], from[n_bins - 1]) = (join(up_to[0], all), join(from[n_bins - 1], all));
        for bin in 1..n_bins {
            up_to[bin] = join(up_to[bin], up_to[bin - 1]);
        }
        for bin in (1..n_bins).rev() {
            from[bin - 1] = join(from[bin - 1], from[bin]);
        }
        Some(CutBounds { up_to, from, missing })
    }
}

/// Returns the value bins of a part: the first, and the first after the last.
fn range(part: Option<&Part>, n_bins: usize) -> (usize, usize) {
    match part {
        Some(Part::Range { first, last, .. }) => (*first, (last + 1).min(n_bins)),
        _ => (0, n_bins),
    }
}

/// Returns the bounds of a leaf that has both sets of neighbors. Bounds are not NaN, so that a comparison suffices.
fn join(a: Bounds, b: Bounds) -> Bounds {
    (if a.0 > b.0 { a.0 } else { b.0 }, if a.1 < b.1 { a.1 } else { b.1 })
}

/// Bounds of the children of all cuts of a feature.
#[derive(Debug)]
pub(crate) struct CutBounds {
    /// Bounds of a child with the values up to each bin.
    up_to: Vec<Bounds>,
    /// Bounds of a child with the values from each bin on.
    from: Vec<Bounds>,
    /// Bounds of a child with missing values.
    missing: Bounds,
}

impl CutBounds {
    /// Returns whether missing values do not bound a child.
    pub(crate) fn frees_missing(&self) -> bool {
        self.missing == FREE
    }

    /// Returns the bounds of the children of each cut, except that after the last bin.
    pub(crate) fn all(&self, missing_left: bool) -> impl Iterator<Item = [Bounds; 2]> {
        let [left, right] = if missing_left { [self.missing, FREE] } else { [FREE, self.missing] };
        self.up_to
            .iter()
            .zip(self.from.iter().skip(1))
            .map(move |(up_to, from)| [join(*up_to, left), join(*from, right)])
    }

    /// Returns the bounds of the left and the right child of a cut after `bin`.
    pub(crate) fn of(&self, bin: usize, missing_left: bool) -> [Bounds; 2] {
        let mut children = [self.up_to[bin], self.from.get(bin + 1).copied().unwrap_or(FREE)];
        let with_missing = &mut children[usize::from(!missing_left)];
        *with_missing = join(*with_missing, self.missing);
        children
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::constrain::LeafOrder;
    use crate::train::grow::{Floats, Numbers, Sides};
    use crate::train::split::How;

    /// Value bins of each of three features; a bin of missing values follows them.
    const BINS: usize = 6;
    const DIRECTIONS: [i8; 3] = [1, -1, 0];
    const LAST_BINS: [usize; 3] = [BINS - 1; 3];

    fn cut(feature: usize, bin: usize, missing_left: bool) -> Found<<Floats as Numbers>::Sum> {
        let left = (0..=BINS).map(|at| if at == BINS { missing_left } else { at <= bin }).collect();
        let sum = <Floats as Numbers>::Sum::default();
        Found { gain: 1.0, sides: Sides { feature, left }, how: How::Cut { bin, missing_left }, left: sum }
    }

    #[test]
    fn bounds_of_all_cuts_are_those_of_each_cut() {
        let (mut compared, mut narrower) = (0, 0);
        for seed in 0..200_u64 {
            let random = |at: usize, below: usize| {
                let drawn = crate::random::mixed(seed * 1000 + at as u64) % below as u64;
                usize::try_from(drawn).expect("below a usize")
            };
            let mut order = LeafOrder::new(&DIRECTIONS, &LAST_BINS);
            for at in 0..8 {
                let missing_left = random(4 * at, 2) == 1;
                let found = cut(random(4 * at + 1, 3), random(4 * at + 2, BINS - 1), missing_left);
                order.split(random(4 * at + 3, at + 1), &found);
            }
            for leaf in 0..9 {
                let value = |other: usize| random(100 + other, 50) as f64;
                let Some(neighbors) = order.neighbors(leaf, value) else { continue };
                let whole = order.bounds(leaf, value);
                for feature in 0..3 {
                    let (first, last) = {
                        let part = neighbors.own.iter().find(|(of, _)| *of == feature).map(|(_, part)| part);
                        range(part, BINS)
                    };
                    let cuts = neighbors.of_cuts(feature, BINS);
                    let of = |bin, missing_left| cuts.as_ref().map_or([whole; 2], |cuts| cuts.of(bin, missing_left));
                    // Other cuts leave a child without numbers, whose bounds are wider.
                    for bin in first..last.saturating_sub(1) {
                        for missing_left in [false, true] {
                            let found = cut(feature, bin, missing_left);
                            let exact = neighbors.of_children(&found, &DIRECTIONS, &LAST_BINS);
                            assert_eq!(of(bin, missing_left), exact, "seed {seed}, leaf {leaf}, {found:?}");
                            compared += 1;
                            narrower += usize::from(exact.iter().any(|bounds| *bounds != whole));
                        }
                    }
                }
            }
        }
        assert!(compared > 5000 && narrower > 500, "{compared}, {narrower}");
    }
}
